"""What a change request changes, row by row and cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from .render import CHANGE_STYLES, cell, count, say, table

if TYPE_CHECKING:
    from rich.console import Console

    from ..lake.diff import BeforeAfter, ColumnChange, DiffPage

_SIGNS = {"inserted": "+", "updated": "~", "deleted": "-", "unchanged": "="}


def show_diff(console: Console, page: DiffPage) -> None:
    counts = page.counts.as_json()
    console.print(Text("  ").join(Text(f"{count(n)} {kind}", style=CHANGE_STYLES[kind]) for kind, n in counts.items()))
    touched = [column for column in page.columns if column.cells_changed or column.new_values]
    if touched:
        console.print()
        console.print(_columns(touched))
    if page.rows:
        console.print()
        console.print(_rows(page))
    if page.sampled:
        say(console, "Sampled: not everything could be looked at; some of this stands for a part.", "yellow")
    if page.next:
        say(console, f"There are more rows: --after {page.next}", "dim")


def _columns(touched: Sequence[ColumnChange]) -> Any:
    made = table("column", "cells changed", "nulls", "range", "new values", "most often", right=("cells changed",))
    for column in sorted(touched, key=lambda c: -c.cells_changed):
        about = "≤ " if column.approximate else "about " if column.sampled else ""
        top = column.top_changes[0] if column.top_changes else None
        most = Text.assemble(cell(top.old), " → ", cell(top.new), f" ×{count(top.count)}") if top else Text("-")
        made.add_row(
            column.name,
            count(column.cells_changed),
            _shift(column.null_rate, lambda rate: f"{rate:.1%}"),
            _range(column),
            f"{about}{count(column.new_values)}",
            most,
        )
    return made


def _shift(figure: BeforeAfter, say_it: Callable[[Any], str]) -> Text:
    sides = ["-" if side is None else say_it(side) for side in (figure.before, figure.after)]
    return Text(sides[1] if sides[0] == sides[1] else " → ".join(sides))


def _range(column: ColumnChange) -> Text:
    ends = [
        Text("-") if low is None else Text.assemble(cell(low), " … ", cell(high))
        for low, high in (
            (column.minimum.before, column.maximum.before),
            (column.minimum.after, column.maximum.after),
        )
    ]
    return ends[1] if ends[0] == ends[1] else Text(" → ").join(ends)


def _rows(page: DiffPage) -> Any:
    made = table("", "row_id", "column", "was", "becomes")
    for row in page.rows:
        kind = row["change"]
        sign, row_id = Text(_SIGNS[kind], style=CHANGE_STYLES[kind]), Text(row["row_id"], style="bold")
        for column, value in row["cells"].items() or [("", None)]:
            was, becomes = _sides(kind, value)
            made.add_row(sign, row_id, column, was, becomes)
            sign = row_id = Text("")
    return made


def _sides(kind: str, value: dict[str, Any] | None) -> tuple[Text, Text]:
    if value is None:
        return Text(""), Text("")
    was, becomes = cell(value["old"]), cell(value["new"])
    was.stylize("red")
    becomes.stylize("green")
    return (was if kind != "inserted" else Text("")), (becomes if kind != "deleted" else Text(""))
