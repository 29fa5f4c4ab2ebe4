"""What must hold for any input. `make test` tries each property some dozen times, `make soak` for minutes.

A property is a strategy and a check. The check answers in a word what became of the input, and fails only if
that is something nobody named: a traceback, a wrong row, a way out of the lake.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from oreo_assets.convert import ConversionRequest, convert
from oreo_assets.convert.pipeline import run as convert_in_this_process
from oreo_assets.lake.layout import DatasetLayout
from oreo_assets.model.errors import BadFileError, SpecError, UsageError
from oreo_assets.model.filters import Filter, Order
from oreo_assets.model.ids import DatasetRef, check_id
from oreo_assets.model.spec import Column, Limits, RowIdRule
from oreo_assets.model.spec_file import parse_spec
from oreo_assets.model.states import Mode

from ..convert.support import read_parquet
from ..model.test_spec_file import GOOD
from .filter_oracle import check_filter, filters, told_well
from .samples import PARQUET, WORKBOOK, old_workbook

Check = Callable[[Any], str]

COLUMNS = (Column(name="id", type="string"), Column(name="name", type="string"), Column(name="qty", type="int"))
LIMITS = Limits(max_file_mb=8, max_memory_mb=512, max_seconds=30)
NASTY = st.sampled_from(
    (
        *("\x00", "\x1b[2J", "\u202e", "../", "..\\", "'", '"', ";", "--", "/*", "%", "\n", "\r", "\t", "=1+1"),
        *("!!bool maybe", "!!int ''", "2026-13-45", "&a [*a]", "? [a]", "*a", "<<: *a", ".nan", "[" * 50, "- " * 20),
        *("\ud800", "\ufffe", "~", "|", ">", "!!binary '//79'", "190:20:30"),
    )
)


@dataclass(frozen=True)
class Property:
    """`examples` is how often `make test` tries it: some seconds' worth."""

    name: str
    inputs: st.SearchStrategy[Any]
    check: Check
    examples: int

    def try_out(self, number: int, examples: int, told: Callable[[str], object]) -> None:
        """Try so many inputs, which follow from the seed alone. A failure prints the smallest one that fails."""

        def one(given_input: Any) -> None:
            try:
                told(self.check(given_input))
            except Exception as error:
                error.add_note(f"{self.name}, seed {number}: {given_input!r:.2000}")
                raise

        how = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            print_blob=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        how(seed(number)(given(self.inputs)(one)))()


def _mangled(text: str) -> st.SearchStrategy[str]:
    """The text with pieces cut out, and nasty ones put in."""

    def mangle(changes: list[tuple[float, int, str]]) -> str:
        result = text
        for where, length, piece in changes:
            at = int(where * len(result))
            result = result[:at] + piece + result[at + length :]
        return result

    change = st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 20), st.one_of(NASTY, st.text(max_size=8)))
    return st.lists(change, min_size=1, max_size=4).map(mangle)


def _damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """The file cut off, or with some bytes overwritten, mostly near its end, where both formats keep their sizes."""

    def damage(cut: float, changes: list[tuple[float, bytes]]) -> bytes:
        result = bytearray(data[: int(cut * len(data))] if cut else data)
        for where, piece in changes:
            at = int((1 - where * where) * (len(result) - 1)) if result else 0
            result[at : at + len(piece)] = piece
        return bytes(result)

    change = st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8))
    cut = st.one_of(st.just(0.0), st.floats(0.01, 1))
    return st.builds(damage, cut, st.lists(change, min_size=1, max_size=4))


def request_for(raw: Path, **changes: Any) -> ConversionRequest:
    """To convert this file, beside itself."""
    values: dict[str, Any] = {
        "raw": raw,
        "out": raw.with_name("converted.parquet"),
        "columns": COLUMNS,
        "key": ("id",),
        "row_id_rule": RowIdRule.KEY,
        "row_id_prefix": "up",
        "mode": Mode.UPSERT,
        "sheet": None,
        "set_aside": False,
        "new_columns": "review",
        "limits": LIMITS,
    }
    return ConversionRequest(**(values | changes))


def _request(folder: Path, ending: str, content: bytes, **changes: Any) -> ConversionRequest:
    raw = folder / f"raw.{ending}"
    raw.write_bytes(content)
    return request_for(raw, **changes)


