"""Which header of a file means which column, kept for each dataset."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.ids import DatasetRef
from .models import HeaderMap, now
from .store import Transaction


def get_header_map(tx: Transaction, ref: DatasetRef) -> dict[str, str]:
    """As it was chosen last; empty if nobody ever chose."""
    found = tx.get(HeaderMap, (ref.project, ref.dataset))
    return dict(found.columns) if found else {}


def put_header_map(tx: Transaction, ref: DatasetRef, columns: Mapping[str, str], user: str) -> None:
    found = tx.get(HeaderMap, (ref.project, ref.dataset))
    if found is None:
        tx.add(HeaderMap(project=ref.project, dataset=ref.dataset, columns=dict(columns), updated_by=user))
    else:
        found.columns, found.updated_by, found.updated_at = dict(columns), user, now()
    tx.flush()
