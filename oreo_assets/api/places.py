"""What a path names, checked here at the edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path

from ..model.ids import DatasetRef

ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"
ProjectId = Annotated[str, Path(pattern=ID, examples=["shop"], description="A project's id.")]
DatasetId = Annotated[str, Path(pattern=ID, examples=["orders"], description="A dataset's id.")]
ChangeRequestId = Annotated[str, Path(pattern=ID, examples=["cr_01k3x8m2t4v6w8y"], description="Its id.")]


def _dataset(project: ProjectId, dataset: DatasetId) -> DatasetRef:
    return DatasetRef(project, dataset)


DatasetAt = Annotated[DatasetRef, Depends(_dataset)]


@dataclass(frozen=True)
class Place:
    """A change request and the dataset it is for."""

    ref: DatasetRef
    cr_id: str

    @property
    def path(self) -> str:
        return change_request_path(self.ref, self.cr_id)


def _change_request(ref: DatasetAt, change_request: ChangeRequestId) -> Place:
    return Place(ref, change_request)


ChangeRequestAt = Annotated[Place, Depends(_change_request)]


def dataset_path(ref: DatasetRef) -> str:
    return f"/api/v1/projects/{ref.project}/datasets/{ref.dataset}"


def change_request_path(ref: DatasetRef, cr_id: str) -> str:
    return f"{dataset_path(ref)}/change-requests/{cr_id}"
