"""`python -m oreo_assets_tests.site.screenshots FOLDER`: a picture of each page, as a reviewer sees it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from oreo_assets.catalog.users import Actor
from oreo_assets.model.states import Role
from oreo_assets.workflow import live_edit
from oreo_assets.workflow.live_types import CellEdit

from ..browsers import find_browser, running_browser
from . import plausible
from .by_hand import Team
from .conftest import Site, serving, sign_in

DATASET = "/p/shop/orders"
WIDE, NARROW = 1280, 390
TAKEN_AT_MOST = 1800
"""Pixels of height: a picture in a guide is not to be scrolled for ever."""
SHOWN_IN_ALL_WAYS = ("home", "change-request-in-review", "dataset-rows", "upload", "live-session")
"""The others look as they do in light and wide; these are shown narrow and dark too."""


SENT = (
    "Order ID;Customer;COUNTRY;status;Amount (EUR);remarks\n"
    "O-100301;Ada Berg;DE;paid;149.90;\n"
    "O-100302;José García;ES;open;much;call again\n"
    "O-100303;Hana Ito;AT;shipped;1.249,00;\n"
    "O-100304;Eva Fischer;FR;paid;88.20;\n"
)
"""A file as people have them: other headers, and two bad rows."""


def pages(site: Site, session: str) -> dict[str, str]:
    """Each page by the name of its picture."""
    crs = site.team.change_requests
    tabs = ("rows", "history", "schema", "checks", "statistics", "sessions", "lineage")
    return {
        "home": "/",
        **{f"dataset-{tab}": f"{DATASET}?tab={tab}" for tab in tabs},
        "change-requests": f"{DATASET}/crs?show=all",
        **{
            f"change-request-{name.replace('_', '-')}": site.address(crs[name])
            for name in ("in_review", "conflicted", "refused", "merged")
        },
        "upload": f"{DATASET}/upload",
        "live": f"{DATASET}/live",
        "live-session": f"{DATASET}/live/{session}",
        "not-found": "/p/shop/nothing",
    }


def take(folder: Path) -> list[Path]:
    """Make all pictures anew; the paths of what was made."""
    path = find_browser()
    if path is None:
        raise SystemExit("No Chromium or Chrome is installed. Debian: sudo apt-get install chromium")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="oreo-pictures-") as scratch:
        team = plausible.make(Path(scratch))
        session = _edited_session(team)
        with serving(team, Path(scratch, "server.log")) as site, running_browser(path) as chromium:
            made = [_sign_in_page(chromium, site, folder)]
            for width, scheme in ((WIDE, "light"), (NARROW, "light"), (WIDE, "dark"), (NARROW, "dark")):
                made += _all_pages(chromium, site, session, folder, width, scheme)
    return made


def _edited_session(team: Team) -> str:
    """One in which somebody is in the middle of it, beside somebody else."""
    ref = team.spec.ref
    for name in ("dmitri", "chloe"):
        actor = Actor(name, {"*": Role.REVIEWER})
        session = live_edit.open_session(team.ws, actor, ref).session_id
        edits = [CellEdit("O-100004", "customer", "Eva Fischer-Costa")]
        if name == "chloe":
            edits += [
                *(CellEdit(f"O-10000{n}", "status", "paid") for n in (4, 5, 9)),
                CellEdit("O-100002", "amount", "-256.65"),
                CellEdit("O-100006", "status", "payed"),
            ]
        live_edit.set_cells(team.ws, actor, ref, session, edits)
    live_edit.delete_rows(team.ws, actor, ref, session, ["O-100007"])
    return session


def _choose_file(page: Any) -> None:
    file = {"name": "orders-december.csv", "mimeType": "text/csv", "buffer": SENT.encode()}
    page.locator("#upload-file").set_input_files(file)
    for header, column in (("Amount (EUR)", "amount"), ("remarks", "– leave it out –")):
        page.get_by_label(f"What {header} stands for").click()
        page.get_by_role("option", name=column, exact=True).click()
        page.locator(".q-menu").wait_for(state="detached")
    page.get_by_text("2 bad").wait_for()
    page.evaluate("scrollTo(0, 0)")


def _rows_are_there(page: Any) -> None:
    page.locator("#live .ag-row").first.wait_for()
    page.locator("#others").get_by_text("dmitri").wait_for()


BEFORE_IT_IS_TAKEN = {"upload": _choose_file, "live-session": _rows_are_there}


def _all_pages(chromium: Any, site: Site, session: str, folder: Path, width: int, scheme: str) -> list[Path]:
    context = _context(chromium, site, width, scheme)
    sign_in(context, site, "chloe")
    page = context.new_page()
    made = []
    for name, address in pages(site, session).items():
        if (width, scheme) != (WIDE, "light") and name not in SHOWN_IN_ALL_WAYS:
            continue
        answer = page.goto(address)
        page.locator("#main").wait_for()
        if answer.status != 200 and name != "not-found":
            continue
        BEFORE_IT_IS_TAKEN.get(name, lambda _page: None)(page)
        page.wait_for_function("!document.querySelector('.o-wait')")
        page.wait_for_timeout(400)  # charts and grids draw themselves after their data is there
        made.append(_picture(page, folder / f"{name}-{width}-{scheme}.png", width))
    context.close()
    return made


def _sign_in_page(chromium: Any, site: Site, folder: Path) -> Path:
    context = _context(chromium, site, WIDE, "light")
    page = context.new_page()
    page.goto("/sign-in")
    made = _picture(page, folder / f"sign-in-{WIDE}-light.png", WIDE)
    context.close()
    return made


def _context(chromium: Any, site: Site, width: int, scheme: str) -> Any:
    return chromium.new_context(
        base_url=site.url, viewport={"width": width, "height": 860}, color_scheme=scheme, locale="en-GB"
    )


def _picture(page: Any, file: Path, width: int) -> Path:
    height = min(page.evaluate("document.documentElement.scrollHeight"), TAKEN_AT_MOST)
    page.screenshot(path=file, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
    return file


if __name__ == "__main__":
    taken = take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/site"))
    print(f"{len(taken)} pictures in {taken[0].parent}")
