"""The pipeline in this process and without Dagster: for code that wants its change request done now."""

from __future__ import annotations

import time

from ..catalog.change_requests import get_change_request
from ..catalog.models import ChangeRequest
from ..model.errors import BusyError, OreoError
from ..model.ids import DatasetRef
from ..model.states import CRState
from .intake import convert_upload
from .merge import merge_change_request
from .staging import rows_to_stage, stage
from .validation import validate
from .workspace import Workspace

_MERGING = (CRState.APPROVED, CRState.MERGING, CRState.MERGED)
_MOVES_BY_ITSELF = (CRState.RECEIVED, CRState.CONVERTED, CRState.STAGED, *_MERGING)
_POLL_SECONDS = 0.2


def run_pipeline(ws: Workspace, ref: DatasetRef, cr_id: str, *, patience: float = 60) -> ChangeRequest:
    """Convert, stage and check a change request, and merge it once it is approved; then say where it stands.

    It ends where a person must decide, or where the change request has ended. A platform may be at work on
    the same change request: whoever comes second goes on from where the first has brought it. If somebody
    else writes the dataset for longer than `patience` (in seconds), the change request is left as it is, for
    the platform or `oreo recover`.
    """
    deadline = time.monotonic() + patience
    while True:
        cr = _look(ws, ref, cr_id)
        if cr.state not in _MOVES_BY_ITSELF:
            return cr
        try:
            _take_step(ws, cr)
        except BusyError:
            if time.monotonic() > deadline:
                return _look(ws, ref, cr_id)
            time.sleep(_POLL_SECONDS)
        except OreoError:
            # A conflict, a refusal, or somebody who was faster: then the new state says what follows.
            if _look(ws, ref, cr_id).state is cr.state:
                raise


def _take_step(ws: Workspace, cr: ChangeRequest) -> None:
    if cr.state is CRState.RECEIVED:
        convert_upload(ws, cr)
    elif cr.state is CRState.CONVERTED:
        stage(ws, cr, rows_to_stage(ws, cr))
    elif cr.state is CRState.STAGED:
        validate(ws, cr)
    else:
        merge_change_request(ws, cr.ref, cr.id)


def _look(ws: Workspace, ref: DatasetRef, cr_id: str) -> ChangeRequest:
    with ws.catalog.read() as tx:
        return get_change_request(tx, ref, cr_id)
