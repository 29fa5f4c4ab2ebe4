"""A dataset's columns and a way to convert one file in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oreo_assets.convert import Conversion, ConversionRequest
from oreo_assets.model.spec import Column, Limits, RowIdRule
from oreo_assets.model.states import Mode

from .support import COLUMNS, Converted

Convert = Callable[..., Converted]


@pytest.fixture
def make_request(tmp_path: Path) -> Callable[..., ConversionRequest]:
    """A request for a file with the given content (bytes or text) and ending; other arguments override."""

    def make(content: bytes | str | Path, ending: str = "csv", **changes: Any) -> ConversionRequest:
        raw = tmp_path / f"raw.{ending}"
        if isinstance(content, Path):
            raw = content
        elif isinstance(content, str):
            raw.write_bytes(content.encode())
        else:
            raw.write_bytes(content)
        values: dict[str, Any] = {
            "raw": raw,
            "out": tmp_path / "converted.parquet",
            "columns": COLUMNS,
            "key": ("id",),
            "row_id_rule": RowIdRule.KEY,
            "row_id_prefix": "up_1",
            "mode": Mode.UPSERT,
            "sheet": None,
            "set_aside": False,
            "new_columns": "review",
            "limits": Limits(max_file_mb=64, max_memory_mb=1024, max_seconds=60),
        } | changes
        values["columns"] = tuple(
            Column(name=c[0], type=c[1]) if isinstance(c, tuple) else c for c in values["columns"]
        )
        return ConversionRequest(**values)

    return make


@pytest.fixture
def convert_here(make_request: Callable[..., ConversionRequest]) -> Convert:
    """Convert without a child: the same code, without the time a process takes to start."""
    from oreo_assets.convert.pipeline import run

    def convert(content: bytes | str | Path, ending: str = "csv", **changes: Any) -> Converted:
        request = make_request(content, ending, **changes)
        conversion: Conversion = run(request)
        return Converted(request, conversion)

    return convert
