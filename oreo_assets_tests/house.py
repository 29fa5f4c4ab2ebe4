"""A workspace with people and a dataset, on real Spark and Delta; Dagster is not needed here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oreo_assets.catalog.change_requests import get_change_request
from oreo_assets.catalog.models import ChangeRequest
from oreo_assets.catalog.users import Actor, add_user, sign_in
from oreo_assets.lake import log
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.spec_file import parse_spec
from oreo_assets.model.states import Mode, Role
from oreo_assets.settings import Settings
from oreo_assets.workflow import datasets, intake, query, review
from oreo_assets.workflow.merge import merge_change_request
from oreo_assets.workflow.staging import rows_to_stage, stage
from oreo_assets.workflow.validation import validate
from oreo_assets.workflow.workspace import Workspace

ORDERS = """\
project: shop
dataset: orders
columns:
  - {name: order_id, type: string, nullable: false}
  - {name: amount, type: "decimal(12,2)"}
  - {name: status, type: string}
  - {name: ordered_on, type: date}
key: [order_id]
expectations:
  - {type: expect_column_values_to_not_be_null, column: amount, severity: fatal}
  - {type: expect_column_values_to_be_between, column: amount, min_value: 0, severity: warning}
constraints: {amount_small: "amount IS NULL OR amount < 1000000"}
"""


@dataclass
class House:
    """One dataset and its people, with the words a test wants to say."""

    ws: Workspace
    ann: Actor
    bob: Actor
    ref: DatasetRef
    folder: Path

    def send(self, text: str | bytes, name: str = "file.csv", *, by: Actor | None = None, **options: Any) -> str:
        """Upload a file; the change request's id."""
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        result = intake.upload(self.ws, by or self.ann, self.ref, path, intake.UploadOptions(**options))
        assert result.change_request_id
        return result.change_request_id

    def check(self, cr_id: str) -> ChangeRequest:
        """Stage and validate it."""
        cr = stage(self.ws, self.cr(cr_id), rows_to_stage(self.ws, self.cr(cr_id)))
        validate(self.ws, cr)
        return self.cr(cr_id)

    def review(self, text: str, **options: Any) -> str:
        """Upload, stage and validate."""
        cr_id = self.send(text, **options)
        self.check(cr_id)
        return cr_id

    def approve(self, cr_id: str, **acks: str) -> ChangeRequest:
        return review.approve(self.ws, self.bob, self.ref, cr_id, acks)

    def merge(self, cr_id: str) -> ChangeRequest:
        return merge_change_request(self.ws, self.ref, cr_id)

    def land(self, text: str, mode: Mode = Mode.UPSERT, **acks: str) -> ChangeRequest:
        """The whole life."""
        cr_id = self.review(text, mode=mode)
        self.approve(cr_id, **acks)
        return self.merge(cr_id)

    def cr(self, cr_id: str) -> ChangeRequest:
        with self.ws.catalog.read() as tx:
            return get_change_request(tx, self.ref, cr_id)

    def rows(self, version: int | None = None) -> dict[str, tuple[Any, ...]]:
        """Main, as order_id → (amount, status)."""
        page = query.query(self.ws, self.ann, self.ref, version=version, limit=10_000)
        return {r["row_id"]: (None if r["amount"] is None else str(r["amount"]), r["status"]) for r in page.rows}

    @property
    def version(self) -> int:
        return log.current_version(self.ws.layout(self.ref).main)

    def staging_folder(self, cr_id: str) -> Path:
        return Path(self.ws.layout(self.ref).staging(cr_id))


def open_house(folder: Path, spec: str = ORDERS) -> House:
    """A new lake in the folder, with two people and the dataset that the text declares."""
    ws = Workspace.open(Settings.from_env(root=str(folder / "lake")))
    ann = sign_in(ws.catalog, add_user(ws.catalog, None, "ann", Role.ADMIN, None).token)
    bob = sign_in(ws.catalog, add_user(ws.catalog, ann, "bob", Role.REVIEWER, None).token)
    declared = parse_spec(spec)
    datasets.create_project(ws, ann, declared.project)
    datasets.apply_dataset(ws, ann, declared)
    return House(ws, ann, bob, declared.ref, folder)
