"""The catalog's tables. `migrations/` says how they came to be; a test holds the two together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from ..model.ids import DatasetRef
from ..model.states import CRState, Mode, Role


class UTCDateTime(TypeDecorator[datetime]):
    """Always aware, always UTC: SQLite forgets the zone, Postgres shows the server's."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Word(TypeDecorator[Any]):
    """A StrEnum stored as its word, so that a new member needs no migration."""

    impl = String(32)
    cache_ok = True

    def __init__(self, enum: type) -> None:
        super().__init__()
        self.enum = enum

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self.enum(value)


class Base(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it so
        datetime: UTCDateTime,
        dict[str, Any]: JSON,
        list[Any]: JSON,
        str: String(255),
        CRState: Word(CRState),
        Mode: Word(Mode),
        Role: Word(Role),
    }


def now() -> datetime:
    return datetime.now(UTC)


class Project(Base):
    __tablename__ = "projects"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=now)


class Dataset(Base):
    """A dataset and the spec in force."""

    __tablename__ = "datasets"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(64), primary_key=True)
    spec: Mapped[dict[str, Any]]
    fingerprint: Mapped[str] = mapped_column(String(64))
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)

    @property
    def ref(self) -> DatasetRef:
        return DatasetRef(self.project, self.dataset)


class _OfDataset:
    """Belongs to a dataset."""

    project: Mapped[str] = mapped_column(String(64))
    dataset: Mapped[str] = mapped_column(String(64))

    @property
    def ref(self) -> DatasetRef:
        return DatasetRef(self.project, self.dataset)


def _to_dataset() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project", "dataset"], ["datasets.project", "datasets.dataset"])


class DatasetMeta(Base):
    """Facts of main as of its last commit."""

    __tablename__ = "dataset_meta"
    __table_args__ = (_to_dataset(),)

    project: Mapped[str] = mapped_column(String(64), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(64), primary_key=True)
    delta_version: Mapped[int] = mapped_column(BigInteger)
    last_commit_id: Mapped[str | None]
    row_count: Mapped[int] = mapped_column(BigInteger)
    file_count: Mapped[int] = mapped_column(BigInteger)
    bytes: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[datetime] = mapped_column(default=now)


