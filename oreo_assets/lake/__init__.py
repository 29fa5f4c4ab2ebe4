"""Delta tables: where they lie, how they are written and read, and the Spark engine that does it."""
