"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_events",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("action", sa.String(length=255), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=True),
        sa.Column("dataset", sa.String(length=64), nullable=True),
        sa.Column("subject", sa.String(length=255), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("prev_hash", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    with op.batch_alter_table("audit_events") as batch_op:
        batch_op.create_index("ix_audit_events_dataset", ["project", "dataset"], unique=False)

    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=160), nullable=False),
        sa.Column("holder", sa.String(length=255), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "users",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_table(
        "datasets",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project"],
            ["projects.id"],
        ),
        sa.PrimaryKeyConstraint("project", "dataset"),
    )
    op.create_table(
        "grants",
        sa.Column("user", sa.String(length=64), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["user"],
            ["users.name"],
        ),
        sa.PrimaryKeyConstraint("user", "project"),
    )
    op.create_table(
        "dataset_meta",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.Column("delta_version", sa.BigInteger(), nullable=False),
        sa.Column("last_commit_id", sa.String(length=255), nullable=True),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("file_count", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "dataset"],
            ["datasets.project", "datasets.dataset"],
        ),
        sa.PrimaryKeyConstraint("project", "dataset"),
    )
    op.create_table(
        "tags",
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "dataset"],
            ["datasets.project", "datasets.dataset"],
        ),
        sa.PrimaryKeyConstraint("project", "dataset", "name"),
    )
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("extension", sa.String(length=16), nullable=False),
        sa.Column("sheet", sa.Text(), nullable=True),
        sa.Column("set_aside", sa.Boolean(), nullable=False),
        sa.Column("keeps_row_id", sa.Boolean(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("rows_read", sa.BigInteger(), nullable=True),
        sa.Column("rows_rejected", sa.BigInteger(), nullable=True),
        sa.Column("conversion", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "dataset"],
            ["datasets.project", "datasets.dataset"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "change_requests",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("mode", sa.String(length=32), nullable=False),
        sa.Column("author", sa.String(length=255), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("upload_id", sa.String(length=64), nullable=True),
        sa.Column("base_version", sa.BigInteger(), nullable=True),
        sa.Column("staging_version", sa.BigInteger(), nullable=True),
        sa.Column("content_hash", sa.String(length=64), nullable=True),
        sa.Column("suite_hash", sa.String(length=64), nullable=True),
        sa.Column("validation_run_id", sa.String(length=64), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=True),
        sa.Column("checks", sa.JSON(), nullable=True),
        sa.Column("new_columns", sa.JSON(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("merged_version", sa.BigInteger(), nullable=True),
        sa.Column("commit_id", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "dataset"],
            ["datasets.project", "datasets.dataset"],
        ),
        sa.ForeignKeyConstraint(
            ["upload_id"],
            ["uploads.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("id", "author", name="uq_change_requests_id_author"),
    )
    with op.batch_alter_table("change_requests") as batch_op:
        batch_op.create_index("ix_change_requests_dataset", ["project", "dataset", "state"], unique=False)
        batch_op.create_index("ix_change_requests_state", ["state"], unique=False)

    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("change_request_id", sa.String(length=64), nullable=False),
        sa.Column("author", sa.String(length=255), nullable=False),
        sa.Column("approver", sa.String(length=255), nullable=False),
        sa.Column("staging_version", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("base_version", sa.BigInteger(), nullable=False),
        sa.Column("suite_hash", sa.String(length=64), nullable=False),
        sa.Column("acknowledged", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("voided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("void_reason", sa.Text(), nullable=True),
        sa.CheckConstraint("approver <> author", name="ck_approvals_four_eyes"),
        sa.ForeignKeyConstraint(
            ["change_request_id", "author"],
            ["change_requests.id", "change_requests.author"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("approvals") as batch_op:
        batch_op.create_index(
            "uq_approvals_one_valid_each",
            ["change_request_id", "approver"],
            unique=True,
            sqlite_where=sa.text("voided_at IS NULL"),
            postgresql_where=sa.text("voided_at IS NULL"),
        )

    op.create_table(
        "live_sessions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("base_version", sa.BigInteger(), nullable=False),
        sa.Column("change_request_id", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["change_request_id"],
            ["change_requests.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project", "dataset"],
            ["datasets.project", "datasets.dataset"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "validation_runs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("change_request_id", sa.String(length=64), nullable=False),
        sa.Column("staging_version", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("suite_hash", sa.String(length=64), nullable=False),
        sa.Column("base_version", sa.BigInteger(), nullable=False),
        sa.Column("blocks", sa.Boolean(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("project", sa.String(length=64), nullable=False),
        sa.Column("dataset", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["change_request_id"],
            ["change_requests.id"],
        ),
        sa.ForeignKeyConstraint(
            ["project", "dataset"],
            ["datasets.project", "datasets.dataset"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("validation_runs") as batch_op:
        batch_op.create_index("ix_validation_runs_cr", ["change_request_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("validation_runs") as batch_op:
        batch_op.drop_index("ix_validation_runs_cr")

    op.drop_table("validation_runs")
    op.drop_table("live_sessions")
    with op.batch_alter_table("approvals") as batch_op:
        batch_op.drop_index(
            "uq_approvals_one_valid_each",
            sqlite_where=sa.text("voided_at IS NULL"),
            postgresql_where=sa.text("voided_at IS NULL"),
        )

    op.drop_table("approvals")
    with op.batch_alter_table("change_requests") as batch_op:
        batch_op.drop_index("ix_change_requests_state")
        batch_op.drop_index("ix_change_requests_dataset")

    op.drop_table("change_requests")
    op.drop_table("uploads")
    op.drop_table("tags")
    op.drop_table("dataset_meta")
    op.drop_table("grants")
    op.drop_table("datasets")
    op.drop_table("users")
    op.drop_table("projects")
    op.drop_table("leases")
    with op.batch_alter_table("audit_events") as batch_op:
        batch_op.drop_index("ix_audit_events_dataset")

    op.drop_table("audit_events")
