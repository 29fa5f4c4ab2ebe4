"""A root as a team has it after some weeks: three datasets, a history, and change requests in every state.

Made by delta-rs and the catalog alone, so that pages can be looked at without Spark.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from oreo_assets.catalog.change_requests import transition
from oreo_assets.catalog.models import (
    Approval,
    ChangeRequest,
    Comment,
    Dataset,
    Project,
    Upload,
    ValidationRun,
)
from oreo_assets.catalog.users import Actor, add_user
from oreo_assets.lake.diff import ChangeSet, content_hash, count_changes
from oreo_assets.lake.read import TableAt
from oreo_assets.model.commit import CommitMetadata
from oreo_assets.model.ids import new_id
from oreo_assets.model.spec import DatasetSpec
from oreo_assets.model.states import CRState, Mode, Role, Severity
from oreo_assets.quality import documents
from oreo_assets.quality.documents import RunFacts
from oreo_assets.quality.outcomes import CheckOutcome, CheckStatus, FailingRow, Scope, Verdict
from oreo_assets.quality.store import write_run
from oreo_assets.settings import Settings
from oreo_assets.workflow.datasets import sync_meta
from oreo_assets.workflow.workspace import Workspace

ADMIN = Actor("ada", {"*": Role.ADMIN})
PEOPLE = (("ben", Role.CONTRIBUTOR), ("chloe", Role.REVIEWER), ("dmitri", Role.REVIEWER), ("eva", Role.VIEWER))
_ORDERS = """
project: shop
dataset: orders
description: Orders of the web shop, one row for each order
owners: [team:sales]
columns:
  - {name: order_id, type: string, nullable: false, description: The number on the invoice}
  - {name: customer, type: string}
  - {name: country, type: string, description: Where it is sent}
  - {name: status, type: string}
  - {name: amount, type: "decimal(12,2)", description: In euro with tax}
  - {name: ordered_on, type: date}
key: [order_id]
policies: {conflicts: cell}
expectations:
  - {type: expect_column_values_to_not_be_null, column: order_id, severity: fatal}
  - {type: expect_column_values_to_be_in_set, column: status, value_set: [open, paid, shipped, cancelled],
     severity: fatal, name: known_status}
  - {type: expect_column_values_to_be_between, column: amount, min_value: 0, max_value: 5000, severity: warning,
     name: usual_amount}
  - {type: expect_column_values_to_match_regex, column: country, regex: "^[A-Z]{2}$", severity: info,
     name: country_code}
constraints: {amount_known: "amount IS NOT NULL"}
"""
_OTHERS = """
- project: shop
  dataset: customers
  description: People who bought something
  owners: [team:sales]
  columns: [{name: customer_id, type: string, nullable: false}, {name: name, type: string}, {name: country, type: string}]
  key: [customer_id]
- project: logistics
  dataset: stock
  description: What lies in which warehouse
  owners: [team:logistics]
  columns: [{name: sku, type: string, nullable: false}, {name: warehouse, type: string}, {name: pieces, type: bigint}]
  key: [sku, warehouse]
"""
_SCHEMA = pa.schema(
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
_NAMES = ("Ada Berg", "Ben Costa", "Chloé Dubois", "Dmitri Eriksen", "Eva Fischer", "Hana Ito", "José García")
_COUNTRIES = ("AT", "BE", "CZ", "DE", "DK", "ES", "FR", "IT", "NL", "PL", "SE")
_STATUSES = ("open", "paid", "paid", "shipped", "shipped", "cancelled")

Row = dict[str, Any]


@dataclass
class Team:
    """The root, its people's tokens, and the change requests by what they are an example of."""

    ws: Workspace
    spec: DatasetSpec
    tokens: dict[str, str]
    change_requests: dict[str, str] = field(default_factory=dict)


