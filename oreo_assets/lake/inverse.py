"""What undoes a commit of main, as the rows of a patch."""

from __future__ import annotations

from pathlib import Path

from ..model.states import CHANGE, RowChange
from .change_set import CommittedChange, both_sides
from .diff_compare import Comparison
from .sql import quote_identifier as q

_BATCH = 100_000


def export_inverse(change: CommittedChange, file: Path) -> int:
    """Write the patch as one Parquet file; how many rows it has.

    Rows that were inserted are to be deleted, and carry the values they had; all others get their old ones back.
    """
    import pyarrow.parquet as pq

    with both_sides(change) as sides:
        compared = Comparison.of(sides)
        cells = [
            f"CASE WHEN change = 'inserted' THEN {q('new ' + c)} ELSE {q('old ' + c)} END AS {q(c)}"
            for c in compared.columns
        ]
        becomes = f"CASE WHEN change = 'inserted' THEN '{RowChange.DELETE}' ELSE '{RowChange.UPSERT}' END"
        batches = sides.connection.execute(
            f"SELECT row_id, {', '.join([*cells, f'{becomes} AS {q(CHANGE)}'])} FROM ({compared.joined}) "
            "WHERE change <> 'unchanged'"
        ).to_arrow_reader(_BATCH)
        rows = 0
        with pq.ParquetWriter(file, batches.schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
                rows += batch.num_rows
        return rows
