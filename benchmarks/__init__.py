"""Side-by-side measurements with what a user would pick instead. Ratios count, not seconds."""
