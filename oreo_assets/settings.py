"""The one place where the environment is read."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .model.errors import UsageError

DEFAULT_ROOT = "/data/delta"


@dataclass(frozen=True)
class Settings:
    """Where things are. Made once by a face and handed down; nothing below reads the environment."""

    root: str
    state_dir: Path
    home: Path
    catalog_url: str
    dagster_home: Path
    spark_remote: str | None = None
    spark_master: str | None = None
    token: str | None = None
    api_port: int = 8080
    dagster_port: int = 3000
    dataset_files: Path | None = None

    @classmethod
    def from_env(
        cls,
        environ: Mapping[str, str] | None = None,
        *,
        root: str | None = None,
        token: str | None = None,
    ) -> Settings:
        env = os.environ if environ is None else environ
        chosen_root = _normal_root(root or env.get("DELTA_DATA_ROOT") or _default_root())
        home = Path(env.get("OREO_HOME") or Path.home() / ".oreo").expanduser()
        state = _state_dir(chosen_root, home)
        return cls(
            root=chosen_root,
            state_dir=state,
            home=home,
            catalog_url=env.get("OREO_CATALOG_URL") or f"sqlite:///{state / 'catalog.db'}",
            dagster_home=Path(env.get("DAGSTER_HOME") or state / "dagster").expanduser().absolute(),
            spark_remote=env.get("SPARK_REMOTE") or None,
            spark_master=env.get("SPARK_MASTER") or None,
            token=token or env.get("OREO_TOKEN") or None,
            api_port=_port(env, "OREO_PORT", 8080),
            dagster_port=_port(env, "DAGSTER_PORT", 3000),
            dataset_files=Path(env["OREO_DATASETS"]).expanduser() if env.get("OREO_DATASETS") else None,
        )

    @cached_property
    def is_local(self) -> bool:
        """Whether the root is a folder of this machine rather than an object store."""
        return "://" not in self.root

    def as_env(self) -> dict[str, str]:
        """These settings as the environment of a child process, so that it sees the same world."""
        pairs = {
            "DELTA_DATA_ROOT": self.root,
            "OREO_HOME": str(self.home),
            "OREO_CATALOG_URL": self.catalog_url,
            "DAGSTER_HOME": str(self.dagster_home),
            "SPARK_REMOTE": self.spark_remote,
            "SPARK_MASTER": self.spark_master,
            "OREO_PORT": str(self.api_port),
            "DAGSTER_PORT": str(self.dagster_port),
            "OREO_DATASETS": str(self.dataset_files) if self.dataset_files else None,
        }
        return {name: value for name, value in pairs.items() if value}


def cookie_secret(settings: Settings) -> bytes:
    """What the review site signs its cookies with: made once per root, readable by its owner only.

    It is written beside and then linked into place, so that of two processes that start at once both read the
    same, and nobody reads half of one.
    """
    path = settings.state_dir / "site.key"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_bytes()


def _default_root() -> str:
    """`/data/delta`, or a folder in the user's home where that cannot be written."""
    candidate = Path(DEFAULT_ROOT)
    nearest = next(p for p in (candidate, *candidate.parents) if p.exists())
    return DEFAULT_ROOT if os.access(nearest, os.W_OK) else str(Path.home() / "oreo" / "delta")


def _normal_root(root: str) -> str:
    if "://" in root and not root.startswith("file://"):
        return root.rstrip("/")
    return str(Path(root.removeprefix("file://")).expanduser().absolute())


def _state_dir(root: str, home: Path) -> Path:
    """Beside the root, so that two roots never share a catalog; under `home` for an object store."""
    if "://" in root:
        return home / "state" / hashlib.sha256(root.encode()).hexdigest()[:16]
    return Path(f"{root}.oreo")


def _port(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "")
    if not text:
        return default
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise UsageError(f"{name}={text!r} is not a port number.", "Give a number from 1 to 65535.")
    return int(text)
