"""After the merge: the version it made, its commit, and the way back."""

from __future__ import annotations

from nicegui import ui

from ....model.states import Role
from ....workflow.revert import revert
from ..elements import button, el, fact, facts, link, section
from ..notices import telling
from ..words import moment, short
from .reviewing import Reviewing


def draw_merged(on: Reviewing) -> None:
    card = on.card
    version = card["merged_version"]
    with section("Merged", anchor="decide"):
        with facts():
            with fact("Version of main"):
                link(f"version {version}", f"{on.visit.home}?version={version}")
            with fact("Commit"):
                short(card["commit_id"], 32)
            with fact("Approved by"):
                el("span", "", ", ".join(a["approver"] for a in card["approvals"] if a["valid"]) or "nobody was needed")
            with fact("When"):
                moment(card["updated_at"])
        if on.visit.may(Role.CONTRIBUTOR):
            said = el("div", "o-stack")

            async def undo() -> None:
                async with telling(said):
                    opened = await on.visit.ask(revert, on.ref, on.cr_id)
                    ui.navigate.to(f"{on.visit.home}/cr/{opened.change_request_id}")

            with el("div", "o-row"):
                button("Revert", undo)
                el("span", "soft small", "Opens the inverse change request; it is checked and approved like any other.")
