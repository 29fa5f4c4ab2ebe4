"""What became of a file, for `oreo upload` and `oreo restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.errors import BadFileError, OreoError
from ..model.ids import DatasetRef
from ..model.safe_text import for_one_line, for_terminal
from ..model.states import CRState
from ..workflow.intake import UploadOptions, UploadResult, refusal_of
from .face import Answer, Face

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_REJECTS = 50


def upload_answer(
    face: Face,
    ref: DatasetRef,
    result: UploadResult,
    options: UploadOptions,
    *,
    name: str,
    wait_seconds: float | None,
) -> Answer:
    """The answer to a sender, after waiting if that was asked for."""
    document = result.as_json()
    refusal = refusal_of(result.conversion, options.set_aside) if result.conversion else None
    if result.change_request_id is None:
        document["dry_run"] = True
    error: OreoError | None = refusal
    cr: dict[str, Any] | None = None
    if not refusal and result.change_request_id and wait_seconds is not None:
        from .waiting import verdict, wait

        cr = wait(face, ref, result.change_request_id, wait_seconds)
        error = verdict(cr)
        document |= {"state": cr["state"], "counts": cr["counts"], "checks": cr["checks"]}

    def render(console: Console) -> None:
        _show(console, document, name)
        if cr is not None:
            _show_after_waiting(face, console, ref, cr)
        elif result.change_request_id and not refusal:
            _show_next(face, console, ref, result.change_request_id)

    return Answer(document, render, error)


def failed_upload(error: BadFileError) -> Answer:
    """A file that could not be read at all, in the same shape as one with bad rows."""
    cr_id = error.details.get("change_request_id")
    document = UploadResult(None, None, CRState.FAILED if cr_id else None, None).as_json()
    document |= {"upload_id": error.details.get("upload_id"), "change_request_id": cr_id}
    return Answer(document, lambda _console: None, error)


def _show(console: Console, document: dict[str, Any], name: str) -> None:
    from .render import count, cut, say, table

    rejects, total = document["rejects"], document["rejects_total"]
    if rejects:
        made = table("line", "column", "value", "reason", right=("line",))
        for reject in rejects[:SHOWN_REJECTS]:
            made.add_row(*(_text(reject[part]) for part in ("line", "column", "value", "reason")))
        console.print(made)
        cut(console, min(SHOWN_REJECTS, len(rejects)), total, "problems", "All of them: --json")
        console.print()
    bad = document["rows_rejected"]
    say(console, f"{for_one_line(name)}: {count(document['rows_read'])} rows read, {count(bad)} of them bad.")
    if document["new_columns"]:
        new = ", ".join(f"{c['name']} ({c['type']})" for c in document["new_columns"])
        say(console, f"New columns, for the reviewer to see: {new}.", "yellow")
    if document["absent_columns"]:
        say(
            console,
            f"Columns that are not in the file stay as they are: {', '.join(document['absent_columns'])}.",
            "dim",
        )
    if document.get("dry_run"):
        say(console, "A dry run: nothing was kept.", "dim")


def _show_next(face: Face, console: Console, ref: DatasetRef, cr_id: str) -> None:
    from ..platform_info import platform_running
    from .render import say

    say(console, f"Opened {cr_id}.", "bold green")
    if platform_running(face.settings):
        say(console, f"The platform checks it now. Look: oreo cr show {ref} {cr_id}", "dim")
    else:
        say(
            console,
            "No platform is running. Have it checked: oreo recover (or send files with --wait)",
            "dim",
        )


def _show_after_waiting(face: Face, console: Console, ref: DatasetRef, cr: dict[str, Any]) -> None:
    from .cr_card import show_card

    console.print()
    show_card(console, cr)
    if cr["state"] == CRState.REFUSED and cr["validation_run_id"]:
        from ..workflow.review import checks
        from .cr_checks import show_checks

        console.print()
        show_checks(
            console,
            checks(face.ws, face.actor, ref, cr["change_request_id"]).outcomes,
            rows=5,
            only_failed=True,
        )


def _text(value: Any) -> str:
    from rich.markup import escape

    return "-" if value is None else f"{value:,}" if isinstance(value, int) else escape(for_terminal(str(value)))
