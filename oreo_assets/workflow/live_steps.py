"""One step of an editor, checked against the session as it is: what is to be appended, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..lake.edits import ROW_ADDED, ROW_DELETED, Draft
from ..model.errors import NotFoundError, StateError, UsageError
from ..model.spec import ROW_ID, Column, RowIdRule
from .live_cells import UNSTORABLE, Fault, Judge, Read, key_texts, read_texts, refuse, storable, validation_json
from .live_overlay import base_rows
from .live_session import Desk
from .live_types import CellEdit, EditedCell

MAX_CELLS = 200_000


@dataclass(frozen=True)
class Step:
    """Edits that stand or fall together. No drafts: the session is like that already."""

    drafts: tuple[Draft, ...]
    cells: tuple[EditedCell, ...] = ()
    row_ids: tuple[str, ...] = ()


def cells_step(desk: Desk, edits: Sequence[CellEdit]) -> Step:
    """New values for cells of rows that are there."""
    _require_some(len(edits), "cells")
    _require_rows(desk, [edit.row_id for edit in edits])
    columns = {c.name: c for c in desk.part.columns}
    state, judge = desk.book.state, Judge(desk.spec)
    base = desk.book.base(desk.part, (e.row_id for e in edits if e.row_id not in state.added))
    reads = _read(desk, edits, columns)
    faults = [
        Fault(edit.row_id, edit.column, edit.value, read.reason)
        for edit, read in zip(edits, reads, strict=True)
        if read.reason
    ]
    refuse(faults, len(edits))
    cells, drafts = [], []
    for edit, read in zip(edits, reads, strict=True):
        row = base.get(edit.row_id)
        old, verdict = row[edit.column] if row else None, judge.verdict(edit.column, read)
        cells.append(EditedCell(edit.row_id, edit.column, old, read.text, verdict))
        standing = state.cells.get(edit.row_id, {}).get(edit.column)
        if (standing.new_value if standing else old) != read.text or len(edits) > 1:
            drafts.append(Draft(edit.row_id, edit.column, old, read.text, validation_json(verdict)))
    return Step(tuple(drafts), tuple(cells), tuple(dict.fromkeys(e.row_id for e in edits)))


def rows_step(desk: Desk, rows: Sequence[Mapping[str, str | None]]) -> Step:
    """Whole new rows."""
    columns = {c.name: c for c in desk.part.columns}
    _require_some(len(rows) * len(columns), "cells")
    reads = {name: read_texts(desk.spec, column, [row.get(name) for row in rows]) for name, column in columns.items()}
    faults = [
        Fault(None, name, row.get(name), read.reason)
        for name, of_column in reads.items()
        for row, read in zip(rows, of_column, strict=True)
        if read.reason
    ]
    faults += [
        Fault(None, name, row[name], _not_a_column(desk, name))
        for row in rows
        for name in row
        if name not in columns and name != ROW_ID
    ]
    refuse(faults, len(rows) * len(columns))
    row_ids = _new_row_ids(desk, rows, reads)
    _require_new(desk, row_ids)
    judge, cells, drafts = Judge(desk.spec), [], []
    for i, (row_id, row) in enumerate(zip(row_ids, rows, strict=True)):
        drafts.append(Draft(row_id, ROW_ADDED))
        for name in columns:
            read = reads[name][i]
            verdict = judge.verdict(name, read)
            if name in row or read.text is not None or verdict.failed:
                cells.append(EditedCell(row_id, name, None, read.text, verdict))
                drafts.append(Draft(row_id, name, None, read.text, validation_json(verdict)))
    return Step(tuple(drafts), tuple(cells), tuple(row_ids))


def delete_step(desk: Desk, row_ids: Sequence[str]) -> Step:
    """Rows that are to go. One that is deleted already stays so."""
    _require_some(len(row_ids), "rows")
    state = desk.book.state
    going = [row_id for row_id in dict.fromkeys(row_ids) if row_id not in state.deleted]
    _require_rows(desk, going)
    return Step(tuple(Draft(row_id, ROW_DELETED) for row_id in going), row_ids=tuple(dict.fromkeys(row_ids)))


def _read(desk: Desk, edits: Sequence[CellEdit], columns: Mapping[str, Column]) -> list[Read]:
    """Each text as its column reads it; all of one column at once."""
    reads: list[Read | None] = [None] * len(edits)
    places: dict[str, list[int]] = {}
    for i, edit in enumerate(edits):
        places.setdefault(edit.column, []).append(i)
    for name, at in places.items():
        if reason := _not_editable(desk, name):
            found = [Read(None, None, reason)] * len(at)
        else:
            found = read_texts(desk.spec, columns[name], [edits[i].value for i in at])
        for i, read in zip(at, found, strict=True):
            reads[i] = read
    return [read for read in reads if read is not None]


def _not_editable(desk: Desk, name: str) -> str | None:
    if name not in {c.name for c in desk.part.columns}:
        return _not_a_column(desk, name)
    if desk.spec.row_id_rule is RowIdRule.KEY and name in desk.spec.key:
        return "is part of the key: delete the row and add it under its new key"
    return None


def _not_a_column(desk: Desk, name: str) -> str:
    if name in desk.spec.column_names and name != ROW_ID:
        return "came to the dataset after the session was opened: open a new session to edit it"
    return "is not a column of the dataset"


def _new_row_ids(desk: Desk, rows: Sequence[Mapping[str, str | None]], reads: Mapping[str, list[Read]]) -> list[str]:
    """By the dataset's own rule, as for a file."""
    rule = desk.spec.row_id_rule
    if rule is RowIdRule.KEY:
        keys = [[reads[name][i].text or "" for name in desk.spec.key] for i in range(len(rows))]
        return key_texts(desk.spec, keys)
    if rule is RowIdRule.FILE:
        given = [(row.get(ROW_ID) or "").strip() for row in rows]
        bad = [
            Fault(None, ROW_ID, g, "must not be empty" if not g else UNSTORABLE)
            for g in given
            if not storable(g) or not g
        ]
        refuse(bad, len(rows))
        return given
    first = desk.book.state.edits + 1
    return [f"{desk.session.id}-{first + i:010d}" for i in range(len(rows))]


