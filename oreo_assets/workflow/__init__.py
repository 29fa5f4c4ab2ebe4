"""The use cases: what people and sensors do, as functions that know nothing of Dagster, HTTP or Typer."""
