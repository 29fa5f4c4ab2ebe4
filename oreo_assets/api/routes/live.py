"""Live edit sessions."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from ...model.filters import Filter, Order
from ...model.ids import DatasetRef
from ...workflow import live_edit, review
from ...workflow.live_types import CellEdit, EditResult
from .. import told
from ..answers import Answer, Json, page
from ..asked import AddRows, DeleteRows, Note, OpenLiveSession, PageLimit, RowId, SetCells, SubmitLiveSession
from ..auth import Who
from ..once import Once
from ..places import ID, DatasetAt, change_request_path, dataset_path
from ..service import Here

router = APIRouter(tags=["live sessions"])

_OF_DATASET = "/projects/{project}/datasets/{dataset}/live-sessions"
_ONE = _OF_DATASET + "/{session}"
_SessionId = Annotated[str, Path(pattern=ID, examples=["se_01k3x8m2t4v6w8y"], description="Its id.")]
_Mine = Annotated[bool, Query(description="Only your own.")]
_All = Annotated[bool, Query(alias="all", description="Those that ended, too.")]
_After = Annotated[str | None, Query(pattern=ID, description="The last session of the page before.")]


@dataclass(frozen=True)
class _Place:
    ref: DatasetRef
    session_id: str


def _session(ref: DatasetAt, session: _SessionId) -> _Place:
    return _Place(ref, session)


_At = Annotated[_Place, Depends(_session)]


@router.get("/live-sessions", response_model=list[told.LiveSession], summary="List the sessions of all your projects")
def list_all(
    request: Request,
    here: Here,
    who: Who,
    mine: _Mine = False,
    everything: _All = False,
    after: _After = None,
    limit: PageLimit = 100,
) -> Json:
    """Open ones, the newest first. If there are more, the header `Link` has the next page."""
    return _list(request, here, who, None, mine, everything, after, limit)


@router.get(_OF_DATASET, response_model=list[told.LiveSession], summary="List the sessions of a dataset")
def list_of_dataset(
    request: Request,
    here: Here,
    who: Who,
    ref: DatasetAt,
    mine: _Mine = False,
    everything: _All = False,
    after: _After = None,
    limit: PageLimit = 100,
) -> Json:
    """Open ones, the newest first. If there are more, the header `Link` has the next page."""
    return _list(request, here, who, ref, mine, everything, after, limit)


@router.post(_OF_DATASET, status_code=201, response_model=told.LiveSession, summary="Begin to edit a dataset")
def open_session(here: Here, who: Who, ref: DatasetAt, once: Once, given: OpenLiveSession | None = None) -> Response:
    """As it is now, or only the rows that meet every filter. Takes the role contributor."""
    asked = given or OpenLiveSession()

    def do() -> Answer:
        where = [Filter.parse(text) for text in asked.where]
        made = live_edit.open_session(here.ws, who, ref, where=where)
        return Answer(made.as_json(), 201, f"{dataset_path(ref)}/live-sessions/{made.session_id}")

    return once(do, asked.model_dump())


@router.get(_ONE, response_model=told.LiveSession, summary="Show a session")
def show(here: Here, who: Who, at: _At) -> Json:
    return Json(live_edit.show_session(here.ws, who, at.ref, at.session_id).as_json())


@router.post(_ONE + "/cells", response_model=told.LiveEdit, summary="Give cells new values")
def set_cells(here: Here, who: Who, at: _At, given: SetCells, once: Once) -> Response:
    """All of them or none, as one step. A value that does not fit its type is refused, with the reasons in
    `details.cells`; one that fails an expectation is kept, and told. Takes the session's owner, or an admin."""
    edits = [CellEdit(cell.row_id, cell.column, cell.value) for cell in given.cells]
    return once(lambda: _edited(live_edit.set_cells(here.ws, who, at.ref, at.session_id, edits)), given.model_dump())


@router.post(_ONE + "/rows", response_model=told.LiveEdit, summary="Add rows")
def add_rows(here: Here, who: Who, at: _At, given: AddRows, once: Once) -> Response:
    """Their row_id follows from the key. A key that main or the session has already is refused."""
    return once(
        lambda: _edited(live_edit.add_rows(here.ws, who, at.ref, at.session_id, given.rows)), given.model_dump()
    )


