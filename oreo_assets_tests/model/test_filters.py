from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oreo_assets.model.errors import UsageError
from oreo_assets.model.filters import Filter, Op, Order


@pytest.mark.parametrize(
    ("text", "column", "op", "values"),
    [
        ("amount=gte.100", "amount", Op.GTE, ("100",)),
        ("name=eq.a.b=c", "name", Op.EQ, ("a.b=c",)),
        ("name=eq.", "name", Op.EQ, ("",)),
        ("s=in.open,closed", "s", Op.IN, ("open", "closed")),
        ('s=in.("a,1",b)', "s", Op.IN, ("a,1", "b")),
        ("x=is.null", "x", Op.IS, ("null",)),
        ("x=like.A%", "x", Op.LIKE, ("A%",)),
    ],
)
def test_a_filter_is_column_operator_value(text: str, column: str, op: Op, values: tuple[str, ...]):
    assert Filter.parse(text) == Filter(column, op, values)


@pytest.mark.parametrize("bad", ["", "amount", "amount=5", "=eq.1", "a=between.1", "a=is.maybe", "a=in.", 'a=in."x'])
def test_what_is_not_a_filter_is_a_usage_error(bad: str):
    with pytest.raises(UsageError) as caught:
        Filter.parse(bad)
    assert caught.value.remedy


LISTED = st.text(st.characters(exclude_characters="\r\n\x00", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(LISTED, min_size=1))
def test_any_list_survives_quoting(values: list[str]):
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(values)
    assert Filter.parse(f"c=in.({out.getvalue()})").values == tuple(values)


def test_orders():
    assert Order.parse("a") == Order("a")
    assert Order.parse("a.desc") == Order("a", True)
    with pytest.raises(UsageError):
        Order.parse("a.up")
