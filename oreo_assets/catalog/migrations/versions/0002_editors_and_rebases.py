"""Editors of a change request, whose approval the database refuses; rebases and follow-ups."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_SQLITE = """
CREATE TRIGGER no_approval_by_editors BEFORE INSERT ON approvals
WHEN EXISTS (
    SELECT 1 FROM editors WHERE change_request_id = NEW.change_request_id AND editor = NEW.approver
)
BEGIN
    SELECT RAISE(ABORT, 'an editor cannot approve');
END
"""
_POSTGRES = (
    """
CREATE FUNCTION no_approval_by_editors() RETURNS trigger AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM editors WHERE change_request_id = NEW.change_request_id AND editor = NEW.approver
    ) THEN
        RAISE EXCEPTION 'an editor cannot approve' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$ LANGUAGE plpgsql
""",
    """
CREATE TRIGGER no_approval_by_editors BEFORE INSERT ON approvals
FOR EACH ROW EXECUTE FUNCTION no_approval_by_editors()
""",
)


def upgrade() -> None:
    op.create_table(
        "editors",
        sa.Column("change_request_id", sa.String(64), sa.ForeignKey("change_requests.id"), primary_key=True),
        sa.Column("editor", sa.String(255), primary_key=True),
    )
    op.add_column("change_requests", sa.Column("rebase", sa.JSON(), nullable=True))
    op.add_column("change_requests", sa.Column("follows", sa.String(64), nullable=True))
    for statement in _POSTGRES if op.get_bind().dialect.name == "postgresql" else (_SQLITE,):
        op.execute(statement)


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER no_approval_by_editors ON approvals")
        op.execute("DROP FUNCTION no_approval_by_editors")
    else:
        op.execute("DROP TRIGGER no_approval_by_editors")
    with op.batch_alter_table("change_requests") as batch:
        batch.drop_column("follows")
        batch.drop_column("rebase")
    op.drop_table("editors")
