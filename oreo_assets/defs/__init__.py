"""What Dagster loads. Kept free of imports: the nursery starts below it and must start fast."""
