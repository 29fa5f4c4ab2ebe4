"""The file of a sender: opened once, looked at through that one handle, copied whole and unchanged or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..convert.request import RAW_ENDINGS
from ..model.errors import BadFileError, UnavailableError
from ..model.safe_text import for_file_list, for_one_line
from ..model.spec import DatasetSpec

SENT = ".sent"
"""Beside a file that came through `upload`, from before its first byte: it is no file of another program."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class SentFile:
    """An open regular file within its dataset's limit. `name` is only ever shown, never a path."""

    name: str
    extension: str
    size: int
    handle: BinaryIO
    before: os.stat_result

    def take_in(self, target: Path) -> None:
        """Copy it to its place in the lake; whatever goes wrong, nothing is left there."""
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            (target.parent / SENT).touch()
            self.copy_to(target)
        except BadFileError:
            shutil.rmtree(target.parent, ignore_errors=True)
            raise
        except OSError as error:
            shutil.rmtree(target.parent, ignore_errors=True)
            raise UnavailableError(
                f"{self.name} could not be copied into the lake: {error.strerror}.",
                "Check the disk, then send it again; nothing was kept of it.",
            ) from error

    def copy_to(self, target: Path) -> None:
        """Under another name first. A file that grows or changes meanwhile is refused, not copied without end."""
        part = target.with_name(f".{target.name}.part")
        self.handle.seek(0)
        left = self.size + 1
        with part.open("xb") as write:
            while left > 0 and (chunk := self.handle.read(min(_CHUNK, left))):
                write.write(chunk)
                left -= len(chunk)
            write.flush()
            os.fsync(write.fileno())
        if _identity(os.fstat(self.handle.fileno())) != _identity(self.before):
            raise BadFileError(f"{self.name} changed while it was read.", "Send it again when it is complete.")
        part.rename(target)


@contextmanager
def open_sent(file: Path, called: str, spec: DatasetSpec) -> Iterator[SentFile]:
    """The file, if it can be taken. `called` is what its sender calls it, where it came under another name."""
    name = for_file_list(called or file.name)
    extension = Path(name).suffix.lstrip(".").lower()
    if extension not in RAW_ENDINGS:
        raise BadFileError(
            f"{name!r} is not a kind of file that can be taken.",
            f"Send one that ends in {', '.join('.' + e for e in RAW_ENDINGS)}.",
        )
    with os.fdopen(_open(file, name), "rb") as handle:
        before = os.fstat(handle.fileno())
        size, limit = before.st_size, spec.policies.limits.max_file_mb
        if size > limit * 2**20:
            raise BadFileError(
                f"{name} has {size / 2**20:,.0f} MB; {spec.ref} takes files of up to {limit:,} MB.",
                "Split the file, or raise policies.limits.max_file_mb of the dataset.",
            )
        if size == 0:
            raise BadFileError(f"{name} is empty.", "Send a file with a header and rows.")
        yield SentFile(name, extension, size, handle, before)


def _open(file: Path, name: str) -> int:
    """Without following a link, which may point elsewhere by the next look, and without waiting for a pipe."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise BadFileError(f"There is no file {for_one_line(str(file))}.", "Check the path.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            itself = for_one_line(os.path.realpath(file))
            raise BadFileError(f"{name} is a link.", f"Send the file itself: {itself}") from error
        raise BadFileError(f"{name} cannot be opened: {error.strerror}.", "Check the path and its rights.") from error
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise BadFileError(f"{name} is not a regular file.", "Send a file, not a folder, pipe or device.")
    return opened


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    """Writing moves the time of change, and nobody can set that back."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
