"""The states of a change request, and which may follow which."""

from __future__ import annotations

from enum import StrEnum


class CRState(StrEnum):
    """Where a change request is in its life."""

    RECEIVED = "received"
    CONVERTED = "converted"
    STAGED = "staged"
    CHECKED = "checked"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    MERGING = "merging"
    MERGED = "merged"
    CLOSED = "closed"
    REFUSED = "refused"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    CONFLICTED = "conflicted"
    FAILED = "failed"
    EXPIRED = "expired"

    @property
    def is_final(self) -> bool:
        return not NEXT[self]

    @property
    def is_open(self) -> bool:
        """Whether somebody or something may still work on it."""
        return self not in {CRState.MERGED, CRState.CLOSED} and bool(NEXT[self] - {CRState.CLOSED})


_S = CRState
_ENDINGS = frozenset({_S.FAILED, _S.WITHDRAWN, _S.EXPIRED})

NEXT: dict[CRState, frozenset[CRState]] = {
    _S.RECEIVED: _ENDINGS | {_S.CONVERTED},
    _S.CONVERTED: _ENDINGS | {_S.STAGED},
    _S.STAGED: _ENDINGS | {_S.CHECKED, _S.STAGED, _S.CONVERTED},
    _S.CHECKED: _ENDINGS | {_S.IN_REVIEW, _S.REFUSED},
    _S.IN_REVIEW: _ENDINGS | {_S.APPROVED, _S.REJECTED, _S.STAGED, _S.CONVERTED},
    _S.APPROVED: _ENDINGS | {_S.MERGING, _S.REJECTED, _S.IN_REVIEW},
    _S.MERGING: frozenset({_S.MERGED, _S.CONFLICTED, _S.IN_REVIEW, _S.APPROVED}),
    _S.MERGED: frozenset({_S.CLOSED}),
    _S.CONFLICTED: _ENDINGS | {_S.REJECTED, _S.STAGED, _S.CONVERTED},
    _S.FAILED: frozenset({_S.RECEIVED, _S.WITHDRAWN, _S.EXPIRED}),
    _S.CLOSED: frozenset(),
    _S.REFUSED: frozenset(),
    _S.REJECTED: frozenset(),
    _S.WITHDRAWN: frozenset(),
    _S.EXPIRED: frozenset(),
}


class Mode(StrEnum):
    """What a change request does to the rows of main."""

    UPSERT = "upsert"
    APPEND = "append"
    REPLACE = "replace"
    DELETE = "delete"
    PATCH = "patch"


CHANGE = "_change"
"""The column of a patch in which each row says what becomes of it. No dataset can have one of that name."""


class RowChange(StrEnum):
    """What one row of a patch does: it is written over main's (or added), or main's is deleted."""

    UPSERT = "upsert"
    DELETE = "delete"


class Severity(StrEnum):
    """What a failed check means: it blocks, it is put before the reviewer, or it is only told."""

    FATAL = "fatal"
    WARNING = "warning"
    INFO = "info"


class Role(StrEnum):
    """What a person may do in a project; each includes what stands before it."""

    VIEWER = "viewer"
    CONTRIBUTOR = "contributor"
    REVIEWER = "reviewer"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)
