"""What a session's edits amount to. Pure: the same edits always give the same state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from ..lake.edits import REDONE, ROW_ADDED, ROW_DELETED, UNDONE, Edit
from ..quality.cell_checks import CellVerdict
from .live_types import SessionCounts

INSERTED, UPDATED, DELETED = "inserted", "updated", "deleted"


@dataclass(frozen=True)
class NetChange:
    """What a session changes at one moment: every row that is not as in the base, and its new cells."""

    kinds: dict[str, str]
    cells: dict[str, dict[str, Edit]]

    @property
    def columns(self) -> set[str]:
        return {name for cells in self.cells.values() for name in cells}

    @property
    def adds_rows(self) -> bool:
        return INSERTED in self.kinds.values()


@dataclass
class LiveState:
    """The steps that count, in order, and the rows and cells that follow from them."""

    edits: int = 0
    editors: set[str] = field(default_factory=set)
    done: dict[str, list[Edit]] = field(default_factory=dict)
    undone: dict[str, list[Edit]] = field(default_factory=dict)
    cells: dict[str, dict[str, Edit]] = field(default_factory=dict)
    """By row and column, the last edit of each cell."""
    added: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    _tallies: dict[str, Counter[str]] = field(default_factory=dict)
    _totals: Counter[str] = field(default_factory=Counter)

    def take(self, edits: Iterable[Edit]) -> None:
        """Go on with the edits that follow those taken before."""
        steps: dict[str, list[Edit]] = {}
        for edit in edits:
            self.edits += 1
            self.editors.add(edit.user_id)
            steps.setdefault(edit.step, []).append(edit)
        for step, of_step in steps.items():
            kind, named = of_step[0].column, of_step[0].new_value or ""
            if kind == UNDONE:
                self.undone[named] = self.done.pop(named)
                self._replay()
            elif kind == REDONE:
                self.done[named] = self.undone.pop(named)
                self._apply(self.done[named])
            else:
                self.undone.clear()
                self.done[step] = of_step
                self._apply(of_step)

    @property
    def last_done(self) -> str | None:
        return next(reversed(self.done), None)

    @property
    def last_undone(self) -> str | None:
        return next(reversed(self.undone), None)

    def changed(self, row_id: str) -> dict[str, Edit]:
        """The cells of a row that differ from the base. Of an added row, all that it was given."""
        cells = self.cells.get(row_id, {})
        return cells if row_id in self.added else {c: e for c, e in cells.items() if e.new_value != e.old_value}

    def kind(self, row_id: str) -> str | None:
        """What happens to a row; None if it is as in the base."""
        if row_id in self.deleted:
            return DELETED
        if row_id in self.added:
            return INSERTED
        return UPDATED if self.changed(row_id) else None

    def kinds(self) -> dict[str, str]:
        """Every row that is not as in the base, and what happens to it."""
        found = {row_id: self.kind(row_id) for row_id in [*self.cells, *self.added, *self.deleted]}
        return {row_id: kind for row_id, kind in found.items() if kind}

    def net(self) -> NetChange:
        """A copy that stays as it is while others go on editing. A deleted row has no new cells."""
        kinds = self.kinds()
        return NetChange(kinds, {r: {} if k == DELETED else dict(self.changed(r)) for r, k in kinds.items()})

    def counts(self) -> SessionCounts:
        return SessionCounts(**self._totals)

    def _replay(self) -> None:
        self.cells.clear()
        self.added.clear()
        self.deleted.clear()
        self._tallies.clear()
        self._totals.clear()
        for step in self.done.values():
            self._apply(step)

    def _apply(self, step: list[Edit]) -> None:
        self._apply_edits(step)
        # Only the rows of this step are counted anew: a session may have tens of thousands.
        for row_id in {edit.row_id or "" for edit in step}:
            self._totals.subtract(self._tallies.pop(row_id, {}))
            tally = self._tallies[row_id] = self._tally(row_id)
            self._totals.update(tally)

    def _tally(self, row_id: str) -> Counter[str]:
        kind = self.kind(row_id)
        tally: Counter[str] = Counter([kind] if kind else [])
        if kind != DELETED:
            cells = self.changed(row_id)
            tally["cells"] = len(cells) if kind == UPDATED else 0
            tally.update(f"failed_{f.severity}" for edit in cells.values() for f in verdict_of(edit).failed)
        return tally

    def _apply_edits(self, step: list[Edit]) -> None:
        for edit in step:
            row_id = edit.row_id or ""
            if edit.column == ROW_ADDED:
                self.added.add(row_id)
                self.cells.setdefault(row_id, {})
            elif edit.column == ROW_DELETED:
                if row_id in self.added:
                    self.added.discard(row_id)
                    del self.cells[row_id]
                else:
                    self.deleted.add(row_id)
            else:
                self.cells.setdefault(row_id, {})[edit.column] = edit


def verdict_of(edit: Edit) -> CellVerdict:
    return _verdict(edit.validation) if edit.validation else CellVerdict()


@lru_cache(maxsize=1_000)
def _verdict(text: str) -> CellVerdict:
    """Thousands of cells share a few verdicts."""
    return CellVerdict.from_json(json.loads(text))
