"""What part of a dataset a live session is about, and when it ended."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("live_sessions", sa.Column("filters", sa.JSON(), nullable=True))
    op.add_column("live_sessions", sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_live_sessions_dataset", "live_sessions", ["project", "dataset", "state"])


def downgrade() -> None:
    op.drop_index("ix_live_sessions_dataset", "live_sessions")
    with op.batch_alter_table("live_sessions") as batch:
        batch.drop_column("ended_at")
        batch.drop_column("filters")
