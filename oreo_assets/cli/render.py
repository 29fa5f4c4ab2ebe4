"""How things look to people: numbers, moments, states, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..model.safe_text import for_terminal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

STATE_STYLES = {
    "in_review": "bold yellow",
    "approved": "cyan",
    "merging": "cyan",
    "merged": "green",
    "closed": "green",
    "refused": "bold red",
    "rejected": "red",
    "failed": "bold red",
    "conflicted": "bold magenta",
    "withdrawn": "dim",
    "expired": "dim",
}
CHANGE_STYLES = {"inserted": "green", "updated": "yellow", "deleted": "red", "unchanged": "dim"}
_UNITS = ("B", "kB", "MB", "GB", "TB")


def table(*columns: str, right: Iterable[str] = ()) -> Table:
    """A table with headings and no lines to speak of; the columns named in `right` hold numbers."""
    made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    numbers = set(right)
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return made


def facts(rows: Sequence[tuple[str, RenderableType | None]]) -> Table:
    """Names on the left, what they are on the right; what is None is left out."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            made.add_row(name, value)
    return made


def show_rows(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Rows of data as a table, or one below the other where a table would be too narrow to read."""
    names = list(rows[0])
    if len(names) * 9 > console.width:
        for row in rows:
            console.print(facts([(escape(name), cell(value)) for name, value in row.items()]), end="\n\n")
        return
    numeric = [n for n in names if any(_is_number(row[n]) for row in rows)]
    made = table(*names, right=numeric)
    for row in rows:
        made.add_row(*(cell(row[name]) for name in names))
    console.print(made)


def cell(value: Any) -> Text:
    """A value of the data, exactly as it is: no thousands separators here, a year or an id is not a count."""
    if value is None:
        return Text("null", style="dim")
    if isinstance(value, bool):
        return Text("true" if value else "false")
    if isinstance(value, datetime):
        return Text(value.isoformat(sep=" "))
    return Text(for_terminal(str(value)))


def state(word: str | None) -> Text:
    return Text(str(word or "-"), style=STATE_STYLES.get(str(word), ""))


def count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    if value is None:
        return "-"
    amount, unit = float(value), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:,.0f} {_UNITS[unit]}" if unit == 0 else f"{amount:,.1f} {_UNITS[unit]}"


def moment(value: str | datetime | None) -> str:
    """In UTC, to the second."""
    if value is None:
        return "-"
    when = datetime.fromisoformat(value) if isinstance(value, str) else value
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def changes(counts: Mapping[str, int | None]) -> Text:
    """`+3 ~1 -0`, in the colours of a diff."""
    signs = (("+", "inserted"), ("~", "updated"), ("-", "deleted"))
    if all(counts.get(kind) is None for _, kind in signs):
        return Text("-")
    parts = [(f"{sign}{count(counts.get(kind) or 0)} ", CHANGE_STYLES[kind]) for sign, kind in signs]
    return Text.assemble(*parts)


def cut(console: Console, shown: int, total: int, what: str, how: str) -> None:
    """Say that a list goes on, and how to see all of it."""
    if total > shown:
        console.print(f"… and {count(total - shown)} more {what}. {how}", style="dim", markup=False)


def say(console: Console, text: str, style: str = "") -> None:
    """A line of words: not wrapped, so that a command in it can be copied, and not taken for markup."""
    console.print(for_terminal(text), style=style, markup=False, soft_wrap=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
