"""Comments on change requests, and the headers that people mapped to columns."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "comments",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("project", sa.String(64), nullable=False),
        sa.Column("dataset", sa.String(64), nullable=False),
        sa.Column("change_request_id", sa.String(64), sa.ForeignKey("change_requests.id"), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("row_id", sa.Text(), nullable=True),
        sa.Column("column", sa.String(255), nullable=True),
        sa.Column("author", sa.String(255), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("staging_version", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_by", sa.String(255), nullable=True),
        sa.ForeignKeyConstraint(["project", "dataset"], ["datasets.project", "datasets.dataset"]),
        sa.CheckConstraint('"column" IS NULL OR row_id IS NOT NULL', name="ck_comments_cell_has_row"),
    )
    op.create_index("ix_comments_change_request", "comments", ["change_request_id", "id"])
    op.create_table(
        "header_maps",
        sa.Column("project", sa.String(64), primary_key=True),
        sa.Column("dataset", sa.String(64), primary_key=True),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("updated_by", sa.String(255), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project", "dataset"], ["datasets.project", "datasets.dataset"]),
    )


def downgrade() -> None:
    op.drop_table("header_maps")
    op.drop_index("ix_comments_change_request", "comments")
    op.drop_table("comments")
