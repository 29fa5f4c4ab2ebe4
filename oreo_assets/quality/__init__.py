"""Checking rows: Great Expectations suites and SQL constraints on Spark, and the record of what they found.

This engine knows datasets, their suites and DataFrames; nothing of change requests or Dagster. Importing it
is cheap: Great Expectations itself is loaded by the first run that needs it.
"""
