"""Opening the catalog, and its two kinds of transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import CursorResult, Engine, Result, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session as Transaction
from sqlalchemy.pool import NullPool

from ..model.errors import UnavailableError
from .migrations import SCHEMA_VERSION, upgrade

_LOCK_WAIT_SECONDS = 30


class Catalog:
    """The catalog at a URL. Cheap to make; a process usually has one."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writer = engine.execution_options(oreo_writes=True)

    @classmethod
    def open(cls, url: str) -> Catalog:
        """Connect, and bring the schema up to date if an older one is found."""
        catalog = cls(_engine(url))
        with _plain_words():
            if catalog.schema_version() != SCHEMA_VERSION:
                upgrade(catalog.engine)
        return catalog

    def schema_version(self) -> str | None:
        with self.engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A consistent view; nothing is written."""
        with _plain_words(), Transaction(self.engine, expire_on_commit=False) as tx:
            yield tx

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """All of it or nothing. On SQLite the write lock is taken at once, so no late surprise."""
        with _plain_words(), Transaction(self._writer, expire_on_commit=False) as tx, tx.begin():
            yield tx

    def close(self) -> None:
        self.engine.dispose()


def affected(result: Result[Any]) -> int:
    """How many rows an UPDATE met."""
    return cast("CursorResult[Any]", result).rowcount


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True, pool_size=5, max_overflow=10)
    if parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    # No pool: a connection to SQLite is cheap, and forked run workers must not inherit one.
    engine = create_engine(parsed, poolclass=NullPool, connect_args={"timeout": _LOCK_WAIT_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, see _begin_sqlite
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Any) -> None:
    writes = connection.get_execution_options().get("oreo_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _plain_words() -> Iterator[None]:
    """A catalog that is locked, full or away is told as such, not as a driver's traceback."""
    try:
        yield
    except OperationalError as error:
        raise UnavailableError(
            f"The catalog does not answer: {_first_line(error)}.",
            "Check OREO_CATALOG_URL and the disk, then try again; nothing was changed.",
        ) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise UnavailableError(f"The catalog's connection was lost: {_first_line(error)}.", "Try again.") from error
        raise


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0].rstrip(".")
