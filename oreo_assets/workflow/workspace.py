"""What every use case needs at hand: the settings, the catalog, the lake and (if need be) Spark."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from ..catalog import Catalog
from ..catalog.datasets import get_spec
from ..catalog.leases import HeldLease, lease
from ..catalog.models import ChangeRequest
from ..lake.diff import ChangeSet
from ..lake.layout import DatasetLayout
from ..model.errors import BusyError, StateError, UnavailableError, UsageError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from ..settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Workspace:
    """One root and its catalog. Spark is opened only when a use case really needs it."""

    settings: Settings
    catalog: Catalog

    @classmethod
    def open(cls, settings: Settings) -> Workspace:
        try:
            return cls(settings, Catalog.open(settings.catalog_url))
        except (ArgumentError, NoSuchModuleError) as error:
            raise UsageError(
                "OREO_CATALOG_URL is not the address of a catalog.",
                "Write it like postgresql://user@host/name, or leave it out for SQLite beside the root.",
            ) from error
        except OSError as error:
            raise UnavailableError(
                f"The catalog beside {settings.root} cannot be opened: {error.strerror or error}.",
                "Choose a root that you may write: set DELTA_DATA_ROOT or give --root.",
            ) from error

    def spark(self) -> SparkSession:
        """The session of this process."""
        from ..lake.engine import open_session

        return open_session(self.settings)

    def isolated_spark(self) -> AbstractContextManager[SparkSession]:
        """A session of its own for a commit, whose settings must not leak into another's."""
        from ..lake.engine import isolated_session

        return isolated_session(self.settings)

    def layout(self, ref: DatasetRef) -> DatasetLayout:
        return DatasetLayout(self.settings.root, ref)

    def spec(self, ref: DatasetRef) -> DatasetSpec:
        return get_spec(self.catalog, ref)

    def change_set(self, cr: ChangeRequest) -> ChangeSet:
        """What a change request changes, pinned to the versions it was staged with."""
        if cr.staging_version is None or cr.base_version is None:
            raise StateError(
                f"Change request {cr.id} is {cr.state}; nothing is staged yet.",
                f"Wait until it is in review: oreo cr show {cr.ref} {cr.id}",
            )
        layout = self.layout(cr.ref)
        return ChangeSet.of(layout.main, cr.base_version, layout.staging(cr.id), cr.staging_version, cr.mode)

    @contextmanager
    def sole_writer(self, ref: DatasetRef) -> Iterator[HeldLease]:
        """Hold main of a dataset for writing.

        The catalog's lease keeps other machines away. On a local root a file lock does so too, for
        processes that believe in different catalogs: the local log store cannot.
        """
        with lease(self.catalog, lease_name(ref)) as held, self._file_lock(ref):
            yield held

    @contextmanager
    def alone_with(self, cr_id: str) -> Iterator[None]:
        """Wait until no other process of this machine converts or stages the same change request.

        The sender's command and the platform may both set to work on it. Without this, one of them would
        clear away what the other has just written.
        """
        descriptor = self._open_lock(cr_id)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def forget_lock(self, cr_id: str) -> None:
        """Its change request has ended: nobody will wait for it any more."""
        (self.settings.state_dir / "locks" / f"{cr_id}.lock").unlink(missing_ok=True)

    def _open_lock(self, name: str) -> int:
        folder = self.settings.state_dir / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    @contextmanager
    def _file_lock(self, ref: DatasetRef) -> Iterator[None]:
        if not self.settings.is_local:
            yield
            return
        descriptor = self._open_lock(ref.slug)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise BusyError(f"{ref} is being written by another process.", "Try again when it is done.") from error
        finally:
            os.close(descriptor)


def lease_name(ref: DatasetRef) -> str:
    return f"main of {ref}"
