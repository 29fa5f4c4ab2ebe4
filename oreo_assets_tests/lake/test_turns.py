"""Reads of one process take turns."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from oreo_assets.lake.read import TableAt, reading
from oreo_assets.lake.turns import AT_ONCE


def test_of_many_readers_only_some_read_at_once_and_all_are_served(tmp_path: Path):
    write_deltalake(str(tmp_path / "t"), pa.table({"row_id": ["a", "b"]}))
    table = TableAt("t", str(tmp_path / "t"))
    lock, inside, most, served = threading.Lock(), 0, 0, []

    def read() -> None:
        nonlocal inside, most
        with reading(table) as connection:
            with lock:
                inside += 1
                most = max(most, inside)
            # A read within a read must not wait for the one it is in.
            with reading(table) as inner:
                counts = [c.execute("SELECT count(*) FROM t").fetchone() for c in (connection, inner)]
            with lock:
                inside -= 1
                served.append(counts)

    readers = [threading.Thread(target=read) for _ in range(3 * AT_ONCE)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert served == [[(2,), (2,)]] * len(readers)
    assert most <= AT_ONCE
