"""Oreo: a governed home for datasets."""

__version__ = "0.1.0"
