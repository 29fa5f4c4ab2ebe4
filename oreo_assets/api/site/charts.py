"""Charts. Tooltips are drawn on the canvas, not as HTML: a column may be called anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element

from .theme import ACCENT, BY_KIND, LINE, NEUTRAL

_TOOLTIP: dict[str, Any] = {"renderMode": "richText", "confine": True, "textStyle": {"fontSize": 12}}
_AXIS: dict[str, Any] = {
    "axisLabel": {"color": NEUTRAL, "fontSize": 11},
    "axisLine": {"lineStyle": {"color": LINE}},
    "axisTick": {"show": False},
    "splitLine": {"lineStyle": {"color": LINE}},
}


def spark(points: Sequence[tuple[str, int]], label: str) -> Element:
    """A small line without axes; what it shows is said in words to those who do not see it."""
    options = {
        "animation": False,
        "grid": {"left": 2, "right": 2, "top": 3, "bottom": 3},
        "xAxis": {"type": "time", "show": False},
        "yAxis": {"type": "value", "show": False, "min": 0},
        "tooltip": {**_TOOLTIP, "trigger": "axis"},
        "series": [_line(points)],
    }
    return _drawn(options, label).classes("o-spark")


def rows_over_time(points: Sequence[tuple[str, int]], label: str) -> Element:
    options = {
        "animation": False,
        "grid": {"left": 8, "right": 16, "top": 16, "bottom": 4, "containLabel": True},
        "xAxis": {"type": "time", **_AXIS, "splitLine": {"show": False}},
        "yAxis": {"type": "value", "min": 0, "minInterval": 1, **_AXIS},
        "tooltip": {**_TOOLTIP, "trigger": "axis"},
        "series": [_line(points)],
    }
    return _drawn(options, label).style("height: 200px; width: 100%")


def bars(
    names: Sequence[str], series: Mapping[str, Sequence[float]], label: str, *, colours: dict[str, str]
) -> Element:
    """Stacked bars that lie on their side: names can be long."""
    options = {
        "animation": False,
        "grid": {"left": 8, "right": 24, "top": 8, "bottom": 4, "containLabel": True},
        "yAxis": {
            "type": "category",
            "data": list(names),
            "inverse": True,
            **_AXIS,
            "axisLabel": {**_AXIS["axisLabel"], "width": 130, "overflow": "truncate"},
        },
        "xAxis": {"type": "value", "minInterval": 1, **_AXIS},
        "tooltip": {**_TOOLTIP, "trigger": "axis", "axisPointer": {"type": "shadow"}},
        "series": [
            {
                "type": "bar",
                "name": name,
                "stack": "all",
                "barMaxWidth": 14,
                "data": list(values),
                "itemStyle": {"color": colours.get(name, ACCENT)},
            }
            for name, values in series.items()
        ],
    }
    return _drawn(options, label).style(f"height: {max(60, 26 * len(names) + 34)}px; width: 100%")


def kinds(counts: dict[str, int], label: str) -> Element:
    """Rows by what happens to them, as one bar."""
    shown = {kind: [number] for kind, number in counts.items() if number}
    return bars([""], shown, label, colours=BY_KIND)


def _line(points: Sequence[tuple[str, int]]) -> dict[str, Any]:
    return {
        "type": "line",
        "step": "end",
        "name": "rows",
        "data": [list(point) for point in points],
        "showSymbol": len(points) < 2,
        "symbolSize": 5,
        "lineStyle": {"color": ACCENT, "width": 2},
        "itemStyle": {"color": ACCENT},
        "areaStyle": {"color": ACCENT, "opacity": 0.12},
    }


def _drawn(options: dict[str, Any], label: str) -> Element:
    made = ui.echart(options)
    made.props["role"] = "img"
    made.props["aria-label"] = label
    return made
