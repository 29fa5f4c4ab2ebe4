"""Making the class archive: a server is run through what an ordinary day asks of it, then ended."""

from __future__ import annotations

import json
import logging
import os
import secrets
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from filelock import FileLock

from ..model.errors import UnavailableError
from ..settings import Settings
from .class_archive import archive_path
from .connect_server import answers, connect_url, free_port, log_tail, server_launch
from .jars import ensure_jars, spark_home
from .spark_config import java_options

logger = logging.getLogger(__name__)


def ensure_archive(settings: Settings) -> Path:
    """The archive for this machine, made now if it is not there."""
    ensure_jars(settings)
    path = archive_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.parent / ".lock"):
        if not path.is_file():
            logger.info("Making the class archive for faster engine starts; this happens once.")
            _drop_orphans(path.parent)
            _train(settings, path)
    return path


def _drop_orphans(folder: Path) -> None:
    """Archives hold the path of the Spark they were made for; they are of no use once that is gone."""
    for note in folder.glob("*.json"):
        if not Path(json.loads(note.read_text())["spark_home"]).exists():
            note.with_suffix(".jsa").unlink(missing_ok=True)
            note.unlink()


def _train(settings: Settings, path: Path) -> None:
    token, port = secrets.token_urlsafe(24), free_port()
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".train-") as scratch:
        made, log = Path(scratch) / "made.jsa", Path(scratch) / "server.log"
        options = java_options(None, f'"-XX:ArchiveClassesAtExit={made}"')
        launch = server_launch(settings, port, token, {"spark.driver.extraJavaOptions": options})
        with log.open("wb") as sink:
            server = subprocess.Popen(launch.command, env=dict(launch.environ), stdout=sink, stderr=sink, cwd=scratch)
        try:
            deadline = time.monotonic() + 120
            while not answers(port):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise UnavailableError(f"Spark does not start: {log_tail(log)}", "Run oreo doctor.")
                time.sleep(0.2)
            _exercise(connect_url(port, token), Path(scratch) / "table")
        finally:
            # A polite end: the archive is written while the JVM exits.
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(180)
            except subprocess.TimeoutExpired:
                server.kill()
        if not made.is_file():
            raise UnavailableError(f"Java wrote no class archive: {log_tail(log)}", "Run make setup again.")
        path.with_suffix(".json").write_text(json.dumps({"spark_home": str(spark_home())}))
        os.replace(made, path)


def _exercise(url: str, table: Path) -> None:
    """Touch the classes that staging, checks, merge and maintenance will need."""
    from pyspark.sql.connect.session import SparkSession

    name = f"delta.`{table}`"
    spark = SparkSession.builder.remote(url).create()
    try:
        rows = spark.range(1000).selectExpr("cast(id as string) as k", "cast(id as decimal(12,2)) as v")
        rows.write.format("delta").option("delta.enableChangeDataFeed", "true").save(str(table))
        rows.limit(10).write.mode("overwrite").parquet(f"{table}-parquet")
        spark.read.parquet(f"{table}-parquet").selectExpr("k", "v + 1 as v").createOrReplaceTempView("s")
        spark.sql(f"ALTER TABLE {name} ADD CONSTRAINT known CHECK (v IS NOT NULL)")
        spark.sql(
            f"MERGE INTO {name} t USING s ON t.k = s.k "
            "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
        ).collect()
        spark.sql(f"SELECT v % 7 AS g, count(*), sum(v), min(k) FROM {name} GROUP BY 1 ORDER BY 1").collect()
        spark.sql(f"SELECT k, row_number() OVER (PARTITION BY v ORDER BY k) FROM {name}").toPandas()
        spark.sql(f"DESCRIBE HISTORY {name}").collect()
        spark.sql(f"OPTIMIZE {name}").collect()
        spark.sql(f"VACUUM {name} DRY RUN").collect()
    finally:
        spark.stop()
