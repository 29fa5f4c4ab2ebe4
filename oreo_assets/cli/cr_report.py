"""A validation run written to a file, as a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import UsageError

if TYPE_CHECKING:
    from ..quality.documents import RunDocuments


def write_report(run: RunDocuments, file: Path) -> None:
    from ..quality.reports import render_report

    try:
        file.write_text(render_report(run), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {file}: {error.strerror or error}.", "Name a file that you may write."
        ) from error
