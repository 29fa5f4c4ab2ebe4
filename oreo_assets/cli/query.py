"""`oreo query`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..model.filters import Filter, Order
from .arguments import Dataset
from .command import command, verb
from .face import Answer, Face, dataset_of
from .quick import without_pandas

if TYPE_CHECKING:
    from rich.console import Console

app = verb()


@command(
    app,
    "query",
    """
    oreo query shop/orders --limit 10
    oreo query shop/orders --select order_id,amount --where amount=gte.100 --order amount.desc
    oreo query shop/orders --where 'status=in.open,"on hold"' --where shipped_on=is.null
    oreo query shop/orders --version 12
    oreo query shop/orders --timestamp 2026-01-31 --json | jq '.rows[]'
    """,
)
def query(
    face: Face,
    dataset: Dataset,
    select: Annotated[list[str] | None, typer.Option("--select", metavar="a,b", help="These columns only.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="col=op.value", help="eq neq lt lte gt gte in like is. Several: all must hold."
        ),
    ] = None,
    order: Annotated[
        list[str] | None, typer.Option("--order", metavar="col[.desc]", help="By row_id if left out.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most so many rows.")] = 100,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0, help="Leave out the first so many.")] = 0,
    version: Annotated[int | None, typer.Option("--version", metavar="N", min=0, help="As of this version.")] = None,
    timestamp: Annotated[
        str | None,
        typer.Option("--timestamp", metavar="T", help="As of this moment; UTC if it names no zone."),
    ] = None,
) -> Answer:
    """Read rows of a dataset, now or as of a version.

    Only approved data is ever in here. Values are bound, never pasted into SQL.
    """
    from ..workflow.query import query as read

    ref = dataset_of(dataset)
    filters = [Filter.parse(text) for text in where or ()]
    orders = [Order.parse(text) for text in _names(order)]
    with without_pandas():
        page = read(
            face.ws,
            face.actor,
            ref,
            select=_names(select),
            where=filters,
            order=orders,
            limit=limit,
            offset=offset,
            version=version,
            timestamp=timestamp,
        )

    def render(console: Console) -> None:
        from .render import count, say, show_rows

        if page.rows:
            show_rows(console, page.rows)
        more = f" There are more: --offset {page.next}" if page.next is not None else ""
        rows = "1 row" if len(page.rows) == 1 else f"{count(len(page.rows))} rows"
        say(console, f"{rows} of version {page.version}.{more}", "dim")

    return Answer(page.as_json(), render)


def _names(given: list[str] | None) -> list[str]:
    """`--select a,b --select c` is a, b and c."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]
