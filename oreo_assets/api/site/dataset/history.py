"""Who changed what, when and why; and the way back to any version."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from ....lake.log import Commit
from ....model.states import Role
from ....workflow import query
from ....workflow.history import restore
from ....workflow.overview import row_counts
from ..charts import rows_over_time
from ..elements import button, el, link, section, table
from ..notices import empty, telling
from ..visit import Visit
from ..words import grouped, moment, sign

_SHOWN = 200
_METRICS = {
    "inserted": ("numTargetRowsInserted", "num_target_rows_inserted", "numOutputRows", "num_added_rows"),
    "updated": ("numTargetRowsUpdated", "num_target_rows_updated"),
    "deleted": ("numTargetRowsDeleted", "numDeletedRows", "num_target_rows_deleted"),
}


async def draw(visit: Visit, card: dict[str, Any]) -> None:
    commits = await visit.ask(query.history, visit.ref)
    counted = row_counts(commits, card["row_count"]) if card["row_count"] is not None else []
    if len(counted) > 1:
        with section("Rows over time", anchor="growth"):
            rows_over_time(
                [(c.at.isoformat(), c.rows) for c in counted],
                f"Rows over time: from {counted[0].rows} to {counted[-1].rows}",
            )
    with section("History", anchor="history", flush=True):
        said = el("div", "o-stack")
        if not commits:
            empty("Nothing happened yet.")
            return
        with table(
            "Version", "When", "Who", "Why", "What", "", caption="Commits of main, the newest first", cards=True
        ):
            for commit in commits[:_SHOWN]:
                _commit(visit, commit, commits[0].version, said)
        if len(commits) > _SHOWN:
            el("p", "soft o-controls", f"{grouped(len(commits) - _SHOWN)} older ones: oreo history {visit.ref}")


def _commit(visit: Visit, commit: Commit, newest: int, said: Any) -> None:
    meta = commit.metadata
    with el("tr", id=f"v{commit.version}"):
        with el("td", data_label="Version"):
            link(str(commit.version), f"{visit.home}?version={commit.version}", "num", title="Rows as of this version")
        with el("td", data_label="When"):
            moment(commit.timestamp)
        with el("td", data_label="Who"):
            el("div", "wrap", meta.author if meta else "the platform")
            if meta and meta.approvers:
                el("div", "soft small wrap", f"approved by {', '.join(meta.approvers)}")
        with el("td", "wrap", data_label="Why"):
            if meta:
                el("div", "", meta.note or "–")
                if meta.change_request_id:
                    link(meta.change_request_id, f"{visit.home}/cr/{meta.change_request_id}", "mono small")
            else:
                el("span", "soft", "–")
        with el("td", data_label="What"):
            el("div", "", meta.mode if meta and meta.mode else commit.operation.lower())
            _numbers(commit)
        with el("td"):
            if commit.version != newest and visit.may(Role.CONTRIBUTOR):
                _restore(visit, commit.version, said)


def _numbers(commit: Commit) -> None:
    with el("div", "o-row small num"):
        for kind, names in _METRICS.items():
            number = next((int(commit.metrics[name]) for name in names if name in commit.metrics), 0)
            if number:
                with el("span", "o-row", title=f"{number} {kind}"):
                    sign(kind)
                    el("span", "", grouped(number))


def _restore(visit: Visit, version: int, said: Any) -> None:
    async def back() -> None:
        async with telling(said):
            opened = await visit.ask(restore, visit.ref, version=version)
            ui.navigate.to(f"{visit.home}/cr/{opened.change_request_id}")

    button(
        "Restore",
        back,
        "small",
        title="Opens a change request that makes main what it was",
        aria_label=f"Restore version {version}",
    )
