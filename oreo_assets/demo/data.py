"""Orders of a web shop that does not exist. The same seed always gives the same files."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

COLUMNS = ("order_id", "customer", "country", "status", "amount", "ordered_on", "note")
GOOD_ROWS = 300
LARGE_ORDER = ("O-100042", "7400.00")
"""One order above what is usual: a warning that the reviewer has to answer for."""

_SEED = 7
_FIRST_DAY = date(2026, 1, 1)
_NAMES = ("Ada", "Ben", "Chloé", "Dmitri", "Eva", "Fatima", "Gustav", "Hana", "Ivo", "José", "Kim", "Lena")
_SURNAMES = ("Berg", "Costa", "Dubois", "Eriksen", "Fischer", "García", "Haas", "Ito", "Jansen", "Kowalska")
_COUNTRIES = ("AT", "BE", "CZ", "DE", "DK", "ES", "FR", "IT", "NL", "PL", "SE")
_STATUSES = ("open", "paid", "paid", "paid", "shipped", "shipped", "cancelled")
_NOTES = ("", "", "", "", "leave with the neighbours", "gift: no invoice in the parcel", 'ring "Haas"')


@dataclass(frozen=True)
class DemoFiles:
    """What people send in the demo, in that order."""

    broken: Path
    typos: Path
    good: Path
    changes: Path


def write_files(folder: Path, seed: int = _SEED) -> DemoFiles:
    """Write the demo's files."""
    rows = make_orders(GOOD_ROWS, seed)
    files = DemoFiles(
        folder / "orders-broken.csv",
        folder / "orders-typos.csv",
        folder / "orders.csv",
        folder / "refunds.csv",
    )
    _write(files.broken, [COLUMNS, *_break(rows)])
    _write(files.typos, [COLUMNS, *_mistype(rows)])
    _write(files.good, [COLUMNS, *rows])
    _write(files.changes, [("order_id", "status"), *refunds(rows)], delimiter=";")
    return files


def make_orders(count: int, seed: int = _SEED) -> list[tuple[str, ...]]:
    """Good rows, in the order of COLUMNS."""
    chance = random.Random(seed)
    return [_order(chance, number) for number in range(1, count + 1)]


def refunds(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, str]]:
    """The first paid orders are refunded; one more is named that already has the status it is given."""
    paid = [row for row in rows if row[3] == "paid"][:4]
    shipped = next(row for row in rows if row[3] == "shipped")
    return [*((row[0], "refunded") for row in paid), (shipped[0], "shipped")]


def _order(chance: random.Random, number: int) -> tuple[str, ...]:
    order_id = f"O-{100000 + number}"
    status = chance.choice(_STATUSES)
    amount = f"{chance.lognormvariate(4, 0.7):.2f}"
    customer = f"{chance.choice(_NAMES)} {chance.choice(_SURNAMES)}"
    country, note = chance.choice(_COUNTRIES), chance.choice(_NOTES)
    day = _FIRST_DAY + timedelta(days=number // 6)
    if order_id == LARGE_ORDER[0]:
        status, amount = "paid", LARGE_ORDER[1]
    return order_id, customer, country, status, amount, day.isoformat(), note


def _break(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every cell can be read, but some say what cannot be: a sign turned round, a status nobody knows."""
    changed = {10: {4: "-61.50"}, 57: {4: "-9.90"}, 130: {3: "lost"}, 131: {3: "lost"}, 200: {3: "PAID"}}
    return [_replace(row, changed.get(place, {})) for place, row in enumerate(rows)]


def _mistype(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Cells that cannot be read as what they should be, all over the file."""
    changed = {
        4: {4: "1.234,50"},
        19: {5: "31.01.2026"},
        20: {5: "2026-02-30"},
        75: {4: "n/a"},
        118: {0: ""},
        211: {0: rows[210][0]},
    }
    mistyped = [_replace(row, changed.get(place, {})) for place, row in enumerate(rows)]
    mistyped[250] = mistyped[250][:5]
    return mistyped


def _replace(row: tuple[str, ...], cells: dict[int, str]) -> tuple[str, ...]:
    return tuple(cells.get(place, cell) for place, cell in enumerate(row))


def _write(path: Path, rows: Iterable[Sequence[str]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as sink:
        csv.writer(sink, delimiter=delimiter, lineterminator="\n").writerows(rows)
