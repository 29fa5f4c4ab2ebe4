"""What may be sent to the API, as /api/docs declares it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from ..lake.rebase import Take
from ..model.states import Role

# Postgres has no NUL in its texts, so nobody may send one.
Note = Annotated[str, Field(max_length=10_000, pattern=r"^[^\x00]*$")]
Reason = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
Name = Annotated[str, Field(max_length=128, pattern=r"^[^\x00]*$")]
RowId = Annotated[str, Field(max_length=10_000, pattern=r"^[^\x00]*$")]
Version = Annotated[int, Field(ge=0, le=2**53)]


class _Asked(BaseModel):
    """A misspelt field is an error, not a silent default."""

    model_config = ConfigDict(extra="forbid")


class NewProject(_Asked):
    project: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$", examples=["shop"])


class AddUser(_Asked):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$", examples=["ben"])
    role: Role
    project: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$", description="Only there.")


class Approve(_Asked):
    acknowledged: dict[Name, Reason] = Field(
        {}, description="A reason for each failed warning.", examples=[{"values_to_be_between__amount": "a refund"}]
    )


class WithReason(_Asked):
    reason: Reason = Field(examples=["wrong month"], description="Why; its author reads it.")


class NewComment(_Asked):
    text: Reason = Field(examples=["Is this the net amount?"])
    row_id: RowId | None = Field(None, examples=["A1"], description="About one row.")
    column: Name | None = Field(None, examples=["amount"], description="About one cell of that row.")


class CellChoice(_Asked):
    row_id: RowId
    column: Name | None = Field(None, description="The whole row if left out.")
    take: Take


class Resolve(_Asked):
    take: Take | None = Field(None, description="For every conflict that `cells` does not name.")
    cells: list[CellChoice] = Field([], max_length=100_000)


class RejectRows(_Asked):
    reason: Reason = Field(examples=["not ours"])
    row_ids: list[RowId] = Field([], max_length=100_000, examples=[["A1", "A2"]])
    where: list[Note] = Field([], max_length=100, examples=[["country=eq.XX"]])


class Restore(_Asked):
    version: int | None = Field(None, ge=0, le=2**53, examples=[12])
    timestamp: Name | None = Field(None, examples=["2026-01-31T12:00:00+00:00"])
    note: Note = ""


class Revert(_Asked):
    note: Note = Field("", description="Why; says what it reverts if left out.")


class SendRows(_Asked):
    table: Name = Field(examples=["shop/orders"], description="project/dataset")
    rows: list[dict[str, Any]] = Field(min_length=1, examples=[[{"order_id": "A1", "amount": "12.50"}]])
    note: Note = ""


class RestoreTable(_Asked):
    table: Name = Field(examples=["shop/orders"])
    version: int = Field(ge=0, le=2**53)


class RestoreVersion(_Asked):
    version: int = Field(ge=0, le=2**53)


class QueryTable(_Asked):
    table: Name = Field(examples=["shop/orders"])
    where: list[Note] = Field([], max_length=100, examples=[["amount=gte.100"]])
    limit: int = Field(100, ge=0, le=100_000)
    offset: int = Field(0, ge=0, le=2**53)


After = Annotated[Name | None, Query(description="The last name of the page before.")]
Limit = Annotated[int | None, Query(ge=1, le=100_000, description="At most so many; all if left out.")]
PageLimit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]


def following(found: list[dict[str, Any]], key: Callable[[Any], Any], after: Any) -> list[dict[str, Any]]:
    """Those that come after the page before, in the order of `key`."""
    return [item for item in sorted(found, key=key) if not after or key(item) > after]


Value = Annotated[str, Field(max_length=1_000_000)]


class OpenLiveSession(_Asked):
    where: list[Note] = Field([], max_length=100, examples=[["country=eq.DE"]], description="Only these rows.")


class LiveCell(_Asked):
    row_id: RowId
    column: Name
    value: Value | None = Field(description="As text, spelt as in a file; null for no value.")


class SetCells(_Asked):
    cells: list[LiveCell] = Field(
        min_length=1, max_length=200_000, examples=[[{"row_id": "A1", "column": "amount", "value": "12.50"}]]
    )


class AddRows(_Asked):
    rows: list[dict[Name, Value | None]] = Field(
        min_length=1, max_length=100_000, examples=[[{"order_id": "A9", "amount": "7.50"}]]
    )


class DeleteRows(_Asked):
    row_ids: list[RowId] = Field(min_length=1, max_length=200_000, examples=[["A1", "A2"]])


class SubmitLiveSession(_Asked):
    note: Note = Field("", description="Why; reviewers and the history show it.")
