"""The checks over time: one line for each, one column for each run."""

from __future__ import annotations

from typing import Any

from ....workflow.overview import CheckedRun, checked_runs
from ..elements import el, link, section
from ..notices import empty
from ..visit import Visit
from ..words import count, moment, sign

_RUNS = 20


async def draw(visit: Visit, _card: dict[str, Any]) -> None:
    runs = await visit.ask(checked_runs, visit.ref, limit=_RUNS)
    with section("Checks over time", anchor="checks", flush=True, note=count(len(runs), "run")):
        if not runs:
            empty("Nothing was checked yet.", "Checks run when the rows of a change request are staged.")
            return
        names = list(dict.fromkeys(name for run in runs for name in run.statuses))
        oldest_first = runs[::-1]
        with el("div", "o-scroll", tabindex="0", role="region", aria_label="Checks over time"), el("table", "o-table"):
            with el("thead"), el("tr"):
                el("th", "", "Check", scope="col")
                for run in oldest_first:
                    with el("th", "", scope="col"):
                        link(None, f"{visit.home}/cr/{run.change_request_id}#verdict", title=run.change_request_id)
                        with link(None, f"{visit.home}/cr/{run.change_request_id}#verdict"):
                            moment(run.finished_at)
            with el("tbody"):
                for name in names:
                    with el("tr"):
                        el("td", "wrap", name)
                        for run in oldest_first:
                            _cell(run, name)


def _cell(run: CheckedRun, name: str) -> None:
    status = run.statuses.get(name)
    with el("td"), el("span", "o-row"):
        if status is None:
            el("span", "soft", "–", title="not run")
        elif status == "passed":
            sign("passed")
            el("span", "visually-hidden", "passed")
        else:
            sign(run.severities[name])
            el("span", "small", status)
