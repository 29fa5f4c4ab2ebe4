"""Projects, datasets and the facts of their main tables."""

from __future__ import annotations

from sqlalchemy import select

from ..model.errors import NotFoundError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from .models import Dataset, DatasetMeta, Project
from .store import Catalog, Transaction


def get_dataset(tx: Transaction, ref: DatasetRef) -> Dataset:
    dataset = tx.get(Dataset, (ref.project, ref.dataset))
    if dataset is None:
        raise NotFoundError(
            f"There is no dataset {ref}.", "See: oreo dataset list, or make it: oreo dataset apply FILE"
        )
    return dataset


def get_spec(catalog: Catalog, ref: DatasetRef) -> DatasetSpec:
    """The spec in force."""
    with catalog.read() as tx:
        return spec_of(get_dataset(tx, ref))


def spec_of(dataset: Dataset) -> DatasetSpec:
    return DatasetSpec.model_validate(dataset.spec)


def list_datasets(catalog: Catalog, project: str | None = None) -> list[tuple[Dataset, DatasetMeta | None]]:
    query = (
        select(Dataset, DatasetMeta)
        .outerjoin(DatasetMeta, (DatasetMeta.project == Dataset.project) & (DatasetMeta.dataset == Dataset.dataset))
        .order_by(Dataset.project, Dataset.dataset)
    )
    if project:
        query = query.where(Dataset.project == project)
    with catalog.read() as tx:
        return [(row[0], row[1]) for row in tx.execute(query)]


def list_projects(catalog: Catalog) -> list[Project]:
    with catalog.read() as tx:
        return list(tx.scalars(select(Project).order_by(Project.id)))


def get_meta(tx: Transaction, ref: DatasetRef) -> DatasetMeta | None:
    return tx.get(DatasetMeta, (ref.project, ref.dataset))
