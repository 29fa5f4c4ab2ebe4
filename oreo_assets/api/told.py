"""What the API answers, as /api/docs declares it. The command line prints the same documents with `--json`.

They are what use cases say, written down for readers: routes send that, and add nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..model.spec import DatasetSpec
from ..model.states import CRState, Mode, Role


class _Told(BaseModel):
    """Keys are only ever added."""

    model_config = ConfigDict(extra="allow")


class ErrorBody(_Told):
    code: str = Field(examples=["not_found"])
    message: str = Field(examples=["There is no dataset shop/order."])
    remedy: str = Field(examples=["See: oreo dataset list"])
    retryable: bool
    details: dict[str, Any] | None = None
    request_id: str | None = Field(None, examples=["req_01k3x8m2t4v6w8y"])


class ErrorDocument(BaseModel):
    """What went wrong, what to do next, and whether a retry may help."""

    error: ErrorBody


class ProjectMade(_Told):
    project: str
    created: bool


class Project(_Told):
    project: str
    created_by: str
    created_at: datetime


class DatasetApplied(_Told):
    project: str
    dataset: str
    created: bool
    changed: bool
    changes: list[str]


class Dataset(_Told):
    project: str
    dataset: str
    description: str
    owners: list[str]
    delta_version: int | None
    last_commit_id: str | None
    row_count: int | None
    file_count: int | None
    bytes: int | None
    updated_at: datetime


class DatasetCard(Dataset):
    open_change_requests: list[str]
    spec: DatasetSpec
    location: str


class UserAdded(_Told):
    name: str
    role: Role
    project: str | None
    token: str | None = Field(description="Told this once. Null for somebody who has one already.")


class User(_Told):
    name: str
    roles: dict[str, Role] = Field(examples=[{"*": "viewer", "shop": "admin"}])
    created_at: datetime
    revoked_at: datetime | None


class Me(_Told):
    name: str
    roles: dict[str, Role]


class UserRevoked(_Told):
    name: str
    revoked: bool


class Reject(_Told):
    line: int | None
    column: str | None
    value: str | None
    reason: str


class NewColumn(_Told):
    name: str
    type: str


class Upload(_Told):
    upload_id: str | None
    change_request_id: str | None
    state: CRState | None
    rows_read: int | None
    rows_rejected: int | None
    rejects: list[Reject]
    rejects_total: int
    columns: list[str]
    new_columns: list[NewColumn]
    absent_columns: list[str]


class Counts(_Told):
    inserted: int | None
    updated: int | None
    deleted: int | None
    unchanged: int | None


class CheckCounts(_Told):
    passed: int | None
    failed_fatal: int | None
    failed_warning: int | None


class ChangeRequest(_Told):
    change_request_id: str
    project: str
    dataset: str
    state: CRState
    mode: Mode
    author: str
    note: str
    upload_id: str | None
    base_version: int | None
    staging_version: int | None
    content_hash: str | None
    suite_hash: str | None
    validation_run_id: str | None
    counts: Counts
    checks: CheckCounts
    new_columns: list[NewColumn]
    follows: str | None
    merged_version: int | None
    commit_id: str | None
    reason: str | None
    error: ErrorBody | None
    created_at: datetime
    updated_at: datetime


class Approval(_Told):
    approver: str
    at: datetime
    staging_version: int
    content_hash: str
    base_version: int
    suite_hash: str
    acknowledged: dict[str, str]
    valid: bool
    void_reason: str | None


class ChangeRequestCard(ChangeRequest):
    approvals: list[Approval]
    approvals_needed: int
    upload: dict[str, Any] | None


class ValidationRun(_Told):
    validation_run_id: str
    change_request_id: str
    staging_version: int
    content_hash: str
    suite_hash: str
    verdict: dict[str, Any]
    checks: list[dict[str, Any]]


class BeforeAfter(_Told):
    before: Any
    after: Any


class NewValues(_Told):
    count: int
    approximate: bool = Field(description="They were too many to look up in main: it may be fewer.")
    examples: list[Any]


class TopChange(_Told):
    old: Any
    new: Any
    count: int


class ColumnChanges(_Told):
    """One column over all rows that change: as they are in main, and as they will be."""

    name: str
    cells_changed: int
    null_rate: BeforeAfter
    min: BeforeAfter
    max: BeforeAfter
    new_values: NewValues = Field(description="Distinct values that main does not have in this column.")
    top_changes: list[TopChange] = Field(description="What most often becomes what.")
    sampled: bool = Field(description="`new_values` and `top_changes` are those of a sample.")


class Cell(_Told):
    old: Any
    new: Any


class ChangedRow(_Told):
    row_id: str
    change: Literal["inserted", "updated", "deleted", "unchanged"]
    cells: dict[str, Cell]
    changed: list[str] = Field(description="The columns that change in this row.")


class Diff(_Told):
    counts: Counts
    columns: list[ColumnChanges]
    rows: list[ChangedRow]
    next: str | None = Field(description="Begin the next page after this row: `after`.")
    matching: int = Field(description="So many rows were asked for, on all pages together.")
    sampled: bool = Field(description="Not everything could be looked at: some figure or choice stands for a part.")


class Comment(_Told):
    comment_id: str
    change_request_id: str
    kind: Literal["comment", "changes_requested"]
    author: str
    text: str
    row_id: str | None
    column: str | None
    staging_version: int | None = Field(description="What was staged when it was said.")
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None


class Reason(_Told):
    code: str
    message: str
    remedy: str


class Standing(_Told):
    change_request_id: str
    state: CRState
    base_version: int | None
    main_version: int
    commits: int = Field(description="Change requests that were merged since its base.")
    rows_overlapping: int = Field(description="Rows that both it and main changed since.")
    conflicts: int = Field(description="Cells and rows that a person would have to settle.")
    capped: bool = Field(description="There are more of them than were looked at.")
    approvals: int
    approvals_needed: int
    approved_by_me: bool
    warnings: list[str] = Field(description="Failed checks whose reasons an approval must give.")
    changes_requested: list[Comment]
    can_approve: bool
    reasons: list[Reason] = Field(description="All that speaks against your approval.")


class PartRejected(ChangeRequestCard):
    rows_rejected: int
    follow_up: str | None


class Conflict(_Told):
    row_id: str
    column: str | None
    base: Any
    staged: Any
    main: Any


class Conflicts(_Told):
    base_version: int
    main_version: int
    conflicts: list[Conflict]


class Rows(_Told):
    rows: list[dict[str, Any]]
    version: int
    next: int | None = Field(description="Where the next page begins: `offset`.")


class Commit(_Told):
    version: int
    timestamp: datetime
    operation: str
    commit_id: str | None
    change_request_id: str | None
    author: str | None
    approvers: list[str]
    note: str | None
    metrics: dict[str, Any]


class AuditEvent(_Told):
    seq: int
    at: datetime
    actor: str
    action: str
    project: str | None
    dataset: str | None
    subject: str | None
    details: dict[str, Any]
    hash: str
    prev_hash: str


class Chain(_Told):
    events: int
    intact: bool
    head: str


class Job(_Told):
    job_id: str
    kind: str = Field(examples=["maintain optimize"])
    state: Literal["waiting", "running", "done", "failed"]
    created_by: str
    created_at: datetime
    finished_at: datetime | None
    result: Any
    error: ErrorBody | None


class Health(_Told):
    status: Literal["ok"]
    version: str
    root: str


class TableRows(_Told):
    rows: list[dict[str, Any]]


class LiveCounts(_Told):
    inserted: int
    updated: int
    deleted: int
    cells: int
    failed_fatal: int
    failed_warning: int
    failed_info: int


class LiveSession(_Told):
    session_id: str
    project: str
    dataset: str
    owner: str
    state: Literal["open", "submitted", "closed", "discarded", "expired"]
    base_version: int
    main_version: int | None
    where: list[str]
    created_at: datetime
    expires_at: datetime
    change_request_id: str | None
    counts: LiveCounts | None = Field(description="Null in a list, and where its edits are gone.")
    edits: int | None
    bytes: int | None
    max_bytes: int | None
    can_undo: bool
    can_redo: bool


class FailedCheck(_Told):
    check: str
    severity: Literal["fatal", "warning", "info"]
    expected: str


class CellVerdict(_Told):
    failed: list[FailedCheck]
    not_judged: list[str] = Field(description="Checks that need more than this value; they run on submission.")


class EditedCell(_Told):
    row_id: str
    column: str
    old: str | None
    new: str | None
    validation: CellVerdict


class LiveEdit(_Told):
    session_id: str
    row_ids: list[str]
    cells: list[EditedCell]
    counts: LiveCounts
    can_undo: bool
    can_redo: bool


class LiveRow(_Told):
    row_id: str
    change: Literal["inserted", "updated", "deleted", "unchanged"]
    values: dict[str, Any]
    old: dict[str, Any] = Field(description="What the base has in the cells that are changed.")
    failed: dict[str, list[FailedCheck]]
    others: list[str] = Field(description="Who else has this row changed.")


class LiveRows(_Told):
    rows: list[LiveRow]
    columns: list[str]
    version: int
    next: int | None = Field(description="Where the next page begins: `offset`.")


class Overlap(_Told):
    row_id: str
    columns: list[str] = Field(description="Empty: the row is deleted or added there.")
    owner: str
    session_id: str


class Overlaps(_Told):
    rows: list[Overlap]


class LiveSubmitted(ChangeRequestCard):
    session_id: str
