"""The Delta jars: fetched once from Maven, then used from disk so that an engine starts offline and fast."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from filelock import FileLock

from ..model.errors import UnavailableError
from ..settings import Settings

logger = logging.getLogger(__name__)

VERSION = "4.4.0"
COORDINATE = f"io.delta:delta-spark_4.1_2.13:{VERSION}"
_MANIFEST = "manifest.json"

# What Spark ships itself; leaving it out spares a download of some 70 MB.
_SHIPPED_WITH_SPARK = (
    "org.apache.hadoop:*",
    "org.apache.parquet:*",
    "org.apache.logging.log4j:*",
    "com.fasterxml.jackson*:*",
    "com.github.luben:zstd-jni",
    "org.xerial.snappy:*",
    "org.slf4j:*",
    "org.roaringbitmap:*",
)


def ensure_jars(settings: Settings) -> tuple[Path, ...]:
    """The Delta jars on disk, fetched now if this is the first time."""
    found = installed_jars(settings)
    if found:
        return found
    folder = _folder(settings)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / ".lock"):
        found = installed_jars(settings)
        if not found:
            logger.info("Fetching the Delta jars (%s); this happens once.", COORDINATE)
            _fetch(folder)
            found = installed_jars(settings)
    if not found:
        raise UnavailableError(f"The Delta jars in {folder} are damaged.", f"Delete {folder} and run make setup.")
    return found


def installed_jars(settings: Settings) -> tuple[Path, ...]:
    """The jars if every one the manifest lists is there in full, else nothing."""
    # The real path, as the class archive fits only the class path it was made with.
    folder = _folder(settings).resolve()
    try:
        sizes: dict[str, int] = json.loads((folder / _MANIFEST).read_text())
        complete = all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return ()
    return tuple(folder / name for name in sorted(sizes)) if complete else ()


@cache
def spark_home() -> Path:
    """The Spark inside the pyspark package, found without importing it (an import costs half a second)."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise UnavailableError("PySpark is not installed in this Python.", "Run make setup.")
    return Path(spec.origin).parent


def fingerprint(settings: Settings) -> str:
    """Changes when the jars or the Spark they run on change."""
    names = [str(jar) for jar in installed_jars(settings)]
    return hashlib.sha256("\n".join([str(spark_home()), spark_version(), *names]).encode()).hexdigest()[:12]


@cache
def spark_version() -> str:
    return importlib.metadata.version("pyspark")


def _folder(settings: Settings) -> Path:
    return settings.home / "jars" / VERSION


def _fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetch-") as scratch:
        downloaded = _resolve(Path(scratch))
        ready = Path(scratch) / "ready"
        ready.mkdir()
        shipped = {_artifact(jar.name) for jar in (spark_home() / "jars").glob("*.jar")}
        sizes = {}
        for jar in downloaded:
            # Ivy names a file group_artifact-version.jar. On the class path ours come before Spark's own,
            # so an older Jackson or log4j among them would break Spark: only what Spark lacks is kept.
            name = jar.name.partition("_")[2]
            if _artifact(name) not in shipped:
                shutil.copyfile(jar, ready / name)
                sizes[name] = jar.stat().st_size
        (ready / _MANIFEST).write_text(json.dumps(sizes, indent=1, sort_keys=True))
        shutil.rmtree(folder, ignore_errors=True)
        ready.rename(folder)


def _resolve(scratch: Path) -> list[Path]:
    """Let Spark's own Ivy do it, so that its repositories, proxies and Ivy settings apply as everywhere."""
    command = [
        str(spark_home() / "bin" / "spark-submit"),
        *("--master", "local[1]", "--packages", COORDINATE),
        *("--exclude-packages", ",".join(_SHIPPED_WITH_SPARK)),
        *("--conf", f"spark.jars.ivy={scratch / 'ivy'}"),
        # A main class that returns at once: the resolving has happened by then.
        *("--class", "scala.util.Properties", "spark-internal"),
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_REMOTE", "PYSPARK_"))}
    env["SPARK_HOME"] = str(spark_home())
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900, check=False)
    jars = sorted((scratch / "ivy" / "jars").glob("*.jar"))
    if done.returncode != 0 or not any("delta-spark" in jar.name for jar in jars):
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        logger.debug("Ivy said: %s", "\n".join(said))
        reason = said[-1].strip() if said else "no answer"
        raise UnavailableError(
            f"The Delta jars ({COORDINATE}) could not be fetched: {reason}",
            "Check that this machine reaches Maven Central or a mirror of it (Java's proxy settings go into "
            "JAVA_TOOL_OPTIONS, a mirror into DEFAULT_ARTIFACT_REPOSITORY), then run make setup again.",
        )
    return jars


def _artifact(jar_name: str) -> str:
    """`jackson-core-2.21.0.jar` → `jackson-core`."""
    return re.sub(r"-\d[^-]*(-\d+)?(\.\w+)*\.jar$", "", jar_name)
