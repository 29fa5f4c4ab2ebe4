"""What must be true after every fault, and the road back to it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import update

from oreo_assets.catalog import audit
from oreo_assets.catalog.change_requests import list_change_requests
from oreo_assets.catalog.datasets import get_meta
from oreo_assets.catalog.models import Lease, now
from oreo_assets.lake import log
from oreo_assets.lake.read import TableAt, query_rows
from oreo_assets.lake.sql import delta_table
from oreo_assets.model.commit import MERGED, marker_of
from oreo_assets.model.states import CRState
from oreo_assets.workflow.pipeline import run_pipeline
from oreo_assets.workflow.recovery import Recovered, pending, recover
from oreo_assets_tests.house import House

Row = tuple[str, str | None, str | None]

LEDGER = """\
project: shop
dataset: orders
columns:
  - {name: order_id, type: string, nullable: false}
  - {name: amount, type: "decimal(12,2)"}
  - {name: status, type: string}
key: [order_id]
expectations:
  - {type: expect_column_values_to_not_be_null, column: amount, severity: fatal}
"""
"""Small on purpose: what is tested is the gate, and each check costs a Spark job."""


@dataclass
class Oracle:
    """What main must hold, and which change requests must have been committed: each once, the others never."""

    rows: dict[str, Row] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)

    def lands(self, cr_id: str, rows: Iterable[Row] = (), deleted: Iterable[str] = ()) -> None:
        self.merged.add(cr_id)
        self.rows |= {row[0]: row for row in rows}
        for key in deleted:
            self.rows.pop(key, None)


def file_of(rows: Iterable[Row]) -> str:
    """The rows as a CSV file."""
    return "order_id,amount,status\n" + "".join(f"{k},{a or ''},{s or ''}\n" for k, a, s in rows)


@dataclass(frozen=True)
class ComeBack:
    """What two recoveries did."""

    first: list[Recovered]

    @property
    def undone(self) -> bool:
        return any("not committed" in item.action for item in self.first)

    @property
    def finished(self) -> bool:
        return any("was committed" in item.action for item in self.first)


def come_back(house: House, *, approve: bool = True) -> ComeBack:
    """A minute passes, recovery runs, what waits is driven on and approved; the second recovery finds nothing."""
    let_leases_end(house)
    first = recover(house.ws)
    drive(house, approve=approve)
    second = recover(house.ws)
    assert second == [], f"the second recovery was not idle: {[str(item) for item in second]}"
    assert pending(house.ws) == []
    return ComeBack(first)


def drive(house: House, *, approve: bool = True) -> None:
    for cr in reversed(list_change_requests(house.ws.catalog, house.ref)):
        if cr.state.is_open and cr.state is not CRState.FAILED:
            state = run_pipeline(house.ws, house.ref, cr.id).state
            if approve and state is CRState.IN_REVIEW:
                house.approve(cr.id)
                run_pipeline(house.ws, house.ref, cr.id)


def let_leases_end(house: House) -> None:
    """What a minute of waiting does to the lease of a dead process."""
    with house.ws.catalog.write() as tx:
        tx.execute(update(Lease).values(expires_at=now() - timedelta(seconds=1)))


def assert_invariants(house: House, oracle: Oracle, *, spark: bool = False) -> None:
    main = house.ws.layout(house.ref).main
    wanted = row_hash(oracle.rows.values())
    assert row_hash(rows_by_duckdb(main)) == wanted, difference(oracle.rows, rows_by_duckdb(main))
    assert row_hash(rows_by_delta_rs(main)) == wanted
    if spark:
        assert row_hash(rows_by_spark(house)) == wanted
    _assert_log(house, oracle)
    _assert_catalog(house, oracle)
    _assert_staging(house)
    report = audit.verify(house.ws.catalog)
    assert report.intact, report.problem


def row_hash(rows: Iterable[Row]) -> str:
    """A hash of the rows in the order of their key; a row that is there twice changes it."""
    return hashlib.sha256(repr(sorted(rows, key=repr)).encode()).hexdigest()


def difference(wanted: Mapping[str, Row], found: Iterable[Row]) -> str:
    there = Counter(found)
    expected = Counter(wanted.values())
    return f"missing {sorted((expected - there).elements())[:5]}, too many {sorted((there - expected).elements())[:5]}"


def rows_by_duckdb(main: str) -> list[Row]:
    rows = query_rows(TableAt("main", main), select=["row_id", "amount", "status"], limit=1_000_000)
    return [_row(r["row_id"], r["amount"], r["status"]) for r in rows]


def rows_by_delta_rs(main: str) -> list[Row]:
    import pyarrow as pa
    from deltalake import QueryBuilder

    batches = QueryBuilder().register("t", log.open_table(main)).execute("SELECT row_id, amount, status FROM t")
    return [_row(r["row_id"], r["amount"], r["status"]) for r in pa.table(batches.read_all()).to_pylist()]


def rows_by_spark(house: House) -> list[Row]:
    main = delta_table(house.ws.layout(house.ref).main)
    found = house.ws.spark().sql(f"SELECT row_id, amount, status FROM {main}").collect()
    return [_row(r.row_id, r.amount, r.status) for r in found]


def _row(key: str, amount: object, status: str | None) -> Row:
    return key, None if amount is None else str(amount), status


def _assert_log(house: House, oracle: Oracle) -> None:
    main = Path(house.ws.layout(house.ref).main)
    entries = sorted((main / "_delta_log").glob("*.json"))
    versions = [int(e.stem) for e in entries if e.stem.isdigit()]
    assert versions == list(range(len(versions))), f"the log has gaps: {versions}"
    assert versions[-1] == house.version
    told = Counter(
        c.metadata.change_request_id
        for c in log.commits(str(main))
        if c.metadata is not None and c.metadata.change_request_id
    )
    assert told == dict.fromkeys(oracle.merged, 1)
    # And by the log's own text, in case two of our readers are wrong in the same way.
    actions = [json.loads(line) for entry in entries for line in entry.read_text().splitlines()]
    marked = Counter(a["txn"]["appId"] for a in actions if a.get("txn", {}).get("version") == MERGED)
    assert marked == {marker_of(cr_id): 1 for cr_id in oracle.merged}
    missing = [uri for uri in log.open_table(str(main)).file_uris() if not _as_path(uri).is_file()]
    assert missing == []


def _as_path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path)) if "://" in uri else Path(uri)


def _assert_catalog(house: House, oracle: Oracle) -> None:
    with house.ws.catalog.read() as tx:
        meta = get_meta(tx, house.ref)
    assert meta is not None
    assert (meta.delta_version, meta.row_count) == (house.version, len(oracle.rows))
    closed = {cr.id for cr in list_change_requests(house.ws.catalog, house.ref, [CRState.CLOSED])}
    assert closed == oracle.merged


def _assert_staging(house: House) -> None:
    """Gone once it is closed, there while somebody may still need it."""
    main = house.ws.layout(house.ref).main
    for cr in list_change_requests(house.ws.catalog, house.ref):
        there = house.staging_folder(cr.id).exists()
        if cr.state is CRState.CLOSED:
            assert not there
            assert log.is_committed(main, cr.id), f"staging of {cr.id} is gone without its marker"
        elif cr.state in (CRState.IN_REVIEW, CRState.APPROVED, CRState.CONFLICTED, CRState.STAGED):
            assert there, f"staging of {cr.id} is gone, and it is {cr.state}"
        elif cr.state is not CRState.REFUSED and not cr.state.is_open:
            assert not there, f"staging of {cr.id} is left over, and it is {cr.state}"
