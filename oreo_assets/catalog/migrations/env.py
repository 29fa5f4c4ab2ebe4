"""Alembic's entry: migrations run on the connection, and in the transaction, that `upgrade` opened."""

from alembic import context

from oreo_assets.catalog.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=False,
)
context.run_migrations()
