"""A dataset's spec as a graph of assets, checks and jobs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dagster as dg
from pyspark.sql import DataFrame

from ..catalog.change_requests import get_change_request
from ..lake.history import new_commits
from ..model.ids import DatasetRef
from ..model.spec import BUILT_IN_CHECKS, DatasetSpec, constraint_check
from ..model.states import Severity
from ..platform_info import change_request_url, report_url
from ..quality.words import declared_words
from ..workflow.intake import convert_upload
from ..workflow.recovery import Step
from ..workflow.validation import validate
from .failures import told_to_dagster
from .metadata import CheckLinks, check_result, declared_schema
from .resources import OreoResource

LAYERS = ("imports", "staging", "main", "audit")


@dataclass(frozen=True)
class DatasetDefs:
    """All that Dagster loads for one dataset."""

    assets: list[dg.AssetsDefinition]
    checks: list[dg.AssetChecksDefinition]
    jobs: dict[Step, Any]


def build_dataset(spec: DatasetSpec) -> DatasetDefs:
    ref = spec.ref
    assets = [_imports(spec), _staging(spec), _main(spec), _audit(spec)]
    keys = {layer: asset_key(ref, layer) for layer in LAYERS}
    jobs = {
        Step.STAGE: dg.define_asset_job(
            job_name(ref, Step.STAGE),
            selection=dg.AssetSelection.assets(keys["imports"], keys["staging"]),
            description=f"Convert, stage and check a change request of {ref}.",
            executor_def=dg.in_process_executor,
            tags={"oreo/dataset": str(ref)},
        ),
        Step.MERGE: dg.define_asset_job(
            job_name(ref, Step.MERGE),
            selection=dg.AssetSelection.assets(keys["main"], keys["audit"]),
            description=f"Merge an approved change request of {ref} into main, and note it in the history.",
            executor_def=dg.in_process_executor,
            tags={"oreo/dataset": str(ref)},
        ),
    }
    return DatasetDefs(assets, [_checks(spec)], jobs)


def asset_key(ref: DatasetRef, layer: str) -> dg.AssetKey:
    return dg.AssetKey([ref.project, ref.dataset, layer])


def job_name(ref: DatasetRef, step: Step) -> str:
    return f"{_name(ref)}__{step}"


def partitions(ref: DatasetRef) -> dg.DynamicPartitionsDefinition:
    """One partition for each change request."""
    return dg.DynamicPartitionsDefinition(name=partitions_name(ref))


def partitions_name(ref: DatasetRef) -> str:
    return f"change requests of {ref}"


def _name(ref: DatasetRef) -> str:
    """The dataset's name where Dagster allows letters, digits and underscores only."""
    return ref.slug.replace("-", "_d_")


def _common(spec: DatasetSpec, layer: str, kinds: set[str], description: str) -> dict[str, Any]:
    return {
        "key": asset_key(spec.ref, layer),
        "group_name": _name(spec.ref),
        "owners": spec.owners,
        "kinds": kinds,
        "description": description,
        "partitions_def": partitions(spec.ref),
    }


def _imports(spec: DatasetSpec) -> dg.AssetsDefinition:
    @dg.asset(
        **_common(
            spec,
            "imports",
            {"duckdb", "parquet"},
            "Files as they came, converted to Parquet by an isolated process. Every bad row is told, with its line.",
        ),
    )
    def imports(context: dg.AssetExecutionContext, oreo: OreoResource) -> dg.MaterializeResult:
        ws = oreo.workspace
        with told_to_dagster():
            with ws.catalog.read() as tx:
                cr = get_change_request(tx, spec.ref, context.partition_key)
            result = convert_upload(ws, cr)
            found = result.conversion
            assert found is not None and result.upload_id is not None
            return dg.MaterializeResult(
                metadata={
                    "dagster/row_count": found.rows_good,
                    "dagster/uri": str(ws.layout(spec.ref).converted(result.upload_id)),
                    "rows_read": found.rows_read,
                    "rows_set_aside": found.rows_rejected,
                    "source_sha256": found.source_sha256,
                    "columns": [name for name, _ in found.columns],
                    "new_columns": [f"{name}: {kind}" for name, kind in found.new_columns],
                }
            )

    return imports


