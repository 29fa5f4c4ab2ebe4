"""A file that is being sent: streamed to disk as it comes, within its dataset's limit, and never looked into here."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ..catalog.users import Actor
from ..model.errors import BadFileError, UnavailableError
from ..model.ids import DatasetRef
from ..model.safe_text import for_file_list
from ..model.states import Mode, Role
from ..settings import Settings
from .asked import Name, Note
from .auth import Who
from .errors import TooLargeError
from .places import DatasetAt
from .service import Here, Service

_MAX_FIELD_BYTES = 64 * 2**10
_MAX_PARTS = 20
_FRAMING_BYTES = 2**20
"""What a form may have around its file: boundaries, headers and the other fields."""
_LEFT_OVER_AFTER_SECONDS = 24 * 3600


Renames = Annotated[dict[Name, Name], Field(max_length=2_000), BeforeValidator(lambda v: _from_json(v))]


class UploadForm(BaseModel):
    """How the file is meant."""

    model_config = ConfigDict(extra="forbid")

    mode: Mode = Field(Mode.UPSERT, description="What the rows do to those in main; replace: they are all there is.")
    sheet: Note | None = Field(None, description="The sheet of a workbook.")
    note: Note = Field("", description="Why; the reviewer reads it.")
    set_aside: bool = Field(False, description="Go on without the bad rows, and keep them.")
    renames: Renames = Field(
        {},
        description="Which column a header of the file stands for, as a JSON object; empty for one to leave out.",
        examples=['{"Order no.": "order_id", "remarks": ""}'],
    )
    dry_run: bool = Field(False, description="Only report; nothing is kept.")


@dataclass(frozen=True)
class ReceivedFile:
    """A file that came whole."""

    path: Path
    name: str
    sha256: str
    form: UploadForm


def incoming_folder(settings: Settings) -> Path:
    """Beside the root, on the disk that has to have room for the file anyway."""
    return settings.state_dir / "incoming"


def remove_leftovers(settings: Settings) -> None:
    """What was being received when an earlier process died."""
    oldest = time.time() - _LEFT_OVER_AFTER_SECONDS
    folder = incoming_folder(settings)
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.stat().st_mtime < oldest:
            shutil.rmtree(path, ignore_errors=True)


async def _receive(request: Request, ref: DatasetAt, who: Who, here: Here) -> AsyncIterator[ReceivedFile]:
    """Take the form in. What is on disk is gone again when the request is over, however it ended."""
    folder = new_folder(here.settings)
    try:
        yield await receive_into(folder, request, ref, who, here)
    finally:
        await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)


def new_folder(settings: Settings) -> Path:
    """A place for one file that comes, under a name that nobody can guess."""
    return incoming_folder(settings) / secrets.token_hex(16)


async def receive_into(folder: Path, request: Request, ref: DatasetRef, who: Actor, here: Service) -> ReceivedFile:
    """Take the form in, and leave its file in the folder, which is made here."""
    limit = await run_in_threadpool(_limit_of, here, who, ref)
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit + _FRAMING_BYTES:
        raise _too_large(limit)
    return await _take_in(request, folder, limit)


async def _take_in(request: Request, folder: Path, limit: int) -> ReceivedFile:
    form = _Form(_boundary(request), folder / "file", limit)
    seen = 0
    try:
        folder.mkdir(parents=True)
        async for chunk in request.stream():
            seen += len(chunk)
            if seen > limit + _FRAMING_BYTES:
                raise _too_large(limit)
            await run_in_threadpool(form.write, chunk)
        form.close()
    except FormParserError as error:
        raise BadFileError(f"The form cannot be read: {error}.", "Send it as multipart/form-data.") from error
    except OSError as error:
        raise UnavailableError(
            f"The file could not be kept: {error.strerror}.", "Check the disk, then send it again; nothing was kept."
        ) from error
    finally:
        form.close()
    return form.received()


Received = Annotated[ReceivedFile, Depends(_receive)]


def _limit_of(here: Service, who: Actor, ref: DatasetRef) -> int:
    """Asked before the first byte is taken, so that nobody can fill a disk they may not write to."""
    spec = here.ws.spec(ref)
    who.require(Role.CONTRIBUTOR, ref.project)
    return spec.policies.limits.max_file_mb * 2**20


def _from_json(given: Any) -> Any:
    """A form has only texts: this one holds an object."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given) if given.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ValueError("is not a JSON object") from error


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise BadFileError("The file is not sent as a form.", "Send multipart/form-data with a part named `file`.")
    return options[b"boundary"]


