"""The tree of commands. A noun's module is imported when its command is asked for, not before."""

from __future__ import annotations

from typing import Annotated

import typer

from .command import Debug, Json, Root, Token, remember
from .help import Lazy, OreoGroup

SECTIONS = {
    "Change data": ("upload", "live", "cr", "restore"),
    "Read data": ("query", "history"),
    "Set up": ("project", "dataset", "user"),
    "Run": ("up", "demo", "engine", "doctor"),
    "Keep in order": ("maintain", "recover", "audit"),
}
"""The main screen, in the order people meet the commands."""

COMMANDS = {
    "upload": Lazy("upload", "Send a file: opens a change request."),
    "live": Lazy("live", "Edit cells live, and submit them as a change request."),
    "cr": Lazy("cr", "Look at change requests and decide on them."),
    "restore": Lazy("restore", "Open a change request that brings an earlier version back."),
    "query": Lazy("query", "Read rows, now or as of a version."),
    "history": Lazy("history", "Who changed a dataset, when, why, and who approved it."),
    "project": Lazy("project", "Make and list projects."),
    "dataset": Lazy("dataset", "Declare datasets from files, and look at them."),
    "user": Lazy("user", "Add people, give them roles, revoke them."),
    "up": Lazy("start", "Start the whole platform.", "up_app"),
    "demo": Lazy("start", "Live through one change request on a throw-away root.", "demo_app"),
    "engine": Lazy("engine", "Start, stop and look at the local Spark engine."),
    "doctor": Lazy("doctor", "What is installed, reachable and wrong, with remedies."),
    "maintain": Lazy("maintain", "Compact, vacuum, checkpoint, and end what outlived its time."),
    "recover": Lazy("recover", "Finish or undo what a crash left half done."),
    "audit": Lazy("audit", "Read the audit trail, and prove that nobody changed it."),
}


class _Main(OreoGroup):
    lazy = COMMANDS
    sections = SECTIONS


app = typer.Typer(
    name="oreo",
    cls=_Main,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"oreo {version('oreo-assets')}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog="""
    oreo doctor                                    what is missing, and how to get it
    oreo demo                                      see it all once, on a throw-away root
    oreo upload shop/orders orders.csv --wait      send a file, wait for its checks
    oreo query shop/orders --where amount=gte.100  read what was approved
    """,
)
def oreo(
    ctx: typer.Context,
    root: Root = None,
    token: Token = None,
    as_json: Json = False,
    debug: Debug = False,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """A governed home for datasets: staged, checked, reviewed, and only then merged.

    People send files; nothing reaches a dataset until it was staged on its own, checked, and approved by a
    second person.
    """
    remember(ctx, root, token, as_json, debug)
    if ctx.invoked_subcommand is None:
        if as_json:
            ctx.fail("Which command?")
        typer.echo(ctx.get_help())
