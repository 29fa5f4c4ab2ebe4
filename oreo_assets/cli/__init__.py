"""`oreo`, the command line: one module per noun, each a thin face over one use case."""

from __future__ import annotations


def main() -> int:
    """The entry point of the `oreo` script. Imports late, so that importing this package costs nothing."""
    from .running import run

    return run()
