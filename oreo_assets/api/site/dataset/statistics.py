"""What is in the columns of main now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....lake.statistics import ColumnStatistics
from ....workflow.overview import statistics
from ..elements import el, section, table
from ..loading import later
from ..notices import empty
from ..visit import Visit
from ..words import grouped


async def draw(visit: Visit, card: dict[str, Any]) -> None:
    types = {c["name"]: c["type"] for c in card["spec"]["columns"]}
    with section("Statistics", anchor="statistics", flush=True, note="of main as it is now"):
        later(lambda: visit.ask(statistics, visit.ref), lambda found: _table(found, types))


def _table(columns: Sequence[ColumnStatistics], types: dict[str, str]) -> None:
    if not columns or not columns[0].rows:
        empty("There are no rows yet.")
        return
    with table(
        "Column",
        "Type",
        "Null",
        "Distinct (about)",
        "Least",
        "Greatest",
        "Mean",
        caption="Columns",
        right=("Null", "Distinct (about)"),
    ):
        for column in columns:
            with el("tr"):
                el("td", "wrap", column.name)
                with el("td"):
                    el("code", "", types.get(column.name, "string"))
                el("td", "right num", f"{column.null_percent:.3g} %")
                el("td", "right num", grouped(column.distinct))
                for value in (column.least, column.greatest, column.mean):
                    el("td", "wrap" if value is not None else "soft", _cut(value))


def _cut(value: str | None) -> str:
    return "–" if value is None else value if len(value) <= 60 else f"{value[:59]}…"
