"""What a session's edits amount to. Pure: the same edits always give the same state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from ..lake.edits import REDONE, ROW_ADDED, ROW_DELETED, UNDONE, Edit
from ..model.states import Severity
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

    def kinds(self) -> dict[str, str]:
        """Every row that is not as in the base, and what happens to it."""
        found = dict.fromkeys(self.added, INSERTED) | dict.fromkeys(self.deleted, DELETED)
        found |= {row_id: UPDATED for row_id in self.cells if row_id not in found and self.changed(row_id)}
        return found

    def net(self) -> NetChange:
        """A copy that stays as it is while others go on editing. A deleted row has no new cells."""
        kinds = self.kinds()
        return NetChange(kinds, {r: {} if k == DELETED else dict(self.changed(r)) for r, k in kinds.items()})

    def counts(self) -> SessionCounts:
        net = self.net()
        of_kind = {kind: sum(k == kind for k in net.kinds.values()) for kind in (INSERTED, UPDATED, DELETED)}
        failed = [f.severity for cells in net.cells.values() for e in cells.values() for f in verdict_of(e).failed]
        by_severity = {f"failed_{severity}": failed.count(severity) for severity in Severity}
        cells = sum(len(net.cells[row_id]) for row_id, kind in net.kinds.items() if kind == UPDATED)
        return SessionCounts(**of_kind, cells=cells, **by_severity)

    def _replay(self) -> None:
        self.cells.clear()
        self.added.clear()
        self.deleted.clear()
        for step in self.done.values():
            self._apply(step)

    def _apply(self, step: list[Edit]) -> None:
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
