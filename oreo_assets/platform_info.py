"""Whether `oreo up` is running for a root, and a word with it."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .model.ids import DatasetRef
from .settings import Settings

LOCATION = "oreo_assets.definitions"
_RELOAD_SECONDS = 10.0
_RELOAD = """
mutation Reload($location: String!) {
  reloadRepositoryLocation(repositoryLocationName: $location) {
    __typename
    ... on WorkspaceLocationEntry { locationOrLoadError { __typename ... on PythonError { message } } }
    ... on RepositoryLocationNotFound { message }
    ... on ReloadNotSupported { message }
    ... on UnauthorizedError { message }
    ... on PythonError { message }
  }
}
"""


@dataclass(frozen=True)
class PlatformInfo:
    """The process of `oreo up`, told apart from a later one with the same number, and where it listens."""

    pid: int
    create_time: float
    api_port: int
    dagster_port: int
    started_at: str


def platform_running(settings: Settings) -> PlatformInfo | None:
    """The platform of this root, if that very process lives."""
    from .lake.engine_state import ProcessId

    try:
        info = PlatformInfo(**json.loads(_file(settings).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return info if ProcessId(info.pid, info.create_time).process() else None


def write_platform_info(settings: Settings, pid: int | None = None) -> PlatformInfo:
    """Say that the platform of this root is process `pid` (this one, if left out)."""
    from .lake.engine_state import ProcessId

    process = ProcessId.of(pid or os.getpid())
    started = datetime.now(UTC).isoformat(timespec="seconds")
    info = PlatformInfo(process.pid, process.created, settings.api_port, settings.dagster_port, started)
    file = _file(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(asdict(info)))
    draft.replace(file)
    return info


def clear_platform_info(settings: Settings) -> None:
    """The platform has stopped. Does nothing if another one has started meanwhile."""
    info = platform_running(settings)
    if info is None or info.pid == os.getpid():
        _file(settings).unlink(missing_ok=True)


def reload_definitions(info: PlatformInfo) -> str | None:
    """Have Dagster load the definitions anew. What went wrong, or None."""
    body = json.dumps({"query": _RELOAD, "variables": {"location": LOCATION}}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{info.dagster_port}/graphql", body, {"Content-Type": "application/json"}
    )
    # A proxy of the environment must not be asked for what runs on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_RELOAD_SECONDS) as response:
            answer = json.load(response)
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))
    return _problem(answer)


def change_request_path(ref: DatasetRef, cr_id: str) -> str:
    """The page of the review site that shows a change request."""
    return f"/p/{ref.project}/{ref.dataset}/cr/{cr_id}"


def change_request_url(settings: Settings, ref: DatasetRef, cr_id: str) -> str:
    return f"{_site(settings)}{change_request_path(ref, cr_id)}"


def report_url(settings: Settings, ref: DatasetRef, run_id: str) -> str:
    """The page that shows what a validation run found."""
    return f"{_site(settings)}/reports/{ref.project}/{ref.dataset}/{run_id}"


def dagster_asset_url(settings: Settings, ref: DatasetRef, layer: str) -> str:
    """The page of Dagster that shows a dataset's `imports`, `staging`, `main` or `audit`."""
    return f"http://127.0.0.1:{settings.dagster_port}/assets/{ref.project}/{ref.dataset}/{layer}"


def tell_of_new_datasets(settings: Settings) -> str | None:
    """A running platform learns of a new dataset at once instead of at its next restart. What went wrong, or None."""
    info = platform_running(settings)
    return reload_definitions(info) if info else None


def _problem(answer: Any) -> str | None:
    if not isinstance(answer, dict) or answer.get("errors"):
        return "Dagster did not understand the request"
    result = (answer.get("data") or {}).get("reloadRepositoryLocation") or {}
    if result.get("__typename") != "WorkspaceLocationEntry":
        return str(result.get("message") or result.get("__typename") or "no answer").strip().splitlines()[0]
    loaded = result.get("locationOrLoadError") or {}
    return (
        str(loaded.get("message", "it does not load")).splitlines()[0]
        if loaded.get("__typename") == "PythonError"
        else None
    )


def _site(settings: Settings) -> str:
    return f"http://127.0.0.1:{settings.api_port}"


def _file(settings: Settings) -> Path:
    return settings.state_dir / "platform.json"