@router.post(_ONE + "/delete-rows", response_model=told.LiveEdit, summary="Delete rows")
def delete_rows(here: Here, who: Who, at: _At, given: DeleteRows, once: Once) -> Response:
    """Rows that were added in the session are taken back."""
    ids = given.row_ids
    return once(lambda: _edited(live_edit.delete_rows(here.ws, who, at.ref, at.session_id, ids)), given.model_dump())


@router.post(_ONE + "/undo", response_model=told.LiveEdit, summary="Take the last step back")
def undo(here: Here, who: Who, at: _At, once: Once) -> Response:
    return once(lambda: _edited(live_edit.undo(here.ws, who, at.ref, at.session_id)))


@router.post(_ONE + "/redo", response_model=told.LiveEdit, summary="Do again what was undone last")
def redo(here: Here, who: Who, at: _At, once: Once) -> Response:
    return once(lambda: _edited(live_edit.redo(here.ws, who, at.ref, at.session_id)))


@router.get(_ONE + "/rows", response_model=told.LiveRows, summary="The rows as the session has them")
def rows(
    here: Here,
    who: Who,
    at: _At,
    where: Annotated[list[Note], Query(description="`column=op.value` on the new values; all must hold.")] = [],  # noqa: B006 - FastAPI copies it
    order: Annotated[Note, Query(description="By row_id if left out.", examples=["amount.desc"])] = "",
    changed: Annotated[bool, Query(description="Only rows that the session changes.")] = False,
    limit: Annotated[int, Query(ge=0, le=live_edit.MAX_ROWS)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Json:
    found = live_edit.preview(
        here.ws,
        who,
        at.ref,
        at.session_id,
        where=[Filter.parse(text) for text in where],
        order=[Order.parse(name.strip()) for name in order.split(",") if name.strip()],
        changed_only=changed,
        limit=limit,
        offset=offset,
    )
    return Json(found.as_json())


@router.get(_ONE + "/diff", response_model=told.Diff, summary="What the session changes, cell by cell")
def diff(
    here: Here,
    who: Who,
    at: _At,
    kind: Annotated[list[str], Query(description="inserted, updated, deleted; several by comma.")] = [],  # noqa: B006 - FastAPI copies it
    after: Annotated[RowId, Query(description="Begin after this row: `next` of the page before.")] = "",
    limit: PageLimit = 100,
) -> Json:
    """In the order of `row_id`, in the shape of a change request's diff."""
    kinds = review.kinds_of(kind)
    found = live_edit.session_diff(here.ws, who, at.ref, at.session_id, kinds=kinds, after=after, limit=limit)
    return Json(found.as_json())


@router.get(_ONE + "/others", response_model=told.Overlaps, summary="Who else has the same rows changed")
def others(
    here: Here,
    who: Who,
    at: _At,
    row: Annotated[list[RowId], Query(description="These rows; those that the session changes if left out.")] = [],  # noqa: B006 - FastAPI copies it
) -> Json:
    found = live_edit.who_else(here.ws, who, at.ref, at.session_id, row or None)
    return Json({"rows": [overlap.as_json() for overlap in found]})


@router.post(
    _ONE + "/submit", status_code=202, response_model=told.LiveSubmitted, summary="Make the session a change request"
)
def submit(here: Here, who: Who, at: _At, once: Once, given: SubmitLiveSession | None = None) -> Response:
    """Again gives the same change request. Who edited in the session cannot approve it."""
    asked = given or SubmitLiveSession()

    def do() -> Answer:
        cr_id = live_edit.submit(here.ws, who, at.ref, at.session_id, asked.note).change_request_id
        card = review.show(here.ws, who, at.ref, cr_id)
        return Answer({**card, "session_id": at.session_id}, 202, change_request_path(at.ref, cr_id))

    return once(do, asked.model_dump())


@router.post(_ONE + "/discard", response_model=told.LiveSession, summary="End a session and delete its edits")
def discard(here: Here, who: Who, at: _At, once: Once) -> Response:
    return once(lambda: Answer(live_edit.discard(here.ws, who, at.ref, at.session_id).as_json()))


def _list(
    request: Request,
    here: Here,
    who: Who,
    ref: DatasetRef | None,
    mine: bool,
    everything: bool,
    after: str | None,
    limit: int,
) -> Json:
    cards = live_edit.list_sessions(here.ws, who, ref, mine=mine, open_only=not everything)
    found = [card.as_json() for card in cards if after is None or card.session_id < after]
    return page(request, found, limit, itemgetter("session_id"))


def _edited(result: EditResult) -> Answer:
    return Answer(result.as_json())
