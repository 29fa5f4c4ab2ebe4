"""Conversion and merge of larger tables, beside Spark and delta-rs doing the bare work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
from deltalake import DeltaTable, write_deltalake

from oreo_assets.convert import ConversionRequest, convert
from oreo_assets.lake.diff import ChangeSet
from oreo_assets.lake.engine import isolated_session, open_session
from oreo_assets.lake.merge import MergePlan, merge
from oreo_assets.lake.tables import reconcile_main, write_staging
from oreo_assets.model.commit import CommitMetadata
from oreo_assets.model.ids import new_id
from oreo_assets.model.spec import DatasetSpec, Features, Policies, RowIdRule
from oreo_assets.model.states import Mode
from oreo_assets.settings import Settings

from .measure import Measured, median_seconds

SPEC = DatasetSpec.model_validate(
    {
        "project": "bench",
        "dataset": "rows",
        "columns": [
            {"name": "id", "type": "bigint", "nullable": False},
            {"name": "name", "type": "string"},
            {"name": "amount", "type": "decimal(12,2)"},
            {"name": "day", "type": "date"},
            {"name": "flag", "type": "boolean"},
        ],
        "key": ["id"],
    }
)
_ROWS = """
    SELECT i::VARCHAR AS row_id, i AS id, 'name ' || (i % 1000) AS name,
        ((i * 7 % 100000) / 100.0 + {bump})::DECIMAL(12,2) AS amount, DATE '2026-01-01' + (i % 365)::INT AS day,
        i % 2 = 0 AS flag
    FROM range({start}, {stop}) t(i)
"""


def run(rows: int, changed: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="oreo-bench-") as folder:
        yield _conversion(Path(folder), rows)
        yield from _merges(Path(folder), rows, changed)


def _conversion(folder: Path, rows: int) -> Measured:
    file = folder / "raw.csv"
    columns = "id, name, amount, day, flag"
    duckdb.execute(f"COPY (SELECT {columns} FROM ({rows_sql(0, rows)})) TO '{file}' (HEADER)")
    request = ConversionRequest(
        raw=file,
        out=folder / "converted.parquet",
        columns=tuple(SPEC.columns),
        key=tuple(SPEC.key),
        row_id_rule=RowIdRule.KEY,
        row_id_prefix="b",
        mode=Mode.UPSERT,
        sheet=None,
        set_aside=False,
        new_columns="review",
        limits=SPEC.policies.limits,
    )
    ours = median_seconds(lambda: convert(request), 3)
    spark = open_session(Settings.from_env())

    def by_spark() -> None:
        frame = spark.read.option("header", True).option("inferSchema", True).csv(str(file))
        frame.write.mode("overwrite").parquet(str(folder / "by_spark"))

    peer = median_seconds(by_spark, 2, warm_up=1)
    return Measured(f"CSV of {rows:,} rows → Parquet, every cell checked", ours, "warm Spark, inferSchema", peer)


def _merges(folder: Path, rows: int, changed: int) -> Iterator[Measured]:
    settings = Settings.from_env()
    spark = open_session(settings)
    by_rs = str(folder / "by_rs")
    write_deltalake(by_rs, duckdb.sql(rows_sql(0, rows)).to_arrow_table())
    source = duckdb.sql(rows_sql(rows - changed // 2, rows + changed // 2, bump=1)).to_arrow_table()

    def merge_rs() -> None:
        (
            DeltaTable(by_rs)
            .merge(source, "t.row_id = s.row_id", source_alias="s", target_alias="t")
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .execute()
        )

    peer = median_seconds(merge_rs, 1)
    for number, features in enumerate(
        (
            Features(),
            Features(deletion_vectors=False),
            Features(change_data_feed=False),
            Features(change_data_feed=False, deletion_vectors=False),
        )
    ):
        spec = SPEC.model_copy(update={"policies": Policies(features=features)})
        main, staged = str(folder / f"merge{number}"), str(folder / f"merge{number}_staged")
        reconcile_main(spark, spec, main)
        for uri, query in (
            (main, rows_sql(0, rows)),
            (staged, rows_sql(rows - changed // 2, rows + changed // 2, bump=1)),
        ):
            parquet = folder / "part.parquet"
            duckdb.execute(f"COPY ({query}) TO '{parquet}'")
            frame = spark.read.parquet(str(parquet))
            if uri == main:
                frame.write.format("delta").mode("append").save(uri)
            else:
                write_staging(frame, uri, CommitMetadata(new_id("co"), "cr", "bench"))
        change = ChangeSet.of(main, DeltaTable(main).version(), staged, 0, Mode.UPSERT)
        plan = MergePlan.of(spec, change, main_moved=False)

        def merge_ours(plan: MergePlan = plan) -> None:
            with isolated_session(settings) as own:
                merge(own, plan, CommitMetadata(new_id("co"), new_id("cr"), "bench"))

        on = [n for n, used in (("CDF", features.change_data_feed), ("DV", features.deletion_vectors)) if used]
        label = f"MERGE {changed:,} into {rows:,} ({' + '.join(on) or 'neither CDF nor DV'})"
        yield Measured(label, median_seconds(merge_ours, 1), "delta-rs, bare MERGE", peer)


def rows_sql(start: int, stop: int, bump: int = 0) -> str:
    return _ROWS.format(start=start, stop=stop, bump=bump)
