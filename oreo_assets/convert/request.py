"""What is asked of a conversion and what it answers, and both as JSON for the way to the child and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..model.states import Mode

if TYPE_CHECKING:  # the spec's module loads pydantic, which would double the child's time to start
    from ..model.spec import RowIdRule

RAW_ENDINGS = ("csv", "tsv", "txt", "parquet", "xlsx", "xls", "xlsb", "ods")
MAX_COLUMNS = 2_000
MAX_LISTED_REJECTS = 10_000
MAX_SHOWN_CHARACTERS = 200


class ColumnLike(Protocol):
    """`model.spec.Column`, or the child's plain copy of one."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def nullable(self) -> bool: ...


class LimitsLike(Protocol):
    """`model.spec.Limits`, or the child's plain copy."""

    @property
    def max_file_mb(self) -> int: ...
    @property
    def max_memory_mb(self) -> int: ...
    @property
    def max_seconds(self) -> int: ...


@dataclass(frozen=True)
class ConversionRequest:
    """One raw file, what its dataset declares, and how strict to be."""

    raw: Path
    out: Path
    columns: tuple[ColumnLike, ...]
    key: tuple[str, ...]
    row_id_rule: RowIdRule
    row_id_prefix: str
    mode: Mode
    sheet: str | None
    set_aside: bool
    new_columns: Literal["review", "add", "refuse"]
    limits: LimitsLike
    renames: Mapping[str, str] = field(default_factory=dict)
    """Which column a header of the file stands for, where it is spelt otherwise; empty for one to leave out."""

    @property
    def rejected_path(self) -> Path:
        """Where rows that were set aside go."""
        return self.out.with_name("rejected.parquet")

    @property
    def schema_path(self) -> Path:
        return self.out.with_name("schema.json")

    def as_json(self) -> dict[str, Any]:
        return {
            "raw": str(self.raw),
            "out": str(self.out),
            "columns": [[c.name, c.type, c.nullable] for c in self.columns],
            "key": list(self.key),
            "row_id_rule": str(self.row_id_rule),
            "row_id_prefix": self.row_id_prefix,
            "mode": str(self.mode),
            "sheet": self.sheet,
            "set_aside": self.set_aside,
            "new_columns": self.new_columns,
            "limits": [self.limits.max_file_mb, self.limits.max_memory_mb, self.limits.max_seconds],
            "renames": dict(self.renames),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ConversionRequest:
        return cls(
            **{
                **data,
                "raw": Path(data["raw"]),
                "out": Path(data["out"]),
                "columns": tuple(PlainColumn(*c) for c in data["columns"]),
                "key": tuple(data["key"]),
                "mode": Mode(data["mode"]),
                "limits": _PlainLimits(*data["limits"]),
            }
        )


@dataclass(frozen=True)
class Reject:
    """One thing wrong with one row. Lines count from 1, as an editor or a spreadsheet shows them."""

    line: int
    column: str | None
    value: str | None
    reason: str


@dataclass(frozen=True)
class Conversion:
    """What became of the file. `out` was written if there are no rejects, or they were to be set aside."""

    rows_read: int
    rows_good: int
    rows_rejected: int
    rejects: tuple[Reject, ...]
    rejects_total: int
    columns: tuple[tuple[str, str], ...]
    new_columns: tuple[tuple[str, str], ...]
    absent_columns: tuple[str, ...]
    source_sha256: str
    source_bytes: int
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Conversion:
        return cls(
            **{
                **data,
                "rejects": tuple(Reject(**r) for r in data["rejects"]),
                "columns": tuple((n, t) for n, t in data["columns"]),
                "new_columns": tuple((n, t) for n, t in data["new_columns"]),
                "absent_columns": tuple(data["absent_columns"]),
            }
        )


@dataclass(frozen=True)
class PlainColumn:
    """A column as far as a conversion cares."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True)
class _PlainLimits:
    max_file_mb: int
    max_memory_mb: int
    max_seconds: int
