"""Dataset files that are small and stand for something huge, or for nothing."""

from __future__ import annotations

import pytest

from oreo_assets.model.errors import SpecError
from oreo_assets.model.spec_file import parse_spec

from ..model.test_spec_file import GOOD

LAUGHS = "x0: &x0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LAUGHS + GOOD, "more than 100,000 values"),
        (GOOD.replace("policies: {}", "policies: &p {x: *p}"), "holds itself"),
        (GOOD + "[" * 100_000, "nested too deeply"),
        (GOOD + "\nx: " + "{a: " * 5_000, "nested too deeply"),
        (GOOD + "\nx:\n  " + "- " * 5_000, "nested too deeply"),
        (GOOD + "#" * 1_000_001, "longer than 1,000,000 characters"),
        (GOOD + "? [a, b]\n: c\n", "cannot be a key"),
        (GOOD.replace("Orders of the web shop", "2026-13-45"), "not what it says it is"),
        (GOOD.replace("Orders of the web shop", "!!bool maybe"), "not what it says it is"),
        (GOOD.replace("Orders of the web shop", "!!timestamp soon"), "not what it says it is"),
        (GOOD.replace("approvals: 1", f"approvals: {'9' * 5000}"), "not what it says it is"),
        (GOOD.replace("Orders of the web shop", '"\\ud800"'), "cannot be kept"),
        (GOOD.replace("Orders of the web shop", '"a\\0b"'), "NUL"),
        (GOOD.replace("min_value: 0", "min_value: .inf"), "cannot be kept"),
        (GOOD.replace("Orders of the web shop", "!!python/object/apply:os.system [id]"), "not valid YAML"),
    ],
    ids=lambda value: None if len(value) > 60 else value,
)
def test_a_hostile_dataset_file_is_refused_in_one_line(text: str, says: str):
    with pytest.raises(SpecError, match=says) as caught:
        parse_spec(text, "f.yaml")
    assert len(caught.value.message) < 500


def test_aliases_that_stay_small_are_fine():
    text = GOOD.replace("owners: [team:sales]", "owners: &o [team:sales]")
    assert parse_spec(text).owners == ["team:sales"]
