"""What Great Expectations offers, read from the schemas in its wheel.

Its import takes seconds, and a dataset file is checked whenever one is applied; so nothing here imports it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..model.errors import DefectError
from ..model.spec import ROW_ID, DatasetSpec, Expectation
from .scopes import can_be_relative

# Arguments of Great Expectations that Oreo decides itself, or that mean nothing here.
_NOT_OFFERED = frozenset(
    {
        "id",
        "batch_id",
        "metadata",
        "rendered_content",
        "catch_exceptions",
        "result_format",
        "severity",
        "windows",
        "library_metadata",
    }
)
_COLUMN_ARGUMENTS = ("column", "column_A", "column_B")
_COLUMN_LISTS = ("column_list",)
# Listed without the engines they run on; this one has no Spark implementation.
_NOT_ON_SPARK = frozenset({"expect_column_values_to_be_dateutil_parseable"})
# These say what columns there should be; naming one that is not declared is a finding, not a mistake.
_ABOUT_COLUMNS = frozenset(
    {
        "expect_column_to_exist",
        "expect_table_columns_to_match_ordered_list",
        "expect_table_columns_to_match_set",
    }
)


@dataclass(frozen=True)
class KnownType:
    """An expectation type that runs on Spark. `arguments` is None where the wheel has no schema for it."""

    name: str
    arguments: frozenset[str] | None
    required: tuple[str, ...]
    lists: frozenset[str]


def check_expectations(spec: DatasetSpec) -> list[str]:
    """What is wrong with the spec's expectations, in plain words; nothing if they can be run."""
    return [
        f"expectations[{index}]: {problem}"
        for index, expectation in enumerate(spec.expectations)
        for problem in _problems(spec, expectation)
    ]


def known_types() -> list[str]:
    """The expectation types that can be used."""
    index = _index()
    listed = [name for name, entry in index["expectations"].items() if "Spark" in entry["supported_data_sources"]]
    return sorted({*listed, *index["documented_absent"]} - _NOT_ON_SPARK)


@cache
def known_type(name: str) -> KnownType | None:
    index = _index()
    if name not in known_types():
        return None
    if name not in index["expectations"]:
        return KnownType(name, None, (), frozenset())
    schema = _load(index["expectations"][name]["schema_file"])
    properties = schema["properties"]
    return KnownType(
        name,
        arguments=frozenset(properties) - _NOT_OFFERED,
        required=tuple(schema.get("required", ())),
        lists=frozenset(arg for arg, rule in properties.items() if rule.get("type") == "array"),
    )


def ge_version() -> str:
    return version("great-expectations")


def _problems(spec: DatasetSpec, expectation: Expectation) -> Iterator[str]:
    kind = known_type(expectation.type)
    if kind is None:
        yield _unknown_type(expectation.type)
        return
    given = expectation.arguments
    if kind.arguments is not None:
        for argument in sorted(set(given) - kind.arguments):
            near = _suggest(argument, kind.arguments)
            yield f"{kind.name} has no argument {argument!r}{near}"
    for argument in kind.required:
        if given.get(argument) is None:
            yield f"{kind.name} needs the argument {argument!r}"
    for argument in sorted(kind.lists & set(given)):
        if not isinstance(given[argument], list):
            yield f"{argument!r} is a list of values, not {given[argument]!r}"
    yield from _value_problems(kind, given)
    if expectation.relative and not can_be_relative(kind.name):
        yield f"{kind.name} cannot be relative to main: columns and their types are declared, not sent"
    if kind.name not in _ABOUT_COLUMNS:
        yield from _column_problems(spec, given)


def _value_problems(kind: KnownType, given: dict[str, Any]) -> Iterator[str]:
    mostly = given.get("mostly")
    if mostly is not None and (
        isinstance(mostly, bool) or not isinstance(mostly, (int, float)) or not 0 <= mostly <= 1
    ):
        yield f"'mostly' is a fraction from 0 to 1, not {mostly!r}"
    bounds = {"min_value", "max_value"}
    has_bounds = kind.name.endswith("_to_be_between") and bounds <= (kind.arguments or set())
    if has_bounds and all(given.get(bound) is None for bound in bounds):
        yield f"{kind.name} needs 'min_value' or 'max_value', or both"
    query = given.get("unexpected_rows_query")
    if isinstance(query, str) and "{batch}" not in query:
        yield "'unexpected_rows_query' must read from {batch}, the rows to check"


def _column_problems(spec: DatasetSpec, given: dict[str, Any]) -> Iterator[str]:
    named = [given[a] for a in _COLUMN_ARGUMENTS if given.get(a) is not None]
    for argument in _COLUMN_LISTS:
        named += given[argument] if isinstance(given.get(argument), list) else []
    have = [*spec.column_names, ROW_ID]
    for column in named:
        if column not in have:
            yield f"the dataset has no column {column!r}{_suggest(str(column), have)}"


def _unknown_type(name: str) -> str:
    if name in _index()["expectations"] or name in _NOT_ON_SPARK:
        return f"{name} does not run on Spark{_suggest(name, known_types())}"
    return f"Great Expectations {ge_version()} has no usable type {name}{_suggest(name, known_types())}"


def _suggest(word: str, choices: Any) -> str:
    near = get_close_matches(word, list(choices), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""


@cache
def _index() -> dict[str, Any]:
    return _load("index.json")


def _load(file: str) -> dict[str, Any]:
    try:
        return json.loads((_schemas() / file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DefectError(
            f"Great Expectations' own list {file} cannot be read: {error}.", "Install it again."
        ) from error


@cache
def _schemas() -> Path:
    found = find_spec("great_expectations")
    if found is None or not found.submodule_search_locations:
        raise DefectError("Great Expectations is not installed.", "Run `make setup`.")
    return Path(found.submodule_search_locations[0]) / "expectations" / "core" / "schemas"
