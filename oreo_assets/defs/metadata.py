"""Facts of the lake in Dagster's own metadata keys, so that its catalog and lineage pages can show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from ..catalog.models import ChangeRequest
from ..model.spec import ROW_ID, DatasetSpec
from ..quality.outcomes import CheckOutcome

if TYPE_CHECKING:
    from deltalake import DeltaTable

_SHOWN_FAILING_ROWS = 20


@dataclass(frozen=True)
class CheckLinks:
    """Where a check's run and its change request can be looked at."""

    report: str
    review: str


def declared_schema(spec: DatasetSpec) -> dg.TableSchema:
    columns = [
        dg.TableColumn(
            c.name,
            c.type,
            description=c.description or None,
            constraints=dg.TableColumnConstraints(nullable=c.nullable, unique=[c.name] == spec.key),
        )
        for c in spec.columns
        if c.name != ROW_ID
    ]
    row_id = dg.TableColumn(ROW_ID, "string", description="The merge key.")
    return dg.TableSchema(columns=[row_id, *columns])


def table_facts(table: DeltaTable, row_count: int) -> dict[str, Any]:
    """URI, version, schema and size of a Delta table."""
    schema = table.schema()
    columns = [
        dg.TableColumn(f.name, str(f.type).removeprefix('PrimitiveType("').removesuffix('")')) for f in schema.fields
    ]
    return {
        "dagster/uri": table.table_uri,
        "dagster/row_count": row_count,
        "dagster/column_schema": dg.TableSchema(columns=columns),
        "delta_version": table.version(),
    }


def change_facts(cr: ChangeRequest, review_url: str) -> dict[str, Any]:
    """What a change request does, in numbers, and where it is reviewed."""
    facts: dict[str, Any] = {
        "change_request": cr.id,
        "state": str(cr.state),
        "mode": str(cr.mode),
        "author": cr.author,
        "review": dg.MetadataValue.url(review_url),
    }
    facts |= {f"rows_{kind}": count for kind, count in (cr.counts or {}).items()}
    if cr.base_version is not None:
        facts["base_version"] = cr.base_version
    if cr.content_hash:
        facts["content_hash"] = cr.content_hash
    if cr.commit_id:
        facts["commit_id"] = cr.commit_id
    return facts


def check_result(
    outcome: CheckOutcome, asset: dg.AssetKey, run_folder: str, links: CheckLinks | None = None
) -> dg.AssetCheckResult:
    """An outcome as Dagster shows it: what was expected, what was found, and the rows that fail."""
    metadata: dict[str, Any] = {
        "severity": str(outcome.severity),
        "expected": outcome.expected,
        "observed": outcome.observed,
        "scope": str(outcome.scope),
        "validation_run": dg.MetadataValue.path(f"{run_folder}/full.json"),
    }
    if links:
        metadata |= {"report": dg.MetadataValue.url(links.report), "review": dg.MetadataValue.url(links.review)}
    if outcome.observed_before is not None:
        metadata["main_now"] = outcome.observed_before
    if outcome.error:
        metadata["error"] = outcome.error
    if outcome.failing_total:
        metadata["failing_rows"] = outcome.failing_total
    if outcome.failing:
        metadata["first_failing_rows"] = dg.MetadataValue.md(_rows_as_markdown(outcome))
    severe = outcome.blocks
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=outcome.name,
        passed=outcome.status == "passed",
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        description=f"{outcome.expected} — {outcome.observed}",
        metadata=metadata,
    )


def _rows_as_markdown(outcome: CheckOutcome) -> str:
    shown = outcome.failing[:_SHOWN_FAILING_ROWS]
    columns = list(dict.fromkeys(name for row in shown for name in row.values))
    lines = [_line(["row_id", *columns]), _line(["---"] * (len(columns) + 1))]
    lines += [_line([row.row_id, *(row.values.get(c) for c in columns)]) for row in shown]
    if outcome.failing_total > len(shown):
        lines.append(f"\n…and {outcome.failing_total - len(shown):,} more.")
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    shown = ["null" if c is None else str(c).replace("|", "\\|").replace("\n", " ")[:80] for c in cells]
    return "| " + " | ".join(shown) + " |"
