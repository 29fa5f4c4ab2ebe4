from __future__ import annotations

import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from oreo_assets.catalog import Catalog
from oreo_assets.catalog.migrations import SCHEMA_VERSION, alembic_config
from oreo_assets.catalog.models import Base, Project
from oreo_assets.model.errors import UnavailableError


def test_the_migrations_make_exactly_the_declared_tables(catalog: Catalog):
    with catalog.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, Base.metadata) == []


def test_the_known_schema_version_is_the_newest_migration():
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == SCHEMA_VERSION


def test_opening_again_changes_nothing(catalog: Catalog, catalog_url: str):
    assert catalog.schema_version() == SCHEMA_VERSION
    assert Catalog.open(catalog_url).schema_version() == SCHEMA_VERSION


def test_many_may_open_a_new_catalog_at_once(catalog_url: str):
    errors: list[BaseException] = []

    def open_it() -> None:
        try:
            Catalog.open(catalog_url).close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_failed_write_leaves_nothing(catalog: Catalog):
    with pytest.raises(ZeroDivisionError), catalog.write() as tx:
        tx.add(Project(id="p", created_by="ann"))
        tx.flush()
        raise ZeroDivisionError
    with catalog.read() as tx:
        assert tx.get(Project, "p") is None


def test_a_reader_sees_one_state_while_another_writes(catalog: Catalog):
    with catalog.read() as reader:
        assert reader.get(Project, "p") is None
        with catalog.write() as writer:
            writer.add(Project(id="p", created_by="ann"))
    with catalog.read() as tx:
        assert tx.get(Project, "p") is not None


def test_sqlite_writes_are_durable_and_concurrent_reads_possible(tmp_path: Path):
    catalog = Catalog.open(f"sqlite:///{tmp_path / 'c.db'}")
    with catalog.engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1


def test_a_catalog_that_is_away_is_told_in_plain_words():
    with pytest.raises(UnavailableError) as caught:
        Catalog.open("postgresql+psycopg2://nobody@127.0.0.1:1/none")
    assert "catalog does not answer" in caught.value.message
    assert caught.value.retryable
