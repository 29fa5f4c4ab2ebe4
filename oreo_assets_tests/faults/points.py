"""The named crash points, in the order in which a change request meets them."""

from __future__ import annotations

import os

ALL = os.environ.get("OREO_FAULTS") == "all"
"""`make faults` takes every point with every fault; `make test` leaves out those that hardly differ from another."""

BEFORE_THE_MERGE = {
    "upload.received": "the catalog knows the file, which is not converted",
    "upload.converted": "converted, the catalog not told",
    "stage.written": "staged, the catalog not told",
    "stage.recorded": "staged, not checked",
    "validate.half_stored": "full.json written, summary.json not",
    "validate.stored": "both documents written, the catalog not told",
    "validate.recording": "inside the catalog's transaction",
    "approve.recording": "inside the catalog's transaction",
    "approve.recorded": "approved, not merged",
}
AROUND_THE_MERGE = {
    "merge.leased": "the dataset held, nothing done",
    "merge.verified": "verified, not begun",
    "merge.started": "state merging, nothing written",
    "merge.committed": "in the log, caller unaware",
    "merge.proven": "marker read back, catalog not told",
    "merge.recording": "inside the catalog's transaction",
    "merge.recorded": "state merged, staging there",
    "staging.half_deleted": "staging half deleted",
    "merge.staging_deleted": "staging deleted, state not closed",
}
WHAT = {**BEFORE_THE_MERGE, **AROUND_THE_MERGE}
_ONLY_AT_LENGTH = {"stage.recorded", "validate.stored", "validate.recording", "merge.verified", "merge.proven"}
CHOSEN = [point for point in WHAT if ALL or point not in _ONLY_AT_LENGTH]

IN_RECOVERY = [
    ("merge.started", "merge.fenced"),
    ("merge.committed", "merge.recording"),
    ("merge.started", "recovery.undoing"),
    ("merge.recorded", "staging.half_deleted"),
    ("merge.committed", "recovery.merges_done"),
]
CHOSEN_IN_RECOVERY = IN_RECOVERY if ALL else IN_RECOVERY[:2]
