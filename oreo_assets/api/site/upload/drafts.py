"""Files that are received and not sent yet: on disk under a name nobody can guess, for their sender alone."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from ....catalog.users import Actor
from ....model.errors import NotFoundError
from ....model.ids import DatasetRef
from ....model.states import Role
from ....settings import Settings
from ....workflow.upload_look import bad_rows_csv
from ...answers import Json
from ...auth import WhoOnSite
from ...places import DatasetAt
from ...receiving import ReceivedFile, incoming_folder, new_folder, receive_into, remove_leftovers
from ...service import Here

router = APIRouter(include_in_schema=False)
_NOTE = "draft.json"
_ID = re.compile(r"[0-9a-f]{32}\Z")
_MOST_OF_ONE = 5


@dataclass(frozen=True)
class Draft:
    """One file, and what its sender calls it."""

    folder: Path
    name: str
    size: int

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def file(self) -> Path:
        return self.folder / "file"

    @property
    def look(self) -> Path:
        """What the last look over it found."""
        return self.folder / "look"

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def find_draft(settings: Settings, actor: Actor, ref: DatasetRef, draft_id: str) -> Draft:
    """The actor's own file for this dataset. That of somebody else is not there."""
    folder = incoming_folder(settings) / draft_id
    told = _told(folder) if _ID.match(draft_id) else None
    if told is None or told["user"] != actor.name or told["dataset"] != str(ref):
        raise NotFoundError("The file is not here any more.", "Choose it again.")
    return Draft(folder, told["name"], (folder / "file").stat().st_size)


@router.post("/p/{project}/{dataset}/upload/file")
async def receive(request: Request, here: Here, who: WhoOnSite, ref: DatasetAt) -> Response:
    """Stream it to disk. Nothing is opened by it: the page goes on from here."""
    await run_in_threadpool(_make_room, here.settings, who)
    folder = new_folder(here.settings)
    try:
        got = await receive_into(folder, request, ref, who, here)
        await run_in_threadpool(_note, folder, got, who, ref)
    except BaseException:
        await run_in_threadpool(shutil.rmtree, folder, ignore_errors=True)
        raise
    return Json({"draft": folder.name, "name": got.name}, 201)


@router.get("/p/{project}/{dataset}/upload/{draft}/bad-rows.csv")
def bad_rows(here: Here, who: WhoOnSite, ref: DatasetAt, draft: str) -> Response:
    who.require(Role.CONTRIBUTOR, ref.project)
    text = bad_rows_csv(find_draft(here.settings, who, ref, draft).look)
    headers = {"Content-Disposition": 'attachment; filename="bad-rows.csv"', "Cache-Control": "no-store"}
    return StreamingResponse(text, media_type="text/csv; charset=utf-8", headers=headers)


def _note(folder: Path, got: ReceivedFile, who: Actor, ref: DatasetRef) -> None:
    told = {"user": who.name, "dataset": str(ref), "name": got.name}
    (folder / _NOTE).write_text(json.dumps(told), encoding="utf-8")


def _told(folder: Path) -> dict[str, str] | None:
    try:
        told: dict[str, str] = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return told


def _make_room(settings: Settings, who: Actor) -> None:
    """Nobody keeps more than a few: the oldest make room. Pages remove theirs when they are left."""
    remove_leftovers(settings)
    base = incoming_folder(settings)
    own = [f for f in (base.iterdir() if base.is_dir() else ()) if (told := _told(f)) and told["user"] == who.name]
    own.sort(key=lambda folder: folder.stat().st_mtime)
    for folder in own[: max(0, len(own) - _MOST_OF_ONE + 1)]:
        shutil.rmtree(folder, ignore_errors=True)
