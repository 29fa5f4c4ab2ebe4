"""What a constraint's SQL may be: an expression that each row decides by itself, the same way every time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..lake.sql import quote_spark
from ..model.spec import DatasetSpec
from .suites import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One scan from left to right, so that a quote in a comment or a comment in quotes is taken for what it is.
_NOT_CODE = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|(?P<name>`(?:[^`]|``)*`)""", re.DOTALL
)
_SUBQUERY = re.compile(r"\(\s*(select|with|from|table|values)\b(?!\s*[-+*/=<>,)%|&!.])", re.IGNORECASE)
# Spark calls these deterministic because they are fixed within one query;
# between the check and the commit they are not.
_AMBIENT = frozenset(
    {
        "current_date",
        "current_timestamp",
        "current_time",
        "localtimestamp",
        "now",
        "curdate",
        "current_timezone",
        "current_user",
        "session_user",
        "user",
        "current_catalog",
        "current_database",
        "current_schema",
        "input_file_name",
        "input_file_block_start",
        "input_file_block_length",
        "version",
    }
)


def problem_with(text: str, spec: DatasetSpec, spark: SparkSession) -> str | None:
    """Why the expression cannot be a constraint, or None."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    if not text.strip():
        return "it is empty"
    code = _NOT_CODE.sub(" '' ", text)
    if _SUBQUERY.search(code):
        return "a constraint cannot contain a subquery"
    if ambient := _ambient_in(code, spec):
        return f"{ambient} gives another answer tomorrow or for another user; use an expectation instead"
    empty = spark.createDataFrame([], ", ".join(f"{quote_spark(c.name)} {c.type}" for c in spec.columns))
    # Alone, not in brackets of ours: text that closes a bracket it did not open must not pass.
    condition = F.expr(text)
    try:
        kind = empty.select(condition.alias("it")).schema["it"].dataType.simpleString()
        if kind != "boolean":
            return f"it gives {kind}, not true or false"
        # A filter refuses aggregates, windows and generators; a join condition refuses chance as well.
        _ = empty.where(condition).schema
        _ = spark.range(1).toDF("__one").join(empty, condition).schema
    except PySparkException as error:
        if "NON_DETERMINISTIC" in (error.getCondition() or "").upper():
            return "it depends on chance, so it could pass the check and fail at the commit"
        return first_line(error)
    return None


def columns_in(text: str, spec: DatasetSpec) -> list[str]:
    """The declared columns that the expression names. A function's name may be among them: one too many is no harm."""
    quoted = {found["name"][1:-1].replace("``", "`") for found in _NOT_CODE.finditer(text) if found["name"]}
    words = quoted | set(re.findall(r"\w+", _NOT_CODE.sub(" ", text)))
    named = {word.lower() for word in words}
    return [c for c in spec.column_names if c.lower() in named]


def _ambient_in(code: str, spec: DatasetSpec) -> str | None:
    columns = {c.lower() for c in spec.column_names}
    for word, bracket in re.findall(r"(?<![\w.`])([a-z_]\w*)\s*(\()?", code, re.IGNORECASE):
        name = word.lower()
        if name in _AMBIENT and (bracket or name not in columns):
            return f"{name}()" if bracket else name
        if name == "unix_timestamp" and re.search(r"unix_timestamp\s*\(\s*\)", code, re.IGNORECASE):
            return "unix_timestamp()"
    return None
