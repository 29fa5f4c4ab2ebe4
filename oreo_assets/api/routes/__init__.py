"""One module per noun: each route translates, and calls one use case."""
