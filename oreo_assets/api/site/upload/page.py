"""The page on which a file is chosen, looked over and sent."""

from __future__ import annotations

from typing import Any

from nicegui import run, ui
from nicegui.events import GenericEventArguments

from ....model.errors import OreoError
from ....model.spec import DatasetSpec
from ....model.states import Mode, Role
from ....workflow import datasets, header_maps, intake
from ....workflow.header_maps import Meaning, guess, renames_of
from ....workflow.intake import UploadOptions
from ....workflow.upload_look import Look, look_over
from .. import theme
from ..elements import el, section, set_disabled
from ..frame import page
from ..notices import loading, notice, tell, telling
from ..visit import Visit
from ..words import size
from .drafts import Draft, find_draft
from .mapping import Mapping
from .report import Report

_MODES = {
    Mode.UPSERT: "Insert new rows, update those with the same key",
    Mode.APPEND: "Only insert: no row may be there already",
    Mode.REPLACE: "Replace everything: the file is all there is",
    Mode.DELETE: "Delete the rows whose keys are in the file",
}
_WITHOUT_KEY = (Mode.APPEND, Mode.REPLACE)


@page("/p/{project}/{dataset}/upload", "Upload")
async def upload(visit: Visit) -> None:
    card = await visit.ask(datasets.show_dataset, visit.ref)
    ui.add_head_html(theme.also("upload.css", "upload.js"))
    with el("div", "o-head"), el("div", "o-stack"):
        el("h1", "", f"Upload a file to {visit.ref}")
        el("p", "soft", "You see what would come of it first. Sending it opens a change request; main stays as it is.")
    if not visit.may(Role.CONTRIBUTOR):
        notice("info", "To send a file, you need the role contributor here.", "Ask an admin of the project.")
        return
    known = await visit.ask(header_maps.remembered, visit.ref)
    Sending(visit, DatasetSpec.model_validate(card["spec"]), known).draw()