def make(folder: Path) -> Team:
    """Fill a folder."""
    import yaml

    settings = Settings.from_env({"DELTA_DATA_ROOT": str(folder / "lake"), "OREO_HOME": str(folder / "home")})
    ws = Workspace.open(settings)
    tokens = {"ada": add_user(ws.catalog, None, "ada", Role.ADMIN, None).token}
    for name, role in PEOPLE:
        tokens[name] = add_user(ws.catalog, ADMIN, name, role, None).token
    spec = DatasetSpec.model_validate(yaml.safe_load(_ORDERS))
    team = Team(ws, spec, tokens)
    with ws.catalog.write() as tx:
        tx.add_all([Project(id=name, created_by="ada") for name in ("shop", "logistics")])
    _register(ws, spec, _SCHEMA)
    for other in yaml.safe_load(_OTHERS):
        _small_dataset(ws, DatasetSpec.model_validate(other))
    _fill_orders(team)
    _date_back(Path(ws.layout(spec.ref).main), days=24)
    return team


def _fill_orders(team: Team) -> None:
    chance = random.Random(7)
    table = [order(chance, number) for number in range(1, 261)]
    _merged(team, table[:120], "Orders of October", "ben", ["chloe"], "orders-2026-10.csv")
    _merged(team, table[120:200], "First half of November", "ben", ["dmitri"], "orders-2026-11a.csv")
    shipped = [{**row, "status": "shipped"} for row in table[20:50]]
    team.change_requests["merged"] = _merged(
        team, shipped, "Shipped on the 14th", "chloe", ["dmitri"], "shipped-14.csv"
    )
    changed = [{**row, "status": "paid"} for row in table[60:84] if row["status"] != "paid"]
    changed += [{**row, "amount": row["amount"] + Decimal("12.40")} for row in table[100:118]]
    changed[3] = {**changed[3], "amount": Decimal("-35.00")}
    large = {**table[230], "amount": Decimal("7400.00")}
    changed += [*table[200:230], large, {**table[231], "country": "Österreich"}]
    team.change_requests["in_review"] = stage(
        team, changed, "Second half of November\nRefunds are in it too, as agreed with accounting.", "ben",
        outcomes=outcomes_of([changed[3], large], table[231]), file_name="orders-2026-11b.csv",
    )
    _say(team, "in_review", "dmitri", "Is O-100231 really that large? Never saw an order above 5 000.", large["row_id"], "amount")
    _say(team, "in_review", "ben", "Yes: a whole office was furnished. The invoice is in the archive.")
    wrong = [{**row, "status": "payed"} for row in table[5:9]]
    team.change_requests["refused"] = stage(
        team, wrong, "Corrections by hand", "ben", outcomes=_refusals(wrong), file_name="corrections.xlsx"
    )
    team.change_requests["conflicted"] = _conflict(team, table)
    with team.ws.catalog.write() as tx:
        waiting = _request(team.spec, "Orders of the pop-up shop", "ben", _upload(tx, team.spec, "pop-up.parquet"), Mode.APPEND)
        tx.add(waiting)
        tx.flush()
        transition(tx, waiting, CRState.CONVERTED, actor="system")
    team.change_requests["converted"] = waiting.id


def _conflict(team: Team, table: Sequence[Row]) -> str:
    """Two people change the same orders; the second meets what the first had merged."""
    mine = [{**row, "status": "cancelled", "amount": Decimal("0.00")} for row in table[90:94]]
    cr_id = stage(team, mine, "Cancelled by phone", "ben", outcomes=outcomes_of([], None), file_name="cancelled.csv")
    theirs = [{**row, "status": "shipped", "amount": row["amount"] + 5} for row in table[91:94]]
    _merged(team, theirs, "Shipped on the 18th, with the surcharge", "chloe", ["dmitri"], "shipped-18.csv")
    with team.ws.catalog.write() as tx:
        cr = tx.get_one(ChangeRequest, cr_id)
        _approve(tx, cr, "chloe")
        for state in (CRState.APPROVED, CRState.MERGING):
            transition(tx, cr, state, actor="system")
        transition(tx, cr, CRState.CONFLICTED, actor="system", reason="main changed 3 of its rows too")
    return cr_id


