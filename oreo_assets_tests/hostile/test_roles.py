"""Every use case, walked through by people who may not: found by its signature, so that a new one is walked too.

The routes of the API have their own matrix; this is the layer below, which Dagster, the command line and the
review site call as well.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import oreo_assets.workflow as use_cases
from oreo_assets.catalog.users import Actor, add_user, revoke_user, sign_in
from oreo_assets.model.errors import NotAllowedError, NotFoundError, NotSignedInError
from oreo_assets.model.states import Role
from oreo_assets.workflow.intake import UploadOptions
from oreo_assets.workflow.maintenance import Chore
from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import ADMIN, Oreo
from ..cli.lake_without_spark import ORDERS

STRANGER = Actor("stranger", {})
ELSEWHERE = Actor("far", {"other": Role.ADMIN})
VIEWER = Actor("vic", {"*": Role.VIEWER})

WRITES = {
    "upload", "dry_run", "approve", "reject", "withdraw", "retry", "reject_rows", "resolve", "restore", "apply_dataset",
    "create_project", "maintain", "submit", "open_session",
}  # fmt: skip


def walked() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions of the use cases that are told who asks."""
    for module in pkgutil.iter_modules(use_cases.__path__):
        loaded = importlib.import_module(f"{use_cases.__name__}.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            parameters = list(inspect.signature(function).parameters)
            if (
                function.__module__ == loaded.__name__
                and not name.startswith("_")
                and parameters[:2] == ["ws", "actor"]
            ):
                yield name, function


@pytest.fixture
def known(shop: Oreo, in_review: Callable[..., str], tmp_path: Path) -> dict[str, Any]:
    """Something real for every argument that a use case may ask for."""
    file = tmp_path / "f.csv"
    file.write_text("order_id,amount,ordered_on\nA9,1.50,2026-02-01\n")
    return {
        "ws": Workspace.open(shop.settings),
        "ref": ORDERS.ref,
        "cr_id": in_review(author="con"),
        "file": file,
        "folder": tmp_path / "look",
        "options": UploadOptions(),
        "spec": ORDERS.model_copy(update={"description": "another"}),
        "project": "depot",
        "reason": "because",
        "text": "because",
        "note": "because",
        "version": 0,
        "run_id": "vr_1",
        "session_id": "ls_1",
        "comment_id": "co_1",
        "chore": Chore.CLEANUP,
    }


def call(function: Callable[..., Any], known: dict[str, Any], actor: Actor) -> Any:
    given: dict[str, Any] = {"actor": actor}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in known and name != "actor":
            given[name] = known[name]
        elif parameter.default is inspect.Parameter.empty and name not in given:
            given[name] = ()
    return function(**given)


def test_the_walk_finds_the_use_cases():
    assert {name for name, _ in walked()} >= WRITES


@pytest.mark.parametrize("actor", [STRANGER, ELSEWHERE], ids=["stranger", "admin elsewhere"])
def test_who_has_no_role_in_a_project_sees_and_does_nothing_there(known: dict[str, Any], actor: Actor):
    told = {}
    for name, function in walked():
        try:
            answer = call(function, known, actor)
            if isinstance(answer, AbstractContextManager):
                with answer as answer:
                    pass
        except (NotAllowedError, NotFoundError):
            continue
        except Exception as error:
            answer = f"came as far as {error!r}"
        if getattr(answer, "reports", answer):  # an empty list is nothing told
            told[name] = answer
    assert told == {}


def test_a_viewer_changes_nothing(known: dict[str, Any]):
    for name, function in walked():
        if name in WRITES:
            with pytest.raises((NotAllowedError, NotFoundError)):
                call(function, known, VIEWER)


def test_a_revoked_user_is_a_stranger_at_once(shop: Oreo):
    catalog = Workspace.open(shop.settings).catalog
    token = add_user(catalog, ADMIN, "eve", Role.ADMIN, None).token
    assert shop("dataset", "list", "--token", token, user=None).code == 0
    revoke_user(catalog, ADMIN, "eve")
    with pytest.raises(NotSignedInError):
        sign_in(catalog, token)
    for command in (("dataset", "list"), ("query", "shop/orders"), ("cr", "list"), ("user", "list"), ("recover",)):
        done = shop(*command, "--token", token, user=None)
        assert (done.code, token in done.out + done.err) == (5, False), done
