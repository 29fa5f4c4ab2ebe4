"""Every property with inputs that follow from one seed; `make soak` goes on with others."""

from __future__ import annotations

from collections import Counter

import pytest

from .properties import PROPERTIES, Property


@pytest.mark.parametrize("case", PROPERTIES, ids=[p.name for p in PROPERTIES])
def test_no_input_ends_in_a_way_that_nobody_named(case: Property):
    ends: Counter[str] = Counter()
    case.try_out(1, case.examples, lambda word: ends.update([word]))
    print(f"{case.name}: {dict(ends)}")
    assert sum(ends.values()) >= case.examples // 2
    # No spreadsheet in the format of 1997 comes out of chance.
    assert len(ends) > 1 or case.name == "old workbooks", "the inputs are not what they should be"
    assert "refused without reason" not in ends
