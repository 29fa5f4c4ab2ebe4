"""Fifty readers at once on the API: a filter and an order over the whole table, as of its newest version."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb

from oreo_assets.catalog.users import Actor, add_user, sign_in
from oreo_assets.lake.connect_server import free_port
from oreo_assets.lake.engine import open_session
from oreo_assets.model.states import Role
from oreo_assets.settings import Settings
from oreo_assets.workflow import datasets
from oreo_assets.workflow.workspace import Workspace

from .measure import Measured
from .table_job import SPEC, rows_sql

READERS = 50


def run(rows: int, each: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="oreo-bench-readers-") as folder:
        settings = replace(Settings.from_env(root=str(Path(folder, "lake"))), api_port=free_port())
        token = _make(settings, rows)
        with _server(settings) as base:
            url = f"{base}/api/v1/projects/bench/datasets/rows/rows?amount=gte.500&order=amount.desc&limit=100"
            _ask(url, token)
            with ThreadPoolExecutor(READERS) as readers:
                taken = sorted(readers.map(lambda _: _ask(url, token), range(READERS * each)))
    job = f"{READERS} readers at once, filter and order over {rows:,} rows"
    yield Measured(f"{job}: median", statistics.median(taken), limit="< 5 s")
    yield Measured(f"{job}: slowest of {len(taken)}", taken[-1], limit="< 5 s")


def _make(settings: Settings, rows: int) -> str:
    ws = Workspace.open(settings)
    token = add_user(ws.catalog, None, "ann", Role.ADMIN, None).token
    assert token is not None
    ann: Actor = sign_in(ws.catalog, token)
    datasets.create_project(ws, ann, SPEC.project)
    datasets.apply_dataset(ws, ann, SPEC)
    file = settings.state_dir / "rows.parquet"
    duckdb.execute(f"COPY ({rows_sql(0, rows)}) TO '{file}'")
    # Straight into the table: what is measured is reading.
    frame = open_session(settings).read.parquet(str(file))
    frame.write.format("delta").mode("append").save(ws.layout(SPEC.ref).main)
    return token


@contextmanager
def _server(settings: Settings) -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "oreo_assets.api"],
        env=os.environ | settings.as_env(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{settings.api_port}"
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{base}/healthz", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield base
    finally:
        server.terminate()
        server.wait(30)


def _ask(url: str, token: str) -> float:
    """Seconds for one answer, as its reader waits for it."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    start = time.perf_counter()
    with urllib.request.urlopen(request, timeout=120) as answer:
        assert len(json.load(answer)["rows"]) == 100
    return time.perf_counter() - start
