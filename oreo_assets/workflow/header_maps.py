"""What the headers of a file stand for: guessed by their names, and remembered as people chose before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..catalog import audit
from ..catalog.header_maps import get_header_map, put_header_map
from ..catalog.users import Actor
from ..model.ids import DatasetRef
from ..model.safe_text import check_text
from ..model.spec import ROW_ID, DatasetSpec
from ..model.states import Role
from .workspace import Workspace

LEFT_OUT = ""
_MOST = 2_000
_LONGEST = 200


class Origin(StrEnum):
    """Why a header is taken for a column."""

    SAME = "same"
    """It is the column's name, up to upper and lower case: the converter matches it by itself."""
    REMEMBERED = "remembered"
    CHOSEN = "chosen"
    """Its sender said so just now."""
    ALIKE = "alike"
    """Only blanks and punctuation are different."""
    NEW = "new"
    """The dataset has no such column yet."""


@dataclass(frozen=True)
class Meaning:
    """What one header of a file stands for: a column, a new column of its own name, or nothing (left out)."""

    header: str
    column: str
    origin: Origin


def remembered(ws: Workspace, actor: Actor, ref: DatasetRef) -> dict[str, str]:
    """Header to column as chosen for earlier files of this dataset; to nothing if it was left out."""
    ws.spec(ref)
    actor.require(Role.CONTRIBUTOR, ref.project)
    with ws.catalog.read() as tx:
        return get_header_map(tx, ref)


def remember(ws: Workspace, actor: Actor, ref: DatasetRef, renames: Mapping[str, str], headers: Sequence[str]) -> None:
    """Keep what was chosen for these headers. One that goes by its own name now is forgotten, others stay."""
    ws.spec(ref)
    actor.require(Role.CONTRIBUTOR, ref.project)
    chosen = {h: c for h, c in renames.items() if len(check_text(h, "header")) <= _LONGEST and "\x00" not in h}
    with ws.catalog.write() as tx:
        before = get_header_map(tx, ref)
        kept = {h: c for h, c in before.items() if h not in headers} | chosen
        kept = dict(list(kept.items())[-_MOST:])
        if kept != before:
            put_header_map(tx, ref, kept, actor.name)
            audit.record(tx, actor.name, "header_map.changed", ref, headers=sorted(chosen)[:100])


def guess(spec: DatasetSpec, headers: Sequence[str], known: Mapping[str, str]) -> list[Meaning]:
    """What each header most likely stands for. No column is meant twice; what is sure comes before what is guessed."""
    names = [*(c.name for c in spec.columns if c.name != ROW_ID), ROW_ID]
    folded = {name.lower(): name for name in names}
    found: dict[str, Meaning] = {}
    taken: set[str] = set()

    def mean(header: str, column: str | None, origin: Origin) -> None:
        if header not in found and column is not None and (column == LEFT_OUT or column not in taken):
            found[header] = Meaning(header, column, origin)
            taken.add(column)

    for header in headers:
        if header in known and known[header] in (*names, LEFT_OUT):
            mean(header, known[header], Origin.REMEMBERED)
    for header in headers:
        mean(header, folded.get(header.lower()), Origin.SAME)
    alike: dict[str, str | None] = {}
    for name in names:
        alike[_bare(name)] = None if _bare(name) in alike else name  # two that look alike: not ours to choose
    for header in headers:
        mean(header, alike.get(_bare(header)) if _bare(header) else None, Origin.ALIKE)
    return [found.get(header) or Meaning(header, header, Origin.NEW) for header in headers]


def renames_of(meanings: Sequence[Meaning]) -> dict[str, str]:
    """What has to be told to the converter: the rest it finds by itself."""
    return {m.header: m.column for m in meanings if m.column.lower() != m.header.lower()}


def _bare(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())
