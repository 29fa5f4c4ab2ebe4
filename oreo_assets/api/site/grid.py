"""AG Grid for rows and for changes. Columns go by their place, never by their name; cells are set as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.elements.aggrid import AgGrid

from .words import cell_text

_FEW = 12
_HEIGHT = 520
_DEFAULTS: dict[str, Any] = {
    "resizable": True,
    "sortable": False,
    "minWidth": 90,
    "width": 160,
    "suppressHeaderMenuButton": True,
}


def rows_grid(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], *, label: str, right: set[str], sortable: bool = True
) -> AgGrid:
    """Rows as they are. Sorting is asked of the server: what is here is only a page."""
    definitions: list[dict[str, Any]] = [
        {
            "colId": f"c{place}",
            "field": f"c{place}",
            "headerName": name,
            "headerTooltip": name,
            "sortable": sortable,
            ":comparator": "() => 0",
            ":cellRenderer": "window.oreo.numberCell" if name in right else "window.oreo.cell",
            "cellClass": "o-right" if name in right else "",
            "tooltipField": f"c{place}",
        }
        for place, name in enumerate(columns)
    ]
    definitions[-1] |= {"flex": 1, "minWidth": 150}
    return _grid(definitions, [cells(columns, row) for row in rows], label)


def cells(columns: Sequence[str], row: Mapping[str, Any]) -> dict[str, str | None]:
    return {f"c{place}": cell_text(row.get(name)) for place, name in enumerate(columns)}


def changes_grid(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], *, label: str, selectable: bool) -> AgGrid:
    """Changed rows, old and new in one cell."""
    definitions: list[dict[str, Any]] = [
        {
            "colId": "change",
            "field": "change",
            "headerName": "Change",
            "width": 118,
            ":cellRenderer": "window.oreo.kindCell",
        },
        {
            "colId": "row_id",
            "field": "row_id",
            "headerName": "row_id",
            "width": 150,
            ":cellRenderer": "window.oreo.cell",
        },
    ]
    definitions += [
        {
            "colId": f"c{place}",
            "field": f"c{place}",
            "headerName": name,
            "headerTooltip": name,
            "width": 190,
            ":cellRenderer": "window.oreo.changedCell",
            ":tooltipValueGetter": "window.oreo.changedText",
            "cellDataType": False,
        }
        for place, name in enumerate(columns)
    ]
    definitions[-1] |= {"flex": 1, "minWidth": 190}
    more: dict[str, Any] = {}
    if selectable:
        more["rowSelection"] = {
            "mode": "multiRow",
            "checkboxes": True,
            "headerCheckbox": True,
            "enableClickSelection": False,
        }
    return _grid(definitions, [change(columns, row) for row in rows], label, **more)


def change(columns: Sequence[str], row: Mapping[str, Any]) -> dict[str, Any]:
    """One changed row as the grid has it."""
    kind, given = row["change"], row["cells"]
    changed = set(row.get("changed", given))
    told: dict[str, Any] = {"row_id": row["row_id"], "change": kind}
    for place, name in enumerate(columns):
        if name not in given:
            continue
        old, new = cell_text(given[name]["old"]), cell_text(given[name]["new"])
        if kind == "inserted":
            told[f"c{place}"] = {"new": new}
        elif kind == "deleted":
            told[f"c{place}"] = {"old": old}
        elif name in changed:
            told[f"c{place}"] = {"old": old, "new": new}
        else:
            told[f"c{place}"] = {"same": old}
    return told


def add_rows(grid: AgGrid, rows: Sequence[Mapping[str, Any]]) -> None:
    """Put the next page under what is shown."""
    grid.run_grid_method("applyTransaction", {"add": [dict(row) for row in rows]})
    grid.style(f"height: {_HEIGHT}px")
    grid.run_grid_method("setGridOption", "domLayout", "normal")


def _grid(definitions: list[dict[str, Any]], rows: list[dict[str, Any]], label: str, **more: Any) -> AgGrid:
    few = len(rows) <= _FEW
    grid = ui.aggrid(
        {
            "columnDefs": definitions,
            "rowData": rows,
            "defaultColDef": _DEFAULTS,
            "domLayout": "autoHeight" if few else "normal",
            "suppressFieldDotNotation": True,
            "ensureDomOrder": True,
            "suppressMovableColumns": True,
            "enableCellTextSelection": True,
            "tooltipShowDelay": 600,
            "animateRows": False,
            **more,
        },
        theme="quartz",
        auto_size_columns=False,
    ).classes("o-grid")
    if not few:
        grid.style(f"height: {_HEIGHT}px")
    else:
        grid.style("height: auto")
    grid.props["role"] = "region"
    grid.props["aria-label"] = label
    return grid
