"""Leases: at most one writer of a dataset's main, across processes and machines."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from ..model.errors import BusyError, OreoError
from ..model.ids import new_id
from .models import Lease, now
from .store import Catalog, affected

LEASE_SECONDS = 60

logger = logging.getLogger(__name__)


@dataclass
class HeldLease:
    """A lease in hand. `fence` is higher than that of any holder before."""

    catalog: Catalog
    name: str
    holder: str
    fence: int
    seconds: float

    def still_held(self) -> bool:
        with self.catalog.read() as tx:
            row = tx.get(Lease, self.name)
            return bool(row and row.holder == self.holder and row.fence == self.fence and row.expires_at > now())

    def assert_held(self) -> None:
        """Called right before a commit: a holder that slept past its lease must not write."""
        if not self.still_held():
            raise BusyError(
                f"The lease on {self.name} was lost before the commit; nothing was written.",
                "Somebody else may be merging; this will be tried again.",
            )

    def renew(self) -> bool:
        with self.catalog.write() as tx:
            result = tx.execute(
                update(Lease)
                .where(Lease.name == self.name, Lease.holder == self.holder, Lease.fence == self.fence)
                .values(expires_at=now() + timedelta(seconds=self.seconds))
            )
            return affected(result) == 1

    def release(self) -> None:
        with self.catalog.write() as tx:
            tx.execute(
                update(Lease)
                .where(Lease.name == self.name, Lease.holder == self.holder, Lease.fence == self.fence)
                .values(holder=None, expires_at=now())
            )


@contextmanager
def lease(catalog: Catalog, name: str, seconds: float = LEASE_SECONDS) -> Iterator[HeldLease]:
    """Hold the lease for the length of the block, renewed by a heartbeat.

    If the process dies, the lease ends by itself; if the process only sleeps too long, `assert_held`
    tells it so.
    """
    held = _acquire(catalog, name, seconds)
    stop = threading.Event()
    beat = threading.Thread(target=_heartbeat, args=(held, stop), name=f"lease {name}", daemon=True)
    beat.start()
    try:
        yield held
    finally:
        stop.set()
        beat.join(timeout=5)
        try:
            held.release()
        except OreoError as error:
            # What the block did stands, and how it ended must be told; the lease ends by itself.
            logger.warning("The lease on %s could not be given back: %s", name, error.message)


def is_leased(catalog: Catalog, name: str) -> bool:
    """Whether somebody alive holds it."""
    with catalog.read() as tx:
        row = tx.get(Lease, name)
        return bool(row and row.holder and row.expires_at > now())


def _acquire(catalog: Catalog, name: str, seconds: float) -> HeldLease:
    try:
        return _take(catalog, name, seconds)
    except IntegrityError:
        # Several met at the first lease of this name, and one of them wrote its row. Now there is one to look at.
        return _take(catalog, name, seconds)


def _take(catalog: Catalog, name: str, seconds: float) -> HeldLease:
    holder = f"{socket.gethostname()}:{os.getpid()}:{new_id('l')}"
    with catalog.write() as tx:
        row = tx.scalars(select(Lease).where(Lease.name == name).with_for_update()).first()
        if row is None:
            row = Lease(name=name, fence=0, holder=None, expires_at=now())
            tx.add(row)
        elif row.holder and row.expires_at > now():
            raise BusyError(
                f"{name} is being written by another process (until {row.expires_at:%H:%M:%S} UTC at least).",
                "Wait for it to end, then try again.",
            )
        row.holder, row.fence = holder, row.fence + 1
        row.expires_at = now() + timedelta(seconds=seconds)
        return HeldLease(catalog, name, holder, row.fence, seconds)


def _heartbeat(held: HeldLease, stop: threading.Event) -> None:
    while not stop.wait(held.seconds / 4):
        try:
            if not held.renew():
                return  # lost to another holder; assert_held will say so where it matters
        except OreoError:
            continue  # the catalog is away for a moment: the next beat may reach it in time
