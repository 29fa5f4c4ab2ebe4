"""How things end when they do not go well: exit codes, two lines for people, one object for scripts."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from .conftest import Oreo


@pytest.mark.parametrize(
    "bad", ["../x", "", "a/../b", "A/b", "shop/Orders", f"shop/{'x' * 300}", "shop", "shop/orders/x", "s/"]
)
def test_bad_dataset_id_is_a_usage_error(shop: Oreo, bad: str):
    ran = shop("query", bad, "--json")
    assert ran.code == 2
    assert ran.json["error"]["code"] == "usage"


@pytest.mark.parametrize("bad", ["../x", "", "CR_1", "x" * 300])
def test_bad_change_request_id_is_a_usage_error(shop: Oreo, bad: str):
    assert shop("cr", "show", "shop/orders", bad).code == 2


def test_bad_project_id_is_a_usage_error(shop: Oreo):
    assert shop("project", "create", "../x").code == 2


@pytest.mark.parametrize(
    "args",
    [
        ("query", "shop/nothing"),
        ("history", "shop/nothing"),
        ("dataset", "show", "shop/nothing"),
        ("cr", "list", "shop/nothing"),
        ("cr", "show", "shop/orders", "cr_nothing"),
        ("cr", "approve", "shop/nothing", "cr_nothing"),
        ("restore", "shop/nothing", "--version", "0"),
        ("recover", "shop/nothing"),
        ("audit", "log", "shop/nothing"),
        ("maintain", "checkpoint", "shop/nothing"),
        ("query", "shop/orders", "--version", "99"),
        ("user", "revoke", "nobody"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_ends_with_6(shop: Oreo, args: tuple[str, ...]):
    ran = shop(*args, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (6, "not_found")


def test_error_is_one_line_of_what_and_one_of_what_to_do_on_stderr(shop: Oreo):
    ran = shop("query", "shop/nothing")
    assert ran.out == ""
    what, remedy = ran.err.strip().splitlines()
    assert what == "error: There is no dataset shop/nothing."
    assert remedy.startswith("See: oreo dataset list")


def test_error_as_json_is_the_one_document_and_stderr_is_quiet(shop: Oreo):
    ran = shop("--json", "query", "shop/nothing")
    assert ran.err == ""
    assert set(ran.json) == {"error"}
    assert {"code", "message", "remedy", "retryable"} <= set(ran.json["error"])
    assert ran.json["error"]["retryable"] is False


@pytest.mark.parametrize(
    "args",
    [
        ("query",),
        ("query", "shop/orders", "--nonsense"),
        ("query", "shop/orders", "--limit", "many"),
        ("query", "shop/orders", "--limit", "-1"),
        ("query", "shop/orders", "--where", "amount"),
        ("query", "shop/orders", "--where", "amount=gte.many"),
        ("query", "shop/orders", "--select", "nothing"),
        ("query", "shop/orders", "--order", "amount.sideways"),
        ("query", "shop/orders", "--timestamp", "yesterday"),
        ("query", "shop/orders", "--version", "1", "--timestamp", "2026-01-01"),
        ("upload", "shop/orders", "x.csv", "--mode", "merge"),
        ("user", "add", "eve", "--role", "king"),
        ("user", "add", "no spaces", "--role", "viewer"),
        ("cr", "approve", "shop/orders", "cr_1", "--ack", "noreason"),
        ("cr", "diff", "shop/orders", "cr_1", "--kind", "sideways"),
        ("cr", "reject", "shop/orders", "cr_1"),
        ("restore", "shop/orders"),
        ("nonsense",),
        ("cr", "nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_calls_end_with_2_in_both_shapes(shop: Oreo, args: tuple[str, ...]):
    ran = shop(*args, "--json")
    assert ran.code == 2
    assert ran.json["error"]["code"] == "usage"
    assert ran.json["error"]["remedy"]


def test_malformed_dataset_file_names_file_and_line(shop: Oreo, tmp_path: Path):
    file = tmp_path / "bad.yaml"
    file.write_text("project: shop\ndataset: x\ncolumns:\n  - {name: a, type: strange}\nsurprise: 1\n")
    ran = shop("dataset", "apply", str(file))
    assert ran.code == 2
    assert f"{file}:4" in ran.err
    assert f"{file}:5: surprise: unknown field" in ran.err
    file.write_text("project: [shop\n")
    ran = shop("dataset", "apply", str(file), "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "bad_dataset_file")
    assert f"{file}:" in ran.json["error"]["message"]


def test_who_is_not_signed_in_or_not_allowed_ends_with_5(shop: Oreo):
    assert (
        shop(
            "query",
            "shop/orders",
            user=None,
        ).code
        == 5
    )
    assert shop("query", "shop/orders", "--token", "wrong").code == 5
    ran = shop("project", "create", "other", "--json", user="vic")
    assert (ran.code, ran.json["error"]["code"]) == (5, "not_allowed")


@pytest.mark.parametrize("url", ["nonsense", "mystery://x/y"])
def test_nonsense_as_catalog_address_is_a_usage_error(oreo: Oreo, url: str):
    assert oreo("project", "list", env={"OREO_CATALOG_URL": url}).code == 2


def test_a_root_that_cannot_be_made_is_unavailable(oreo: Oreo, tmp_path: Path):
    (tmp_path / "file").write_text("")
    ran = oreo("project", "list", "--json", "--root", str(tmp_path / "file" / "lake"))
    assert (ran.code, ran.json["error"]["retryable"]) == (8, True)


def _break(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr("oreo_assets.workflow.datasets.projects", broken)


def test_unexpected_error_is_told_as_a_defect_and_traced_only_with_debug(shop: Oreo, monkeypatch: pytest.MonkeyPatch):
    _break(monkeypatch, KeyError("boom"))
    plain = shop("project", "list")
    assert (plain.code, plain.out) == (1, "")
    assert "This is a defect of Oreo: KeyError: 'boom'" in plain.err
    assert "--debug" in plain.err
    assert "Traceback" not in plain.err
    traced = shop("--debug", "project", "list", "--json")
    assert "Traceback" in traced.err
    assert traced.json["error"]["code"] == "defect"


def test_interrupted_ends_with_130_and_no_traceback(shop: Oreo, monkeypatch: pytest.MonkeyPatch):
    _break(monkeypatch, KeyboardInterrupt())
    ran = shop("project", "list")
    assert (ran.code, ran.out) == (130, "")
    assert "Traceback" not in ran.err


MAIN = "import sys; from oreo_assets.cli import main; sys.exit(main())"


@pytest.mark.parametrize("args", [("query", "shop/orders"), ("query", "shop/orders", "--json"), ("--help",)])
def test_a_reader_that_leaves_early_hears_no_complaint(shop: Oreo, args: tuple[str, ...]):
    read, write = os.pipe()
    os.close(read)
    ran = shop.process(MAIN, *args, stdout=write)
    os.close(write)
    assert (ran.code, ran.err) == (128 + signal.SIGPIPE, "")


def test_what_libraries_print_stays_off_the_json(shop: Oreo):
    noisy = "import os; from oreo_assets.workflow import datasets; real = datasets.projects\n"
    noisy += "def loud(*given): print('noise'); os.system('echo more noise'); return real(*given)\n"
    ran = shop.process(noisy + "datasets.projects = loud\n" + MAIN, "project", "list", "--json")
    assert [project["project"] for project in ran.json] == ["shop"]
    assert ran.err == "noise\nmore noise\n"
