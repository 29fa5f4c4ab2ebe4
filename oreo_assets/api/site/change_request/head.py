"""What it is: title, author, note, source file, pinned versions, and where main has gone since."""

from __future__ import annotations

from ....model.states import CRState
from ....workflow.standing import Standing
from ..elements import button, el, fact, facts, link, section
from ..loading import later
from ..notices import notice, remedy_words
from ..words import count, grouped, moment, short, size, state_chip, state_words, title_of
from .reviewing import Reviewing


async def draw(on: Reviewing) -> None:
    card = on.card
    rest = (card["note"] or "").strip().partition("\n")[2]
    with el("div", "o-head"):
        with el("div", "o-stack"):
            el("h1", "", title_of(card))
            with el("div", "o-row soft"):
                state_chip(card["state"])
                el("span", "", f"{card['mode']} by {card['author']}")
                moment(card["created_at"])
                el("code", "", card["change_request_id"])
        with el("div", "o-row"):
            if on.state is CRState.IN_REVIEW:
                link("Decide", "#decide", "o-button main")
            asset = f"{on.visit.dagster}/assets/{on.ref.project}/{on.ref.dataset}/staging"
            link(
                "Show in Dagster",
                f"{asset}?view=partitions&partition={on.cr_id}",
                "o-button",
                target="_blank",
                rel="noopener",
            )
    if rest.strip():
        el("p", "pre", rest.strip())
    _state_in_words(on)
    with section("What was sent", anchor="sent"):
        with facts():
            _sent(on)
        if on.is_staged and on.state.is_open:
            later(on.standing, lambda found: _how_main_moved(on, found))


def _sent(on: Reviewing) -> None:
    card, upload = on.card, on.card["upload"]
    if upload:
        with fact("Source file"):
            el("span", "", upload["file_name"])
            el("span", "soft small", f" {size(upload['bytes'])}")
        with fact("SHA-256"):
            short(upload["sha256"], 16)
        with fact("Rows read"):
            el("span", "num", grouped(upload["rows_read"]))
            if upload["rows_rejected"]:
                el("span", "soft small", f" {grouped(upload['rows_rejected'])} set aside")
    with fact("Base → staged"):
        if on.is_staged:
            el("span", "", f"main {card['base_version']} → staged {card['staging_version']}", title="versions")
        else:
            el("span", "soft", "nothing is staged yet")
    with fact("Hash of what is staged"):
        short(card["content_hash"], 16)
    if card["merged_version"] is not None:
        with fact("Merged"):
            link(f"as version {card['merged_version']} of main", f"{on.visit.home}?version={card['merged_version']}")
    if card["follows"]:
        with fact("Follows"):
            link(card["follows"], f"{on.visit.home}/cr/{card['follows']}", "mono")


def _state_in_words(on: Reviewing) -> None:
    card = on.card
    if on.moves_by_itself:
        notice("info", f"It is {state_words(card['state'])} and moves on by itself.", "This page follows it.")
    if error := card.get("error"):
        notice("bad", error["message"], remedy_words(error.get("remedy") or ""))
    elif card["reason"]:
        kind = "odd" if on.state is CRState.CONFLICTED else "warn" if on.state.is_open else "bad"
        notice(kind, f"{state_words(card['state']).capitalize()}: {card['reason']}")


def _how_main_moved(on: Reviewing, found: Standing) -> None:
    if not found.commits and found.main_version == found.base_version:
        el("p", "soft", f"Main has not moved since: it is at version {found.main_version}.")
        return
    overlap = f"{grouped(found.rows_overlapping)}{'+' if found.capped else ''} rows overlap"
    if found.rows_overlapping == 1:
        overlap = "1 row overlaps"
    elif not found.rows_overlapping:
        overlap = "no row overlaps"
    said = f"Main moved {count(found.commits, 'commit')} to version {found.main_version}, {overlap}."
    if not found.conflicts:
        notice("info" if found.commits else "", said, "What both sides changed can be merged as it is.")
        return
    with notice("odd", said, f"{count(found.conflicts, 'conflict')} to settle before it can be merged."):
        if on.state is not CRState.CONFLICTED:

            async def show() -> None:
                if on.show_conflicting:
                    await on.show_conflicting()

            button("Show these rows", show, "small")
