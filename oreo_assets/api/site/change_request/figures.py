"""What changes, in numbers: rows by kind, cells by column, and how each column shifts."""

from __future__ import annotations

from typing import Any

from ....lake.diff import ColumnChange, DiffPage
from ..charts import bars
from ..elements import el, section, table
from ..loading import later
from ..theme import UPDATED
from ..words import cell_text, grouped, sign
from .reviewing import Reviewing

_KINDS = ("inserted", "updated", "deleted", "unchanged")
_MOST_BARS = 12


async def draw(on: Reviewing) -> None:
    if on.is_staged:
        with section("What changes", anchor="figures"):
            later(on.diff, _figures)


def _figures(page: DiffPage) -> None:
    counts = page.counts.as_json()
    with el("div", "o-numbers"):
        for kind in _KINDS:
            with el("div", f"o-number {kind}"):
                el("b", "", grouped(counts[kind]))
                with el("span", "o-row"):
                    sign(kind)
                    el("span", "", kind)
    if page.sampled:
        el("p", "soft small", "Sampled: what follows about columns stands for a part of the rows.")
    changed = sorted((c for c in page.columns if c.cells_changed), key=lambda c: -c.cells_changed)
    if changed:
        el("h3", "", "Cells changed, by column")
        shown = changed[:_MOST_BARS]
        bars(
            [c.name for c in shown],
            {"cells changed": [c.cells_changed for c in shown]},
            "Cells changed: " + ", ".join(f"{c.name} {c.cells_changed}" for c in shown),
            colours={"cells changed": UPDATED},
        )
    moved = [c for c in page.columns if c.cells_changed or c.new_values or counts["inserted"] or counts["deleted"]]
    if moved:
        with table("Column", "Cells", "Null rate", "Least", "Greatest", "New values", "Most often", caption="Columns"):
            for column in moved:
                _column(column)


def _column(column: ColumnChange) -> None:
    with el("tr"):
        el("td", "wrap", column.name)
        el("td", "num", grouped(column.cells_changed))
        el("td", "num", _shift(_percent(column.null_rate.before), _percent(column.null_rate.after)))
        el("td", "wrap", _shift(cell_text(column.minimum.before), cell_text(column.minimum.after)))
        el("td", "wrap", _shift(cell_text(column.maximum.before), cell_text(column.maximum.after)))
        with el("td", "wrap"):
            if column.new_values:
                el("span", "num", f"{'at most ' if column.approximate else ''}{grouped(column.new_values)}")
                el("div", "soft small", ", ".join(_value(v) for v in column.new_value_examples))
            else:
                el("span", "soft", "none")
        with el("td", "wrap"):
            for top in column.top_changes[:3]:
                with el("div"), el("span", "o-cell small"):
                    el("del", "", _value(top.old))
                    el("ins", "", _value(top.new))
                    el("span", "soft num", f"{grouped(top.count)}×")
            if not column.top_changes:
                el("span", "soft", "–")


def _shift(before: str | None, after: str | None) -> str:
    if before == after or after is None:
        return before or "–"
    return after if before is None else f"{before} → {after}"


def _percent(rate: float | None) -> str | None:
    return None if rate is None else f"{rate * 100:.3g} %"


def _value(value: Any) -> str:
    text = cell_text(value)
    return "null" if text is None else text if len(text) <= 60 else f"{text[:59]}…"
