"""Names, notes and cells that other people wrote: kept, never obeyed."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from oreo_assets.catalog.models import Upload
from oreo_assets.catalog.users import Actor
from oreo_assets.model.plain import json_bytes
from oreo_assets.model.safe_text import (
    MAX_FILE_NAME,
    UNSAFE,
    for_file_list,
    for_one_line,
    for_spreadsheet,
    for_terminal,
)
from oreo_assets.model.states import Role
from oreo_assets.workflow.intake import UploadOptions
from oreo_assets.workflow.upload_look import bad_rows_csv, look_over
from oreo_assets.workflow.workspace import Workspace

from ..api.conftest import ORDERS as ORDERS_PATH
from ..api.conftest import Api
from ..cli.conftest import Oreo
from ..cli.lake_without_spark import ORDERS

GOOD = "order_id,amount,ordered_on\nA9,1.50,2026-02-01\n"
CON = Actor("con", {"*": Role.CONTRIBUTOR})
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt.\u2066\x08\r\x7f"
NAMES = {
    "../../../../tmp/escaped.csv": "escaped.csv",
    "..\\..\\escaped.csv": "escaped.csv",
    "a\nb\tc.csv": "abc.csv",
    "\u202evsc.exe.csv": "vsc.exe.csv",
    "\x1b[2Jx.csv": "[2Jx.csv",
    "-rf.csv": "-rf.csv",
    "--json.csv": "--json.csv",
    "CON.csv": "CON.csv",
    "....csv": "....csv",
    "'; DROP TABLE upload; --.csv": "'; DROP TABLE upload; --.csv",
    "$(touch x).csv": "$(touch x).csv",
}


def test_a_file_of_any_name_is_taken_and_shown_safely(shop: Oreo, tmp_path: Path):
    names = [name for name in NAMES if "/" not in name]
    for name in names:
        (tmp_path / name).write_text(GOOD)
        done = shop("upload", "shop/orders", "--", str(tmp_path / name), user="con")
        assert done.code == 0, done.err
        assert not UNSAFE.search(done.out)
        assert len(done.out.splitlines()) == 3
    ws = Workspace.open(shop.settings)
    with ws.catalog.read() as tx:
        kept = sorted(tx.scalars(select(Upload.file_name)))
    assert kept == sorted(NAMES[name] for name in names)
    assert len(list(ws.layout(ORDERS.ref).imports.glob("*/raw.csv"))) == len(names)


def test_a_name_in_no_encoding_is_taken_and_shown_safely(shop: Oreo, tmp_path: Path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.csv"
    Path(os.fsdecode(path)).write_text(GOOD)
    done = shop("upload", "shop/orders", os.fsdecode(path), user="con")
    assert done.code == 7
    assert "is not a kind of file" in done.err  # nothing of the name is left, not even what could end in .csv
    Path(os.fsdecode(path)).rename(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.csv"))
    assert shop("upload", "shop/orders", os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.csv"), user="con").code == 0


@pytest.mark.parametrize(
    "args",
    [
        ("upload", "shop/orders", "FILE", "--note", "\udcff"),
        ("upload", "shop/orders", "FILE", "--sheet", "\udcff"),
        ("cr", "reject", "shop/orders", "CR", "--reason", "\udcff"),
        ("query", "shop/orders", "--where", "order_id=eq.\udcff"),
        ("query", "shop/orders", "--select", "\udcff"),
    ],
)
def test_words_that_are_no_text_are_a_usage_error(
    shop: Oreo, tmp_path: Path, in_review: Callable[..., str], args: tuple[str, ...]
):
    (tmp_path / "f.csv").write_text(GOOD)
    known = {"FILE": str(tmp_path / "f.csv"), "CR": in_review()}
    done = shop(*(known.get(a, a) for a in args))
    assert (done.code, "not text in UTF-8" in done.err) == (2, True), done


def test_nothing_that_people_read_commands_their_terminal(shop: Oreo, api: Api, tmp_path: Path):
    """Escape sequences in a note, a bad cell, a column, a reason and a row: shown by every command, obeyed by none."""
    path = tmp_path / "f.csv"
    path.write_text(f"order_id,amount,ordered_on\nA8{ESCAPES[:-2]},much{ESCAPES[:9]},2026-02-01\n", newline="")
    bad = shop("upload", "shop/orders", str(path), "--note", ESCAPES, user="con")
    assert bad.code == 7
    cr = shop("cr", "list", "shop/orders", "--json").json[0]["change_request_id"]
    strange = tmp_path / "g.csv"
    strange.write_text(f"order_id{ESCAPES}\nA\n", newline="")
    uri = Workspace.open(shop.settings).layout(ORDERS.ref).main
    row = {"row_id": ["A0"], "order_id": [f"A0{ESCAPES}"], "amount": pa.nulls(1, pa.decimal128(38, 2))}
    write_deltalake(uri, pa.table({**row, "ordered_on": pa.nulls(1, pa.date32())}), mode="append")
    shown = [
        bad,
        shop("upload", "shop/orders", str(strange), "--dry-run", user="con"),
        shop("cr", "list", "shop/orders"),
        shop("cr", "show", "shop/orders", cr),
        shop("audit", "log", "shop/orders"),
        shop("query", "shop/orders"),
        shop("query", "shop/orders", env={"COLUMNS": "20"}),
        shop("query", "shop/orders", "--where", f"{ESCAPES}=eq.1"),
        shop("query", "shop/orders", "--json"),
        shop("cr", "show", "shop/orders", cr, "--json"),
        shop("query", f"shop/{ESCAPES}"),
        shop(f"quer{ESCAPES}"),
    ]
    for done in shown:
        for stream in (done.out, done.err):
            plain = stream.replace("\x1b[31m\x1b[1m", "").replace("\x1b[36m", "").replace("\x1b[0m", "")
            assert not UNSAFE.search(plain), repr(stream)
    assert shop("query", "shop/orders", "--json").json["rows"][0]["order_id"] == f"A0{ESCAPES}"
    rows = api.get(f"{ORDERS_PATH}/rows")
    assert not UNSAFE.search(rows.text)
    assert rows.json()["rows"][0]["order_id"] == f"A0{ESCAPES}"


@given(st.text())
def test_any_text_is_safe_to_show_and_comes_back_whole_from_json(text: str):
    import json

    assert not UNSAFE.search(for_terminal(text))
    assert not set(for_one_line(text)) & set("\n\t\r")
    assert json.loads(json_bytes({"x": text}))["x"] == text
    assert not UNSAFE.search(json_bytes({"x": text}).decode())
    name = for_file_list(text)
    assert name.isprintable()
    assert len(name) <= MAX_FILE_NAME
    assert not set(name) & set("/\\")


def test_the_api_keeps_the_same_names_as_the_command_line(api: Api):
    for name, kept in NAMES.items():
        assert for_file_list(name) == kept
        if name.isprintable():
            sent = api.upload(GOOD, name=name.replace("\\", "\\\\"))
            assert api.get(sent.headers["Location"]).json()["upload"]["file_name"] == kept


FORMULAS = ["=1+1", "@SUM(A1)", "+1+1", "-2+3", "\t=1", "\r=1", " =1", "＝1+1", "=cmd|' /C calc'!A0", "\u00a0=1", "-x"]
HARMLESS = ["", "a", "1", "-5", "+5", "-1.5e3", "-.5", "a=b", "'=1", "2026-01-31", None, 5, -5.5]


def test_formulas_are_quoted_for_a_spreadsheet_and_nothing_else_is():
    out = io.StringIO()
    csv.writer(out).writerows([[for_spreadsheet(cell)] for cell in FORMULAS])
    written = [row[0] for row in csv.reader(io.StringIO(out.getvalue(), newline=""))]
    assert written == [f"'{cell}" for cell in FORMULAS]
    assert [for_spreadsheet(cell) for cell in HARMLESS] == HARMLESS


@pytest.mark.parametrize("length", [250, 5_000, 100_000])
def test_a_name_without_end_is_cut_or_refused_by_the_api(api: Api, length: int):
    sent = api.upload(GOOD, name="x" * length + ".csv")
    assert sent.status_code in (201, 422), sent.text
    if sent.status_code == 201:
        assert len(api.get(sent.headers["Location"]).json()["upload"]["file_name"]) == MAX_FILE_NAME
    else:
        assert sent.json()["error"]["code"] == "bad_file"


def test_bad_rows_come_back_for_a_spreadsheet_with_their_formulas_quoted(shop: Oreo, tmp_path: Path):
    sent = tmp_path / "f.csv"
    sent.write_text("order_id,amount,ordered_on\n=HYPERLINK(1),@SUM(A1),+1+1\nA1,-5,2026-13-01\n")
    look_over(Workspace.open(shop.settings), CON, ORDERS.ref, sent, UploadOptions(), tmp_path / "look")
    rows = list(csv.reader(io.StringIO("".join(bad_rows_csv(tmp_path / "look")))))
    assert [row[2:] for row in rows[1:]] == [["'=HYPERLINK(1)", "'@SUM(A1)", "'+1+1"], ["A1", "-5", "2026-13-01"]]
