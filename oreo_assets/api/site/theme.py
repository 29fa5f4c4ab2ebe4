"""The site's look: where its style and script are, and its colours for charts.

`static/site.css` has the colours as variables, for light and dark. A chart is drawn on a canvas and cannot read
them: its colours stand in the middle, so that they are seen on both.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from nicegui import __version__

STATIC = Path(__file__).parent / "static"
ADDRESS = "/site-files"

INSERTED, UPDATED, DELETED = "#1a9b73", "#2b86c5", "#d9661f"
WARNING, CONFLICT, NEUTRAL, ACCENT = "#c08a1e", "#b5609a", "#8592a3", "#5b83e6"
LINE = "rgba(130, 145, 165, 0.25)"
BY_KIND = {"inserted": INSERTED, "updated": UPDATED, "deleted": DELETED, "unchanged": NEUTRAL}


def head() -> str:
    """The tags that bring style and script. Their addresses change with their content, so that they can be cached."""
    style, script = (_address(name) for name in ("site.css", "site.js"))
    fonts = f"/_nicegui/{__version__}/static/fonts.css"
    return (
        f'<link rel="stylesheet" href="{fonts}"><link rel="stylesheet" href="{style}"><script src="{script}"></script>'
        '<meta name="referrer" content="same-origin">'
    )


def also(*names: str) -> str:
    """The tags for styles and scripts that one page has besides."""
    return "".join(
        f'<link rel="stylesheet" href="{_address(name)}">'
        if name.endswith(".css")
        else f'<script src="{_address(name)}"></script>'
        for name in names
    )


def _address(name: str) -> str:
    content = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"{ADDRESS}/{name}?v={content}"
