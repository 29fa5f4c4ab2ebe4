"""Which column of the file is which column of the dataset, and whether the file may be taken at all."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.errors import BadFileError
from ..model.safe_text import for_one_line
from ..model.states import CHANGE, Mode
from .request import MAX_COLUMNS, ColumnLike, ConversionRequest

ROW_ID = "row_id"
_SHOWN_NAMES = 20
_LISTED_NAMES = 200


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
    """Match by exact name, else by one that differs in case only; refuse what cannot be right.

    A refusal has the file's header in its details, so that a sender can say what stands for what.
    """
    names = [name.strip() for name in names]
    try:
        return _match(names, request)
    except BadFileError as error:
        error.details.setdefault("header", listed(names))
        raise


def _match(names: list[str], request: ConversionRequest) -> Header:
    _check_names(names)
    meant = _renamed(names, request)
    declared = {c.name: c for c in request.columns if c.name.lower() != ROW_ID}
    folded = {name.lower(): name for name in declared}
    found: dict[str, int] = {}
    unknown: dict[str, int] = {}
    row_id: int | None = None
    for position, name in enumerate(meant):
        if not name:
            continue
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

    ignored = [names[place] for place, name in enumerate(meant) if not name]
    ignored += [] if takes_row_id or row_id is None else [names[row_id]]
    if request.mode is Mode.DELETE:
        wanted = [] if takes_row_id else list(request.key)
        ignored += [names[p] for n, p in found.items() if n not in wanted] + [names[p] for p in unknown.values()]
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
            f"The header has no name for column {some(empty)}.",
            "Name every column in the first line, or remove it.",
        )
    folded = [name.lower() for name in names]
    if len(set(folded)) < len(folded):
        twice = sorted({name for name in names if folded.count(name.lower()) > 1})
        raise BadFileError(
            f"The header names columns twice: {some(twice)}.",
            "Keep one of each; upper and lower case count as the same name.",
        )


def _renamed(names: list[str], request: ConversionRequest) -> list[str]:
    """What each header stands for; empty for those that are left out."""
    if strange := [name for name in request.renames if name not in names]:
        raise BadFileError(
            f"The file has no header {some(strange)}, which is to stand for another name.",
            f"It has: {some(names)}.",
        )
    meant = [request.renames.get(name, name).strip() for name in names]
    places: dict[str, list[str]] = {}
    for name, column in zip(names, meant, strict=True):
        if column:
            places.setdefault(column.lower(), []).append(name)
    for of_column in places.values():
        if len(of_column) > 1:
            column = request.renames.get(of_column[-1], of_column[-1])
            raise BadFileError(
                f"The headers {some(of_column)} all stand for the column {some([column])}.",
                "Let one of them stand for it, and leave the others out.",
            )
    return meant


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
                f"Add it. The file has: {some(names)}.",
            )
        if request.mode is Mode.DELETE:
            needed = []
    if missing := [n for n in needed if n not in found]:
        raise BadFileError(
            f"The header lacks the key column{'s' if len(missing) > 1 else ''} {some(missing)}.",
            f"Every row needs its key. The file has: {some(names)}.",
            missing=missing,
        )
    if request.mode is Mode.PATCH and CHANGE not in found:
        raise BadFileError(
            f"The header has no column {CHANGE}, which says of each row of a patch what becomes of it.",
            "Add it, with upsert or delete in every row.",
        )
    if request.mode in (Mode.APPEND, Mode.REPLACE):
        lacking = [
            c.name for c in request.columns if not c.nullable and c.name not in found and c.name.lower() != ROW_ID
        ]
        if lacking:
            raise BadFileError(
                f"The header lacks {some(lacking)}, which must not be empty.",
                f"New rows need a value there. The file has: {some(names)}.",
                missing=lacking,
            )


def _check_unknown(unknown: list[str], request: ConversionRequest) -> None:
    if not unknown:
        return
    if request.new_columns == "refuse":
        raise BadFileError(
            f"The dataset has no column named {some(unknown)}.",
            "Remove it from the file, or declare it in the dataset first (policies.new_columns is `refuse`).",
            columns=listed(unknown),
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
            f"New columns cannot be called {some(invalid)}.",
            "Rename them in the header: letters, digits and _, beginning with a letter, up to 128 of them.",
            columns=listed(invalid),
        )


def _nothing_known(names: list[str], request: ConversionRequest) -> BadFileError:
    expected = [c.name for c in request.columns]
    return BadFileError(
        f"The header names no column of this dataset. Found: {some(names)}. Expected: {some(expected)}.",
        "Put the column names in the first line, as the dataset spells them.",
        found=listed(names[:_SHOWN_NAMES]),
        expected=expected,
    )


def some(names: list[str], most: int = _SHOWN_NAMES) -> str:
    """Names that a stranger chose, fit for a message: not too many, not too long, nothing but text."""
    shown = [_cut(for_one_line(name), 60) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def listed(names: list[str]) -> list[str]:
    """The same for scripts, one by one."""
    return [_cut(name, 200) for name in names[:_LISTED_NAMES]]


def _cut(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
