"""A minute of the soak with every test run; `make soak` does it at length."""

from __future__ import annotations

import subprocess
import sys

import pytest

from oreo_assets.model.states import Mode

from .oracle import Row
from .replay import Merged, Sent, replay

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_short_soak_loses_and_doubles_nothing():
    command = [sys.executable, "-m", "oreo_assets_tests.faults.soak"]
    done = subprocess.run(
        [*command, "--minutes", "0.5", "--count", "5", "--seed", "7"], capture_output=True, text=True, timeout=400
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2 and line[-1].isdigit())
    assert (counts["lost"], counts["doubled"]) == ("0", "0")
    assert int(counts["merged"]) > 0


def test_the_account_would_notice_a_lost_and_a_late_change():
    """The judge is judged: it must not call good what is not."""
    one: Row = ("a", "1.00", "x")
    two: Row = ("a", "2.00", "x")
    first = Merged(1, 0, Sent(Mode.UPSERT, (one,)))
    assert replay([first, Merged(2, 1, Sent(Mode.UPSERT, (two,)))]) == {"a": two}
    # An author who saw nothing of it and left it as it was in the base does not set it back.
    assert replay([first, Merged(2, 1, Sent(Mode.UPSERT, (two,))), Merged(3, 1, Sent(Mode.UPSERT, (one,)))])["a"] == two
    assert replay([first, Merged(2, 0, Sent(Mode.DELETE, (one,)))]) == {"a": one}
    assert replay([first, Merged(2, 1, Sent(Mode.DELETE, (one,)))]) == {}
    assert replay([first, Merged(2, 0, Sent(Mode.REPLACE, (("b", "1.00", "x"),)))]).keys() == {"a", "b"}
    assert replay([first, Merged(2, 1, Sent(Mode.REPLACE, (("b", "1.00", "x"),)))]).keys() == {"b"}
