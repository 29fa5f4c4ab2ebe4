"""`python -m oreo_assets_tests.site.screenshots FOLDER`: a picture of each page, as a reviewer sees it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import plausible
from .conftest import ARGUMENTS, BROWSERS, Site, serving, sign_in

DATASET = "/p/shop/orders"
WIDE, NARROW = 1280, 390
TAKEN_AT_MOST = 1800
"""Pixels of height: a picture in a guide is not to be scrolled for ever."""
SHOWN_IN_ALL_WAYS = ("home", "change-request-in-review", "dataset-rows", "upload", "live")
"""The others look as they do in light and wide; these are shown narrow and dark too."""


def pages(site: Site) -> dict[str, str]:
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
        "not-found": "/p/shop/nothing",
    }


def take(folder: Path) -> list[Path]:
    """Make all pictures anew; the paths of what was made."""
    from playwright.sync_api import sync_playwright

    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise SystemExit("No Chromium or Chrome is installed. Debian: sudo apt-get install chromium")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="oreo-pictures-") as scratch:
        team = plausible.make(Path(scratch))
        with serving(team, Path(scratch, "server.log")) as site, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
            made = [_sign_in_page(chromium, site, folder)]
            for width, scheme in ((WIDE, "light"), (NARROW, "light"), (WIDE, "dark"), (NARROW, "dark")):
                made += _all_pages(chromium, site, folder, width, scheme)
            chromium.close()
    return made


def _all_pages(chromium: Any, site: Site, folder: Path, width: int, scheme: str) -> list[Path]:
    context = _context(chromium, site, width, scheme)
    sign_in(context, site, "chloe")
    page = context.new_page()
    made = []
    for name, address in pages(site).items():
        if (width, scheme) != (WIDE, "light") and name not in SHOWN_IN_ALL_WAYS:
            continue
        answer = page.goto(address)
        page.locator("#main").wait_for()
        if answer.status != 200 and name != "not-found":
            continue
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
