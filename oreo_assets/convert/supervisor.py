"""Start the child, wait no longer than its time, and say in plain words how it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..crash_points import VARIABLES
from ..model.errors import BadFileError, DefectError, UnavailableError
from .request import Conversion, ConversionRequest

_PREFIX = ".converting-"
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_LEFT_OVER_AFTER_SECONDS = 3600
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV", *VARIABLES)


def convert(request: ConversionRequest) -> Conversion:
    """Convert one file in a child process.

    Raises BadFileError for a file that cannot be taken as a whole. Bad rows are no error: the answer lists
    them, and `out` is there only if there are none, or they were to be set aside.
    """
    request.out.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(request)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=request.out.parent))
    try:
        return _outcome(request, folder, *_run(request, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(request: ConversionRequest, folder: Path) -> tuple[int, bool]:
    """The child's exit code, and whether its time was up."""
    absolute = {**request.as_json(), "raw": os.path.abspath(request.raw), "out": os.path.abspath(request.out)}
    environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = str(_PACKAGE_ROOT)
    with open(folder / "stderr", "wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "oreo_assets.convert.child", os.path.abspath(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    try:
        assert child.stdin is not None
        try:
            # Left open on purpose: the child ends by itself when this end goes away.
            child.stdin.write(json.dumps(absolute).encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            pass  # it died at once; its exit code says more
        return child.wait(request.limits.max_seconds), False
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL, True
    finally:
        _kill_group(child)


def _outcome(request: ConversionRequest, folder: Path, code: int, late: bool) -> Conversion:
    answer = _read_answer(folder)
    limits = request.limits
    if late or (code in (-signal.SIGXCPU, -signal.SIGKILL) and not answer):
        raise BadFileError(
            f"Converting it took more than {limits.max_seconds:,} seconds"
            + ("." if late else ", or the machine ran out of memory."),
            "Send it in parts, or ask for a higher policies.limits.max_seconds.",
        )
    if "conversion" in answer:
        return Conversion.from_json(answer["conversion"])
    if "bad_file" in answer:
        message, remedy, details = answer["bad_file"]
        raise BadFileError(message, remedy, **details)
    stderr = (folder / "stderr").read_text(encoding="utf-8", errors="replace")[-4000:]
    exhausted = answer.get("exhausted")
    if exhausted == "memory" or (not answer and _tells_of_memory(stderr)):
        raise BadFileError(
            f"Converting it took more than {limits.max_memory_mb:,} MB of memory.",
            "Send it in parts, or ask for a higher policies.limits.max_memory_mb.",
        )
    if exhausted == "file size":
        raise BadFileError(
            "Converting it took more room on disk than the file's size allows.",
            "Send it in parts, or ask for a higher policies.limits.max_file_mb.",
        )
    if exhausted == "disk":
        raise UnavailableError("The disk is full, so the file could not be converted.", "Free some room and retry.")
    if "defect" in answer:
        raise DefectError(f"The conversion failed: {answer['defect'].strip().splitlines()[-1]}", trace=answer["defect"])
    if code < 0 or "crashed" in answer:
        raise BadFileError(
            f"The reader crashed on this file ({answer.get('crashed') or signal.Signals(-code).name}).",
            "The file is most likely damaged: save it again, or as another kind, and send it again.",
        )
    raise DefectError(f"The converting process ended with code {code} and no answer.", trace=stderr)


def _read_answer(folder: Path) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return answer
    except FileNotFoundError:
        return {}


def _tells_of_memory(stderr: str) -> bool:
    return any(words in stderr for words in ("memory allocation", "bad_alloc", "MemoryError", "Cannot allocate"))


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """The child and whatever it may have started; then collect it, so that no zombie stays."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdin is not None:
        with suppress(BrokenPipeError):  # closing flushes what a child that died at once did not read
            child.stdin.close()


def _remove_leftovers(request: ConversionRequest) -> None:
    """Folders of a conversion whose whole platform died; a living one is younger than its own time limit."""
    oldest = time.time() - request.limits.max_seconds - _LEFT_OVER_AFTER_SECONDS
    for folder in request.out.parent.glob(f"{_PREFIX}*"):
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
