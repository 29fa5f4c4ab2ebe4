"""The one place where names and paths are quoted into SQL. Values are never quoted: they are bound."""

from __future__ import annotations


def quote_identifier(name: str) -> str:
    """A column or view name for DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """A text literal for DuckDB, for the few places (paths) where nothing can be bound."""
    if "\x00" in text:
        raise ValueError("a NUL character cannot be part of a query")
    return "'" + text.replace("'", "''") + "'"


def quote_spark(name: str) -> str:
    """A column name for Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def quote_spark_literal(text: str) -> str:
    """A text literal for Spark SQL, which reads backslashes as escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def delta_table(uri: str) -> str:
    """A Delta table at a path, as Spark SQL names it."""
    return f"delta.{quote_spark(uri)}"
