"""Real Great Expectations on real Spark."""
