"""Where everything of a dataset lies. The only place that puts paths together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..model.errors import UnavailableError
from ..model.ids import DatasetRef, check_id

FOLDERS = (
    "main",
    "staging",
    "live_edit",
    "imports",
    "audit/validation_runs",
    "audit/snapshots",
    "audit/history",
)


@dataclass(frozen=True)
class DatasetLayout:
    """The folder of one dataset under the root."""

    root: str
    ref: DatasetRef

    @property
    def base(self) -> str:
        return f"{self.root}/projects/{self.ref.project}/datasets/{self.ref.dataset}"

    @property
    def main(self) -> str:
        return f"{self.base}/main"

    @property
    def history(self) -> str:
        return f"{self.base}/audit/history"

    def staging(self, change_request_id: str) -> str:
        return f"{self.base}/staging/{check_id(change_request_id, 'change request id')}"

    def upload(self, upload_id: str) -> Path:
        return self._folder("imports", check_id(upload_id, "upload id"))

    def raw(self, upload_id: str, extension: str) -> Path:
        return self.upload(upload_id) / f"raw.{extension}"

    def converted(self, upload_id: str) -> Path:
        return self.upload(upload_id) / "converted.parquet"

    def validation_run(self, run_id: str) -> Path:
        return self._folder("audit", "validation_runs", check_id(run_id, "validation run id"))

    def live_edit(self, session_id: str) -> Path:
        return self._folder("live_edit", check_id(session_id, "live edit session id"))

    @property
    def imports(self) -> Path:
        return self._folder("imports")

    @property
    def snapshots(self) -> Path:
        return self._folder("audit", "snapshots")

    def create_folders(self) -> None:
        """Make the dataset's folders; those that are there stay as they are."""
        for name in FOLDERS:
            self._folder(*name.split("/")).mkdir(parents=True, exist_ok=True)

    def _folder(self, *parts: str) -> Path:
        if "://" in self.root:
            raise UnavailableError(
                f"{self.root} is an object store, and files there are not handled yet.",
                "Use a local root: set DELTA_DATA_ROOT to a folder.",
            )
        return Path(self.base, *parts)