@dataclass
class _Form:
    """The parts of a form as they come: one file to disk, a few short fields to memory."""

    boundary: bytes
    target: Path
    limit: int
    fields: dict[str, str] = field(default_factory=dict)
    name: str | None = None
    _ended: bool = False
    _parts: int = 0
    _size: int = 0

    def __post_init__(self) -> None:
        self._hash = hashlib.sha256()
        self._file: IO[bytes] | None = None
        self._header = (bytearray(), bytearray())
        self._disposition = b""
        self._field: tuple[str, bytearray] | None = None
        self._parser = MultipartParser(
            self.boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._open,
                "on_part_data": self._take,
                "on_part_end": self._close_part,
                "on_end": self._end,
            },
        )

    def write(self, chunk: bytes) -> None:
        if chunk:
            self._parser.write(chunk)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def received(self) -> ReceivedFile:
        if not self._ended:
            raise BadFileError("The upload ended in the middle.", "Send it again; nothing was kept of it.")
        if self.name is None:
            raise BadFileError("The form has no file.", "Send it as a part named `file`, with its name.")
        try:
            form = UploadForm.model_validate(self.fields)
        except ValidationError as error:
            problems: list[Any] = [{**e, "loc": ("body", *e["loc"])} for e in error.errors(include_url=False)]
            raise RequestValidationError(problems) from error
        return ReceivedFile(self.target, self.name, self._hash.hexdigest(), form)

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise TooLargeError(f"The form has more than {_MAX_PARTS} parts.", "Send one file at a time.")
        self._disposition = b""

    def _end_header(self) -> None:
        name, value = (bytes(part) for part in self._header)
        if name.strip().lower() == b"content-disposition":
            self._disposition = value
        self._header = (bytearray(), bytearray())

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        part = options.get(b"name", b"").decode("utf-8", "replace")
        if part != "file":
            self._field = (part, bytearray())
            return
        if self.name is not None:
            raise BadFileError("The form has two files.", "Send one at a time.")
        self.name = display_name(options.get(b"filename", b"").decode("utf-8", "replace"))
        self._file = self.target.open("xb", buffering=2**20)

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._field is not None:
            if len(self._field[1]) + end - start > _MAX_FIELD_BYTES:
                raise TooLargeError(f"The field {self._field[0][:50]!r} is too long.", "Send less.")
            self._field[1].extend(data[start:end])
        elif self._file is not None:
            self._size += end - start
            if self._size > self.limit:
                raise _too_large(self.limit)
            piece = data[start:end]
            self._hash.update(piece)
            self._file.write(piece)

    def _close_part(self) -> None:
        if self._field is not None:
            name, value = self._field
            self.fields[name] = value.decode("utf-8", "replace")
            self._field = None
        elif self._file is not None:
            self._file.close()
            self._file = None

    def _end(self) -> None:
        self._ended = True


def display_name(given: str) -> str:
    """What a client calls its file, fit to be shown. It is never part of a path here."""
    name = for_file_list(given)
    if not name:
        raise BadFileError("The file has no name.", "Send the part `file` with a filename, such as orders.csv.")
    return name


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(
        f"The file is larger than the {limit // 2**20:,} MB that this dataset takes.",
        "Split the file, or raise policies.limits.max_file_mb of the dataset.",
    )
