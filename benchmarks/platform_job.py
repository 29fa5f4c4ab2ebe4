"""A 1,000-row CSV from `oreo upload` to `in_review` on a warm platform, beside the plain script; and reads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oreo_assets.lake.connect_server import free_port

from .measure import Measured, median_seconds

SPEC = """\
project: bench
dataset: orders
columns:
  - {name: order_id, type: string, nullable: false}
  - {name: amount, type: "decimal(12,2)"}
  - {name: status, type: string}
  - {name: ordered_on, type: date}
key: [order_id]
expectations:
  - {type: expect_column_values_to_not_be_null, column: order_id}
  - {type: expect_column_values_to_be_unique, column: order_id}
  - {type: expect_column_values_to_be_between, column: amount, min_value: 0}
  - {type: expect_column_values_to_be_in_set, column: status, value_set: [open, paid]}
"""


def run(times: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="oreo-bench-") as folder, _platform(Path(folder)) as oreo:
        file = _write_csv(Path(folder, "orders.csv"))
        last: dict[str, Any] = {}

        def upload() -> None:
            last.update(oreo("upload", "bench/orders", str(file), "--wait"))

        ours = median_seconds(upload, times, warm_up=2)
        plain = [sys.executable, "-m", "benchmarks.plain_script", str(file), str(Path(folder, "plain"))]
        peer = median_seconds(lambda: _quiet(plain), max(1, times // 2), warm_up=1)
        yield Measured("1,000-row CSV, upload → in review", ours, "plain PySpark + GE script", peer)
        cr_id = last["change_request_id"]
        for label, args in (
            ("oreo query", ("query", "bench/orders", "--limit", "5")),
            ("oreo history", ("history", "bench/orders")),
            ("oreo cr show", ("cr", "show", "bench/orders", cr_id)),
        ):
            yield Measured(f"{label} (one shot, no JVM)", median_seconds(lambda a=args: oreo(*a), times), limit="< 1 s")


@contextmanager
def _platform(folder: Path) -> Iterator[Any]:
    ports = free_port(), free_port()
    env = os.environ | {
        "DELTA_DATA_ROOT": str(folder / "lake"),
        "OREO_PORT": str(ports[0]),
        "DAGSTER_PORT": str(ports[1]),
    }

    def oreo(*args: str) -> Any:
        command = [sys.executable, "-m", "oreo_assets.cli", *args, "--json"]
        return json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)

    log = (folder / "up.log").open("wb")
    platform = subprocess.Popen([sys.executable, "-m", "oreo_assets.cli", "up"], env=env, stdout=log, stderr=log)
    try:
        while b"Oreo is up" not in (folder / "up.log").read_bytes():
            if platform.poll() is not None:
                raise SystemExit((folder / "up.log").read_text())
            time.sleep(0.5)
        env["OREO_TOKEN"] = oreo("user", "add", "ann", "--role", "admin")["token"]
        oreo("project", "create", "bench")
        (folder / "orders.yaml").write_text(SPEC)
        oreo("dataset", "apply", str(folder / "orders.yaml"))
        yield oreo
    finally:
        platform.send_signal(signal.SIGINT)
        platform.wait(60)
        log.close()


def _write_csv(path: Path, rows: int = 1000) -> Path:
    lines = [f"O-{n:06d},{n % 97}.25,{'open' if n % 3 else 'paid'},2026-01-{1 + n % 28:02d}" for n in range(rows)]
    path.write_text("\n".join(["order_id,amount,status,ordered_on", *lines]) + "\n")
    return path


def _quiet(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)
