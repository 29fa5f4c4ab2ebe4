"""The real child process: limits, kills, crashes, and files that are not what they seem."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import openpyxl
import psutil
import pytest

from oreo_assets.convert import ConversionRequest, convert
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.spec import Limits

from .support import read_parquet

Make = Callable[..., ConversionRequest]


def left_over(request: ConversionRequest) -> list[str]:
    return sorted(p.name for p in request.out.parent.iterdir() if p != request.raw)


def test_child_converts_and_leaves_only_its_results(make_request: Make) -> None:
    request = make_request("id,qty,extra\na1,1,007\n")
    conversion = convert(request)
    assert (conversion.rows_read, conversion.rows_good) == (1, 1)
    assert conversion.new_columns == (("extra", "string"),)
    assert read_parquet(request.out)[1] == [("a1", "a1", 1, "007")]
    assert left_over(request) == ["converted.parquet", "schema.json"]


def test_child_hands_back_rejects_and_refusals(make_request: Make) -> None:
    request = make_request("id,qty\na1,x\n")
    conversion = convert(request)
    assert conversion.rejects[0].reason == "not a whole number"
    assert left_over(request) == []
    with pytest.raises(BadFileError, match="lacks the key column id") as refused:
        convert(make_request("name\nb\n"))
    assert refused.value.details == {"missing": ["id"], "header": ["name"]}


def test_a_conversion_that_takes_too_long_is_stopped_and_leaves_nothing(make_request: Make) -> None:
    big = "id,name\n" + "".join(f'a{i},5" pipe\n' for i in range(1_000_000))
    request = make_request(big, limits=Limits(max_file_mb=64, max_memory_mb=1024, max_seconds=1))
    began = time.monotonic()
    with pytest.raises(BadFileError, match="took more than 1 seconds"):
        convert(request)
    assert time.monotonic() - began < 5
    assert left_over(request) == []


def test_a_conversion_that_needs_too_much_memory_is_stopped(make_request: Make, tmp_path: Path) -> None:
    """A workbook with one cell in the farthest corner: small on disk, without end in memory."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"] = "id"
    sheet.cell(1_048_576, 16_384, "x")
    book.save(tmp_path / "raw.xlsx")
    request = make_request(tmp_path / "raw.xlsx", limits=Limits(max_file_mb=8, max_memory_mb=256, max_seconds=60))
    with pytest.raises(BadFileError, match="took more than 256 MB of memory"):
        convert(request)
    assert left_over(request) == []


def test_a_crash_of_the_reader_is_the_files_fault_and_not_the_platforms(
    make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oreo_assets.convert import supervisor

    crash = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
    popen = subprocess.Popen
    monkeypatch.setattr(supervisor.subprocess, "Popen", lambda _, **options: popen(crash, **options))
    with pytest.raises(BadFileError, match="crashed on this file \\(SIGSEGV\\)"):
        convert(make_request("id\na1\n"))


def test_the_child_ends_when_its_parent_is_killed(make_request: Make, tmp_path: Path) -> None:
    big = "id,name\n" + "".join(f"a{i},{'x' * 80}\n" for i in range(600_000))
    request = make_request(big)
    code = (
        "import json,sys; from oreo_assets.convert import *;"
        "convert(ConversionRequest.from_json(json.loads(sys.argv[1])))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, json.dumps(request.as_json())])
    deadline = time.monotonic() + 20
    while not (children := _children(parent.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children
    parent.kill()
    parent.wait()
    while any(_is_alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_is_alive(pid) for pid in children)


def test_links_folders_and_pipes_are_refused(make_request: Make, tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("id\na1\n")
    (tmp_path / "link.csv").symlink_to(real)
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for name, words in (("link", "cannot be opened"), ("folder", "not a regular"), ("pipe", "not a regular")):
        with pytest.raises(BadFileError, match=words):
            convert(make_request(tmp_path / f"{name}.csv"))
    with pytest.raises(BadFileError, match="There is no file"):
        convert(make_request(tmp_path / "nothing.csv"))


def test_a_file_that_changes_while_it_is_read_is_refused(make_request: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from oreo_assets.convert import pipeline

    request = make_request("id,qty\na1,1\n")
    whole = pipeline._convert

    def meddle(*args: object) -> object:
        result = whole(*args)  # type: ignore[arg-type]
        with open(request.raw, "a") as file:
            file.write("a2,2\n")
        return result

    monkeypatch.setattr(pipeline, "_convert", meddle)
    with pytest.raises(BadFileError, match="changed while it was read"):
        pipeline.run(request)
    assert left_over(request) == []


def test_a_file_above_the_limit_and_an_unknown_ending_are_refused(make_request: Make) -> None:
    limits = Limits(max_file_mb=1)
    with pytest.raises(BadFileError, match="has 2 MB; this dataset takes up to 1 MB"):
        convert(make_request("id\n" + "a" * (2 << 20), limits=limits))
    with pytest.raises(BadFileError, match=r"ending in \.exe are not taken"):
        convert(make_request("id\na1\n", "exe"))


def test_old_leftovers_are_removed_and_young_ones_are_not(make_request: Make) -> None:
    request = make_request("id\na1\n")
    old, young = (request.out.parent / f".converting-{name}" for name in ("old", "young"))
    for folder in (old, young):
        folder.mkdir()
    os.utime(old, (1, 1))
    convert(request)
    assert (old.exists(), young.exists()) == (False, True)


def test_several_conversions_run_side_by_side(make_request: Make, tmp_path: Path) -> None:
    request = make_request("id,qty\na1,1\n")
    outs = [tmp_path / str(n) / "converted.parquet" for n in range(3)]
    workers = [threading.Thread(target=convert, args=(dataclasses.replace(request, out=out),)) for out in outs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(read_parquet(out)[1] == [("a1", "a1", 1)] for out in outs)


def test_importing_the_package_loads_no_engine() -> None:
    code = (
        "import sys, oreo_assets.convert;"
        "sys.exit(bool({'duckdb', 'pyarrow', 'python_calamine', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _children(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.NoSuchProcess:
        return []


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
