from __future__ import annotations

from pathlib import Path

import pytest

from oreo_assets.model.errors import SpecError
from oreo_assets.model.spec import RowIdRule
from oreo_assets.model.spec_file import load_spec_file, parse_spec

GOOD = """\
project: pr_1001
dataset: ds_3201
description: Orders of the web shop
owners: [team:sales]
columns:
  - {name: order_id, type: string, nullable: false}
  - {name: amount, type: "decimal(12,2)"}
  - {name: ordered_on, type: date}
key: [order_id]
approvals: 1
expectations:
  - {type: expect_column_values_to_not_be_null, column: order_id, severity: fatal}
  - {type: expect_column_values_to_be_between, column: amount, min_value: 0, severity: warning}
constraints: {amount_known: "amount IS NOT NULL"}
policies: {}
"""


def test_the_documented_example_is_a_dataset():
    spec = parse_spec(GOOD)
    assert str(spec.ref) == "pr_1001/ds_3201"
    assert spec.row_id_rule is RowIdRule.KEY
    assert spec.policies.time_travel_days == 90
    assert spec.check_names == [
        "values_to_not_be_null__order_id",
        "values_to_be_between__amount",
        "constraint__amount_known",
    ]


def test_a_spec_survives_the_catalog():
    spec = parse_spec(GOOD)
    again = type(spec).model_validate(spec.as_json())
    assert again == spec
    assert again.fingerprint == spec.fingerprint


def test_without_a_key_rows_are_append_only():
    assert parse_spec(GOOD.replace("key: [order_id]\n", "")).is_append_only


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (("type: date}", "type: dat}"), 8, "columns[2].type: 'dat' is not a column type"),
        (("nullable: false", "nulable: false"), 6, "columns[0].nulable: unknown field"),
        (("project: pr_1001", "project: ../x"), 1, "project: '../x' is not an id"),
        (("approvals: 1", "approvals: many"), 10, "approvals: "),
        (("owners: [team:sales]", "owners: [sales]"), 4, "owners: 'sales' is not an owner"),
        (("severity: fatal", "severity: deadly"), 12, "expectations[0].severity"),
        (("key: [order_id]", "key: [order]"), 1, "key names columns that are not declared: order"),
        (("decimal(12,2)", "decimal(40,2)"), 7, "a decimal has 1 to 38 digits"),
        (("dataset: ds_3201\n", ""), 1, "dataset: missing"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_field(change: tuple[str, str], line: int, says: str):
    with pytest.raises(SpecError) as caught:
        parse_spec(GOOD.replace(*change), "orders.yaml")
    assert caught.value.message.startswith(f"orders.yaml:{line}: ")
    assert says in caught.value.message


def test_every_mistake_is_told_at_once():
    with pytest.raises(SpecError) as caught:
        parse_spec(GOOD.replace("type: date}", "type: dat}").replace("approvals: 1", "approvals: x"), "f.yaml")
    assert len(caught.value.message.splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("project: [a\n", "not valid YAML"),
        ("- a\n- b\n", "is a mapping"),
        ("", "is a mapping"),
        ("project: a\nproject: b\n", "f.yaml:2: project: given twice"),
        ("a: b: c\n", "f.yaml:1: not valid YAML"),
    ],
)
def test_what_is_not_a_dataset_file_is_told_so(text: str, says: str):
    with pytest.raises(SpecError) as caught:
        parse_spec(text, "f.yaml")
    assert says in caught.value.message


def test_a_missing_or_binary_file_is_told_so(tmp_path: Path):
    with pytest.raises(SpecError, match="There is no file"):
        load_spec_file(tmp_path / "no.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(SpecError, match="cannot be read as text"):
        load_spec_file(tmp_path / "b.yaml")


def test_upper_and_lower_case_do_not_make_two_columns():
    with pytest.raises(SpecError, match="columns named twice: amount"):
        parse_spec(GOOD.replace("name: ordered_on", "name: Amount"))


def test_two_checks_need_two_names():
    double = GOOD.replace(
        "constraints:", "  - {type: expect_column_values_to_not_be_null, column: order_id}\nconstraints:"
    )
    with pytest.raises(SpecError, match="checks named twice"):
        parse_spec(double)


def test_the_suite_hash_follows_what_decides_the_verdict():
    base = parse_spec(GOOD)
    assert parse_spec(GOOD.replace("Orders of", "All orders of")).suite_hash == base.suite_hash
    assert parse_spec(GOOD.replace("min_value: 0", "min_value: 1")).suite_hash != base.suite_hash
    assert parse_spec(GOOD.replace("amount IS NOT NULL", "amount > 0")).suite_hash != base.suite_hash