def _require_some(count: int, what: str) -> None:
    if not count:
        raise UsageError(f"There are no {what}.", "Name at least one.")
    if count > MAX_CELLS:
        raise UsageError(
            f"{count:,} {what} at once are too many; {MAX_CELLS:,} is the most.", "Send them as a file: oreo upload"
        )


def _require_rows(desk: Desk, row_ids: Sequence[str]) -> None:
    """Every row must be in the part of the base that the session is about, or have been added here."""
    state, session = desk.book.state, desk.session
    deleted = [row_id for row_id in dict.fromkeys(row_ids) if row_id in state.deleted]
    if deleted:
        raise StateError(f"{_some('Row', deleted)} deleted in this session.", "Undo the deletion first.", rows=deleted)
    wanted = [row_id for row_id in dict.fromkeys(row_ids) if row_id not in state.added]
    base = desk.book.base(desk.part, filter(storable, wanted))
    if missing := [row_id for row_id in wanted if base.get(row_id) is None]:
        where = "the part of " if session.filters else ""
        raise NotFoundError(
            f"{_some('Row', missing)} not in {where}version {session.base_version} of {session.ref}, "
            "which this session edits.",
            "Check the row_id; a row that came to main later needs a new session.",
            rows=missing[:1_000],
        )


def _require_new(desk: Desk, row_ids: Sequence[str]) -> None:
    seen: set[str] = set()
    twice = [r for r in row_ids if r in seen or seen.add(r)]  # type: ignore[func-returns-value]
    here = [r for r in row_ids if r in desk.book.state.added or r in desk.book.state.deleted]
    everywhere = replace(desk.part, where=())
    there = base_rows(everywhere, row_ids) if desk.part.where else desk.book.base(everywhere, row_ids)
    taken = [*twice, *here, *(r for r in row_ids if there.get(r) is not None)]
    if taken:
        raise StateError(
            f"{_some('Row', list(dict.fromkeys(taken)))} in main or in this session already.",
            "Edit the row that is there, or choose another key.",
            rows=taken[:1_000],
        )


def _some(what: str, row_ids: Sequence[str]) -> str:
    """`Row A1 is` or `Rows A1, A2 and 3 more are`."""
    if len(row_ids) == 1:
        return f"{what} {row_ids[0]} is"
    more = f" and {len(row_ids) - 5:,} more" if len(row_ids) > 5 else ""
    return f"{what}s {', '.join(row_ids[:5])}{more} are"
