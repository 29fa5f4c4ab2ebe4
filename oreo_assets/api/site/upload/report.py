"""What the look over a file found: its first rows, and every bad row with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui.element import Element

from ....convert import Conversion
from ....model.errors import BadFileError
from ..elements import el, link, section, table
from ..grid import rows_grid
from ..notices import empty, notice
from ..words import count, grouped, size

if TYPE_CHECKING:
    from .page import Sending


_AS_TABLE = 200
"""So many wrap and become cards on a narrow screen; more need a grid that draws only what is seen."""


class Report:
    """Drawn anew after each look."""

    place: Element

    def __init__(self, sending: Sending) -> None:
        self.sending = sending

    def draw(self) -> None:
        look = self.sending.look
        assert look is not None
        self.place.clear()
        with self.place:
            if look.conversion is None:
                assert look.refusal is not None
                _refused(look.refusal)
                return
            self._summary(look.conversion)
            if look.conversion.rejects_total:
                self._bad_rows(look.conversion)
            self._first_rows()

    def _summary(self, found: Conversion) -> None:
        draft = self.sending.draft
        assert draft is not None
        with section("What the file is", anchor="found", note=f"{draft.name}, {size(found.source_bytes)}"):
            with el("div", "o-row num"):
                el("b", "", count(found.rows_read, "row"))
                el("span", "o-chip good", f"{grouped(found.rows_good)} good")
                if found.rows_rejected:
                    el("span", "o-chip bad", f"{grouped(found.rows_rejected)} bad")
                for name in ("sheet", "encoding", "delimiter"):
                    if told := found.details.get(name):
                        shown = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}.get(str(told), str(told))
                        el("span", "soft small", f"{name}: {shown}")
            if note := found.details.get("note"):
                el("p", "soft small wrap", str(note))
            if found.new_columns:
                shown = ", ".join(f"{name} ({type_})" for name, type_ in found.new_columns[:20])
                notice("odd", f"The dataset does not have {shown}.", "The reviewer decides whether it gets them.")
            if found.absent_columns:
                el(
                    "p",
                    "soft small wrap",
                    f"Not in the file, so left as they are: {', '.join(found.absent_columns[:30])}",
                )

    def _bad_rows(self, found: Conversion) -> None:
        draft = self.sending.draft
        assert draft is not None
        listed = len(found.rejects)
        note = count(found.rejects_total, "problem") + (
            "" if listed == found.rejects_total else f", {grouped(listed)} listed"
        )
        with section("Bad rows", anchor="bad-rows", flush=True, note=note):
            with el("div", "o-row o-controls"):
                place = f"{self.sending.visit.home}/upload/{draft.id}/bad-rows.csv"
                link("Download the bad rows", place, "o-button small", download="bad-rows.csv")
                el("span", "soft small", "As they came, with a column that says why: mend them there.")
            if listed <= _AS_TABLE:
                _faults_table(found)
            else:
                _faults_grid(found)

    def _first_rows(self) -> None:
        look = self.sending.look
        assert look is not None
        with section("First rows", anchor="first-rows", flush=True, note="As they would be stored"):
            if not look.rows:
                empty("No row of the file can be taken.")
                return
            types = dict(look.conversion.columns) if look.conversion else {}
            right = {
                name
                for name, type_ in types.items()
                if type_.startswith(("int", "bigint", "smallint", "decimal", "double", "float"))
            }
            rows_grid(list(look.columns), look.rows, label="First rows of the file", right=right, sortable=False)


def _faults_table(found: Conversion) -> None:
    with el("div", "o-upload-bad"), table("Line", "Column", "Value", "Reason", caption="Bad rows", cards=True):
        for reject in found.rejects:
            with el("tr"):
                el("td", "num", grouped(reject.line), data_label="Line")
                el("td", "wrap", reject.column or "the row", data_label="Column")
                with el("td", "wrap", data_label="Value"):
                    el("span", "soft" if reject.value is None else "pre", "–" if reject.value is None else reject.value)
                el("td", "wrap", reject.reason, data_label="Reason")


def _faults_grid(found: Conversion) -> None:
    rows = [
        {"line": r.line, "column": r.column or "the row", "value": r.value, "reason": r.reason} for r in found.rejects
    ]
    rows_grid(["line", "column", "value", "reason"], rows, label="Bad rows", right={"line"}, sortable=False)


def _refused(error: BadFileError) -> None:
    """The file as a whole cannot be taken; what would help is said in this page's own words."""
    remedy = error.remedy.replace("--set-aside", "“Set aside bad rows”")
    if error.details.get("header"):
        remedy = f"{remedy} Or say under “Columns” what stands for what."
    notice("bad", error.message, remedy.strip())