def _check_file(ending: str) -> Check:
    """Through the real process: taken or refused in plain words, and nothing lies about afterwards."""

    def check(content: bytes) -> str:
        with tempfile.TemporaryDirectory(prefix="oreo-fuzz-") as name:
            folder = Path(name)
            try:
                found = convert(_request(folder, ending, content))
            except BadFileError as error:
                told_well(error)
                left = {p.name for p in folder.iterdir()}
                assert left == {f"raw.{ending}"}, left
                return "refused"
            assert found.rows_read == found.rows_good + found.rows_rejected
            if found.rejects_total:
                return "refused"
            assert len(read_parquet(folder / "converted.parquet")[1]) == found.rows_good
            return "taken"

    return check


def check_spec_file(text: str) -> str:
    try:
        spec = parse_spec(text, "f.yaml")
    except SpecError as error:
        told_well(error)
        return "refused"
    assert type(spec).model_validate(spec.as_json()) == spec
    return "taken"


def check_id_text(text: str) -> str:
    """An id is refused, or every path made of it lies in the dataset's own folder."""
    outcome = "refused"
    with suppress(UsageError):
        layout = DatasetLayout("/lake", DatasetRef.parse(text))
        assert Path(layout.main).resolve().is_relative_to("/lake/projects")
        outcome = "taken"
    with suppress(UsageError):
        check_id(text)
        layout = DatasetLayout("/lake", DatasetRef("p", "d"))
        for path in (Path(layout.staging(text)), layout.upload(text), layout.validation_run(text)):
            assert Path(*path.parts).resolve().is_relative_to("/lake/projects/p/datasets/d")
        outcome = "taken"
    return outcome


def check_filter_text(text: str) -> str:
    taken = 0
    for parse in (Filter.parse, Order.parse):
        with suppress(UsageError):
            parse(text)
            taken += 1
    return "taken" if taken else "refused"


def check_one_bad_line(case: tuple[int, int, str]) -> str:
    """Whatever one line of a file holds, the lines around it come through as they are."""
    rows, place, line = case
    lines = [f"k{n},name {n},{n}" for n in range(rows)]
    lines.insert(place % (rows + 1), line)
    content = "id,name,qty\n" + "\n".join(lines) + "\n"
    with tempfile.TemporaryDirectory(prefix="oreo-fuzz-") as name:
        request = _request(Path(name), "csv", content.encode("utf-8", "surrogatepass"), set_aside=True)
        try:
            found = convert_in_this_process(request)
        except BadFileError:
            return "refused"
        out = {row[1]: row for row in read_parquet(request.out)[1]}
    assert found.rows_read == found.rows_good + found.rows_rejected
    same_key = line.split(",")[0] in {f"k{n}" for n in range(rows)}
    if not same_key:
        for n in range(rows):
            assert out[f"k{n}"] == (f"k{n}", f"k{n}", f"name {n}", n)
    return "set aside" if found.rows_rejected else "taken"


_IDS = st.one_of(
    st.text(max_size=80),
    st.text("abc019_-./\\\x00\n ", max_size=70),
    st.from_regex(r"[a-z0-9][a-z0-9_-]{0,9}/[a-z0-9][a-z0-9_-]{0,9}", fullmatch=True),
    st.from_regex(r"[a-z0-9][a-z0-9_-]{0,70}", fullmatch=True),
)
_FILTER_TEXTS = st.one_of(
    st.text(max_size=60),
    st.builds(
        "{}={}.{}".format,
        st.text(max_size=10),
        st.sampled_from(["eq", "in", "is", "like", "xx", ""]),
        st.text(max_size=30),
    ),
)
# A quote may honestly open a field that goes on below, and a line break makes two lines.
_LINES = st.text(st.characters(exclude_characters="\"'\r\n\\"), max_size=40) | st.sampled_from(
    [",,", "," * 3000, "k0", "=1+1,@SUM(A1),-3", "x" * 5000, "a\tb;c|d", "a,b,99999999999", " ,\u202e,\u0000"]
)

PROPERTIES = (
    Property("dataset files", _mangled(GOOD), check_spec_file, 300),
    Property("ids", _IDS, check_id_text, 600),
    Property("filter texts", _FILTER_TEXTS, check_filter_text, 600),
    Property("filters on rows", filters, check_filter, 150),
    Property("csv lines", st.tuples(st.integers(1, 6), st.integers(0, 6), _LINES), check_one_bad_line, 60),
    Property("old workbooks", st.integers(0, 2**32).map(old_workbook), _check_file("xls"), 10),
    Property("damaged workbooks", _damaged(WORKBOOK), _check_file("xlsx"), 20),
    Property("damaged parquet", _damaged(PARQUET), _check_file("parquet"), 20),
)
