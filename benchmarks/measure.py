"""Timing, and the table that comes of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Measured:
    """One job, ours beside a peer's. Without a peer, `limit` is what was promised."""

    job: str
    ours: float
    peer_name: str = ""
    peer: float | None = None
    limit: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.peer if self.peer else None

    def as_json(self) -> dict[str, object]:
        return asdict(self) | {"ratio": self.ratio}


def median_seconds(work: Callable[[], object], times: int, warm_up: int = 0) -> float:
    for _ in range(warm_up):
        work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)
