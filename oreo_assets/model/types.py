"""The types a column may have, and what each is called in Spark and in DuckDB."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DUCKDB_NAMES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
}
_ALIASES = {
    "text": "string",
    "varchar": "string",
    "str": "string",
    "bool": "boolean",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "numeric": "decimal",
    "datetime": "timestamp",
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\Z")


@dataclass(frozen=True)
class ColumnType:
    """One type. `name` is Spark's spelling; decimals carry precision and scale."""

    name: str
    precision: int | None = None
    scale: int | None = None

    @classmethod
    def parse(cls, text: str) -> ColumnType:
        word = re.sub(r"^[a-z]+", lambda m: _ALIASES.get(m.group(), m.group()), text.strip().lower())
        if word in _DUCKDB_NAMES:
            return cls(word)
        if match := _DECIMAL.match(word):
            precision, scale = int(match[1]), int(match[2] or 0)
            if 1 <= precision <= 38 and scale <= precision:
                return cls("decimal", precision, scale)
            raise ValueError(f"{text!r}: a decimal has 1 to 38 digits, and no more of them after the point")
        known = ", ".join([*_DUCKDB_NAMES, "decimal(p,s)"])
        raise ValueError(f"{text!r} is not a column type; known are {known}")

    @property
    def spark(self) -> str:
        """The type in Spark SQL, in a dataset file, and everywhere a person reads it."""
        return f"decimal({self.precision},{self.scale})" if self.name == "decimal" else self.name

    @property
    def duckdb(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})" if self.name == "decimal" else _DUCKDB_NAMES[self.name]

    @property
    def is_integer(self) -> bool:
        return self.name in {"smallint", "int", "bigint"}

    def __str__(self) -> str:
        return self.spark
