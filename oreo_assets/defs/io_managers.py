"""One IO manager for all layers: it loads a layer as a Spark DataFrame, and hands what an asset returns to
that layer's writer. Staging overwrites its own table, main merges, audit appends."""

from typing import Any

import dagster as dg
from pyspark.sql import DataFrame

from ..catalog.change_requests import get_change_request
from ..catalog.models import ChangeRequest
from ..lake.history import append_commits
from ..lake.read import TableAt, count_rows
from ..lake.sql import delta_table
from ..model.ids import DatasetRef
from ..platform_info import change_request_url
from ..workflow.merge import merge_change_request
from ..workflow.staging import rows_to_stage, stage
from .failures import told_to_dagster
from .metadata import change_facts, table_facts
from .resources import OreoResource


class DeltaIOManager(dg.ConfigurableIOManager):
    """Reads and writes the layers of a dataset; asset keys are [project, dataset, layer]."""

    oreo: dg.ResourceDependency[OreoResource]

    def load_input(self, context: dg.InputContext) -> DataFrame:
        ref, layer = _place(context.asset_key)
        ws = self.oreo.workspace
        with told_to_dagster():
            if layer == "imports":
                return rows_to_stage(ws, self._change_request(ref, context.asset_partition_key))
            layout = ws.layout(ref)
            uri = layout.staging(context.asset_partition_key) if layer == "staging" else layout.main
            return ws.spark().sql(f"SELECT * FROM {delta_table(uri)}")

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        ref, layer = _place(context.asset_key)
        ws, layout = self.oreo.workspace, self.oreo.workspace.layout(ref)
        with told_to_dagster():
            if layer == "staging":
                cr = stage(ws, self._change_request(ref, context.asset_partition_key), obj)
                self._tell(
                    context, layout.staging(cr.id), change_facts(cr, change_request_url(ws.settings, ref, cr.id))
                )
            elif layer == "main":
                cr = merge_change_request(ws, ref, context.asset_partition_key)
                facts = change_facts(cr, change_request_url(ws.settings, ref, cr.id))
                self._tell(context, layout.main, facts | {"merged_version": cr.merged_version})
            elif layer == "audit":
                added = append_commits(obj, layout.history)
                self._tell(context, layout.history, {"commits_added": added})
            else:
                raise NotImplementedError(f"nothing writes the layer {layer}")

    def _tell(self, context: dg.OutputContext, uri: str, facts: dict[str, Any]) -> None:
        table = self.oreo.table(uri)
        rows = count_rows(TableAt("t", uri, table.version()))
        known = {name: value for name, value in facts.items() if value is not None}
        context.add_output_metadata(table_facts(table, rows) | known)

    def _change_request(self, ref: DatasetRef, cr_id: str) -> ChangeRequest:
        with self.oreo.workspace.catalog.read() as tx:
            return get_change_request(tx, ref, cr_id)


def _place(key: dg.AssetKey) -> tuple[DatasetRef, str]:
    project, dataset, layer = key.path
    return DatasetRef(project, dataset), layer