def _merged(team: Team, rows: Sequence[Row], note: str, author: str, approvers: Sequence[str], file_name: str) -> str:
    ws, spec = team.ws, team.spec
    cr_id = stage(team, rows, note, author, outcomes=outcomes_of([], None), file_name=file_name)
    with ws.catalog.write() as tx:
        cr = tx.get_one(ChangeRequest, cr_id)
        for name in approvers:
            _approve(tx, cr, name)
        for state in (CRState.APPROVED, CRState.MERGING):
            transition(tx, cr, state, actor=approvers[-1])
    commit_id = new_id("co")
    told = CommitMetadata(commit_id, cr_id, author, tuple(approvers), note=note.partition("\n")[0], mode=Mode.UPSERT)
    main = DeltaTable(ws.layout(spec.ref).main)
    (
        main.merge(
            pa.Table.from_pylist(list(rows), schema=_SCHEMA),
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
            tx, cr, CRState.MERGED, actor="system", merged_version=DeltaTable(main.table_uri).version(), commit_id=commit_id
        )
        transition(tx, cr, CRState.CLOSED, actor="system")
        sync_meta(ws, tx, spec.ref)
    return cr_id


def stage(
    team: Team,
    rows: Sequence[Row],
    note: str,
    author: str,
    *,
    outcomes: Sequence[CheckOutcome] | None = None,
    file_name: str = "orders.csv",
) -> str:
    """A change request with these rows, staged and checked: in review, or refused if a fatal check failed."""
    outcomes = outcomes_of([], None) if outcomes is None else outcomes
    ws, spec = team.ws, team.spec
    layout = ws.layout(spec.ref)
    base = DeltaTable(layout.main).version()
    with ws.catalog.write() as tx:
        cr = _request(spec, note, author, _upload(tx, spec, file_name, len(rows)), Mode.UPSERT)
        tx.add(cr)
        tx.flush()
        for state in (CRState.CONVERTED, CRState.STAGED, CRState.CHECKED):
            transition(tx, cr, state, actor="system")
    write_deltalake(layout.staging(cr.id), pa.Table.from_pylist(list(rows), schema=_SCHEMA))
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
                id=run_id, change_request_id=cr.id, staging_version=0, content_hash=hashed, suite_hash=spec.suite_hash,
                base_version=base, blocks=verdict.blocks, summary=summary, project=spec.project, dataset=spec.dataset,
            )
        )
        transition(
            tx, tx.get_one(ChangeRequest, cr.id), CRState.REFUSED if verdict.blocks else CRState.IN_REVIEW,
            actor="system", base_version=base, staging_version=0, content_hash=hashed, suite_hash=spec.suite_hash,
            validation_run_id=run_id, counts=counts.as_json(),
            checks={n: getattr(verdict, n) for n in ("passed", "failed_fatal", "failed_warning")},
            reason="a fatal check failed" if verdict.blocks else None,
        )
    return cr.id


def _request(spec: DatasetSpec, note: str, author: str, upload_id: str, mode: Mode) -> ChangeRequest:
    return ChangeRequest(
        id=new_id("cr"), state=CRState.RECEIVED, mode=mode, author=author, note=note, upload_id=upload_id,
        project=spec.project, dataset=spec.dataset,
    )


def _upload(tx: Any, spec: DatasetSpec, file_name: str, rows: int = 60) -> str:
    upload = Upload(
        id=new_id("up"), file_name=file_name, extension=file_name.rpartition(".")[2], bytes=rows * 71 + 48,
        sha256=f"{random.Random(file_name).getrandbits(256):064x}", rows_read=rows, rows_rejected=0,
        project=spec.project, dataset=spec.dataset,
    )
    tx.add(upload)
    tx.flush()
    return upload.id


def _approve(tx: Any, cr: ChangeRequest, name: str) -> None:
    tx.add(
        Approval(
            id=new_id("ap"), change_request_id=cr.id, author=cr.author, approver=name,
            staging_version=cr.staging_version, content_hash=cr.content_hash, base_version=cr.base_version,
            suite_hash=cr.suite_hash, acknowledged={},
        )
    )


def _say(team: Team, which: str, author: str, text: str, row_id: str | None = None, column: str | None = None) -> None:
    with team.ws.catalog.write() as tx:
        tx.add(
            Comment(
                id=new_id("cm"), change_request_id=team.change_requests[which], author=author, text=text, row_id=row_id,
                column=column, staging_version=0, project=team.spec.project, dataset=team.spec.dataset,
            )
        )


