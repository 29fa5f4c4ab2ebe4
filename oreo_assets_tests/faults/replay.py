"""What main must hold, worked out from the log's order alone: a second, much simpler merge, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oreo_assets.model.states import Mode

from .oracle import Row

Table = dict[str, Row]


@dataclass(frozen=True)
class Sent:
    """A file as it was sent."""

    mode: Mode
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Merged:
    """A commit of main: which file, compared with which version."""

    version: int
    base_version: int
    sent: Sent


def replay(commits: Iterable[Merged]) -> Table:
    """Main after these commits. What an author left as it was in the base keeps what main has since."""
    now: Table = {}
    past: list[tuple[int, Table]] = [(-1, {})]
    for commit in sorted(commits, key=lambda c: c.version):
        base = next(table for version, table in reversed(past) if version <= commit.base_version)
        now = _apply(now, base, commit.sent)
        past.append((commit.version, now))
    return now


def _apply(now: Mapping[str, Row], base: Mapping[str, Row], sent: Sent) -> Table:
    after = dict(now)
    named = {row[0] for row in sent.rows}
    if sent.mode is Mode.DELETE:
        for key in named & base.keys():
            after.pop(key, None)
        return after
    if sent.mode is Mode.REPLACE:
        for key in base.keys() - named:
            after.pop(key, None)
    for row in sent.rows:
        seen, current = base.get(row[0]), now.get(row[0])
        if seen is None or current is None:
            # Unseen: new. Seen and gone since: it does not come back just because the file still lists it.
            if seen is None:
                after[row[0]] = row
            continue
        cells = [is_now if new == was else new for new, was, is_now in zip(row[1:], seen[1:], current[1:], strict=True)]
        after[row[0]] = (row[0], cells[0], cells[1])
    return after