class Upload(_OfDataset, Base):
    """A file as it came, and what converting it found."""

    __tablename__ = "uploads"
    __table_args__ = (_to_dataset(),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    file_name: Mapped[str] = mapped_column(Text)
    extension: Mapped[str] = mapped_column(String(16))
    sheet: Mapped[str | None] = mapped_column(Text)
    set_aside: Mapped[bool] = mapped_column(default=False)
    renames: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    keeps_row_id: Mapped[bool] = mapped_column(default=False)
    bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(String(64))
    rows_read: Mapped[int | None] = mapped_column(BigInteger)
    rows_rejected: Mapped[int | None] = mapped_column(BigInteger)
    conversion: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ChangeRequest(_OfDataset, Base):
    """One change on its way into main."""

    __tablename__ = "change_requests"
    __table_args__ = (
        _to_dataset(),
        # Lets an approval name the author with proof, so that four eyes are the database's rule too.
        UniqueConstraint("id", "author", name="uq_change_requests_id_author"),
        Index("ix_change_requests_dataset", "project", "dataset", "state"),
        Index("ix_change_requests_state", "state"),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[CRState]
    mode: Mapped[Mode]
    author: Mapped[str]
    note: Mapped[str] = mapped_column(Text, default="")
    upload_id: Mapped[str | None] = mapped_column(ForeignKey("uploads.id"))
    base_version: Mapped[int | None] = mapped_column(BigInteger)
    staging_version: Mapped[int | None] = mapped_column(BigInteger)
    content_hash: Mapped[str | None] = mapped_column(String(64))
    suite_hash: Mapped[str | None] = mapped_column(String(64))
    validation_run_id: Mapped[str | None] = mapped_column(String(64))
    counts: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    checks: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    new_columns: Mapped[list[Any] | None] = mapped_column(JSON)
    rebase: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    follows: Mapped[str | None] = mapped_column(String(64))
    attempts: Mapped[int] = mapped_column(default=0)
    merged_version: Mapped[int | None] = mapped_column(BigInteger)
    commit_id: Mapped[str | None] = mapped_column(String(64))
    reason: Mapped[str | None] = mapped_column(Text)
    error: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)


class Approval(Base):
    """One person's yes to exactly one staged state. The database itself refuses the author's."""

    __tablename__ = "approvals"
    __table_args__ = (
        ForeignKeyConstraint(["change_request_id", "author"], ["change_requests.id", "change_requests.author"]),
        CheckConstraint("approver <> author", name="ck_approvals_four_eyes"),
        Index(
            "uq_approvals_one_valid_each",
            "change_request_id",
            "approver",
            unique=True,
            sqlite_where=text("voided_at IS NULL"),
            postgresql_where=text("voided_at IS NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    change_request_id: Mapped[str] = mapped_column(String(64))
    author: Mapped[str]
    approver: Mapped[str]
    staging_version: Mapped[int] = mapped_column(BigInteger)
    content_hash: Mapped[str] = mapped_column(String(64))
    base_version: Mapped[int] = mapped_column(BigInteger)
    suite_hash: Mapped[str] = mapped_column(String(64))
    acknowledged: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(default=now)
    voided_at: Mapped[datetime | None]
    void_reason: Mapped[str | None] = mapped_column(Text)


class Editor(Base):
    """Who had a hand in what a change request holds. The database refuses their approval (a trigger)."""

    __tablename__ = "editors"

    change_request_id: Mapped[str] = mapped_column(ForeignKey("change_requests.id"), primary_key=True)
    editor: Mapped[str] = mapped_column(primary_key=True)


class ValidationRun(_OfDataset, Base):
    """One run of a suite, bound to the staged version and the suite it judged."""

    __tablename__ = "validation_runs"
    __table_args__ = (_to_dataset(), Index("ix_validation_runs_cr", "change_request_id"))

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    change_request_id: Mapped[str] = mapped_column(ForeignKey("change_requests.id"))
    staging_version: Mapped[int] = mapped_column(BigInteger)
    content_hash: Mapped[str] = mapped_column(String(64))
    suite_hash: Mapped[str] = mapped_column(String(64))
    base_version: Mapped[int] = mapped_column(BigInteger)
    blocks: Mapped[bool]
    summary: Mapped[dict[str, Any]]
    finished_at: Mapped[datetime] = mapped_column(default=now)


class LiveSession(_OfDataset, Base):
    """One person's cell edits that are not yet a change request."""

    __tablename__ = "live_sessions"
    __table_args__ = (_to_dataset(), Index("ix_live_sessions_dataset", "project", "dataset", "state"))

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    owner: Mapped[str]
    state: Mapped[str] = mapped_column(String(32))
    base_version: Mapped[int] = mapped_column(BigInteger)
    filters: Mapped[list[Any] | None]
    change_request_id: Mapped[str | None] = mapped_column(ForeignKey("change_requests.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class Tag(_OfDataset, Base):
    """A named version of main that vacuum keeps."""

    __tablename__ = "tags"
    __table_args__ = (_to_dataset(),)

    project: Mapped[str] = mapped_column(String(64), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[int] = mapped_column(BigInteger)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=now)


class User(Base):
    """Who may do things. Only a hash of the token is kept."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    revoked_at: Mapped[datetime | None]


class Grant(Base):
    """A role in one project, or in all of them (`*`)."""

    __tablename__ = "grants"

    user: Mapped[str] = mapped_column(ForeignKey("users.name"), primary_key=True)
    project: Mapped[str] = mapped_column(String(64), primary_key=True)
    role: Mapped[Role]


class AuditEvent(Base):
    """One link of the audit chain: `hash` covers the event and the link before it."""

    __tablename__ = "audit_events"
    __table_args__ = (Index("ix_audit_events_dataset", "project", "dataset"),)

    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    actor: Mapped[str]
    action: Mapped[str]
    project: Mapped[str | None] = mapped_column(String(64))
    dataset: Mapped[str | None] = mapped_column(String(64))
    subject: Mapped[str | None]
    details: Mapped[dict[str, Any]]
    prev_hash: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))


class IdempotencyKey(Base):
    """A request that was sent with a key of its sender's, and (once there is one) what it was answered."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (Index("ix_idempotency_keys_created_at", "created_at"),)

    user: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int | None]
    answer: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Lease(Base):
    """Who may write a dataset's main now. `fence` grows with each holder and never shrinks."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(String(160), primary_key=True)
    holder: Mapped[str | None]
    fence: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[datetime]


class Comment(_OfDataset, Base):
    """What somebody said about a change request: about all of it, one row, or one cell.

    `staging_version` is what they were looking at, so that a wish for changes ends when it is staged anew.
    """

    __tablename__ = "comments"
    __table_args__ = (
        _to_dataset(),
        CheckConstraint('"column" IS NULL OR row_id IS NOT NULL', name="ck_comments_cell_has_row"),
        Index("ix_comments_change_request", "change_request_id", "id"),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    change_request_id: Mapped[str] = mapped_column(ForeignKey("change_requests.id"))
    kind: Mapped[str] = mapped_column(String(32), default="comment")
    row_id: Mapped[str | None] = mapped_column(Text)
    column: Mapped[str | None]
    author: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    staging_version: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=now)
    resolved_at: Mapped[datetime | None]
    resolved_by: Mapped[str | None]


class HeaderMap(Base):
    """Which header of a file means which column, as people chose it for a dataset before."""

    __tablename__ = "header_maps"
    __table_args__ = (_to_dataset(),)

    project: Mapped[str] = mapped_column(String(64), primary_key=True)
    dataset: Mapped[str] = mapped_column(String(64), primary_key=True)
    columns: Mapped[dict[str, Any]]
    updated_by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(default=now)
