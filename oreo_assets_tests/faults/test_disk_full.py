"""A disk without room, at each step of a change request's life: told, nothing half done, and it goes on later."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oreo_assets.model.states import CRState
from oreo_assets_tests.house import open_house

from .conftest import Lake
from .oracle import LEDGER, Oracle, assert_invariants, come_back
from .table import note

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_MEGABYTES = 24


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that is really small, where the user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_MEGABYTES}m", "oreo-faults", str(folder)],
        capture_output=True,
        text=True,
    )
    if mounted.returncode:
        message = f"NO FULL DISK WAS TESTED: a small file system cannot be mounted here ({mounted.stderr.strip()})."
        warnings.warn(message, stacklevel=2)
        note("disk full", "disk", "NOT TESTED", "mounting a small file system takes root")
        pytest.skip(message)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_told_and_nothing_is_half_done(small_disk: Path, spark: object):
    lake = Lake(open_house(small_disk, LEDGER), Oracle())
    seed = lake.new_rows()
    lake.oracle.lands(lake.house.land(lake.file(seed).read_text()).id, seed)
    big: list = [(f"big{n:06}", f"{n}.00", os.urandom(24).hex()) for n in range(20_000)]
    text = lake.file(big).read_text()
    ballast = small_disk / "ballast"

    with full(ballast, leave=64):
        answer = lake.start("send", rows=big).wait()
    assert (answer.error, answer.retryable) == ("UnavailableError", True), answer
    assert "could not be copied" in answer.message
    assert_invariants(lake.house, lake.oracle)
    note("disk full while a file is sent", "disk", "undone", "told; nothing kept of it (small tmpfs)")

    cr_id = lake.house.send(text, name="big.csv")
    with full(ballast, leave=96):
        answer = lake.start("check", cr_id=cr_id).wait()
    assert answer.error is not None
    assert lake.house.cr(cr_id).state is CRState.CONVERTED
    assert_invariants(lake.house, lake.oracle)
    note("disk full while Spark stages", "disk", "recovered", "went on from converted (small tmpfs)")

    lake.house.check(cr_id)
    lake.house.approve(cr_id)
    with full(ballast, leave=96):
        answer = lake.start("merge", cr_id=cr_id).wait()
    assert answer.error is not None
    assert lake.house.cr(cr_id).state in (CRState.APPROVED, CRState.MERGING)
    back = come_back(lake.house)
    lake.oracle.lands(cr_id, big)
    assert_invariants(lake.house, lake.oracle)
    note("disk full while Spark merges", "disk", "undone" if back.undone else "recovered", "then merged (small tmpfs)")

    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    with full(ballast, leave=0):
        answer = lake.start("merge", cr_id=cr_id).wait()
    assert answer.error is not None
    come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("disk full, not a byte left for the catalog", "disk", "recovered", "told as such, then merged (small tmpfs)")


class full:
    """For the length of a `with` block the disk has only so many kilobytes left."""

    def __init__(self, ballast: Path, leave: int) -> None:
        self._ballast, self._leave = ballast, leave

    def __enter__(self) -> None:
        free = os.statvfs(self._ballast.parent)
        room = free.f_bavail * free.f_frsize - self._leave * 1024
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(room, 1))

    def __exit__(self, *_: object) -> None:
        self._ballast.unlink()


def test_the_disk_that_is_not_mounted_is_not_taken_for_an_empty_lake(make_lake: Callable[..., Lake]):
    from oreo_assets.model.errors import UnavailableError
    from oreo_assets.workflow.recovery import recover

    lake = make_lake()
    rows = lake.new_rows()
    lake.oracle.lands(lake.house.land(lake.file(rows).read_text()).id, rows)
    root = Path(lake.house.ws.settings.root)
    away = root.rename(root.with_name("away"))
    with pytest.raises(UnavailableError, match="Mount its disk"):
        recover(lake.house.ws)
    assert not Path(lake.house.ws.layout(lake.house.ref).main).exists()
    away.rename(root)
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle)
    note("root not mounted during recovery", "disk", "unaffected", "told; no empty main was made in its place")
