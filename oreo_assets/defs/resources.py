"""What assets, checks and sensors are given to work with."""

from typing import TYPE_CHECKING

import dagster as dg
from dagster_deltalake import DeltaTableResource, LocalConfig
from pydantic import PrivateAttr

from ..settings import Settings
from ..workflow.workspace import Workspace

if TYPE_CHECKING:
    from deltalake import DeltaTable


class OreoResource(dg.ConfigurableResource):
    """The lake and its catalog, as the environment names them. Opened in the process that uses it."""

    _workspace: Workspace | None = PrivateAttr(default=None)

    @property
    def workspace(self) -> Workspace:
        if self._workspace is None:
            self._workspace = Workspace.open(Settings.from_env())
        return self._workspace

    def table(self, uri: str, version: int | None = None) -> "DeltaTable":
        """The JVM-free handle of a Delta table, for facts of its log."""
        return DeltaTableResource(url=uri, storage_options=LocalConfig(), version=version).load()
