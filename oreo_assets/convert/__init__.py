"""A raw file in, `converted.parquet` out, made by a child process with limits.

Importing this package is cheap: DuckDB and the Excel reader are loaded by the child only.
"""

from __future__ import annotations

from .request import Conversion, ConversionRequest, Reject
from .supervisor import convert

__all__ = ["Conversion", "ConversionRequest", "Reject", "convert"]
