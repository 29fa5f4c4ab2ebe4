"""What is sent is not always a file, and not always the same file: `oreo upload` on the real thing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from oreo_assets.catalog.models import Dataset
from oreo_assets.catalog.users import Actor
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.states import Role
from oreo_assets.workflow.intake import UploadOptions, dry_run, upload
from oreo_assets.workflow.sent_file import SentFile, open_sent
from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import Oreo, Ran
from ..cli.lake_without_spark import ORDERS
from . import workbooks as w

GOOD = "order_id,amount,ordered_on\nA9,1.50,2026-02-01\n"
CON = Actor("con", {"*": Role.CONTRIBUTOR})


@pytest.fixture
def send(shop: Oreo) -> Callable[..., Ran]:
    return lambda path, *more: shop("upload", "shop/orders", "--json", *more, "--", str(path), user="con")


def nothing_is_left(shop: Oreo) -> bool:
    return not any(Workspace.open(shop.settings).layout(ORDERS.ref).imports.iterdir())


def limit(shop: Oreo, **limits: int) -> None:
    spec = ORDERS.model_dump(mode="json")
    spec["policies"]["limits"] |= limits
    with Workspace.open(shop.settings).catalog.write() as tx:
        tx.execute(update(Dataset).values(spec=spec))


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["sent", "dry run"])
@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda p: p.symlink_to("/etc/passwd"), "is a link"),
        (lambda p: p.symlink_to(p), "is a link"),
        (lambda p: p.symlink_to("nowhere"), "is a link"),
        (lambda p: p.mkdir(), "not a regular file"),
        (lambda p: os.mkfifo(p), "not a regular file"),
        (lambda p: os.mknod(p, 0o600 | 0o020000, os.makedev(1, 5)), "not a regular file"),
        (lambda p: p.touch(), "is empty"),
        (lambda p: None, "There is no file"),
    ],
    ids=["link", "link to itself", "link to nowhere", "folder", "pipe", "device", "empty", "nothing"],
)
def test_what_is_no_file_is_refused_and_leaves_nothing(
    shop: Oreo,
    send: Callable[..., Ran],
    tmp_path: Path,
    made: Callable[[Path], object],
    says: str,
    more: tuple[str, ...],
):
    path = tmp_path / "orders.csv"
    try:
        made(path)
    except PermissionError:
        pytest.skip("devices are made by root only")
    done = send(path, *more)
    assert done.code == 7, done
    assert says in done.json["error"]["message"]
    assert done.json["error"]["remedy"]
    assert done.json["change_request_id"] is None
    assert nothing_is_left(shop)


def test_a_link_is_answered_with_the_file_it_stands_for(send: Callable[..., Ran], tmp_path: Path):
    (tmp_path / "real.csv").write_text(GOOD)
    (tmp_path / "latest.csv").symlink_to("real.csv")
    assert send(tmp_path / "latest.csv").json["error"]["remedy"].endswith(str(tmp_path / "real.csv"))


@pytest.mark.parametrize(
    "name", ["x" * 5000 + ".csv", "x" * 300 + ".csv", "no such folder/x.csv", "a\nb.csv", "\u202evsc.csv"]
)
def test_names_that_no_file_can_have_are_told_so(send: Callable[..., Ran], tmp_path: Path, name: str):
    done = send(tmp_path / name)
    assert done.code == 7, done
    assert done.json["error"]["message"].isprintable()


Meddle = Callable[[Path], object]


def grow(path: Path) -> None:
    with path.open("a") as file:
        file.write("A8,1.00,2026-02-01\n" * 200_000)


def set_back(path: Path) -> None:
    """Change a byte, and the time of it back to what it was."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(30)
        file.write(b"9")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("take", [upload, dry_run], ids=["sent", "dry run"])
@pytest.mark.parametrize(
    "meddle",
    [grow, set_back, lambda p: os.truncate(p, 10), Path.unlink, lambda p: p.write_text(GOOD)],
    ids=["grows", "changes and hides it", "shrinks", "is deleted", "is written anew"],
)
def test_a_file_that_changes_while_it_is_copied_is_refused_and_leaves_nothing(
    shop: Oreo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meddle: Meddle, take: Callable[..., object]
):
    path = tmp_path / "orders.csv"
    path.write_text(GOOD)
    copy = SentFile.copy_to

    class _Meddled:
        """A handle through which the file is read once, and changed then."""

        def __init__(self, sent: SentFile) -> None:
            self.handle, self.left = sent.handle, True

        def read(self, size: int) -> bytes:
            data = self.handle.read(size)
            if self.left:
                self.left = False
                meddle(path)
            return data

        def __getattr__(self, name: str) -> object:
            return getattr(self.handle, name)

    monkeypatch.setattr(SentFile, "copy_to", lambda sent, target: copy(replace(sent, handle=_Meddled(sent)), target))
    with pytest.raises(BadFileError, match="changed while it was read"):
        take(Workspace.open(shop.settings), CON, ORDERS.ref, path, UploadOptions())
    assert nothing_is_left(shop)


def test_a_file_that_never_ends_is_not_copied_without_end(shop: Oreo, tmp_path: Path):
    """Its writer is faster than we are, and goes on."""
    path, stop = tmp_path / "orders.csv", threading.Event()
    path.write_text(GOOD * 1000)

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"x" * (1 << 16))
                stop.wait(0.001)

    with open_sent(path, "", ORDERS) as sent:
        writer = threading.Thread(target=write)
        writer.start()
        try:
            while path.stat().st_size == sent.size:
                stop.wait(0.001)
            with pytest.raises(BadFileError, match="changed while it was read"):
                sent.copy_to(tmp_path / "copy.csv")
        finally:
            stop.set()
            writer.join()
        assert (tmp_path / ".copy.csv.part").stat().st_size <= sent.size + 1
    assert not (tmp_path / "copy.csv").exists()


@pytest.mark.parametrize(
    ("limits", "content", "ending", "says"),
    [
        (
            {"max_seconds": 1},
            lambda: b"order_id,amount\n" + b"".join(b'A%d,"5" pipe\n' % n for n in range(400_000)),
            "csv",
            "took more than 1 seconds",
        ),
        (
            {"max_memory_mb": 256},
            lambda: w.workbook(
                w.sheet(["order_id"], ["A1"], inside='<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
            ),
            "xlsx",
            "took more than 256 MB of memory",
        ),
    ],
    ids=["time", "memory"],
)
def test_at_its_limit_the_upload_fails_with_the_reason_and_the_next_is_taken(
    shop: Oreo,
    send: Callable[..., Ran],
    tmp_path: Path,
    limits: dict[str, int],
    content: Callable[[], bytes],
    ending: str,
    says: str,
):
    limit(shop, **limits)
    path = tmp_path / f"orders.{ending}"
    path.write_bytes(content())
    done = send(path)
    assert (done.code, done.json["state"]) == (7, "failed")
    told = shop("cr", "show", "shop/orders", done.json["change_request_id"], "--json").json
    assert says in told["reason"]
    folder = Workspace.open(shop.settings).layout(ORDERS.ref).upload(done.json["upload_id"])
    assert sorted(p.name for p in folder.iterdir()) == [".sent", f"raw.{ending}"]
    limit(shop)
    good = tmp_path / "good.csv"
    good.write_text(GOOD)
    assert send(good).json["state"] == "converted"
