"""`oreo engine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..model.errors import UsageError
from .command import command, noun
from .face import Answer, Face

if TYPE_CHECKING:
    from rich.console import Console

app = noun("engine", "The local Spark engine: started when first needed, shared by all commands.")


@command(app, "status", "oreo engine status")
def status(face: Face) -> Answer:
    """Show which Spark would be used, and whether it is up. Starts nothing."""
    return _status(face, {})


@command(
    app,
    "start",
    """
    oreo engine start                      so that the next command finds Spark warm
    oreo engine start --idle-minutes 0     until it is stopped
    """,
)
def start(
    face: Face,
    idle_minutes: Annotated[
        float,
        typer.Option(
            "--idle-minutes",
            metavar="N",
            min=0,
            help="Stop after so long without work; 0: never.",
        ),
    ] = 10.0,
) -> Answer:
    """Start the local engine. One that is up already stays as it is."""
    from ..lake import local_engine

    _require_local(face)
    was_up = local_engine.status(face.settings) is not None
    with face.working("Starting Spark…"):
        local_engine.ensure(face.settings, idle_minutes=idle_minutes)
    return _status(face, {"started": not was_up})


@command(app, "stop", "oreo engine stop")
def stop(face: Face) -> Answer:
    """Stop the local engine. Work that is under way on it is lost, and recovered later."""
    from ..lake import local_engine

    _require_local(face)
    with face.working("Stopping Spark…"):
        stopped = local_engine.stop(face.settings)
    return _status(face, {"stopped": stopped})


def _status(face: Face, did: dict[str, bool]) -> Answer:
    from ..lake.engine import describe

    report = describe(face.settings)

    def render(console: Console) -> None:
        from .render import say

        word = "up" if report.is_up else "not running"
        say(console, f"Spark, {report.kind} at {report.address}: {word} ({report.detail})")

    document: dict[str, Any] = {
        "kind": report.kind,
        "address": report.address,
        "is_up": report.is_up,
        "detail": report.detail,
    }
    return Answer(document | did, render)


def _require_local(face: Face) -> None:
    for name, value in (
        ("SPARK_REMOTE", face.settings.spark_remote),
        ("SPARK_MASTER", face.settings.spark_master),
    ):
        if value:
            raise UsageError(
                f"{name} is set, so Spark is not the local engine.", f"Unset {name} to use the local engine."
            )
