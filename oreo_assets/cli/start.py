"""`oreo up` and `oreo demo`: the two that run for a while."""

from __future__ import annotations

from typing import Annotated

import typer

from .command import command, verb
from .face import Answer, Face

up_app = verb()
demo_app = verb()


@command(
    up_app,
    "up",
    """
    oreo up
    oreo up --open
    OREO_PORT=9000 DAGSTER_PORT=9001 oreo up --root ./lake
    """,
)
def up(
    face: Face,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the review site in a browser.")] = False,
) -> Answer:
    """Start the whole platform: Spark, the API with the review site, Dagster with its daemon.

    It runs until Ctrl-C, which stops all of it. While it runs, files that are sent are checked by
    themselves, and what is approved is merged.
    """
    from .up import run_up

    return _ended(run_up(face.settings, open_browser=open_browser))


@command(
    demo_app,
    "demo",
    """
    oreo demo
    oreo demo --keep --root ./demo-lake       to look around in it afterwards
    """,
)
def demo(
    face: Face, keep: Annotated[bool, typer.Option("--keep", help="Leave the root there at the end.")] = False
) -> Answer:
    """Live through one change request, from a file to a merged version, on a throw-away root.

    Nothing of yours is touched. Ends with what to open next.
    """
    from ..demo.run import run_demo

    return _ended(run_demo(face.settings if face.asked.root else None, keep=keep))


def _ended(code: int) -> Answer:
    return Answer({"exit_code": code}, lambda _console: None, exit_status=code)
