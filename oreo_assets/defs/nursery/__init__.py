"""The nursery: a process with everything imported that forks a worker for each run.

Light to import, so that the CLI can start, show and stop one without loading Dagster.
"""

from .client import NurseryStatus, ensure, nursery_dir, status, stop

__all__ = ["NurseryStatus", "ensure", "nursery_dir", "status", "stop"]
