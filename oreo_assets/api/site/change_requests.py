"""The change requests of a dataset, the newest first."""

from __future__ import annotations

from typing import Any

from ...workflow import review
from .elements import el, link, section, table
from .frame import page
from .notices import empty
from .visit import Visit
from .words import grouped, moment, sign, state_chip, title_of

_PAGE = 50


@page("/p/{project}/{dataset}/crs", "Change requests")
async def change_requests(visit: Visit) -> None:
    open_only = visit.query("show") != "all"
    after = visit.query("after") or None
    found = await visit.ask(review.list_requests, visit.ref, open_only=open_only, after=after, limit=_PAGE + 1)
    el("h1", "", f"Change requests of {visit.ref}")
    with el("nav", "o-tabs", aria_label="Which change requests"):
        link("Open", f"{visit.home}/crs", aria_current="page" if open_only else None)
        link("All", f"{visit.home}/crs?show=all", aria_current=None if open_only else "page")
    with section("Open" if open_only else "All", anchor="list", flush=True):
        if found:
            with table("State", "What", "Rows", "Checks", "By", "Last moved", caption="Change requests", cards=True):
                for cr in found[:_PAGE]:
                    _row(visit, cr)
        else:
            empty(
                "No change request is open." if open_only else "There are no change requests yet.",
                "Send a file: oreo upload " + str(visit.ref) + " FILE",
            )
    if len(found) > _PAGE:
        show = "" if open_only else "show=all&"
        link("Older ones", f"{visit.home}/crs?{show}after={found[_PAGE - 1]['change_request_id']}", "o-button")


def _row(visit: Visit, cr: dict[str, Any]) -> None:
    with el("tr"):
        with el("td"):
            state_chip(cr["state"])
        with el("td"):
            link(title_of(cr), f"{visit.home}/cr/{cr['change_request_id']}", "wrap")
            el("div", "soft small mono", cr["change_request_id"])
        with el("td", data_label="Rows"):
            changes(cr["counts"])
        with el("td", data_label="Checks"):
            _checks(cr["checks"])
        el("td", "wrap", cr["author"], data_label="By")
        with el("td", data_label="Last moved"):
            moment(cr["updated_at"])


def changes(counts: dict[str, int | None]) -> None:
    """`+ 3  ~ 12  − 1`"""
    with el("span", "o-row num"):
        for kind in ("inserted", "updated", "deleted"):
            if counts.get(kind):
                with el("span", "o-row", title=f"{counts[kind]} {kind}"):
                    sign(kind)
                    el("span", "", grouped(counts[kind]))
        if all(counts.get(kind) is None for kind in ("inserted", "updated", "deleted")):
            el("span", "soft", "not staged yet")


def _checks(checks: dict[str, int | None]) -> None:
    with el("span", "o-row num"):
        for name, kind in (("failed_fatal", "fatal"), ("failed_warning", "warning"), ("passed", "passed")):
            if checks.get(name):
                with el("span", "o-row", title=f"{checks[name]} {kind}"):
                    sign(kind)
                    el("span", "", grouped(checks[name]))
