"""Every command explains itself."""

from __future__ import annotations

import pytest
import typer.main
from typer.testing import CliRunner

from oreo_assets.cli.app import COMMANDS, SECTIONS, app

from .conftest import Oreo


def _paths() -> list[tuple[str, ...]]:
    main = typer.main.get_command(app)
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        command = main.get_command(None, name)
        inner = getattr(command, "commands", None)
        found += [(name, verb) for verb in inner] if inner else [(name,)]
    return found


@pytest.mark.parametrize("path", _paths(), ids=" ".join)
def test_every_command_has_a_summary_and_examples_that_call_it(path: tuple[str, ...]):
    result = CliRunner().invoke(app, [*path, "--help"], prog_name="oreo")
    assert result.exit_code == 0, result.output
    first = result.output.splitlines()[0]
    assert first.endswith(".") or "." in first, "the first line is a sentence"
    examples = result.output.partition("\nExamples\n")[2].partition("\nEverywhere\n")[0].splitlines()
    assert any(f"oreo {' '.join(path)}" in line for line in examples)
    assert all(len(line) < 120 for line in result.output.splitlines())
    for option in ("--root", "--token", "--json", "--debug"):
        assert option in result.output


def test_the_commands_of_the_interface_are_all_there():
    assert {" ".join(path) for path in _paths()} == {
        *("doctor", "upload", "query", "history", "restore", "recover", "up", "demo"),
        *("project create", "project list", "dataset apply", "dataset list", "dataset show"),
        *("user add", "user list", "user revoke", "audit log", "audit verify"),
        *(f"cr {verb}" for verb in ["list", "show", "checks", "diff", "approve", "reject", "withdraw", "retry"]),
        *(f"cr {verb}" for verb in ["conflicts", "resolve", "reject-rows"]),
        *(f"cr {verb}" for verb in ["comment", "comments", "resolve-comment", "request-changes", "standing", "revert"]),
        *(f"live {verb}" for verb in ["open", "list", "show", "set", "add", "delete", "undo", "redo"]),
        *(f"live {verb}" for verb in ["rows", "diff", "others", "submit", "discard"]),
        *(f"maintain {chore}" for chore in ["optimize", "vacuum", "checkpoint", "cleanup", "all"]),
        *("engine start", "engine stop", "engine status"),
    }


def test_main_screen_shows_each_command_once_and_no_completion_noise(oreo: Oreo):
    for args in ((), ("--help",)):
        ran = oreo(*args)
        assert ran.code == 0
        assert "completion" not in ran.out
        for names in SECTIONS.values():
            for name in names:
                assert sum(line.startswith(f"  {name} ") for line in ran.out.splitlines()) == 1
    assert {name for names in SECTIONS.values() for name in names} == set(COMMANDS)


def test_a_group_without_its_verb_is_a_usage_error_that_lists_the_verbs(oreo: Oreo):
    ran = oreo("cr")
    assert (ran.code, ran.out) == (2, "")
    assert "approve" in ran.err


def test_a_misspelt_command_is_answered_with_the_right_one(oreo: Oreo):
    ran = oreo("qurey")
    assert ran.code == 2
    assert "Did you mean 'query'?" in ran.err
