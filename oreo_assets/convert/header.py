"""Which column of the file is which column of the dataset, and whether the file may be taken at all."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.errors import BadFileError
from ..model.states import Mode
from .request import MAX_COLUMNS, ColumnLike, ConversionRequest

ROW_ID = "row_id"
_SHOWN_NAMES = 20


@dataclass(frozen=True)
class FileColumn:
    """One column that is read: its place in the file, the name it will have, what was declared for it."""

    position: int
    name: str
    declared: ColumnLike | None
    required: bool


@dataclass(frozen=True)
class Header:
    """What of the file is read. `columns` stand in the dataset's order, new ones last, `row_id` apart."""

    names: tuple[str, ...]
    columns: tuple[FileColumn, ...]
    row_id: FileColumn | None
    absent: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def read(self) -> tuple[FileColumn, ...]:
        return ((self.row_id,) if self.row_id else ()) + self.columns


def match_header(names: list[str], request: ConversionRequest) -> Header:
    """Match by exact name, else by one that differs in case only; refuse what cannot be right."""
    names = [name.strip() for name in names]
    _check_names(names)
    declared = {c.name: c for c in request.columns if c.name.lower() != ROW_ID}
    folded = {name.lower(): name for name in declared}
    found: dict[str, int] = {}
    unknown: dict[str, int] = {}
    row_id: int | None = None
    for position, name in enumerate(names):
        if name.lower() == ROW_ID:
            row_id = position
        elif name.lower() in folded:
            found[folded[name.lower()]] = position
        else:
            unknown[name] = position
    takes_row_id = request.row_id_rule == "file" or (request.row_id_rule == "generated" and request.mode is Mode.DELETE)
    if not found and not (takes_row_id and row_id is not None):
        raise _nothing_known(names, request)
    _check_needed(found, takes_row_id, row_id, names, request)

    ignored = [] if takes_row_id or row_id is None else [names[row_id]]
    if request.mode is Mode.DELETE:
        wanted = [] if takes_row_id else list(request.key)
        ignored += [names[p] for n, p in found.items() if n not in wanted] + list(unknown)
        columns = [FileColumn(found[n], n, declared[n], True) for n in wanted]
        absent: tuple[str, ...] = ()
    else:
        _check_unknown(list(unknown), request)
        columns = [
            FileColumn(found[n], n, c, not c.nullable or n in request.key) for n, c in declared.items() if n in found
        ]
        columns += [FileColumn(position, name, None, False) for name, position in unknown.items()]
        absent = tuple(n for n in declared if n not in found)
    own = None
    if takes_row_id and row_id is not None:
        spec = next((c for c in request.columns if c.name.lower() == ROW_ID), None)
        own = FileColumn(row_id, ROW_ID, spec, True)
    return Header(tuple(names), tuple(columns), own, absent, tuple(ignored))


def _check_names(names: list[str]) -> None:
    if len(names) > MAX_COLUMNS:
        raise BadFileError(
            f"The header has {len(names):,} columns; up to {MAX_COLUMNS:,} are taken.",
            "Check the delimiter, or send fewer columns.",
        )
    if empty := [str(i + 1) for i, name in enumerate(names) if not name]:
        raise BadFileError(
            f"The header has no name for column {_some(empty)}.",
            "Name every column in the first line, or remove it.",
        )
    folded = [name.lower() for name in names]
    if len(set(folded)) < len(folded):
        twice = sorted({name for name in names if folded.count(name.lower()) > 1})
        raise BadFileError(
            f"The header names columns twice: {_some(twice)}.",
            "Keep one of each; upper and lower case count as the same name.",
        )


def _check_needed(
    found: dict[str, int],
    takes_row_id: bool,
    row_id: int | None,
    names: list[str],
    request: ConversionRequest,
) -> None:
    needed = list(request.key)
    if takes_row_id:
        if row_id is None:
            raise BadFileError(
                "The header has no column row_id, which says which row is meant.",
                f"Add it. The file has: {_some(names)}.",
            )
        if request.mode is Mode.DELETE:
            needed = []
    if missing := [n for n in needed if n not in found]:
        raise BadFileError(
            f"The header lacks the key column{'s' if len(missing) > 1 else ''} {_some(missing)}.",
            f"Every row needs its key. The file has: {_some(names)}.",
            missing=missing,
        )
    if request.mode in (Mode.APPEND, Mode.REPLACE):
        lacking = [
            c.name for c in request.columns if not c.nullable and c.name not in found and c.name.lower() != ROW_ID
        ]
        if lacking:
            raise BadFileError(
                f"The header lacks {_some(lacking)}, which must not be empty.",
                f"New rows need a value there. The file has: {_some(names)}.",
                missing=lacking,
            )


def _check_unknown(unknown: list[str], request: ConversionRequest) -> None:
    if not unknown:
        return
    if request.new_columns == "refuse":
        raise BadFileError(
            f"The dataset has no column named {_some(unknown)}.",
            "Remove it from the file, or declare it in the dataset first (policies.new_columns is `refuse`).",
            columns=unknown,
        )
    from ..model.spec import Column  # pydantic is loaded only for files that bring a new column

    invalid = []
    for name in unknown:
        try:
            Column(name=name, type="string")
        except ValueError:
            invalid.append(name)
    if invalid:
        raise BadFileError(
            f"New columns cannot be called {_some(invalid)}.",
            "Rename them in the header: letters, digits and _, beginning with a letter, up to 128 of them.",
            columns=invalid,
        )


def _nothing_known(names: list[str], request: ConversionRequest) -> BadFileError:
    expected = [c.name for c in request.columns]
    return BadFileError(
        f"The header names no column of this dataset. Found: {_some(names)}. Expected: {_some(expected)}.",
        "Put the column names in the first line, as the dataset spells them.",
        found=names[:_SHOWN_NAMES],
        expected=expected,
    )


def _some(names: list[str]) -> str:
    shown = [n if len(n) <= 60 else f"{n[:59]}…" for n in names[:_SHOWN_NAMES]]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else "")
