"""Readers see the tables they asked for and nothing else, whatever a filter or a name says."""

from __future__ import annotations

from itertools import cycle, product
from pathlib import Path

import duckdb
import pytest

from oreo_assets.lake.read import query_rows, reading
from oreo_assets.model.errors import UsageError
from oreo_assets.model.filters import Filter, Op

from ..api.conftest import ORDERS, Api
from ..cli.conftest import Oreo
from .filter_oracle import odd_table


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM delta_scan('/other')",
        "COPY (SELECT 1) TO '/tmp/oreo-escaped.csv'",
        "ATTACH '/tmp/oreo-escaped.db'",
        "EXPORT DATABASE '/tmp/oreo-escaped'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
        "SET allowed_directories = ['/']",
        "SET profiling_output = '/tmp/oreo-escaped.txt'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM read_csv('http://127.0.0.1:1/x')",
        "SELECT getenv('HOME')",
    ],
)
def test_even_sql_of_its_own_could_not_leave_the_tables(sql: str):
    with reading(odd_table().table) as connection, pytest.raises(duckdb.Error):
        connection.execute(sql).fetchall()
    assert not list(Path("/tmp").glob("oreo-escaped*"))


def test_a_folder_beside_the_table_is_not_the_table(tmp_path: Path):
    table = odd_table().table
    beside = Path(f"{table.uri}-beside")
    beside.mkdir(exist_ok=True)
    (beside / "x.csv").write_text("a\n1\n")
    with reading(table) as connection, pytest.raises(duckdb.Error):
        connection.execute(f"SELECT * FROM read_csv('{beside}/x.csv')").fetchall()


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (Filter("qty", Op.EQ, ("1.5",)), "does not fit"),
        (Filter("qty", Op.GT, ("0x1",)), "does not fit"),
        (Filter("amount", Op.EQ, ("12.345",)), "does not fit"),
        (Filter("ratio", Op.LT, ("1e400",)), "does not fit"),
        (Filter("day", Op.EQ, ("epoch",)), "does not fit"),
        (Filter("day", Op.LT, ("2026-01-31 12:00:00",)), "does not fit"),
        (Filter("at", Op.LTE, ("2026-01-31 12:30:00.1234569",)), "does not fit"),
        (Filter("name", Op.LIKE, ("%_" * 100_000,)), "too long"),
    ],
)
def test_a_value_that_would_be_rounded_finds_nothing_else_instead(where: Filter, says: str):
    """Asked for 1.5, the reader once looked for 2."""
    with pytest.raises(UsageError, match=says) as caught:
        query_rows(odd_table().table, where=[where])
    assert len(caught.value.message) < 300


def test_no_pattern_keeps_a_reader_busy():
    """This one took longer than anybody waited, on a cell of 400 letters."""
    found = query_rows(odd_table().table, where=[Filter("name", Op.LIKE, ("%_a" * 12 + "%_c",))])
    assert found == []
    found = query_rows(odd_table().table, where=[Filter("name", Op.LIKE, ("_b%_a%b",))], select=["name"])
    assert {row["name"] for row in found} == {"ab" * 200}


HOSTILE = ["' OR 1=1 --", "1); DROP TABLE main; --", "read_csv('/etc/passwd')", "\x00", "9" * 5000, "💣", "nan", "%"]


COLUMNS = ["order_id", "amount", "ordered_on", "row_id", "no such", "select", '" OR 1=1 --']


def test_the_api_answers_every_filter_with_rows_or_a_usage_error(api: Api):
    ops = cycle(Op)
    for value, column in product(HOSTILE, COLUMNS):
        op = next(ops)
        answer = api.get(f"{ORDERS}/rows", params={column: f"{op}.{value}"})
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 422:
            assert answer.json()["error"]["code"] == "usage"
            assert "duckdb" not in answer.text.lower()
        else:
            assert op is not Op.EQ or answer.json()["rows"] == []


@pytest.mark.parametrize(
    "args",
    [
        ("--offset", "9" * 30),
        ("--version", "9" * 30),
        ("--limit", "100001"),
        ("--order", "x; DROP TABLE main"),
        ("--order", "order_id.desc; DROP"),
        ("--select", "*"),
        ("--select", "count(*)"),
        ("--timestamp", "9999-12-31T23:59:59-23:59"),
        ("--timestamp", "now()"),
        ("--where", "order_id=is.(SELECT 1)"),
    ],
)
def test_arguments_of_a_query_are_never_sql(shop: Oreo, args: tuple[str, str]):
    done = shop("query", "shop/orders", *args)
    assert done.code in (2, 6), done
    assert "defect" not in done.err
