"""Validation runs on disk: `summary.json` and `full.json` in the run's own folder."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ..crash_points import reach
from ..model.errors import DefectError, NotFoundError
from .documents import RunDocuments

SUMMARY = "summary.json"
FULL = "full.json"


def write_run(folder: str | os.PathLike[str], summary: dict[str, Any], full: dict[str, Any]) -> None:
    """Keep a run. The summary comes last: where it is, the run is complete."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    _write(target / FULL, full)
    reach("validate.half_stored")
    _write(target / SUMMARY, summary)


def read_run(folder: str | os.PathLike[str]) -> RunDocuments:
    target = Path(folder)
    if not (target / SUMMARY).is_file():
        raise NotFoundError(f"There is no finished validation run in {target}.", "Validate the change request again.")
    return RunDocuments(summary=_read(target / SUMMARY), full=_read(target / FULL))


def _write(path: Path, document: dict[str, Any]) -> None:
    """Whole or not at all, also when the machine stops half-way."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, allow_nan=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner can read; runs are for everyone who may read the dataset.
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DefectError(
            f"{path} cannot be read: {error}.", "Validate the change request again; the record was damaged."
        ) from error
