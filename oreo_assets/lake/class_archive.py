"""A class-data-sharing archive: the engine's classes, parsed once at set-up, so that each start is faster.

It is a convenience only. A missing, damaged or outdated archive is never an error when an engine starts.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..settings import Settings
from .jars import fingerprint
from .java import find_java


def installed_archive(settings: Settings) -> Path | None:
    """The archive that fits this Java, this Spark and these jars, if it has been made."""
    path = archive_path(settings)
    return path if path.is_file() else None


def archive_path(settings: Settings) -> Path:
    """Where the archive belongs; the name changes with everything it depends on."""
    java = re.sub(r"[^\w.+-]", "_", find_java().version)
    return settings.home / "cds" / f"java-{java}-{fingerprint(settings)}.jsa"
