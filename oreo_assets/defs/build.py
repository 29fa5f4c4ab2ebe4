"""All definitions, from the datasets that the catalog and the dataset files declare."""

from __future__ import annotations

import logging
import warnings

import dagster as dg

from ..catalog import Catalog
from ..catalog.datasets import list_datasets, spec_of
from ..model.errors import SpecError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from ..model.spec_file import load_spec_file
from ..settings import Settings
from .datasets import build_dataset
from .io_managers import DeltaIOManager
from .resources import OreoResource
from .schedules import build_maintenance
from .sensors import build_sensors

logger = logging.getLogger(__name__)


def build_definitions(settings: Settings) -> dg.Definitions:
    # Partitioned checks are in preview; we know, and need not be told at every load.
    warnings.filterwarnings("ignore", category=dg.PreviewWarning)
    warnings.filterwarnings("ignore", category=dg.BetaWarning)
    specs = declared_datasets(settings)
    datasets = {ref: build_dataset(spec) for ref, spec in specs.items()}
    maintenance_jobs, schedules = build_maintenance()
    oreo = OreoResource()
    return dg.Definitions(
        assets=[asset for d in datasets.values() for asset in d.assets],
        asset_checks=[check for d in datasets.values() for check in d.checks],
        jobs=[*(job for d in datasets.values() for job in d.jobs.values()), *maintenance_jobs],
        sensors=build_sensors(datasets),
        schedules=schedules,
        resources={"oreo": oreo, "io_manager": DeltaIOManager(oreo=oreo)},
        executor=dg.in_process_executor,
    )


def declared_datasets(settings: Settings) -> dict[DatasetRef, DatasetSpec]:
    """Those of the catalog, and those of OREO_DATASETS that wait for their first `oreo dataset apply`."""
    catalog = Catalog.open(settings.catalog_url)
    specs = {d.ref: spec_of(d) for d, _ in list_datasets(catalog)}
    if settings.dataset_files:
        for path in sorted(settings.dataset_files.glob("*.y*ml")):
            try:
                spec = load_spec_file(path)
            except SpecError as error:
                # One bad file must not take every other dataset out of the UI.
                logger.error("%s was left out: %s", path, error.message)
                continue
            specs.setdefault(spec.ref, spec)
    return specs
