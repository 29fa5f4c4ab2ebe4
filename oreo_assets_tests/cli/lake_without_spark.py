"""Datasets and change requests made by delta-rs and the catalog alone, so that reading them needs no JVM."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from oreo_assets.catalog.change_requests import transition
from oreo_assets.catalog.models import ChangeRequest, Dataset, Project, Upload, ValidationRun
from oreo_assets.lake.diff import ChangeSet, content_hash, count_changes
from oreo_assets.lake.read import TableAt
from oreo_assets.model.commit import CommitMetadata
from oreo_assets.model.ids import new_id
from oreo_assets.model.spec import DatasetSpec
from oreo_assets.model.states import CRState, Mode, Severity
from oreo_assets.quality import documents
from oreo_assets.quality.documents import RunFacts
from oreo_assets.quality.outcomes import CheckOutcome, CheckStatus, FailingRow, Scope, Verdict
from oreo_assets.quality.store import write_run
from oreo_assets.workflow.datasets import sync_meta
from oreo_assets.workflow.workspace import Workspace

ORDERS = DatasetSpec.model_validate(
    {
        "project": "shop",
        "dataset": "orders",
        "description": "Orders of the web shop",
        "owners": ["team:sales"],
        "columns": [
            {"name": "order_id", "type": "string", "nullable": False},
            {"name": "amount", "type": "decimal(38,2)"},
            {"name": "ordered_on", "type": "date"},
        ],
        "key": ["order_id"],
        "expectations": [
            {
                "type": "expect_column_values_to_be_between",
                "column": "amount",
                "min_value": 0,
                "severity": "warning",
            }
        ],
    }
)
WARNING = "values_to_be_between__amount"
_SCHEMA = pa.schema(
    [
        ("row_id", pa.string()),
        ("order_id", pa.string()),
        ("amount", pa.decimal128(38, 2)),
        ("ordered_on", pa.date32()),
    ]
)


def rows(*items: tuple[str, str | None]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "row_id": order_id,
                "order_id": order_id,
                "amount": None if amount is None else Decimal(amount),
                "ordered_on": date(2026, 1, 31),
            }
            for order_id, amount in items
        ],
        schema=_SCHEMA,
    )


def register(ws: Workspace, spec: DatasetSpec) -> None:
    """The catalog's rows of a dataset, and its main table: version 0 empty, version 1 with three rows."""
    layout = ws.layout(spec.ref)
    layout.create_folders()
    write_deltalake(layout.main, rows())
    told = CommitMetadata(
        "co_first",
        "cr_first",
        "con",
        ("rev",),
        note="The first [orders]",
        mode=Mode.UPSERT,
        source_sha256="0" * 64,
    )
    first = rows(("A1", "12.50"), ("A2", None), ("A3", "90071992547409931234567.01"))
    write_deltalake(
        layout.main,
        first,
        mode="append",
        commit_properties=CommitProperties(custom_metadata={"userMetadata": told.to_json()}),
    )
    with ws.catalog.write() as tx:
        tx.add(Project(id=spec.project, created_by="ada"))
        tx.flush()
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


def put_in_review(
    ws: Workspace, spec: DatasetSpec, *, warning: bool = False, fatal: bool = False, author: str = "con"
) -> str:
    """A change request that updates A1 and adds A4, staged and checked. `fatal` has it refused."""
    cr_id, upload_id, run_id = new_id("cr"), new_id("up"), new_id("vr")
    layout = ws.layout(spec.ref)
    write_deltalake(layout.staging(cr_id), rows(("A1", "-5.00"), ("A2", None), ("A4", "7.00")))
    staged = TableAt("staged", layout.staging(cr_id), 0)
    outcomes = _outcomes(warning, fatal)
    verdict = Verdict.of(outcomes)
    facts = RunFacts(run_id, str(spec.ref), cr_id, 0, content_hash(staged), spec.suite_hash, "1", "then", "now")
    summary = documents.summary(facts, outcomes, verdict)
    write_run(layout.validation_run(run_id), summary, documents.full(facts, outcomes, verdict))
    counts = count_changes(ChangeSet.of(layout.main, 1, staged.uri, 0, Mode.UPSERT))
    of = {"project": spec.project, "dataset": spec.dataset}
    with ws.catalog.write() as tx:
        tx.add(Upload(id=upload_id, file_name="orders.csv", extension="csv", bytes=1234, rows_read=3, **of))
        tx.flush()
        cr = ChangeRequest(
            id=cr_id,
            state=CRState.RECEIVED,
            mode=Mode.UPSERT,
            author=author,
            note="October",
            upload_id=upload_id,
            **of,
        )
        tx.add(cr)
        tx.flush()
        tx.add(
            ValidationRun(
                id=run_id,
                change_request_id=cr_id,
                staging_version=0,
                content_hash=facts.content_hash,
                suite_hash=spec.suite_hash,
                base_version=1,
                blocks=verdict.blocks,
                summary=summary,
                **of,
            )
        )
        found: dict[str, Any] = {
            "base_version": 1,
            "staging_version": 0,
            "content_hash": facts.content_hash,
            "suite_hash": spec.suite_hash,
            "validation_run_id": run_id,
            "counts": counts.as_json(),
            "checks": {
                "passed": verdict.passed,
                "failed_fatal": verdict.failed_fatal,
                "failed_warning": verdict.failed_warning,
            },
        }
        ending = CRState.REFUSED if verdict.blocks else CRState.IN_REVIEW
        for state in (CRState.CONVERTED, CRState.STAGED, CRState.CHECKED):
            transition(tx, cr, state, actor="system")
        transition(tx, cr, ending, actor="system", **found)
    return cr_id


def _outcomes(warning: bool, fatal: bool) -> list[CheckOutcome]:
    bad = (FailingRow("A1", {"order_id": "A1"}, {"amount": "-5.00"}),)
    outcomes = [
        CheckOutcome("not_null", "oreo", Severity.FATAL, CheckStatus.PASSED, Scope.ROWS, "no nulls", "none"),
    ]
    for wanted, severity in ((warning, Severity.WARNING), (fatal, Severity.FATAL)):
        if wanted:
            name = WARNING if severity is Severity.WARNING else "never_negative"
            outcomes.append(
                CheckOutcome(name, "oreo", severity, CheckStatus.FAILED, Scope.ROWS, ">= 0", "1 of 3", 1, bad)
            )
    return outcomes
