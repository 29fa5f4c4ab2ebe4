"""The soak: many change requests from many processes, which are killed at random, and an account at the end.

    python -m oreo_assets_tests.faults.soak --minutes 10 --count 500 --seed 1

A fifth of the time goes to hostile input first. Exits with 1 if a single change was lost or came twice, or an
input ended in a way that nobody named.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from oreo_assets.catalog import audit
from oreo_assets.catalog.change_requests import get_upload, list_change_requests
from oreo_assets.catalog.models import ChangeRequest
from oreo_assets.lake import local_engine, log
from oreo_assets.lake.jars import ensure_jars
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.spec_file import parse_spec
from oreo_assets.model.states import CRState, Mode
from oreo_assets.settings import Settings
from oreo_assets.workflow import datasets
from oreo_assets.workflow.maintenance import Chore
from oreo_assets.workflow.recovery import pending, recover
from oreo_assets_tests.hostile.soak import fuzz
from oreo_assets_tests.house import House, open_house

from .oracle import LEDGER, Row, drive, file_of, let_leases_end, rows_by_delta_rs, rows_by_duckdb
from .points import WHAT
from .processes import Child
from .replay import Merged, Sent, replay
from .workers import Job

DATASETS = ("orders", "returns", "stock")
PROCESSES = 3
FUZZ_SHARE = 0.2
LEASE_SECONDS = 6.0
"""A tenth of the real one, so that what a dead process held is free again within the soak."""
POINTS = [*WHAT, "upload.copied"]


@dataclass
class Account:
    """What was done to the change requests, and what became of them."""

    started: int = 0
    workers_killed: int = 0
    engines_killed: int = 0
    chores: int = 0
    recoveries: int = 0
    interrupted: set[str] = field(default_factory=set)
    states: Counter[str] = field(default_factory=Counter)
    recovered: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        counts = {
            "sent": sum(self.states.values()),
            "merged": self.states[CRState.CLOSED],
            "refused": self.states[CRState.REFUSED],
            "conflicted": self.states[CRState.CONFLICTED],
            "failed": self.states[CRState.FAILED],
            "recovered": self.recovered,
            "lost": len(self.lost),
            "doubled": len(self.doubled),
        }
        did = (
            f"{self.started} started, {self.workers_killed} workers and {self.engines_killed} engines killed, "
            f"{self.chores} chores, {self.recoveries} recoveries meanwhile"
        )
        return [did, *(f"{name:<11}{count:>6}" for name, count in counts.items()), *self.lost, *self.doubled]


@dataclass(frozen=True)
class Running:
    """A worker, when to kill it (if at all), and when it counts as hung."""

    child: Child
    kill_at: float | None
    hung_at: float


class Soak:
    """One run, on a lake of its own. The seed decides what is sent and who is killed; the machine, when."""

    def __init__(self, house: House, seed: int) -> None:
        self.house = house
        self.chance = random.Random(seed)
        self.account = Account()
        self.sent: dict[str, Sent] = {}
        self.refs = [DatasetRef("shop", name) for name in DATASETS]
        for ref in self.refs:
            spec = LEDGER.replace("dataset: orders", f"dataset: {ref.dataset}")
            datasets.apply_dataset(house.ws, house.ann, parse_spec(spec))

    def run(self, count: int, deadline: float) -> None:
        """Until so many were started or the time is up; then whoever still works is killed too."""
        running: list[Running] = []
        numbers = iter(range(count))
        next_kill = time.monotonic() + self.chance.uniform(10, 30)
        while time.monotonic() < deadline:
            running = [r for r in running if self._lives(r)]
            if len(running) < PROCESSES:
                number = next(numbers, None)
                if number is None:
                    break
                running.append(self._start(number))
            if time.monotonic() > next_kill:
                self._kill_engine()
                next_kill = time.monotonic() + self.chance.uniform(30, 90)
            time.sleep(0.02)
        patience = min(deadline, time.monotonic() + 30)
        while running and time.monotonic() < patience:
            running = [r for r in running if self._lives(r)]
            time.sleep(0.05)
        for left in running:
            self._kill(left.child)

    def settle(self) -> None:
        """Two recoveries, and everything that waits brought to its end."""
        house = self.house
        let_leases_end(house)
        waited = {cr.id for cr in list_change_requests(house.ws.catalog) if cr.state.is_open}
        waited |= {cr.id for cr in list_change_requests(house.ws.catalog, states=[CRState.MERGING, CRState.MERGED])}
        recover(house.ws)
        for ref in self.refs:
            drive(replace(house, ref=ref))
        again = recover(house.ws)
        left = pending(house.ws)
        self.account.lost += [f"the second recovery still found work: {item}" for item in again]
        self.account.lost += [f"{cr.id} still waits to be {step}d" for cr, step in left]
        self.account.interrupted |= waited

    def judge(self) -> Account:
        """Compare the logs with the catalog, and main with what the files say it must be."""
        account = self.account
        for ref in self.refs:
            requests = list_change_requests(self.house.ws.catalog, ref)
            account.states.update(str(cr.state) for cr in requests)
            ended = (CRState.CLOSED, CRState.REFUSED, CRState.CONFLICTED, CRState.FAILED)
            account.recovered += sum(cr.id in account.interrupted and cr.state in ended for cr in requests)
            self._judge_commits(ref, requests)
        report = audit.verify(self.house.ws.catalog)
        if not report.intact:
            account.lost.append(f"the audit chain is broken at {report.broken_at}: {report.problem}")
        return account

    def _judge_commits(self, ref: DatasetRef, requests: list[ChangeRequest]) -> None:
        main = self.house.ws.layout(ref).main
        by_id = {cr.id: cr for cr in requests}
        commits = [c for c in log.commits(main) if c.metadata and c.metadata.change_request_id]
        told = Counter(c.metadata.change_request_id for c in commits if c.metadata)
        self.account.doubled += [f"{cr_id} was committed {n} times" for cr_id, n in told.items() if n > 1]
        for cr in requests:
            if (cr.state is CRState.CLOSED) != (cr.id in told):
                self.account.lost.append(f"{cr.id} is {cr.state}, and committed {told[cr.id]} times")
        merged = []
        for commit in commits:
            assert commit.metadata is not None
            cr = by_id[str(commit.metadata.change_request_id)]
            assert cr.base_version is not None
            merged.append(Merged(commit.version, cr.base_version, self.sent[self._file_of(cr)]))
        wanted = Counter(replay(merged).values())
        for reader in (rows_by_duckdb, rows_by_delta_rs):
            found = Counter(reader(main))
            self.account.lost += [f"{ref}: row {row} is missing" for row in (wanted - found)]
            self.account.doubled += [f"{ref}: row {row} is one too many" for row in (found - wanted)]

    def _file_of(self, cr: ChangeRequest) -> str:
        assert cr.upload_id is not None
        with self.house.ws.catalog.read() as tx:
            return get_upload(tx, cr.upload_id).file_name

    def _start(self, number: int) -> Running:
        chance = self.chance
        settings = self.house.ws.settings
        ref = chance.choice(self.refs)
        kind = chance.random()
        if kind < 0.08:
            self.account.recoveries += 1
            job = Job(ref, ("recover",), lease_seconds=LEASE_SECONDS)
        elif kind < 0.16:
            self.account.chores += 1
            job = Job(ref, (f"{chance.choice(list(Chore))}!",), lease_seconds=LEASE_SECONDS)
        else:
            self.account.started += 1
            sent = self._make(number)
            name = f"{number}.csv"
            self.sent[name] = sent
            file = self.house.folder / name
            file.write_text(file_of(sent.rows) + ("broken,not a number,x\n" if chance.random() < 0.08 else ""))
            job = Job(ref, ("send", "drive", "approve", "drive"), file, sent.mode, lease_seconds=LEASE_SECONDS)
        fate = chance.random()
        now = time.monotonic()
        point = chance.choice(POINTS) if fate < 0.15 else None
        kill_at = now + chance.uniform(0.3, 8) if 0.15 <= fate < 0.4 else None
        return Running(Child(settings, job, point), kill_at, now + 180)

    def _make(self, number: int) -> Sent:
        """Rows of its own mostly, sometimes ones that others change as well, sometimes one that no check lets in."""
        chance = self.chance
        mode = chance.choices([Mode.UPSERT, Mode.APPEND, Mode.DELETE, Mode.REPLACE], [70, 15, 10, 5])[0]
        own: list[Row] = [(f"k{number}-{i}", f"{number}.{i:02}", f"s{number}") for i in range(chance.randint(1, 5))]
        hot: Row = (f"hot{chance.randint(0, 2)}", f"{number}.99", f"s{number}")
        if mode is Mode.DELETE:
            earlier = f"k{chance.randint(0, max(0, number - 1))}-0"
            return Sent(mode, ((earlier, None, None),))
        if mode is not Mode.APPEND and chance.random() < 0.3:
            own.append(hot)
        if chance.random() < 0.08:
            own.append((f"k{number}-refused", None, "no amount"))
        return Sent(mode, tuple(own))

    def _lives(self, running: Running) -> bool:
        if not running.child.is_alive():
            answer = running.child.wait()
            if running.child.was_killed:
                self.account.workers_killed += 1
            if answer.cr_id and (running.child.was_killed or answer.error):
                self.account.interrupted.add(answer.cr_id)
            return False
        now = time.monotonic()
        if now > running.hung_at:
            self.account.lost.append(f"a worker hung: {running.child.last}")
            self._kill(running.child)
        elif running.kill_at is not None and now > running.kill_at:
            with suppress(ProcessLookupError):
                os.kill(running.child.pid, signal.SIGKILL)
        return True

    def _kill(self, child: Child) -> None:
        child.kill()
        self.account.workers_killed += 1
        if child.last.cr_id:
            self.account.interrupted.add(child.last.cr_id)

    def _kill_engine(self) -> None:
        engine = local_engine.status(self.house.ws.settings)
        if engine is not None:
            with suppress(ProcessLookupError):
                os.kill(engine.pid, signal.SIGKILL)
            self.account.engines_killed += 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--count", type=int, default=500, help="at most so many processes are started")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    tried = fuzz(options.minutes * 60 * FUZZ_SHARE, options.seed)
    for line in tried.lines():
        print(line, flush=True)
    minutes = options.minutes * (1 - FUZZ_SHARE)
    with lake() as house:
        soak = Soak(house, options.seed)
        ready = time.monotonic()
        print(f"seed {options.seed}: up to {options.count} processes, {minutes:g} minutes", flush=True)
        soak.run(options.count, ready + minutes * 60)
        print(f"{time.monotonic() - ready:.0f} s; now recovery", flush=True)
        soak.settle()
        account = soak.judge()
    for line in account.lines():
        print(line)
    print(f"{time.monotonic() - started:.0f} s in all")
    return 1 if account.lost or account.doubled or tried.failed else 0


@contextmanager
def lake() -> Iterator[House]:
    """A lake and an engine of the soak's own: nobody else's engine is killed."""
    shared = Settings.from_env()
    ensure_jars(shared)
    with tempfile.TemporaryDirectory(prefix="oreo-soak-") as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        for part in ("jars", "cds"):
            if (shared.home / part).exists():
                (home / part).symlink_to(shared.home / part)
        os.environ["OREO_HOME"] = str(home)
        house = open_house(folder, LEDGER)
        try:
            yield house
        finally:
            local_engine.stop(house.ws.settings)


if __name__ == "__main__":
    sys.exit(main())
