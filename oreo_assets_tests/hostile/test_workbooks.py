"""Workbooks that were made to harm: through the real process, with small limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from oreo_assets.convert import ConversionRequest, convert

from ..convert.support import read_parquet
from . import workbooks as w
from .conftest import Meets

SHEET = "xl/worksheets/sheet1.xml"


def in_workbook_xml(doctype: str, body: str) -> str:
    """The list of sheets with a document type before it and something more inside."""
    described = doctype.replace("DOCTYPE worksheet", "DOCTYPE workbook")
    return w.WORKBOOK.replace("<workbook", f"{described}<workbook", 1).replace("</workbook>", f"{body}</workbook>")


def test_a_plain_workbook_made_the_same_way_is_taken(meets: Meets):
    """Else the tests below would show nothing."""
    assert meets(w.workbook(w.sheet(["id", "qty"], ["a", "1"])), "xlsx").rows_good == 1


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "laughs": (lambda: w.workbook(w.sheet(["id"], ["&l12;"], before=w.laughs())), "damaged"),
    "laughs in the list of sheets": (
        lambda: w.workbook(w.sheet(["id"], ["a"]), xl__workbook=in_workbook_xml(w.laughs(), "<x>&l12;</x>")),
        "damaged",
    ),
    "a file of ours": (lambda: w.workbook(w.sheet(["id"], ["&x;"], before=w.outside("/etc/passwd"))), "damaged"),
    "a file of ours in the list of sheets": (
        lambda: w.workbook(w.sheet(["id"], ["a"]), xl__workbook=in_workbook_xml(w.outside("/etc/hosts"), "&x;")),
        "damaged",
    ),
    "blanks": (
        lambda: w.workbook(w.sheet(["id"], ["a"], inside=" " * (200 << 20))),
        "Unpacked, the workbook has 200 MB",
    ),
    "entries that overlap": (w.overlapping, "Unpacked, the workbook has 200"),
    "cells without text": (lambda: w.workbook(w.sheet(["", ""], ["", ""])), "is empty"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_before_they_go_off(meets: Meets, bomb: str):
    make, says = BOMBS[bomb]
    assert says in meets.refused(make(), "xlsx").message


@pytest.mark.parametrize("says", [100, 1 << 20, 0xFFFFFFF0])
def test_a_part_that_lies_about_its_size_is_refused(meets: Meets, says: int):
    """The directory is believed first, the bytes are counted after: neither way lets more through."""
    bomb = w.workbook(w.sheet(["id"], ["a"], inside=f"<!--{' ' * (200 << 20)}-->"))
    refusal = meets.refused(w.lying(bomb, SHEET, says), "xlsx")
    assert any(words in refusal.message for words in ("damaged", "Unpacked", "took more than"))


def test_elements_nested_without_end_are_no_trouble(meets: Meets):
    deep = "".join(f"<x{n}>" for n in range(50_000)) + "".join(f"</x{n}>" for n in reversed(range(50_000)))
    assert meets(w.workbook(w.sheet(["id"], ["a"], inside=deep)), "xlsx").rows_good == 1
    in_list = w.WORKBOOK.replace("</workbook>", f"{deep}</workbook>")
    assert meets(w.workbook(w.sheet(["id"], ["a"]), xl__workbook=in_list), "xlsx").rows_good == 1


@pytest.mark.parametrize(
    "piece",
    ['<c t="e" r="A{}" ', 'r="A{}" ', '<c t="e" r="A{}"><v>'],
    ids=["tags that never end", "one tag without end", "cells that never end"],
)
def test_looking_for_error_cells_takes_one_pass(meets: Meets, piece: str):
    """Each of these once kept the reader busy until its time was up: far more than the seconds it has here."""
    comment = '<!-- <c t="e" ' + "".join(piece.format(n * 7919 % 1_000_003) for n in range(100_000)) + " -->"
    assert meets(w.workbook(w.sheet(["id"], ["a"], inside=comment)), "xlsx").rows_good == 1


def test_a_row_of_nothing_but_an_error_is_no_blank_row(meets: Meets):
    error = '<row r="3"><c r="A3" t="e"><v>#N/A</v></c></row>'
    found = meets(w.workbook(w.sheet(["id", "name"], ["a", "b"], inside=error)), "xlsx")
    assert (found.rows_read, found.rows_rejected) == (2, 1)
    assert found.rejects[0].line == 3
    assert "#N/A" in found.rejects[0].reason


def test_sheet_names_are_text_and_never_a_path(meets: Meets):
    name = "../../etc&#x202e;" + "x" * 5000
    book = w.workbook(w.sheet(["id"], ["a"]), xl__workbook=w.WORKBOOK.replace('name="One"', f'name="{name}"'))
    found = meets(book, "xlsx")
    assert len(found.details["sheet"]) == 100
    refusal = meets.refused(book, "xlsx", sheet="\x1b[2J\u202eother")
    assert "\x1b" not in str(refusal)
    assert "\u202e" not in str(refusal)
    assert len(str(refusal)) < 1000


def test_escaped_control_characters_stay_data(make_request, tmp_path: Path):
    request: ConversionRequest = make_request(w.workbook(w.sheet(["id", "name"], ["a", "x_x001B_[2J&#9;y"])), "xlsx")
    convert(request)
    assert read_parquet(request.out)[1] == [("a", "a", "x\x1b[2J\ty")]
