"""The rules of one cell, as SQL: why it cannot be taken, and its value if it can.

Casts alone will not do: DuckDB rounds 12.5 to an integer, 0.005 to a cent and 1e-400 to zero. So the text is
judged first, and cast only when nothing of it would be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lake.sql import quote_literal
from ..model.states import RowChange
from ..model.types import ColumnType

EMPTY = "must not be empty"
ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
ISO_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
ISO_ZONE = "(Z|[+-](0[0-9]|1[0-8])(:?[0-5][0-9])?)"
_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?"
_GROUPED = r"[+-]?[0-9]{1,3}([., '’\x{00a0}\x{202f}]?[0-9]{3})*(,[0-9]+)?|[+-]?[0-9]+,[0-9]+"
_GROUPED_REASON = "write it like 1234.56, with a point and no thousands separators"
_BLANKS = "' ' || chr(9) || chr(10) || chr(13) || chr(160)"
_FIRST_DAY, _LAST_MOMENT = "0001-01-01", "9999-12-31 23:59:59.999999"


@dataclass(frozen=True)
class CellRule:
    """Two SQL expressions over the table of raw cells. `reason` is NULL for a good cell."""

    reason: str
    value: str


def text_rule(cell: str, type_: ColumnType, required: bool, lenient: bool) -> CellRule:
    """For a cell held as text. `lenient`: the source has only one kind of number, so 12.0 is a whole one."""
    if type_.name == "string":
        return CellRule(_case_empty(f"trim({cell}, {_BLANKS})", required, "NULL"), cell)
    text = f"nullif(trim({cell}, {_BLANKS}), '')"
    if type_.is_integer:
        rule = _integer(text, type_, lenient)
    elif type_.name == "decimal":
        rule = _decimal(text, type_)
    elif type_.name in ("float", "double"):
        rule = _floating(text, type_)
    elif type_.name == "boolean":
        rule = _boolean(text)
    elif type_.name == "date":
        rule = _date(text)
    else:
        rule = _timestamp(text, type_)
    return CellRule(_case_empty(text, required, rule.reason), rule.value)


def tidy_rule(cell: str, type_: ColumnType, required: bool) -> CellRule | None:
    """A far cheaper rule that only knows the usual spellings, without blanks around them.

    If it objects to no cell of a column, its values are right; if it does, the full rule has to look. Files
    made by programs, and most are, never need the full one.
    """
    cast = f"TRY_CAST({cell} AS {type_.duckdb})"
    if type_.name == "string":
        return None
    if type_.name == "boolean":
        usual = f"{cell} IN ('true', 'false', 'True', 'False', 'TRUE', 'FALSE', '1', '0')"
    elif type_.is_integer:
        usual = f"{_matches(cell, '-?[0-9]{1,19}')} AND {cast} IS NOT NULL"
    elif type_.name == "decimal":
        point = rf"(\.[0-9]{{0,{type_.scale}}})?"
        usual = f"{_matches(cell, f'-?[0-9]{{1,38}}{point}')} AND {cast} IS NOT NULL"
    elif type_.name in ("float", "double"):
        usual = _matches(cell, r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
    elif type_.name == "date":
        usual = f"{_matches(cell, ISO_DATE)} AND {_in_calendar(cast)}"
    else:
        zone = f"{ISO_ZONE}?" if type_.name == "timestamp" else ""
        clock = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
        usual = f"{_matches(cell, f'{ISO_DATE}[T ]{clock}{zone}')} AND {_in_calendar(cast)}"
    taken = f"({usual})" if required else f"{cell} IS NULL OR ({usual})"
    return CellRule(f"CASE WHEN {taken} THEN NULL ELSE 'not in its usual form' END", cast)


def native_rule(cell: str, type_: ColumnType, required: bool) -> CellRule:
    """For a cell whose own type already fits the declared one."""
    reason = "NULL"
    if type_.name in ("float", "double"):
        reason = f"CASE WHEN NOT isfinite({cell}) THEN 'not a finite number' END"
    elif type_.name in ("date", "timestamp", "timestamp_ntz"):
        reason = f"CASE WHEN NOT ({_in_calendar(cell)}) THEN 'outside the years 0001 to 9999' END"
    elif type_.name == "string":
        return CellRule(_case_empty(f"trim({cell}, {_BLANKS})", required, "NULL"), cell)
    return CellRule(
        f"CASE WHEN {cell} IS NULL THEN {quote_literal(EMPTY) if required else 'NULL'} ELSE {reason} END",
        f"CAST({cell} AS {type_.duckdb})",
    )


def change_rule(cell: str) -> CellRule:
    """For the cell in which a row of a patch says what becomes of it."""
    text = f"lower(trim({cell}, {_BLANKS}))"
    words = ", ".join(quote_literal(word) for word in RowChange)
    reason = quote_literal(f"must be {' or '.join(RowChange)}")
    return CellRule(_case_empty(text, True, f"CASE WHEN {text} NOT IN ({words}) THEN {reason} END"), text)


def _case_empty(text: str, required: bool, otherwise: str) -> str:
    if not required:
        return "NULL" if otherwise == "NULL" else f"CASE WHEN {text} IS NULL THEN NULL ELSE {otherwise} END"
    return f"CASE WHEN coalesce({text}, '') = '' THEN {quote_literal(EMPTY)} ELSE {otherwise} END"


def _matches(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, {quote_literal(pattern)})"


def _integer(text: str, type_: ColumnType, lenient: bool) -> CellRule:
    if lenient:
        text = rf"regexp_replace({text}, '\.0*$', '')"
    cast = f"TRY_CAST({text} AS {type_.duckdb})"
    digits = _matches(text, "[+-]?[0-9]+")
    pointed = _matches(text, r"[+-]?[0-9]*\.[0-9]*")
    return CellRule(
        f"""CASE WHEN {digits} THEN CASE WHEN {cast} IS NULL THEN 'too large for {type_.spark}' END
            WHEN {pointed} THEN 'not a whole number: it has a decimal point'
            WHEN {_matches(text, _GROUPED)} THEN 'not a whole number: write it without thousands separators'
            ELSE 'not a whole number' END""",
        cast,
    )


def _decimal(text: str, type_: ColumnType) -> CellRule:
    has_exponent = f"(contains({text}, 'e') OR contains({text}, 'E'))"
    whole = rf"regexp_extract({text}, '^[+-]?([0-9]*)', 1)"
    fraction = rf"regexp_extract({text}, '\.([0-9]*)', 1)"
    exponent = f"CAST(regexp_extract({text}, '[eE]([+-]?[0-9]+)$', 1) AS INTEGER)"
    digits = f"({whole} || {fraction})"
    zeros = f"(length({digits}) - length(rtrim({digits}, '0')))"
    # Zeros at the end carry nothing: 12.500 is 12.50, and 1200e-2 is 12.
    too_fine = f"""CASE WHEN {has_exponent}
        THEN trim({digits}, '0') <> '' AND length({fraction}) - {zeros} - {exponent} > {type_.scale}
        ELSE length(rtrim(split_part({text}, '.', 2), '0')) > {type_.scale} END"""
    # With an exponent DuckDB needs room for its working, which the widest decimal gives.
    cast = f"""CASE WHEN {has_exponent}
        THEN TRY_CAST(TRY_CAST({text} AS DECIMAL(38,{type_.scale})) AS {type_.duckdb})
        ELSE TRY_CAST({text} AS {type_.duckdb}) END"""
    return CellRule(
        f"""CASE WHEN NOT {_matches(text, _NUMBER)} THEN {_not_a_number(text)}
            WHEN {too_fine} THEN 'more than {type_.scale} digits after the point'
            WHEN {cast} IS NULL THEN 'too large for {type_.spark}' END""",
        cast,
    )


def _floating(text: str, type_: ColumnType) -> CellRule:
    cast = f"TRY_CAST({text} AS {type_.duckdb})"
    return CellRule(
        f"""CASE WHEN NOT {_matches(text, _NUMBER)} THEN {_not_a_number(text)}
            WHEN {cast} IS NULL OR NOT isfinite({cast}) THEN 'too large for {type_.spark}'
            WHEN {cast} = 0 AND regexp_matches({text}, '^[^eE]*[1-9]') THEN 'too small for {type_.spark}'
            END""",
        cast,
    )


def _not_a_number(text: str) -> str:
    return f"""CASE WHEN {_matches(f"lower({text})", "[+-]?(nan|inf|infinity)")} THEN 'not a finite number'
        WHEN {_matches(text, _GROUPED)} THEN 'not a number: {_GROUPED_REASON}'
        ELSE 'not a number' END"""


def _boolean(text: str) -> CellRule:
    yes, no = "('true', 't', 'yes', '1')", "('false', 'f', 'no', '0')"
    value = f"CASE WHEN lower({text}) IN {yes} THEN true WHEN lower({text}) IN {no} THEN false END"
    return CellRule(f"CASE WHEN lower({text}) NOT IN {yes[:-1]}, {no[1:]} THEN 'not true or false' END", value)


def _date(text: str) -> CellRule:
    cast = f"TRY_CAST(left({text}, 10) AS DATE)"
    midnight = rf"{ISO_DATE}([T ]00:00(:00(\.0+)?)?(Z|[+-]00(:?00)?)?)?"
    return CellRule(
        f"""CASE WHEN {_matches(text, midnight)} THEN
                CASE WHEN {cast} IS NULL OR NOT ({_in_calendar(cast)}) THEN 'no such day in the calendar' END
            WHEN {_matches(text, f"{ISO_DATE}[T ]{ISO_TIME}{ISO_ZONE}?")}
                THEN 'not a date (YYYY-MM-DD): it has a time of day'
            ELSE 'not a date (YYYY-MM-DD)' END""",
        cast,
    )


def _timestamp(text: str, type_: ColumnType) -> CellRule:
    # DuckDB wants seconds before it takes a zone, ISO 8601 does not.
    full = f"""CASE WHEN length({text}) > 16 AND substr({text}, 17, 1) <> ':'
        THEN left({text}, 16) || ':00' || substr({text}, 17) ELSE {text} END"""
    cast = f"TRY_CAST({full} AS {type_.duckdb})"
    no_zone = ""
    if type_.name == "timestamp_ntz":
        zoned = _matches(text, f"{ISO_DATE}[T ]{ISO_TIME}{ISO_ZONE}")
        no_zone = f"WHEN {zoned} THEN 'has a time zone, and this column has none'"
    return CellRule(
        f"""CASE WHEN NOT {_matches(text, f"{ISO_DATE}([T ]{ISO_TIME}{ISO_ZONE}?)?")}
                THEN 'not a timestamp (YYYY-MM-DD HH:MM:SS)'
            {no_zone}
            WHEN regexp_matches({text}, '\\.[0-9]{{6}}[0-9]*[1-9]') THEN 'finer than a microsecond'
            WHEN {cast} IS NULL OR NOT ({_in_calendar(cast)}) THEN 'no such moment in the calendar' END""",
        cast,
    )


def _in_calendar(value: str) -> str:
    """The years that Spark and SQL agree on."""
    return f"{value} >= '{_FIRST_DAY}' AND {value} <= '{_LAST_MOMENT}'"
