"""Waiting for a change request: by watching the platform work, or by doing the work here if none runs."""

from __future__ import annotations

import time
from typing import Any

from ..model.errors import (
    BadFileError,
    BusyError,
    ConflictError,
    OreoError,
    RefusedError,
    StateError,
    UnavailableError,
)
from ..model.ids import DatasetRef
from ..model.states import CRState
from .face import Face

PREPARING = frozenset({CRState.RECEIVED, CRState.CONVERTED, CRState.STAGED, CRState.CHECKED})
MERGING = frozenset({CRState.APPROVED, CRState.MERGING, CRState.MERGED})
_WORDS = {
    CRState.RECEIVED: "received: reading the file",
    CRState.CONVERTED: "converted: staging its rows",
    CRState.STAGED: "staged: running the checks",
    CRState.CHECKED: "checked",
    CRState.APPROVED: "approved: about to be merged",
    CRState.MERGING: "merging",
    CRState.MERGED: "merged: tidying up",
}
_POLL_SECONDS = 0.2
_TIDY_SECONDS = 5.0
_TRIES = 3


def wait(face: Face, ref: DatasetRef, cr_id: str, timeout: float) -> dict[str, Any]:
    """The change request (as `cr show` has it) once nothing but a person can move it on."""
    deadline = time.monotonic() + timeout
    merged_since: float | None = None
    tries: dict[str, int] = {}
    with face.working("waiting") as tell:
        while True:
            cr = _look(face, ref, cr_id)
            state = CRState(cr["state"])
            if state not in PREPARING | MERGING:
                return cr
            tell(f"{cr_id} is {_WORDS[state]}")
            now = time.monotonic()
            if state is CRState.MERGED:
                # It is in main; what is left is deleting the staged rows, which nobody need wait long for.
                merged_since = merged_since or now
                if now - merged_since > _TIDY_SECONDS:
                    return cr
            if now > deadline:
                raise _too_long(ref, cr_id, state, timeout)
            if not _drive(face, ref, cr_id, state, tries):
                time.sleep(_POLL_SECONDS)


def verdict(cr: dict[str, Any]) -> OreoError | None:
    """What the state that was waited for means to the one who waited; None if all is well."""
    ref, cr_id, state = f"{cr['project']}/{cr['dataset']}", cr["change_request_id"], CRState(cr["state"])
    reason = (cr.get("reason") or "").strip().rstrip(".")
    if state is CRState.REFUSED:
        failed = (cr["checks"] or {}).get("failed_fatal") or 0
        return RefusedError(
            f"{cr_id} is refused: {failed:,} fatal check{'' if failed == 1 else 's'} failed.",
            f"See which rows: oreo cr checks {ref} {cr_id}. Mend the file and send it again.",
        )
    if state is CRState.FAILED:
        error = cr.get("error") or {}
        return BadFileError(
            f"{cr_id} failed: {reason or 'no reason was kept'}.",
            error.get("remedy") or f"Mend the cause, then: oreo cr retry {ref} {cr_id}",
        )
    if state is CRState.CONFLICTED:
        return ConflictError(
            f"{cr_id} met a conflict. {reason}.",
            f"See them: oreo cr conflicts {ref} {cr_id}. Settle them: oreo cr resolve {ref} {cr_id} --take ours|theirs",
        )
    if state in (CRState.REJECTED, CRState.WITHDRAWN, CRState.EXPIRED):
        return StateError(
            f"{cr_id} is {state}{': ' + reason if reason else ''}.", "Send a new file if it is still needed."
        )
    return None


def _drive(face: Face, ref: DatasetRef, cr_id: str, state: CRState, tries: dict[str, int]) -> bool:
    """Do the next step here, if no platform does it. Whether anything was done."""
    from ..platform_info import platform_running
    from ..workflow.recovery import NEXT_STEP

    step = NEXT_STEP.get(state)
    if step is None or platform_running(face.settings):
        return False
    tries[step] = tries.get(step, 0) + 1
    try:
        drive(face, ref, cr_id, step)
    except BusyError:
        tries[step] -= 1  # somebody else is at work on it: their turn
        return False
    except OreoError:
        # The run may have broken for us only after somebody else had moved the change request on.
        if _look(face, ref, cr_id)["state"] == state:
            raise
    if tries[step] >= _TRIES and _look(face, ref, cr_id)["state"] == state:
        raise StateError(
            f"{cr_id} is still {state} after {_TRIES} tries to {step} it.", "See the runs in Dagster: oreo up"
        )
    return True


def drive(face: Face, ref: DatasetRef, cr_id: str, step: Any) -> None:
    """One step of the pipeline, in this process."""
    from ..defs.embedded import run_step

    run_step(face.ws, ref, cr_id, step)


def _look(face: Face, ref: DatasetRef, cr_id: str) -> dict[str, Any]:
    from ..workflow.review import show

    return show(face.ws, face.actor, ref, cr_id)


def _too_long(ref: DatasetRef, cr_id: str, state: CRState, timeout: float) -> UnavailableError:
    return UnavailableError(
        f"{cr_id} is still {state} after {timeout:,.0f} seconds.",
        f"It goes on without you; look again: oreo cr show {ref} {cr_id}. If nothing moves: oreo recover",
        change_request_id=cr_id,
        state=state,
    )
