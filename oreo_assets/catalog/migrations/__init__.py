"""Versioned migrations of the catalog's schema (Alembic)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, text

SCHEMA_VERSION = "0006"
"""The newest migration. Known here so that an up-to-date catalog opens without importing Alembic."""

_POSTGRES_LOCK = 0x0E0_CA7A


def upgrade(engine: Engine) -> None:
    """Bring the schema to the newest version; many at once is fine, one of them does it."""
    from alembic import command

    with engine.execution_options(oreo_writes=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})
        command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection | None = None) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
