"""What a change request changes, row by row and cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from .render import CHANGE_STYLES, cell, count, say, table

if TYPE_CHECKING:
    from rich.console import Console

    from ..lake.diff import DiffPage

_SIGNS = {"inserted": "+", "updated": "~", "deleted": "-", "unchanged": "="}


def show_diff(console: Console, page: DiffPage) -> None:
    counts = page.counts.as_json()
    console.print(Text("  ").join(Text(f"{count(n)} {kind}", style=CHANGE_STYLES[kind]) for kind, n in counts.items()))
    touched = [(name, n) for name, n in page.columns if n]
    if touched:
        console.print()
        made = table("column", "cells changed", right=("cells changed",))
        for name, n in sorted(touched, key=lambda pair: -pair[1]):
            made.add_row(name, count(n))
        console.print(made)
    if page.rows:
        console.print()
        console.print(_rows(page))
    if page.next:
        say(console, f"There are more rows: --after {page.next}", "dim")


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
