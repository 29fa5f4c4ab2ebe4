"""What a diff compares: a staged table against main as of a version, or the two sides of one commit of main."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.errors import NotFoundError
from ..model.states import Mode
from . import log
from .read import TableAt, reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KINDS = ("inserted", "updated", "deleted", "unchanged")


@dataclass(frozen=True)
class ChangeSet:
    """A staged table and how it is meant, against main as of a version."""

    main: TableAt
    staged: TableAt
    mode: Mode

    @classmethod
    def of(cls, main_uri: str, base_version: int, staging_uri: str, staging_version: int, mode: Mode) -> ChangeSet:
        return cls(TableAt("main", main_uri, base_version), TableAt("staged", staging_uri, staging_version), mode)


@dataclass(frozen=True)
class CommittedChange:
    """What one commit of main changed, long after the table that was staged for it is gone."""

    uri: str
    version: int


@dataclass(frozen=True)
class Counts:
    """Rows by what happens to them."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0

    def as_json(self) -> dict[str, int]:
        return {kind: getattr(self, kind) for kind in KINDS}


@dataclass(frozen=True)
class Sides:
    """A connection that sees both sides as `main` and `staged`, and how `staged` is meant.

    `whole` is main with all of its rows: of a commit, `main` holds only those that it changed.
    """

    connection: DuckDBPyConnection
    mode: Mode
    whole: str = "main"


@contextmanager
def both_sides(change: ChangeSet | CommittedChange) -> Iterator[Sides]:
    """Open what is compared, for reading only."""
    if isinstance(change, ChangeSet):
        with reading(change.main, change.staged) as connection:
            yield Sides(connection, change.mode)
        return
    if change.version < 1:
        raise NotFoundError(f"Version {change.version} of {change.uri} came from no change request.")
    before = TableAt("whole", change.uri, change.version - 1)
    if not _has_feed(change):
        after = TableAt("staged", change.uri, change.version)
        with reading(TableAt("main", change.uri, change.version - 1), after) as connection:
            yield Sides(connection, Mode.REPLACE)
        return
    with reading(before) as connection:
        _take_in_feed(connection, change)
        yield Sides(connection, Mode.REPLACE, whole="whole")


def _has_feed(change: CommittedChange) -> bool:
    """Whether the table kept its change data feed when the commit was made; else both versions are compared."""
    configuration = log.open_table(change.uri, change.version).metadata().configuration
    return configuration.get("delta.enableChangeDataFeed") == "true"


def _take_in_feed(connection: DuckDBPyConnection, change: CommittedChange) -> None:
    from deltalake.exceptions import DeltaError

    table = log.open_table(change.uri, change.version)
    try:
        feed = table.load_cdf(starting_version=change.version, ending_version=change.version)
        connection.register("feed", feed)
        connection.execute("CREATE TEMP TABLE changes AS SELECT * FROM feed")
        connection.unregister("feed")
    except (DeltaError, OSError) as error:
        raise NotFoundError(
            f"What version {change.version} changed is no longer kept (vacuumed away, or lost).",
            "See what main holds now, or at a newer version: oreo history P/D",
        ) from error
    meant = "EXCLUDE (_change_type, _commit_version, _commit_timestamp)"
    for name, kinds in (("main", "'update_preimage', 'delete'"), ("staged", "'update_postimage', 'insert'")):
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * {meant} FROM changes WHERE _change_type IN ({kinds})")