def _staging(spec: DatasetSpec) -> dg.AssetsDefinition:
    @dg.asset(
        **_common(
            spec,
            "staging",
            {"deltalake", "spark"},
            "The rows of one change request, in a Delta table of their own. Checked here, before main may be touched.",
        ),
        ins={"imports": dg.AssetIn(asset_key(spec.ref, "imports"))},
        metadata={"dagster/column_schema": declared_schema(spec)},
    )
    def staging(imports: DataFrame) -> DataFrame:
        return imports

    return staging


def _main(spec: DatasetSpec) -> dg.AssetsDefinition:
    @dg.asset(
        **_common(spec, "main", {"deltalake", "spark"}, _main_description(spec)),
        deps=[asset_key(spec.ref, "staging")],
        metadata={"dagster/column_schema": declared_schema(spec), "key": ", ".join(spec.key) or "generated"},
        pool=f"main_of_{_name(spec.ref)}",
    )
    def main(context: dg.AssetExecutionContext) -> str:
        # What is merged is pinned by the approval, not by what this process happens to read.
        return context.partition_key

    return main


def _main_description(spec: DatasetSpec) -> str:
    rule = f"{spec.approvals} approval{'s' * (spec.approvals != 1)}" if spec.approvals else "no approval needed"
    return (
        f"{spec.description or spec.ref}\n\nApproved data only ({rule}). Materializing a partition merges that change "
        "request, if its approval still matches what is staged."
    )


def _audit(spec: DatasetSpec) -> dg.AssetsDefinition:
    @dg.asset(
        **_common(
            spec,
            "audit",
            {"deltalake", "spark"},
            "The history of main as a table: who changed what, when and why.",
        ),
        deps=[asset_key(spec.ref, "main")],
        pool=f"audit_of_{_name(spec.ref)}",
    )
    def audit(oreo: OreoResource) -> DataFrame:
        ws = oreo.workspace
        layout = ws.layout(spec.ref)
        return new_commits(ws.spark(), layout.main, layout.history)

    return audit


def _checks(spec: DatasetSpec) -> dg.AssetChecksDefinition:
    staging = asset_key(spec.ref, "staging")
    described = {e.check_name: (f"{declared_words(e)} ({e.severity})", e.severity) for e in spec.expectations}
    described |= {
        constraint_check(name): (f"{sql} (constraint of main)", Severity.FATAL)
        for name, sql in spec.constraints.items()
    }
    described |= {name: (text, Severity.FATAL) for name, text in BUILT_IN_CHECKS.items()}
    specs = [
        dg.AssetCheckSpec(
            name,
            asset=staging,
            description=text,
            # A warning goes to the reviewer; only a fatal check may stop what is downstream.
            blocking=severity is Severity.FATAL,
            metadata={"severity": str(severity)},
            partitions_def=partitions(spec.ref),
        )
        for name, (text, severity) in described.items()
    ]

    @dg.multi_asset_check(specs=specs, name=f"checks_of_{_name(spec.ref)}", description="The dataset's suite.")
    def checks(context: dg.AssetCheckExecutionContext, oreo: OreoResource) -> Iterator[dg.AssetCheckResult]:
        ws = oreo.workspace
        with told_to_dagster():
            with ws.catalog.read() as tx:
                cr = get_change_request(tx, spec.ref, context.partition_key)
            run = validate(ws, cr)
        folder = str(ws.layout(spec.ref).validation_run(run.facts.run_id))
        links = CheckLinks(
            report_url(ws.settings, spec.ref, run.facts.run_id), change_request_url(ws.settings, spec.ref, cr.id)
        )
        for outcome in run.outcomes:
            yield check_result(outcome, staging, folder, links)

    return checks
