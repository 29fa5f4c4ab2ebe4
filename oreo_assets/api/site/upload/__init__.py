"""Sending a file: it is received once, looked over as often as its sender likes, and then sent."""

from . import page  # noqa: F401 - it is a page