def outcomes_of(unusual: Sequence[Row], odd_country: Row | None) -> list[CheckOutcome]:
    """What the checks say: a warning about some rows, a remark about one."""
    passed, failed = CheckStatus.PASSED, CheckStatus.FAILED
    return [
        CheckOutcome("not_null", "oreo", Severity.FATAL, passed, Scope.ROWS, "no null in order_id", "none"),
        CheckOutcome("known_status", "expect_column_values_to_be_in_set", Severity.FATAL, passed, Scope.ROWS,
                     "status is open, paid, shipped or cancelled", "all of them"),
        CheckOutcome("constraint__amount_known", "constraint", Severity.FATAL, passed, Scope.TABLE, "amount IS NOT NULL", "holds"),
        CheckOutcome("usual_amount", "expect_column_values_to_be_between", Severity.WARNING,
                     failed if unusual else passed, Scope.ROWS, "amount between 0 and 5000",
                     f"{len(unusual)} rows outside: -35.00 to 7400.00" if unusual else "all inside",
                     len(unusual), _failing(unusual, "amount"), observed_before="0 rows outside"),
        CheckOutcome("country_code", "expect_column_values_to_match_regex", Severity.INFO,
                     failed if odd_country else passed, Scope.ROWS, "country is two capital letters",
                     "1 row is not: Österreich" if odd_country else "all are", 1 if odd_country else 0,
                     _failing([odd_country] if odd_country else [], "country")),
    ]


def _refusals(rows: Sequence[Row]) -> list[CheckOutcome]:
    return [
        CheckOutcome("known_status", "expect_column_values_to_be_in_set", Severity.FATAL, CheckStatus.FAILED, Scope.ROWS,
                     "status is open, paid, shipped or cancelled", f"{len(rows)} rows are not: payed", len(rows),
                     _failing(rows, "status")),
        *[o for o in outcomes_of([], None) if o.name != "known_status"],
    ]


def _failing(rows: Iterable[Row], column: str) -> tuple[FailingRow, ...]:
    return tuple(FailingRow(r["row_id"], {"order_id": r["order_id"]}, {column: str(r[column])}) for r in rows)


def order(chance: random.Random, number: int) -> Row:
    """An order that somebody could have made."""
    order_id = f"O-{100000 + number}"
    return {
        "row_id": order_id,
        "order_id": order_id,
        "customer": chance.choice(_NAMES),
        "country": chance.choice(_COUNTRIES),
        "status": chance.choice(_STATUSES),
        "amount": Decimal(chance.randrange(990, 250_000)) / 100,
        "ordered_on": date(2026, 10, 1) + timedelta(days=number // 6),
    }


def _register(ws: Workspace, spec: DatasetSpec, schema: pa.Schema) -> None:
    layout = ws.layout(spec.ref)
    layout.create_folders()
    feed = {"delta.enableChangeDataFeed": "true"}
    write_deltalake(layout.main, pa.Table.from_pylist([], schema=schema), configuration=feed)
    with ws.catalog.write() as tx:
        tx.add(
            Dataset(
                project=spec.project, dataset=spec.dataset, spec=spec.as_json(), fingerprint=spec.fingerprint,
                created_by="ada",
            )
        )
        tx.flush()
        sync_meta(ws, tx, spec.ref)


def _small_dataset(ws: Workspace, spec: DatasetSpec) -> None:
    kinds = {"bigint": pa.int64()}
    schema = pa.schema([("row_id", pa.string()), *((c.name, kinds.get(c.type, pa.string())) for c in spec.columns)])
    _register(ws, spec, schema)
    total = 0
    for part, size in enumerate((400, 900, 2500)):
        rows = [
            {"row_id": f"{total + n}", **{c.name: n if c.type == "bigint" else f"{c.name} {total + n}" for c in spec.columns}}
            for n in range(size)
        ]
        total += size
        told = CommitMetadata(new_id("co"), None, "ben", ("chloe",), note=f"Part {part + 1}", mode=Mode.APPEND)
        write_deltalake(
            ws.layout(spec.ref).main, pa.Table.from_pylist(rows, schema=schema), mode="append",
            commit_properties=CommitProperties(custom_metadata={"userMetadata": told.to_json()}),
        )
    with ws.catalog.write() as tx:
        sync_meta(ws, tx, spec.ref)
    _date_back(Path(ws.layout(spec.ref).main), days=18)


def _date_back(main: Path, days: int) -> None:
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
