"""Datasets and change requests put into a root by hand: by delta-rs and the catalog alone, without Spark."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from oreo_assets.catalog.change_requests import transition
from oreo_assets.catalog.models import Approval, ChangeRequest, Comment, Dataset, Upload, ValidationRun
from oreo_assets.lake.diff import ChangeSet, content_hash, count_changes
from oreo_assets.lake.read import TableAt
from oreo_assets.model.commit import CommitMetadata
from oreo_assets.model.ids import new_id
from oreo_assets.model.spec import DatasetSpec
from oreo_assets.model.states import CRState, Mode
from oreo_assets.quality import documents
from oreo_assets.quality.documents import RunFacts
from oreo_assets.quality.outcomes import CheckOutcome, Verdict
from oreo_assets.quality.store import write_run
from oreo_assets.workflow.datasets import sync_meta
from oreo_assets.workflow.workspace import Workspace

SCHEMA = pa.schema(
    [
        ("row_id", pa.string()),
        ("order_id", pa.string()),
        ("customer", pa.string()),
        ("country", pa.string()),
        ("status", pa.string()),
        ("amount", pa.decimal128(12, 2)),
        ("ordered_on", pa.date32()),
    ]
)


Row = dict[str, Any]


@dataclass
class Team:
    """The root, its people's tokens, and the change requests by what they are an example of."""

    ws: Workspace
    spec: DatasetSpec
    tokens: dict[str, str]
    change_requests: dict[str, str] = field(default_factory=dict)


def stage(
    team: Team,
    rows: Sequence[Row],
    note: str,
    author: str,
    *,
    outcomes: Sequence[CheckOutcome],
    file_name: str = "orders.csv",
) -> str:
    """A change request with these rows, staged and checked: in review, or refused if a fatal check failed."""
    ws, spec = team.ws, team.spec
    layout = ws.layout(spec.ref)
    base = DeltaTable(layout.main).version()
    with ws.catalog.write() as tx:
        cr = request_of(spec, note, author, upload_of(tx, spec, file_name, len(rows)), Mode.UPSERT)
        tx.add(cr)
        tx.flush()
        for state in (CRState.CONVERTED, CRState.STAGED, CRState.CHECKED):
            transition(tx, cr, state, actor="system")
    write_deltalake(layout.staging(cr.id), pa.Table.from_pylist(list(rows), schema=SCHEMA))
    staged = TableAt("staged", layout.staging(cr.id), 0)
    hashed = content_hash(staged)
    run_id, verdict = new_id("vr"), Verdict.of(outcomes)
    facts = RunFacts(run_id, str(spec.ref), cr.id, 0, hashed, spec.suite_hash, "1.24", _iso(), _iso())
    summary = documents.summary(facts, outcomes, verdict)
    write_run(layout.validation_run(run_id), summary, documents.full(facts, outcomes, verdict))
    counts = count_changes(ChangeSet.of(layout.main, base, staged.uri, 0, Mode.UPSERT))
    with ws.catalog.write() as tx:
        tx.add(
            ValidationRun(
                id=run_id,
                change_request_id=cr.id,
                staging_version=0,
                content_hash=hashed,
                suite_hash=spec.suite_hash,
                base_version=base,
                blocks=verdict.blocks,
                summary=summary,
                project=spec.project,
                dataset=spec.dataset,
            )
        )
        transition(
            tx,
            tx.get_one(ChangeRequest, cr.id),
            CRState.REFUSED if verdict.blocks else CRState.IN_REVIEW,
            actor="system",
            base_version=base,
            staging_version=0,
            content_hash=hashed,
            suite_hash=spec.suite_hash,
            validation_run_id=run_id,
            counts=counts.as_json(),
            checks={n: getattr(verdict, n) for n in ("passed", "failed_fatal", "failed_warning")},
            reason="a fatal check failed" if verdict.blocks else None,
        )
    return cr.id


def merge(team: Team, cr_id: str, rows: Sequence[Row], approvers: Sequence[str]) -> str:
    """What a merge leaves behind of a change request with these rows: a commit, its metadata, and the state."""
    ws, spec = team.ws, team.spec
    with ws.catalog.write() as tx:
        cr = tx.get_one(ChangeRequest, cr_id)
        for name in approvers:
            approve_for(tx, cr, name)
        for state in (CRState.APPROVED, CRState.MERGING):
            transition(tx, cr, state, actor=approvers[-1])
    commit_id = new_id("co")
    told = CommitMetadata(commit_id, cr_id, cr.author, tuple(approvers), note=cr.note, mode=Mode.UPSERT)
    main = DeltaTable(ws.layout(spec.ref).main)
    (
        main.merge(
            pa.Table.from_pylist(list(rows), schema=SCHEMA),
            "s.row_id = t.row_id",
            source_alias="s",
            target_alias="t",
            commit_properties=CommitProperties(custom_metadata={"userMetadata": told.to_json()}),
        )
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute()
    )
    with ws.catalog.write() as tx:
        cr = tx.get_one(ChangeRequest, cr_id)
        transition(
            tx,
            cr,
            CRState.MERGED,
            actor="system",
            merged_version=DeltaTable(main.table_uri).version(),
            commit_id=commit_id,
        )
        transition(tx, cr, CRState.CLOSED, actor="system")
        sync_meta(ws, tx, spec.ref)
    return cr_id


