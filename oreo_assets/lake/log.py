"""Facts of a Delta log, read by delta-rs in milliseconds and without a JVM."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..model.commit import MERGED, CommitMetadata, marker_of
from ..model.errors import NotFoundError

if TYPE_CHECKING:
    from deltalake import DeltaTable


@dataclass(frozen=True)
class Commit:
    """One version of a table, and what its commit says of itself."""

    version: int
    timestamp: datetime
    operation: str
    metrics: dict[str, Any]
    metadata: CommitMetadata | None

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "version": self.version,
            "timestamp": self.timestamp.isoformat(),
            "operation": self.operation,
            "commit_id": None,
            "change_request_id": None,
            "author": None,
            "approvers": [],
            "note": None,
            "metrics": self.metrics,
        }
        if meta := self.metadata:
            body.update(
                commit_id=meta.commit_id,
                change_request_id=meta.change_request_id,
                author=meta.author,
                approvers=list(meta.approvers),
                note=meta.note,
                mode=meta.mode,
                source_sha256=meta.source_sha256,
                validation_run_id=meta.validation_run_id,
                schema_fingerprint=meta.schema_fingerprint,
                attempts=meta.attempts,
            )
        return body


def table_exists(uri: str) -> bool:
    from deltalake import DeltaTable

    return DeltaTable.is_deltatable(uri)


def open_table(uri: str, version: int | None = None) -> DeltaTable:
    """The JVM-free handle of a table."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    try:
        if version is None:
            return DeltaTable(uri)
        # Asked for a version in the far future, delta-rs would look for each one on the way there.
        if version > DeltaTable(uri).version():
            raise _no_version(uri, version)
        return DeltaTable(uri, version=version)
    except TableNotFoundError as error:
        raise NotFoundError(f"There is no Delta table at {uri}.", "Run: oreo recover") from error
    except DeltaError as error:
        if version is None:
            raise
        raise _no_version(uri, version) from error


def current_version(uri: str) -> int:
    return open_table(uri).version()


def is_committed(uri: str, change_request_id: str) -> bool:
    """Whether the log carries the change request's marker: the one proof that it was merged."""
    return (open_table(uri).transaction_version(marker_of(change_request_id)) or 0) >= MERGED


def find_commit(uri: str, change_request_id: str) -> Commit | None:
    """The commit that merged a change request."""
    for commit in commits(uri):
        if commit.metadata and commit.metadata.change_request_id == change_request_id:
            return commit
    return None


def commits(uri: str, limit: int | None = None) -> list[Commit]:
    """The newest first."""
    return [_commit(entry) for entry in open_table(uri).history(limit)]


def version_at(uri: str, moment: datetime) -> int:
    """The version that was current at a moment."""
    earlier = [c for c in commits(uri) if c.timestamp <= moment.astimezone(UTC)]
    if not earlier:
        raise NotFoundError(
            f"There was no version yet at {moment.isoformat()}.",
            "See when the first was made: oreo history P/D",
        )
    return max(c.version for c in earlier)


def file_facts(uri: str) -> tuple[int, int]:
    """How many live data files, and their bytes."""
    import pyarrow as pa

    actions = pa.table(open_table(uri).get_add_actions(flatten=True))
    return actions.num_rows, sum(actions.column("size_bytes").to_pylist())


def _no_version(uri: str, version: int) -> NotFoundError:
    return NotFoundError(
        f"Version {version} of {uri} is not there (never was, or vacuumed away).", "See: oreo history P/D"
    )


def _commit(entry: dict[str, Any]) -> Commit:
    return Commit(
        version=entry["version"],
        timestamp=datetime.fromtimestamp(entry["timestamp"] / 1000, UTC),
        operation=entry.get("operation", ""),
        metrics=entry.get("operationMetrics") or {},
        metadata=CommitMetadata.from_json(entry.get("userMetadata")),
    )
