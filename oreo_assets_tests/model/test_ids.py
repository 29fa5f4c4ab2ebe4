from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oreo_assets.lake.layout import DatasetLayout
from oreo_assets.model.errors import ExitCode, UsageError
from oreo_assets.model.ids import ID_PATTERN, DatasetRef, check_id, new_id


@pytest.mark.parametrize(
    "bad", ["", "../x", "a/b", "A", "a" * 65, "a" * 300, "-a", "_a", "a b", "a\n", "a\x00", "ä", ".", "..", "a.b"]
)
def test_what_is_not_an_id_is_a_usage_error(bad: str):
    with pytest.raises(UsageError) as caught:
        check_id(bad, "project id")
    assert caught.value.exit_code is ExitCode.USAGE
    assert "project id" in caught.value.message
    assert caught.value.remedy


@given(st.text(max_size=80))
def test_any_text_is_either_a_safe_path_part_or_refused(text: str):
    try:
        check_id(text)
    except UsageError:
        assert not ID_PATTERN.match(text)
    else:
        assert PurePosixPath("/root", text).parent == PurePosixPath("/root")
        assert text not in (".", "..")


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_reference_leaves_the_root(project: str, dataset: str):
    try:
        ref = DatasetRef(project, dataset)
    except UsageError:
        return
    base = PurePosixPath(DatasetLayout("/lake", ref).base)
    assert ".." not in base.parts
    assert base.is_relative_to("/lake/projects")
    assert len(base.parts) == 6


@pytest.mark.parametrize("bad", ["", "a", "a/", "/b", "a/b/c", "a/../b", "A/b"])
def test_what_does_not_name_a_dataset_is_refused(bad: str):
    with pytest.raises(UsageError):
        DatasetRef.parse(bad)


def test_new_ids_are_ids_and_sort_by_time():
    made = [new_id("cr") for _ in range(200)]
    assert all(ID_PATTERN.match(i) for i in made)
    assert len(set(made)) == 200
    assert [i[:12] for i in made] == sorted(i[:12] for i in made)
