"""AG Grid with cells that can be edited. What they show and how they behave is in `static/live.js`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

_HEIGHT = 460
_PIN = "matchMedia('(min-width: 700px)').matches ? 'left' : null"
"""On a narrow screen the room is needed for cells."""
_NUMBERS = ("int", "bigint", "smallint", "float", "double", "decimal")


def live_grid(columns: Sequence[dict[str, Any]], *, label: str, may_edit: bool) -> None:
    """An empty one: the script fills it. Columns go by their place, never by their name."""
    definitions: list[dict[str, Any]] = [
        {
            "colId": "row",
            "headerName": "row_id",
            "width": 150,
            ":pinned": _PIN,
            ":valueGetter": "(p) => p.data && p.data.id",
            ":cellRenderer": "(p) => window.oreoLive.rowCell(p)",
            ":tooltipValueGetter": "(p) => window.oreoLive.rowWords(p)",
            "sortable": True,
            ":comparator": "() => 0",
        }
    ]
    definitions += [
        {
            "colId": f"c{place}",
            "headerName": str(column["name"]),
            "headerTooltip": _header_words(column),
            "headerClass": "ag-right-aligned-header" if str(column["type"]).startswith(_NUMBERS) else "",
            "cellClass": "o-right" if str(column["type"]).startswith(_NUMBERS) else "",
            ":valueGetter": "(p) => window.oreoLive.value(p)",
            ":cellRenderer": "(p) => window.oreo.cell(p)",
            ":cellClassRules": "window.oreoLive.classes",
            ":tooltipValueGetter": "(p) => window.oreoLive.words(p)",
            ":editable": "(p) => window.oreoLive.editable(p)",
            ":cellEditorSelector": "(p) => window.oreoLive.editor(p)",
            "cellDataType": False,
            "sortable": True,
            ":comparator": "() => 0",
            "width": 150,
        }
        for place, column in enumerate(columns)
    ]
    definitions[-1] |= {"flex": 1, "minWidth": 150}
    grid = ui.aggrid(
        {
            "columnDefs": definitions,
            "rowData": [],
            "defaultColDef": {"resizable": True, "minWidth": 80, "suppressHeaderMenuButton": True},
            "rowSelection": {
                "mode": "multiRow",
                "checkboxes": may_edit,
                "headerCheckbox": False,
                "enableClickSelection": False,
            },
            "selectionColumnDef": {"width": 44, ":pinned": _PIN},
            "readOnlyEdit": True,
            "stopEditingWhenCellsLoseFocus": True,
            "suppressFieldDotNotation": True,
            "ensureDomOrder": True,
            "suppressMovableColumns": True,
            "suppressClipboardPaste": True,
            "tooltipShowDelay": 300,
            "animateRows": False,
            ":singleClickEdit": "matchMedia('(pointer: coarse)').matches",
            ":getRowId": "(p) => p.data.id",
            ":rowClassRules": "window.oreoLive.rowClasses",
            ":onGridReady": "(p) => window.oreoLive.begin(p.api)",
            ":onCellEditRequest": "(p) => window.oreoLive.edit(p)",
            ":onSortChanged": "(p) => window.oreoLive.sorted(p)",
            ":onBodyScrollEnd": "(p) => window.oreoLive.scrolled(p)",
            "overlayNoRowsTemplate": "<span>No rows to show.</span>",
        },
        theme="quartz",
        auto_size_columns=False,
    ).classes("o-grid")
    grid.style(f"height: {_HEIGHT}px")
    grid.props["role"] = "region"
    grid.props["aria-label"] = label


def _header_words(column: dict[str, Any]) -> str:
    kept = ". Part of the key: to change it, delete the row and add it anew" if column["fixed"] else ""
    return f"{column['name']}: {column['type']}{kept}"