def request_of(spec: DatasetSpec, note: str, author: str, upload_id: str, mode: Mode) -> ChangeRequest:
    """A change request that has just been received."""
    return ChangeRequest(
        id=new_id("cr"),
        state=CRState.RECEIVED,
        mode=mode,
        author=author,
        note=note,
        upload_id=upload_id,
        project=spec.project,
        dataset=spec.dataset,
    )


def upload_of(tx: Any, spec: DatasetSpec, file_name: str, rows: int = 60) -> str:
    """A file that somebody sent; its id."""
    upload = Upload(
        id=new_id("up"),
        file_name=file_name,
        extension=file_name.rpartition(".")[2],
        bytes=rows * 71 + 48,
        sha256=f"{random.Random(file_name).getrandbits(256):064x}",
        rows_read=rows,
        rows_rejected=0,
        project=spec.project,
        dataset=spec.dataset,
    )
    tx.add(upload)
    tx.flush()
    return upload.id


def approve_for(tx: Any, cr: ChangeRequest, name: str) -> None:
    """A valid approval of exactly what is staged."""
    tx.add(
        Approval(
            id=new_id("ap"),
            change_request_id=cr.id,
            author=cr.author,
            approver=name,
            staging_version=cr.staging_version,
            content_hash=cr.content_hash,
            base_version=cr.base_version,
            suite_hash=cr.suite_hash,
            acknowledged={},
        )
    )


def say(team: Team, which: str, author: str, text: str, row_id: str | None = None, column: str | None = None) -> None:
    """A comment."""
    with team.ws.catalog.write() as tx:
        tx.add(
            Comment(
                id=new_id("cm"),
                change_request_id=team.change_requests[which],
                author=author,
                text=text,
                row_id=row_id,
                column=column,
                staging_version=0,
                project=team.spec.project,
                dataset=team.spec.dataset,
            )
        )


def register(ws: Workspace, spec: DatasetSpec, schema: pa.Schema) -> None:
    """A dataset with an empty main table."""
    layout = ws.layout(spec.ref)
    layout.create_folders()
    feed = {"delta.enableChangeDataFeed": "true"}
    write_deltalake(layout.main, pa.Table.from_pylist([], schema=schema), configuration=feed)
    with ws.catalog.write() as tx:
        tx.add(
            Dataset(
                project=spec.project,
                dataset=spec.dataset,
                spec=spec.as_json(),
                fingerprint=spec.fingerprint,
                created_by="ada",
            )
        )
        tx.flush()
        sync_meta(ws, tx, spec.ref)


def small_dataset(ws: Workspace, spec: DatasetSpec) -> None:
    """A dataset that was filled in three parts."""
    kinds = {"bigint": pa.int64()}
    schema = pa.schema([("row_id", pa.string()), *((c.name, kinds.get(c.type, pa.string())) for c in spec.columns)])
    register(ws, spec, schema)
    total = 0
    for part, size in enumerate((400, 900, 2500)):
        rows = [
            {
                "row_id": f"{total + n}",
                **{c.name: n if c.type == "bigint" else f"{c.name} {total + n}" for c in spec.columns},
            }
            for n in range(size)
        ]
        total += size
        told = CommitMetadata(new_id("co"), None, "ben", ("chloe",), note=f"Part {part + 1}", mode=Mode.APPEND)
        write_deltalake(
            ws.layout(spec.ref).main,
            pa.Table.from_pylist(rows, schema=schema),
            mode="append",
            commit_properties=CommitProperties(custom_metadata={"userMetadata": told.to_json()}),
        )
    with ws.catalog.write() as tx:
        sync_meta(ws, tx, spec.ref)
    date_back(Path(ws.layout(spec.ref).main), days=18)


def date_back(main: Path, days: int) -> None:
    """Spread the commits over some weeks; only the times that the log tells are changed."""
    files = sorted((main / "_delta_log").glob("*.json"))
    now = datetime.now(UTC) - timedelta(hours=3)
    for place, file in enumerate(files):
        at = now - timedelta(days=days) * (1 - place / max(1, len(files) - 1))
        actions = [json.loads(line) for line in file.read_text().splitlines() if line]
        for action in actions:
            if "commitInfo" in action:
                action["commitInfo"]["timestamp"] = int(at.timestamp() * 1000)
        file.write_text("\n".join(json.dumps(action) for action in actions) + "\n")


def _iso() -> str:
    return datetime.now(UTC).isoformat()
