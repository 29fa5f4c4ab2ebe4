"""A root as a team has it after some weeks: three datasets, a history, and change requests in every state."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import yaml

from oreo_assets.catalog.change_requests import transition
from oreo_assets.catalog.models import ChangeRequest, Project
from oreo_assets.catalog.users import Actor, add_user
from oreo_assets.model.spec import DatasetSpec
from oreo_assets.model.states import CRState, Mode, Role, Severity
from oreo_assets.quality.outcomes import CheckOutcome, CheckStatus, FailingRow, Scope
from oreo_assets.settings import Settings
from oreo_assets.workflow.workspace import Workspace

from .by_hand import (
    SCHEMA,
    Row,
    Team,
    approve_for,
    date_back,
    merge,
    register,
    request_of,
    say,
    small_dataset,
    stage,
    upload_of,
)

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
  columns:
    - {name: customer_id, type: string, nullable: false}
    - {name: name, type: string}
    - {name: country, type: string}
  key: [customer_id]
- project: logistics
  dataset: stock
  description: What lies in which warehouse
  owners: [team:logistics]
  columns: [{name: sku, type: string, nullable: false}, {name: warehouse, type: string}, {name: pieces, type: bigint}]
  key: [sku, warehouse]
"""


_NAMES = ("Ada Berg", "Ben Costa", "Chloé Dubois", "Dmitri Eriksen", "Eva Fischer", "Hana Ito", "José García")


_COUNTRIES = ("AT", "BE", "CZ", "DE", "DK", "ES", "FR", "IT", "NL", "PL", "SE")


_STATUSES = ("open", "paid", "paid", "shipped", "shipped", "cancelled")


def make(folder: Path) -> Team:
    """Fill a folder."""
    settings = Settings.from_env({"DELTA_DATA_ROOT": str(folder / "lake"), "OREO_HOME": str(folder / "home")})
    ws = Workspace.open(settings)
    tokens = {"ada": add_user(ws.catalog, None, "ada", Role.ADMIN, None).token}
    for name, role in PEOPLE:
        tokens[name] = add_user(ws.catalog, ADMIN, name, role, None).token
    spec = DatasetSpec.model_validate(yaml.safe_load(_ORDERS))
    team = Team(ws, spec, tokens)
    with ws.catalog.write() as tx:
        tx.add_all([Project(id=name, created_by="ada") for name in ("shop", "logistics")])
    register(ws, spec, SCHEMA)
    for other in yaml.safe_load(_OTHERS):
        small_dataset(ws, DatasetSpec.model_validate(other))
    _fill_orders(team)
    date_back(Path(ws.layout(spec.ref).main), days=24)
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
        team,
        changed,
        "Second half of November\nRefunds are in it too, as agreed with accounting.",
        "ben",
        outcomes=outcomes_of([changed[3], large], table[231]),
        file_name="orders-2026-11b.csv",
    )
    say(
        team,
        "in_review",
        "dmitri",
        "Is O-100231 really that large? Never saw an order above 5 000.",
        large["row_id"],
        "amount",
    )
    say(team, "in_review", "ben", "Yes: a whole office was furnished. The invoice is in the archive.")
    wrong = [{**row, "status": "payed"} for row in table[5:9]]
    team.change_requests["refused"] = stage(
        team, wrong, "Corrections by hand", "ben", outcomes=_refusals(wrong), file_name="corrections.xlsx"
    )
    team.change_requests["conflicted"] = _conflict(team, table)
    with team.ws.catalog.write() as tx:
        waiting = request_of(
            team.spec, "Orders of the pop-up shop", "ben", upload_of(tx, team.spec, "pop-up.parquet"), Mode.APPEND
        )
        tx.add(waiting)
        tx.flush()
        transition(tx, waiting, CRState.CONVERTED, actor="system")
    team.change_requests["converted"] = waiting.id


def _merged(team: Team, rows: Sequence[Row], note: str, author: str, approvers: Sequence[str], file_name: str) -> str:
    cr_id = stage(team, rows, note, author, outcomes=outcomes_of([], None), file_name=file_name)
    return merge(team, cr_id, rows, approvers)


def _conflict(team: Team, table: Sequence[Row]) -> str:
    """Two people change the same orders; the second meets what the first had merged."""
    mine = [{**row, "status": "cancelled", "amount": Decimal("0.00")} for row in table[90:94]]
    cr_id = stage(team, mine, "Cancelled by phone", "ben", outcomes=outcomes_of([], None), file_name="cancelled.csv")
    theirs = [{**row, "status": "shipped", "amount": row["amount"] + 5} for row in table[91:94]]
    _merged(team, theirs, "Shipped on the 18th, with the surcharge", "chloe", ["dmitri"], "shipped-18.csv")
    with team.ws.catalog.write() as tx:
        cr = tx.get_one(ChangeRequest, cr_id)
        approve_for(tx, cr, "chloe")
        for state in (CRState.APPROVED, CRState.MERGING):
            transition(tx, cr, state, actor="system")
        transition(tx, cr, CRState.CONFLICTED, actor="system", reason="main changed 3 of its rows too")
    return cr_id


def outcomes_of(unusual: Sequence[Row], odd_country: Row | None) -> list[CheckOutcome]:
    """What the checks say: a warning about some rows, a remark about one."""
    passed, failed = CheckStatus.PASSED, CheckStatus.FAILED
    return [
        CheckOutcome("not_null", "oreo", Severity.FATAL, passed, Scope.ROWS, "no null in order_id", "none"),
        CheckOutcome(
            "known_status",
            "expect_column_values_to_be_in_set",
            Severity.FATAL,
            passed,
            Scope.ROWS,
            "status is open, paid, shipped or cancelled",
            "all of them",
        ),
        CheckOutcome(
            "constraint__amount_known", "constraint", Severity.FATAL, passed, Scope.TABLE, "amount IS NOT NULL", "holds"
        ),
        CheckOutcome(
            "usual_amount",
            "expect_column_values_to_be_between",
            Severity.WARNING,
            failed if unusual else passed,
            Scope.ROWS,
            "amount between 0 and 5000",
            f"{len(unusual)} rows outside: -35.00 to 7400.00" if unusual else "all inside",
            len(unusual),
            _failing(unusual, "amount"),
            observed_before="0 rows outside",
        ),
        CheckOutcome(
            "country_code",
            "expect_column_values_to_match_regex",
            Severity.INFO,
            failed if odd_country else passed,
            Scope.ROWS,
            "country is two capital letters",
            "1 row is not: Österreich" if odd_country else "all are",
            1 if odd_country else 0,
            _failing([odd_country] if odd_country else [], "country"),
        ),
    ]


def _refusals(rows: Sequence[Row]) -> list[CheckOutcome]:
    return [
        CheckOutcome(
            "known_status",
            "expect_column_values_to_be_in_set",
            Severity.FATAL,
            CheckStatus.FAILED,
            Scope.ROWS,
            "status is open, paid, shipped or cancelled",
            f"{len(rows)} rows are not: payed",
            len(rows),
            _failing(rows, "status"),
        ),
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
