"""One conversion from beginning to end, in this process. The child calls it; so do tests."""

from __future__ import annotations

from pathlib import Path

from ..model.states import CHANGE
from ..model.types import ColumnType
from .cells import CellRule, change_rule, native_rule, text_rule, tidy_rule
from .faults import Cell, check_cells, check_unique, count_faults, list_rejects
from .header import FileColumn, listed
from .infer import infer_types
from .loaded import Loaded
from .output import clear, publish, write_good, write_rejected
from .raw_file import RawFile, open_raw
from .request import Conversion, ConversionRequest
from .row_ids import canonical_text, generated_row_id, key_row_id
from .workspace import Workspace, open_workspace


def run(request: ConversionRequest, folder: Path | None = None) -> Conversion:
    """Convert, using `folder` for work in progress, or one of its own beside `out`."""
    clear(request)
    with open_workspace(request, folder) as space:
        with open_raw(request.raw, request.limits.max_file_mb) as raw:
            conversion = _convert(raw, request, space)
        if not conversion.rejects_total or request.set_aside:
            publish(space.folder, request, conversion)
    return conversion


def _convert(raw: RawFile, request: ConversionRequest, space: Workspace) -> Conversion:
    loaded = _load(raw, request, space)
    header = loaded.header
    cells = check_cells(space, _cells(loaded, space))
    row_id = [cell for cell in cells if header.row_id and cell.place == header.row_id.position]
    columns = [cell for cell in cells if cell not in row_id]
    key = [next(c for c in columns if c.name == name) for name in request.key if _has(columns, name)]

    for unique in (row_id, key):
        if unique:
            check_unique(space, unique, [canonical_text(f"k{i}", c.type) for i, c in enumerate(unique)])

    counts = count_faults(space)
    if not counts.total or request.set_aside:
        write_good(space, _row_id(request, row_id, key), columns, counts.total > 0)
        if counts.total:
            write_rejected(space, header)
    new = {c.name for c in header.columns if c.declared is None}
    described = tuple((c.name, c.type.spark) for c in columns)
    loaded.details["header"] = listed(list(header.names))
    if header.ignored:
        loaded.details["ignored_columns"] = listed(list(header.ignored))
    return Conversion(
        rows_read=loaded.records,
        rows_good=loaded.records - counts.rows_rejected,
        rows_rejected=counts.rows_rejected,
        rejects=list_rejects(space) if counts.total else (),
        rejects_total=counts.total,
        columns=described,
        new_columns=tuple((name, type_) for name, type_ in described if name in new),
        absent_columns=header.absent,
        source_sha256=raw.sha256,
        source_bytes=raw.size,
        details=loaded.details,
    )


def _load(raw: RawFile, request: ConversionRequest, space: Workspace) -> Loaded:
    """Each reader is imported for its own kind of file only: a small CSV does not wait for the others."""
    if raw.kind == "text":
        from .csv_source import load_text

        return load_text(raw, request, space)
    if raw.kind == "excel":
        from .excel_source import load_excel

        return load_excel(raw, request, space)
    from .parquet_source import load_parquet

    return load_parquet(raw, request, space)


def _cells(loaded: Loaded, space: Workspace) -> list[Cell]:
    """A rule for every column that is read; undeclared ones are given a type first."""
    unknown = [c for c in loaded.header.columns if c.declared is None and c.position not in loaded.native]
    inferred = infer_types(space, [f"c{c.position}" for c in unknown], loaded.lenient)
    types = {c.position: type_ for c, type_ in zip(unknown, inferred, strict=True)}
    return [_cell(column, loaded, types) for column in loaded.header.read]


def _cell(column: FileColumn, loaded: Loaded, inferred: dict[int, ColumnType]) -> Cell:
    place, native = column.position, loaded.native.get(column.position)
    if column.name == CHANGE:
        return Cell(place, CHANGE, ColumnType("string"), change_rule(f"c{place}"))
    if column.declared is not None:
        type_ = ColumnType.parse(column.declared.type)
    elif native is not None:
        from .parquet_source import new_column_type

        type_ = new_column_type(native)
    else:
        type_ = inferred.get(place, ColumnType("string"))
    if native is not None:
        return Cell(place, column.name, type_, native_rule(f"c{place}", type_, column.required))
    if column.declared is None and not column.required:
        # Its type was made to fit all of its cells; only a quoted empty one needs care.
        cell = f"c{place}" if type_.name == "string" else f"nullif(c{place}, '')"
        value = text_rule(cell, type_, required=False, lenient=True).value
        if type_.name in ("bigint", "double", "date", "boolean"):
            value = f"CAST({cell} AS {type_.duckdb})"
        return Cell(place, column.name, type_, CellRule("NULL", value))
    rule = text_rule(f"c{place}", type_, column.required, loaded.lenient)
    return Cell(place, column.name, type_, rule, tidy_rule(f"c{place}", type_, column.required))


def _row_id(request: ConversionRequest, row_id: list[Cell], key: list[Cell]) -> str:
    if row_id:
        return canonical_text(row_id[0].rule.value, row_id[0].type)
    if request.row_id_rule == "key":
        return key_row_id([canonical_text(c.rule.value, c.type) for c in key])
    return generated_row_id(request.row_id_prefix, "_rec")


def _has(cells: list[Cell], name: str) -> bool:
    return any(cell.name == name for cell in cells)
