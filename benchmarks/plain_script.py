"""What a team would write first: one script, stock settings. CSV with inferred types, a suite, a Delta table.

Run in a process of its own: `python -m benchmarks.plain_script FILE TABLE`.
"""

from __future__ import annotations

import sys

import great_expectations as gx
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession


def main(file: str, table: str) -> None:
    builder = (
        SparkSession.builder.appName("plain")
        .master("local[*]")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    )
    spark = configure_spark_with_delta_pip(builder).getOrCreate()
    rows = spark.read.option("header", True).option("inferSchema", True).csv(file)
    context = gx.get_context(mode="ephemeral")
    batch = (
        context.data_sources.add_spark("spark")
        .add_dataframe_asset("orders")
        .add_batch_definition_whole_dataframe("all")
        .get_batch({"dataframe": rows})
    )
    suite = gx.ExpectationSuite(
        "orders",
        expectations=[
            gx.expectations.ExpectColumnValuesToNotBeNull(column="order_id"),
            gx.expectations.ExpectColumnValuesToBeUnique(column="order_id"),
            gx.expectations.ExpectColumnValuesToBeBetween(column="amount", min_value=0),
            gx.expectations.ExpectColumnValuesToBeInSet(column="status", value_set=["open", "paid"]),
        ],
    )
    if not batch.validate(suite).success:
        raise SystemExit("the suite failed")
    rows.write.format("delta").mode("overwrite").save(table)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
