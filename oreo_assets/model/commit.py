"""What every commit to main carries with it: who, what, why, and on which grounds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class CommitMetadata:
    """Written into the Delta log with the commit, so that the table alone can tell its story."""

    commit_id: str
    change_request_id: str | None
    author: str
    approvers: tuple[str, ...] = ()
    note: str = ""
    mode: str = ""
    source_sha256: str | None = None
    schema_fingerprint: str | None = None
    validation_run_id: str | None = None
    attempts: int = 1
    fence: int | None = None
    engine: str = "spark"

    def to_json(self) -> str:
        return json.dumps({"oreo": asdict(self)}, sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | None) -> CommitMetadata | None:
        """What a commit says of itself; None for commits that are not ours (or of maintenance)."""
        if not text or not text.startswith("{"):
            return None
        try:
            body: dict[str, Any] = json.loads(text).get("oreo") or {}
        except json.JSONDecodeError:
            return None
        if "commit_id" not in body:
            return None
        known = {f.name for f in fields(cls)}
        body = {name: value for name, value in body.items() if name in known}
        body["approvers"] = tuple(body.get("approvers") or ())
        return cls(**body)


def marker_of(change_request_id: str) -> str:
    """The application id under which Delta remembers that a change request was committed."""
    return f"oreo/{change_request_id}"


MERGED = 2**40
"""The marker's version that says: merged. Lower ones only fence off an attempt that was given up."""
