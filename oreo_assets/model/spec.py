"""What a dataset is: its columns, key, expectations and policies, as declared by an engineer."""

from __future__ import annotations

import hashlib
import json
import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from .ids import ID_PATTERN, DatasetRef
from .states import Severity
from .types import ColumnType

ROW_ID = "row_id"
NOT_NULL = "not_null"
NEW_ROWS = "appended_rows_are_new"
BUILT_IN_CHECKS = {
    NOT_NULL: "Columns that are declared not nullable have a value in every row.",
    NEW_ROWS: "Rows that are sent to be appended are not in main already.",
}
"""Checks that every dataset has, besides those it declares."""
_COLUMN_NAME = re.compile(r"[^\W\d]\w{0,127}\Z")
_CHECK_NAME = re.compile(r"[A-Za-z0-9_]{1,120}\Z")
_OWNER = re.compile(r"(team:[\w.-]+|[^@\s]+@[^@\s]+\.[^@\s]+)\Z")


class _Strict(BaseModel):
    """Every part of a spec is frozen and knows its fields: a misspelt one is an error, not a silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(_Strict):
    name: str
    type: str
    nullable: bool = True
    description: str = ""

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if not _COLUMN_NAME.match(value) or value.startswith("_"):
            raise ValueError(f"{value!r} cannot name a column; use letters, digits and _, beginning with a letter")
        return value

    @field_validator("type")
    @classmethod
    def _type(cls, value: str) -> str:
        return ColumnType.parse(value).spark

    @property
    def parsed(self) -> ColumnType:
        return ColumnType.parse(self.type)


class RowIdRule(StrEnum):
    """Where `row_id` comes from."""

    KEY = "key"
    FILE = "file"
    GENERATED = "generated"


class Expectation(BaseModel):
    """One Great Expectations expectation, with its own arguments beside ours."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str
    severity: Severity = Severity.FATAL
    name: str = ""
    relative: Literal["main"] | None = None

    @field_validator("type")
    @classmethod
    def _type(cls, value: str) -> str:
        if not re.match(r"(expect|unexpected)_[a-z0-9_]+\Z", value):
            raise ValueError(f"{value!r} is not the name of an expectation; they read like expect_column_…")
        return value

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if value and not _CHECK_NAME.match(value):
            raise ValueError(f"{value!r} cannot name a check; use letters, digits and _")
        if value in BUILT_IN_CHECKS:
            raise ValueError(f"{value!r} is a check that every dataset has; choose another name")
        return value

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self.model_extra or {})

    @property
    def check_name(self) -> str:
        """What the check is called in Dagster, in reports and in `--ack`."""
        if self.name:
            return self.name
        args = self.arguments
        columns = args.get("column_list") or [args.get(k) for k in ("column", "column_A", "column_B")]
        words = [self.type.removeprefix("expect_").removeprefix("column_")]
        words += [re.sub(r"\W", "_", str(c)) for c in columns if c]
        return "__".join(words)


class Features(_Strict):
    """Delta table features of main."""

    change_data_feed: bool = True
    deletion_vectors: bool = True
    row_tracking: bool = False
    in_commit_timestamps: bool = False
    column_mapping: bool = False


class Limits(_Strict):
    """What the process that converts a file may use before it is stopped."""

    max_file_mb: int = Field(1024, ge=1)
    max_memory_mb: int = Field(2048, ge=256)
    max_seconds: int = Field(600, ge=1)


class Policies(_Strict):
    """How a dataset behaves. All have defaults that suit most."""

    new_columns: Literal["review", "add", "refuse"] = "review"
    conflicts: Literal["row", "cell"] = Field(
        "row", description="row: two changes to one row conflict; cell: only two changes to one cell do"
    )
    features: Features = Features()
    stats_columns: list[str] | None = None
    target_file_mb: int = Field(128, ge=1, le=4096)
    time_travel_days: int = Field(90, ge=7)
    imports_ttl_days: int = Field(30, ge=1)
    live_edit_ttl_hours: int = Field(72, ge=1)
    change_request_ttl_days: int = Field(30, ge=1)
    optimize: Literal["daily", "never"] = "daily"
    vacuum: Literal["weekly", "never"] = "weekly"
    limits: Limits = Limits()