class Sending:
    """A file on its way: what it is, how it is meant, what the last look found."""

    def __init__(self, visit: Visit, spec: DatasetSpec, known: dict[str, str]) -> None:
        self.visit = visit
        self.spec = spec
        self.known = known
        self.draft: Draft | None = None
        self.look: Look | None = None
        self.meanings: list[Meaning] = []
        self.sheet: str | None = None
        self.looking = self.look_again = self.sent = False

    def draw(self) -> None:
        limit = self.spec.policies.limits.max_file_mb
        with section("File", anchor="file"):
            self.root = el(
                "div", "o-drop", id="upload", data_to=f"{self.visit.home}/upload/file", data_limit=limit * 2**20
            )
            with self.root:
                with el("label", "o-drop-label", for_="upload-file"):
                    el("b", "", "Drop a file here, or choose one")
                    el("span", "soft small", f"CSV, TSV, Parquet or Excel, up to {size(limit * 2**20)}")
                el(
                    "input",
                    "o-drop-input",
                    type="file",
                    id="upload-file",
                    accept=".csv,.tsv,.txt,.parquet,.xlsx,.xls,.xlsb,.ods",
                )
                el("div", "o-drop-state small", id="upload-state", aria_live="polite")
            self.said = el("div", "o-stack")
        self.rest = el("div", "o-stack o-upload-rest")
        self.root.on("received", self._received, args=["detail"])
        ui.context.client.on_delete(self._leave)

    async def _received(self, event: GenericEventArguments) -> None:
        detail: Any = event.args.get("detail") if isinstance(event.args, dict) else None
        async with telling(self.said):
            before, settings = self.draft, self.visit.service.settings
            self.draft = await self.visit.ask(
                lambda _ws, actor: find_draft(settings, actor, self.visit.ref, str((detail or {}).get("draft", "")))
            )
            if before:
                await run.io_bound(before.remove)
            self.sheet, self.meanings, self.look, self.sent = None, [], None, False
            self._draw_rest()
            await self.look_over()

    def _leave(self) -> None:
        """The page is gone, and nobody can send this file any more."""
        if self.draft:
            self.draft.remove()

    def _draw_rest(self) -> None:
        self.rest.clear()
        keyless = self.spec.is_append_only
        modes = {mode: words for mode, words in _MODES.items() if not keyless or mode in _WITHOUT_KEY}
        with self.rest:
            with section("How it is meant", anchor="meant"):
                with el("div", "o-upload-fields"):
                    self.mode = ui.select(
                        {m.value: f"{m.value}: {w}" for m, w in modes.items()},
                        value=(Mode.APPEND if keyless else Mode.UPSERT).value,
                        label="Mode",
                        on_change=self.look_over,
                    ).props("outlined dense options-dense")
                    self.sheets = el("div")
                self.note = ui.textarea("Note: why? The reviewer reads it.")
                self.note.props("outlined autogrow dense maxlength=10000").classes("o-wide")
                self.set_aside = ui.checkbox("Set aside bad rows and go on with the good ones", on_change=self._toggle)
            self.mapping = Mapping(self)
            self.mapping.place = el("div", "o-stack")
            self.report = Report(self)
            self.report.place = el("div", "o-stack o-upload-rest", id="report", aria_live="polite")
            with el("div", "o-row"):
                self.send_button = el("button", "o-button main", "Send: open a change request", type="button")
                self.send_button.on("click", self._send, args=[])
                set_disabled(self.send_button, True)
                self.why_not = el("span", "soft small wrap", "")
            self.send_said = el("div", "o-stack")

    @property
    def options(self) -> UploadOptions:
        assert self.draft is not None
        return UploadOptions(
            mode=Mode(self.mode.value),
            sheet=self.sheet,
            note=self.note.value or "",
            file_name=self.draft.name,
            set_aside=bool(self.set_aside.value),
            renames=renames_of(self.meanings),
        )

    async def look_over(self) -> None:
        """Look once more. What changes meanwhile leads to another look after this one."""
        if self.looking:
            self.look_again = True
            return
        self.looking = True
        set_disabled(self.send_button, True)
        self.why_not.text = "Looking the file over …"
        self.report.place.clear()
        with self.report.place:
            loading()
        try:
            while True:
                self.look_again = False
                await self._look()
                if not self.look_again:
                    break
            self._show()
        except Exception as error:
            self.report.place.clear()
            self.why_not.text = ""
            tell(self.report.place, error)
        finally:
            self.looking = False

    async def _look(self) -> None:
        assert self.draft is not None
        found = await self.visit.ask(look_over, self.visit.ref, self.draft.file, self.options, self.draft.look)
        if found.header and [m.header for m in self.meanings] != list(found.header):
            # Now it is known what the file has: what its headers stand for is guessed, and looked at once more.
            self.meanings = guess(self.spec, found.header, self.known)
            if renames_of(self.meanings):
                found = await self.visit.ask(look_over, self.visit.ref, self.draft.file, self.options, self.draft.look)
            self.mapping.draw()
        self.look = found
        self._draw_sheets()

    def _draw_sheets(self) -> None:
        assert self.look is not None
        if len(self.look.sheets) < 2:
            return
        self.sheets.clear()

        async def chosen() -> None:
            if choice.value != self.sheet:
                self.sheet = choice.value
                self.meanings = []
                await self.look_over()

        with self.sheets:
            choice = ui.select(list(self.look.sheets), value=self.look.sheet, label="Sheet", on_change=chosen)
            choice.props("outlined dense options-dense")

    def _show(self) -> None:
        assert self.look is not None
        self.report.draw()
        self._toggle()

    def _toggle(self) -> None:
        """Whether it can be sent now, and why not."""
        if (self.looking and self.look_again) or self.look is None:
            return
        found = self.look.conversion
        refusal = intake.refusal_of(found, bool(self.set_aside.value)) if found else self.look.refusal
        set_disabled(self.send_button, refusal is not None)
        self.why_not.text = ""
        if refusal and found and found.rows_rejected and found.rows_good:
            self.why_not.text = "It has bad rows: mend them and choose the file again, or set them aside."
        elif refusal:
            self.why_not.text = "It cannot be sent like this: see above."

    async def _send(self) -> None:
        if self.sent or self.draft is None:
            return
        self.sent = True
        set_disabled(self.send_button, True)
        async with telling(self.send_said):
            try:
                options = self.options
                with self.send_said:
                    loading()
                result = await self.visit.ask(intake.upload, self.visit.ref, self.draft.file, options)
                headers = [m.header for m in self.meanings]
                await self.visit.ask(header_maps.remember, self.visit.ref, options.renames, headers)
                await run.io_bound(self.draft.remove)
            except OreoError:
                self.sent = False
                set_disabled(self.send_button, False)
                self.send_said.clear()
                raise
            ui.navigate.to(f"{self.visit.home}/cr/{result.change_request_id}")
