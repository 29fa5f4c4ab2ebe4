"""Files: what their sender is told, and that nothing stays of one that did not come whole."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from oreo_assets.api.app import create_app
from oreo_assets.api.receiving import display_name, incoming_folder
from oreo_assets.catalog.models import Dataset
from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import Oreo
from ..cli.lake_without_spark import ORDERS as SPEC
from .conftest import ORDERS, Api

GOOD = "order_id,amount,ordered_on\nA9,1.50,2026-02-01\n"
BAD = "order_id,amount,ordered_on\nA9,1.50,2026-02-01\nA8,much,2026-02-01\nA7,3.00,never\n"


def _nothing_is_left(shop: Oreo) -> bool:
    folder = incoming_folder(shop.settings)
    kept = any(folder.iterdir()) if folder.is_dir() else False
    return not kept and not any(Workspace.open(shop.settings).layout(SPEC.ref).imports.iterdir())


def _limit_to_1_mb(shop: Oreo) -> None:
    spec = SPEC.model_dump(mode="json")
    spec["policies"]["limits"]["max_file_mb"] = 1
    with Workspace.open(shop.settings).catalog.write() as tx:
        tx.execute(update(Dataset).values(spec=spec))


def test_upload_opens_a_change_request(shop: Oreo, api: Api):
    sent = api.upload(GOOD, note="February", mode="append", name="fébruary.csv")
    assert sent.status_code == 201
    told = sent.json()
    assert (told["state"], told["rows_read"], told["rejects"]) == ("converted", 1, [])
    card = api.get(sent.headers["Location"]).json()
    assert (card["note"], card["mode"], card["author"]) == ("February", "append", "con")
    assert (card["upload"]["file_name"], card["upload"]["bytes"]) == ("fébruary.csv", len(GOOD))
    assert not any(incoming_folder(shop.settings).iterdir())


def test_the_same_file_is_told_the_same_as_by_the_command_line(shop: Oreo, api: Api, tmp_path: Path):
    (tmp_path / "bad.csv").write_text(BAD)
    printed = shop("upload", "shop/orders", str(tmp_path / "bad.csv"), "--dry-run", "--json", user="con").json
    printed.pop("error")
    assert api.upload(BAD, dry_run="true").json()["error"]["details"] == printed
    (tmp_path / "good.csv").write_text(GOOD)
    printed = shop("upload", "shop/orders", str(tmp_path / "good.csv"), "--dry-run", "--json", user="con").json
    told = api.upload(GOOD, dry_run="true")
    assert (told.status_code, told.json()) == (200, printed)
    assert _nothing_is_left(shop)


def test_headers_stand_for_the_columns_that_the_form_names(api: Api):
    text = "Order no.,amount,remarks\nB7,5,x\n"
    sent = api.upload(text, renames='{"Order no.": "order_id", "remarks": ""}')
    assert (sent.status_code, sent.json()["columns"]) == (201, ["order_id", "amount"])
    for wrong in ("[1]", "{", '{"a": 1}', '"x"'):
        assert api.upload(text, renames=wrong).status_code == 422


def test_bad_rows_are_all_told(api: Api):
    sent = api.upload(BAD)
    assert sent.status_code == 422
    error = sent.json()["error"]
    assert (error["code"], error["details"]["state"], error["details"]["rows_rejected"]) == ("bad_file", "failed", 2)
    assert [(r["line"], r["column"], r["value"]) for r in error["details"]["rejects"]] == [
        (3, "amount", "much"),
        (4, "ordered_on", "never"),
    ]
    assert api.get(f"{ORDERS}/change-requests/{error['details']['change_request_id']}").json()["state"] == "failed"
    aside = api.upload(BAD, set_aside="true")
    assert (aside.status_code, aside.json()["state"], aside.json()["rows_rejected"]) == (201, "converted", 2)


@pytest.mark.parametrize(
    ("name", "content", "form", "code"),
    [
        ("orders.exe", GOOD, {}, "bad_file"),
        ("orders.csv", "", {}, "bad_file"),
        ("orders.csv", GOOD, {"mode": "sideways"}, "usage"),
        ("orders.csv", GOOD, {"mod": "append"}, "usage"),
        ("orders.csv", GOOD, {"note": "a\0b"}, "usage"),
        ("orders.parquet", "not parquet", {}, "bad_file"),
    ],
)
def test_files_that_cannot_be_taken(api: Api, name: str, content: str, form: dict[str, str], code: str):
    sent = api.upload(content, name=name, **form)
    assert (sent.status_code, sent.json()["error"]["code"]) == (422, code), sent.text


def test_a_files_name_is_never_a_path(shop: Oreo, api: Api):
    for name in ("../../../../escaped.csv", "..\\..\\escaped.csv", "/etc/escaped.csv"):
        sent = api.upload(GOOD, name=name)
        assert api.get(sent.headers["Location"]).json()["upload"]["file_name"] == "escaped.csv"
    assert not list(Path(shop.env["DELTA_DATA_ROOT"]).parent.rglob("escaped*"))
    assert len(display_name("x" * 500 + ".csv")) == 200
    assert display_name("x" * 500 + ".csv").endswith(".csv")
    assert display_name("a\r\nb\x00.csv") == "ab.csv"


@pytest.mark.parametrize("says_so", [True, False], ids=["content-length", "chunked"])
def test_a_file_over_the_limit_leaves_nothing(shop: Oreo, api: Api, says_so: bool):
    _limit_to_1_mb(shop)
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\n'
    body = head + b"x" * (3 * 2**20) + b"\r\n--b--\r\n"
    content = body if says_so else (body[i : i + 65536] for i in range(0, len(body), 65536))
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    sent = api("POST", f"{ORDERS}/uploads", "con", content=content, headers=headers)
    assert (sent.status_code, sent.json()["error"]["code"]) == (413, "too_large")
    assert _nothing_is_left(shop)
    just_over = head + b"x" * (2**20 + 1) + b"\r\n--b--\r\n"
    sent = api("POST", f"{ORDERS}/uploads", "con", content=just_over, headers=headers)
    assert (sent.status_code, sent.json()["error"]["code"]) == (413, "too_large")
    assert _nothing_is_left(shop)
    assert api.get(f"{ORDERS}/change-requests").json() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--b\r\n",
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\norder_id\nA1',
        b'--b\r\nContent-Disposition: form-data; name="note"\r\n\r\nno file\r\n--b--\r\n',
        b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nno name\r\n--b--\r\n',
        b"no form at all",
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nx\r\n' * 2 + b"--b--\r\n",
        b"--b\r\nX-Long: " + b"y" * 100_000,
        b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n' * 50 + b"--b--\r\n",
    ],
    ids=["empty", "head only", "cut off", "no file", "no name", "no form", "two files", "long header", "many parts"],
)
def test_forms_that_are_none_leave_nothing(shop: Oreo, api: Api, body: bytes):
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    sent = api("POST", f"{ORDERS}/uploads", "con", content=body, headers=headers)
    assert sent.status_code in (413, 422), sent.text
    assert sent.json()["error"]["code"] in ("bad_file", "too_large")
    assert _nothing_is_left(shop)
    assert api("POST", f"{ORDERS}/uploads", "con", json={"file": "x"}).status_code == 422


def test_an_upload_whose_sender_goes_away_leaves_nothing(shop: Oreo, live: Api):
    host, port = live.client.base_url.host, live.client.base_url.port
    with socket.create_connection((host, port)) as line:
        line.sendall(
            f"POST {ORDERS}/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {shop.tokens['con']}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 900000\r\n\r\n"
            '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'.encode()
        )
        line.sendall(b"order_id\n" * 40_000)
        _until(lambda: incoming_folder(shop.settings).is_dir() and any(incoming_folder(shop.settings).iterdir()))
    _until(lambda: _nothing_is_left(shop))
    assert live.get(f"{ORDERS}/change-requests").json() == []


def test_what_a_dead_process_was_receiving_is_removed_later(shop: Oreo):
    import os

    old, young = (incoming_folder(shop.settings) / name for name in ("old", "young"))
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "file").write_text("half of it")
    os.utime(old, (0, 0))
    with TestClient(create_app(shop.settings)):
        assert not old.exists()
        assert young.exists()


def test_a_viewer_is_refused_before_a_byte_is_taken(shop: Oreo, api: Api):
    assert api.upload(GOOD, user="vic").status_code == 403
    assert not incoming_folder(shop.settings).exists()


def _until(seen) -> None:
    deadline = time.monotonic() + 30
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)
