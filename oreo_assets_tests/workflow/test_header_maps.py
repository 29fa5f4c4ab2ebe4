"""What headers stand for: guessed, chosen, remembered; and a look over a file before it is sent."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from oreo_assets.catalog.users import Actor
from oreo_assets.model.errors import NotAllowedError, NotFoundError
from oreo_assets.model.spec import DatasetSpec
from oreo_assets.model.states import CRState, Role
from oreo_assets.workflow.header_maps import Meaning, Origin, guess, remember, remembered, renames_of
from oreo_assets.workflow.intake import UploadOptions, upload
from oreo_assets.workflow.upload_look import bad_rows_csv, look_over
from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import Oreo, _shop_template, oreo, shop  # noqa: F401 - fixtures
from ..cli.lake_without_spark import ORDERS

CON = Actor("con", {"*": Role.CONTRIBUTOR})
VIC = Actor("vic", {"*": Role.VIEWER})


@pytest.fixture
def ws(shop: Oreo) -> Workspace:  # noqa: F811
    return Workspace.open(shop.settings)


def test_headers_are_guessed_by_their_letters_alone():
    found = guess(ORDERS, ["Order-ID", "AMOUNT", "Ordered on", "remarks"], {})
    assert found == [
        Meaning("Order-ID", "order_id", Origin.ALIKE),
        Meaning("AMOUNT", "amount", Origin.SAME),
        Meaning("Ordered on", "ordered_on", Origin.ALIKE),
        Meaning("remarks", "remarks", Origin.NEW),
    ]
    assert renames_of(found) == {"Order-ID": "order_id", "Ordered on": "ordered_on"}


def test_no_column_is_guessed_twice_and_a_name_goes_before_a_likeness():
    found = guess(ORDERS, ["Order ID", "order_id", "order.id"], {})
    assert [(m.column, m.origin) for m in found] == [
        ("Order ID", Origin.NEW),
        ("order_id", Origin.SAME),
        ("order.id", Origin.NEW),
    ]


def test_two_columns_that_look_alike_are_not_guessed():
    columns = [{"name": "a_b", "type": "string"}, {"name": "ab", "type": "string"}]
    spec = DatasetSpec.model_validate({"project": "p", "dataset": "d", "columns": columns})
    assert guess(spec, ["A B"], {})[0].origin is Origin.NEW


def test_what_was_chosen_is_remembered_and_forgotten_when_the_choice_is_taken_back(ws: Workspace):
    assert remembered(ws, CON, ORDERS.ref) == {}
    remember(ws, CON, ORDERS.ref, {"Nr": "order_id", "remarks": ""}, ["Nr", "remarks", "amount"])
    known = remembered(ws, CON, ORDERS.ref)
    assert known == {"Nr": "order_id", "remarks": ""}
    found = guess(ORDERS, ["Nr", "remarks", "amount"], known)
    assert [(m.column, m.origin) for m in found] == [
        ("order_id", Origin.REMEMBERED),
        ("", Origin.REMEMBERED),
        ("amount", Origin.SAME),
    ]
    remember(ws, CON, ORDERS.ref, {}, ["remarks"])
    assert remembered(ws, CON, ORDERS.ref) == {"Nr": "order_id"}


def test_a_column_that_is_gone_is_not_remembered():
    assert guess(ORDERS, ["Nr"], {"Nr": "gone"}) == [Meaning("Nr", "Nr", Origin.NEW)]


def test_a_viewer_sends_nothing_and_so_chooses_nothing(ws: Workspace):
    with pytest.raises(NotAllowedError):
        remembered(ws, VIC, ORDERS.ref)
    with pytest.raises(NotAllowedError):
        remember(ws, VIC, ORDERS.ref, {"Nr": "order_id"}, ["Nr"])


def test_a_look_shows_the_first_rows_and_keeps_the_bad_ones_for_a_spreadsheet(ws: Workspace, tmp_path: Path):
    file = tmp_path / "orders.csv"
    file.write_text('Nr,amount,remarks\nB1,5,x\nB2,much,=1+1\nB3,-7,"a, b"\nB4,1.5.5,@x\n')
    options = UploadOptions(renames={"Nr": "order_id", "remarks": ""})
    look = look_over(ws, CON, ORDERS.ref, file, options, tmp_path / "look")
    assert look.header == ("Nr", "amount", "remarks")
    assert [(row["row_id"], str(row["amount"])) for row in look.rows] == [("B1", "5.00"), ("B3", "-7.00")]
    assert look.conversion is not None and look.refusal is not None
    assert [(r.line, r.value) for r in look.conversion.rejects] == [(3, "much"), (5, "1.5.5")]
    rows = list(csv.reader("".join(bad_rows_csv(tmp_path / "look")).lstrip("\ufeff").splitlines()))
    assert rows[0] == ["reason", "line", "Nr", "amount", "remarks"]
    assert rows[1][1:] == ["3", "B2", "much", "'=1+1"]
    assert rows[2][1:] == ["5", "B4", "1.5.5", "'@x"]
    assert not list((tmp_path / "look").glob("raw.*"))


def test_a_look_at_a_file_that_cannot_be_read_says_why_and_what_it_has(ws: Workspace, tmp_path: Path):
    file = tmp_path / "orders.csv"
    file.write_text("Nr,Betrag\nB1,5\n")
    look = look_over(ws, CON, ORDERS.ref, file, UploadOptions(), tmp_path / "look")
    assert look.conversion is None and look.refusal is not None
    assert "names no column" in look.refusal.message
    assert look.header == ("Nr", "Betrag")
    with pytest.raises(NotFoundError):
        bad_rows_csv(tmp_path / "look")


def test_an_upload_keeps_what_its_headers_stand_for(ws: Workspace, tmp_path: Path):
    file = tmp_path / "orders.csv"
    file.write_text("Nr,amount\nB1,5\n")
    result = upload(ws, CON, ORDERS.ref, file, UploadOptions(renames={"Nr": "order_id"}))
    assert result.state is CRState.CONVERTED
    from oreo_assets.catalog.models import Upload

    with ws.catalog.read() as tx:
        assert tx.get_one(Upload, result.upload_id).renames == {"Nr": "order_id"}
