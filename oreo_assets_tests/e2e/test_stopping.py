"""Ctrl-C, after all that the platform has done for the tests before this one."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest

from .conftest import Platform

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_ctrl_c_stops_all_of_it(platform: Platform):
    family = psutil.Process(platform.process.pid).children(recursive=True)
    assert len(family) >= 4
    platform.process.send_signal(signal.SIGINT)
    assert platform.process.wait(60) == 0
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(p.is_running() and p.status() != "zombie" for p in family):
        time.sleep(0.2)
    assert [p for p in family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []
    assert not (platform.folder / "lake.oreo" / "platform.json").exists()
    leftover = [p for p in psutil.process_iter(["environ"]) if _belongs(p, str(platform.folder))]
    assert [p for p in leftover if p.pid != os.getpid()] == []


def _belongs(process: psutil.Process, folder: str) -> bool:
    try:
        return process.environ().get("DELTA_DATA_ROOT", "").startswith(folder) and "java" not in process.name()
    except psutil.Error:
        return False
