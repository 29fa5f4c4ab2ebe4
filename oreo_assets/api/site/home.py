"""The first page: what waits for me, and how the datasets are."""

from __future__ import annotations

from ...workflow.overview import DatasetHealth, Waiting, overview, waits_for
from .charts import spark
from .elements import el, link, section, table
from .frame import page
from .notices import empty
from .visit import Visit
from .words import compact, count, grouped, moment, sign, state_chip, title_of


@page("/", "Datasets")
async def home(visit: Visit) -> None:
    waiting = await visit.ask(waits_for)
    healths = await visit.ask(overview)
    with section("Waits for you", anchor="waits", flush=True, note=count(len(waiting), "change request")):
        if waiting:
            _waiting(waiting)
        else:
            empty("Nothing waits for you.", "What others send for review will be listed here.")
    with section("Datasets", anchor="datasets", flush=True, note=count(len(healths), "dataset")):
        if healths:
            with table(
                "Dataset",
                "Rows",
                "Over time",
                "Last change",
                "Open",
                "Checks",
                caption="Datasets",
                right=("Rows",),
                cards=True,
            ):
                for health in healths:
                    _dataset(health)
        else:
            empty(
                "There is no dataset that you have a role in.",
                "An engineer declares one: oreo dataset apply FILE. An admin gives you a role in its project.",
            )


def _waiting(waiting: list[Waiting]) -> None:
    with el("ul", "o-list"):
        for item in waiting:
            cr = item.change_request
            with el("li", "o-row"):
                state_chip(cr["state"])
                with el("div", "o-grow"):
                    link(
                        title_of(cr),
                        f"/p/{cr['project']}/{cr['dataset']}/cr/{cr['change_request_id']}",
                        "wrap",
                    )
                    with el("div", "soft small o-row"):
                        el("span", "", f"{cr['project']}/{cr['dataset']} · by {cr['author']}")
                        moment(cr["updated_at"])
                el("span", "soft small", item.wanted)


def _dataset(health: DatasetHealth) -> None:
    address = f"/p/{health.ref.project}/{health.ref.dataset}"
    with el("tr"):
        with el("td"):
            link(str(health.ref), address)
            if health.description:
                el("div", "soft small wrap", health.description)
        with el("td", "right", data_label="Rows"):
            compact(health.row_count)
        with el("td", data_label="Over time"):
            _growth(health)
        with el("td", data_label="Last change"):
            _last_change(health, address)
        with el("td", data_label="Change requests"):
            if health.open_change_requests:
                link(f"{grouped(health.open_change_requests)} open", f"{address}/crs")
                if health.in_review:
                    el("div", "soft small", f"{grouped(health.in_review)} in review")
            else:
                el("span", "soft", "none")
        with el("td", data_label="Checks"), link(None, f"{address}?tab=checks", "o-row"):
            if health.failing_checks:
                sign("warning")
                el("span", "", f"{grouped(len(health.failing_checks))} failing", title=", ".join(health.failing_checks))
            else:
                sign("passed")
                el("span", "soft", "none failing")


def _growth(health: DatasetHealth) -> None:
    points = [(c.at.isoformat(), c.rows) for c in health.row_counts]
    if len(points) > 1:
        spark(points, f"Rows of {health.ref} over time: from {points[0][1]} to {points[-1][1]}")
    else:
        el("span", "soft small", "no history yet")


def _last_change(health: DatasetHealth, address: str) -> None:
    if health.last is None:
        el("span", "soft", "none yet")
        return
    moment(health.last.timestamp)
    meta = health.last.metadata
    with el("div", "soft small wrap"):
        el("span", "", f"by {meta.author}" if meta else "")
        link(f" version {health.last.version}", f"{address}?tab=history")
