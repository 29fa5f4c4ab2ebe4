"""Idempotency keys: one of many gets through, the others get its answer."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy import update

from oreo_assets.catalog import Catalog
from oreo_assets.catalog.idempotency import (
    KEPT,
    KeyReusedError,
    StillWorkingError,
    StoredAnswer,
    claim,
    keep,
    let_go,
)
from oreo_assets.catalog.models import IdempotencyKey, now


def test_the_second_gets_the_answer_of_the_first(catalog: Catalog):
    assert claim(catalog, "ann", "k", "f") is None
    with pytest.raises(StillWorkingError):
        claim(catalog, "ann", "k", "f")
    keep(catalog, "ann", "k", 201, {"document": {"a": 1}})
    assert claim(catalog, "ann", "k", "f") == StoredAnswer(201, {"document": {"a": 1}})
    with pytest.raises(KeyReusedError):
        claim(catalog, "ann", "k", "another request")


def test_keys_are_each_users_own(catalog: Catalog):
    assert claim(catalog, "ann", "k", "f") is None
    assert claim(catalog, "bob", "k", "g") is None


def test_a_key_is_free_again_when_it_is_let_go_or_old(catalog: Catalog):
    claim(catalog, "ann", "k", "f")
    let_go(catalog, "ann", "k")
    assert claim(catalog, "ann", "k", "g") is None
    with catalog.write() as tx:
        tx.execute(update(IdempotencyKey).values(created_at=now() - KEPT - timedelta(seconds=1)))
    assert claim(catalog, "ann", "k", "h") is None


def test_of_many_at_once_one_gets_through(catalog: Catalog):
    through: list[int] = []
    waiting: list[int] = []
    begin = threading.Barrier(8)

    def go(number: int) -> None:
        begin.wait()
        try:
            assert claim(catalog, "ann", "k", "f") is None
            through.append(number)
        except StillWorkingError:
            waiting.append(number)

    threads = [threading.Thread(target=go, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(through), len(waiting)) == (1, 7)