class DatasetSpec(_Strict):
    """A dataset, as declared in YAML or through the API."""

    project: str
    dataset: str
    description: str = ""
    owners: list[str] = []
    columns: Annotated[list[Column], Field(min_length=1)]
    key: list[str] = []
    row_id: RowIdRule | None = None
    partition_by: list[str] = []
    cluster_by: list[str] | None = None
    approvals: int = Field(1, ge=0, le=20)
    expectations: list[Expectation] = []
    constraints: dict[str, str] = {}
    policies: Policies = Policies()

    @field_validator("project", "dataset")
    @classmethod
    def _id(cls, value: str) -> str:
        if not ID_PATTERN.match(value):
            raise ValueError(f"{value!r} is not an id; use 1 to 64 of a-z, 0-9, _ and -")
        return value

    @field_validator("owners")
    @classmethod
    def _owners(cls, value: list[str]) -> list[str]:
        for owner in value:
            if not _OWNER.match(owner):
                raise ValueError(f"{owner!r} is not an owner; write team:NAME or an e-mail address")
        return value

    @field_validator("constraints")
    @classmethod
    def _constraint_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not _CHECK_NAME.match(name):
                raise ValueError(f"{name!r} cannot name a constraint; use letters, digits and _")
        return value

    @model_validator(mode="after")
    def _hangs_together(self) -> DatasetSpec:
        names = [c.name for c in self.columns]
        lowered = [n.lower() for n in names]
        if twice := sorted({n for n in lowered if lowered.count(n) > 1}):
            raise ValueError(f"columns named twice: {', '.join(twice)} (upper and lower case count as one)")
        if ROW_ID in lowered and self.row_id is not RowIdRule.FILE:
            raise ValueError("the column row_id is Oreo's own; to take it from the file, say `row_id: file`")
        for field, wanted in (
            ("key", self.key),
            ("partition_by", self.partition_by),
            ("cluster_by", self.cluster_by or []),
            ("policies.stats_columns", self.policies.stats_columns or []),
        ):
            if missing := [c for c in wanted if c not in names and c != ROW_ID]:
                raise ValueError(f"{field} names columns that are not declared: {', '.join(missing)}")
        if self.row_id is RowIdRule.KEY and not self.key:
            raise ValueError("row_id: key needs a key")
        if self.partition_by and self.cluster_by:
            raise ValueError("a table is either partitioned (partition_by) or clustered (cluster_by), not both")
        checks = self.check_names
        if again := sorted({n for n in checks if checks.count(n) > 1}):
            raise ValueError(f"checks named twice: {', '.join(again)}; give one of them a `name`")
        return self

    @property
    def ref(self) -> DatasetRef:
        return DatasetRef(self.project, self.dataset)

    @property
    def row_id_rule(self) -> RowIdRule:
        return self.row_id or (RowIdRule.KEY if self.key else RowIdRule.GENERATED)

    @property
    def is_append_only(self) -> bool:
        return self.row_id_rule is RowIdRule.GENERATED

    @property
    def column_names(self) -> list[str]:
        return [c.name for c in self.columns]

    @property
    def cluster_columns(self) -> list[str]:
        """What optimize orders by: as declared, else the key, else nothing."""
        return self.cluster_by if self.cluster_by is not None else self.key

    @property
    def check_names(self) -> list[str]:
        return [e.check_name for e in self.expectations] + [constraint_check(n) for n in self.constraints]

    def column(self, name: str) -> Column:
        return next(c for c in self.columns if c.name == name)

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    @property
    def fingerprint(self) -> str:
        return _hash(self.as_json())

    @property
    def schema_fingerprint(self) -> str:
        return _hash([[c.name, c.type, c.nullable] for c in self.columns])

    @property
    def suite_hash(self) -> str:
        """What a validation run is bound to: everything that decides its verdict."""
        return _hash(
            {
                "expectations": [e.model_dump(mode="json") for e in self.expectations],
                "constraints": self.constraints,
                "not_null": [c.name for c in self.columns if not c.nullable],
                "key": self.key,
            }
        )


def constraint_check(name: str) -> str:
    """The check that reports on a constraint before the commit enforces it."""
    return f"constraint__{name}"


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
