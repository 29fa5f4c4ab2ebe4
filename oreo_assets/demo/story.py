"""What happens in the demo, step by step. Each step runs what the command shown beside it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from ..catalog import audit
from ..cli import audit as audit_cli
from ..cli import cr, cr_decisions
from ..cli.cr_checks import show_checks
from ..cli.face import Answer
from ..cli.history import history
from ..cli.query import query
from ..cli.render import changes, state, table
from ..cli.upload import upload
from ..model.errors import DefectError, NotAllowedError
from ..model.spec import DatasetSpec
from ..model.states import CRState
from ..workflow.datasets import apply_dataset, show_dataset
from ..workflow.review import checks
from .data import LARGE_ORDER, DemoFiles
from .narrator import DemoFace, Narrator

_WARNING = "amount_usual"
_EVENTS = 10


@dataclass(frozen=True)
class Story:
    """Who is in it and what they have at hand. Ann sends files and is even admin; Bea reviews."""

    narrator: Narrator
    ann: DemoFace
    bea: DemoFace
    files: DemoFiles
    spec: DatasetSpec

    @property
    def name(self) -> str:
        return str(self.spec.ref)

    @property
    def main(self) -> str:
        """Main in a few words, as the catalog has it."""
        found = show_dataset(self.ann.ws, self.ann.actor, self.spec.ref)
        return f"version {found['delta_version']}, {found['row_count']} rows"


def tell(story: Story) -> None:
    """All of it, in order."""
    _declare(story)
    _send_what_fails(story)
    _send_what_cannot_be_read(story)
    first = _send_what_is_good(story)
    _review(story, first)
    _change_some_rows(story)
    _look_back(story)
    _audit(story)


def _declare(story: Story) -> None:
    n, spec = story.narrator, story.spec
    n.step("A dataset is declared in a file", "Columns, key, checks and approvals live in git, as code.")
    n.command("ann", "oreo dataset apply orders.yaml")
    with n.working("Spark makes the table"):
        apply_dataset(story.ann.ws, story.ann.actor, spec)
    severities = [str(e.severity) for e in spec.expectations]
    told = ", ".join(f"{severities.count(s)} {s}" for s in dict.fromkeys(severities))
    columns = f"{len(spec.columns)} columns, key {', '.join(spec.key)}"
    n.show(f"[bold]{story.name}[/]: {columns}, {spec.approvals} approval needed.")
    n.show(f"Checks: {told}; {len(spec.constraints)} constraint that the table itself enforces.")
    n.show(f"Main: {story.main}.")


def _send_what_fails(story: Story) -> None:
    n, before = story.narrator, story.main
    n.step(
        "A file that fails a fatal check is refused",
        "It is staged in a table of its own; main is not touched.",
    )
    answer = _upload(story, story.files.broken, "January, first try", CRState.REFUSED)
    run = checks(story.ann.ws, story.ann.actor, story.spec.ref, answer.document["change_request_id"])
    n.draw(lambda console: show_checks(console, run.outcomes, rows=3, only_failed=True))
    n.show("")
    assert answer.error is not None
    n.error(answer.error)
    n.show("", f"Main before: {before}. Main after: {story.main}.")
    _expect(before == story.main, "main moved")


def _send_what_cannot_be_read(story: Story) -> None:
    n = story.narrator
    n.step("A file with typing mistakes is sent back", "All mistakes are listed in one pass, by line and column.")
    answer = _upload(story, story.files.typos, "January, second try", CRState.FAILED)
    n.draw(answer.render)
    assert answer.error is not None
    n.error(answer.error)


def _send_what_is_good(story: Story) -> str:
    n = story.narrator
    n.step("A good file waits for its reviewer", "Checked, but not merged: somebody else looks at it first.")
    answer = _upload(story, story.files.good, "January", CRState.IN_REVIEW)
    _show_standing(story, answer.document)
    cr_id = str(answer.document["change_request_id"])
    n.show("")
    n.command("bea", f"oreo cr checks {story.name} {cr_id}")
    n.draw(cr.checks(story.bea, story.name, cr_id).render)
    n.show("")
    n.command("bea", f"oreo cr diff {story.name} {cr_id} --limit 1")
    n.draw(cr.diff(story.bea, story.name, cr_id, limit=1).render)
    return cr_id


def _review(story: Story, cr_id: str) -> None:
    n = story.narrator
    n.step("Four eyes", "An approval is for exactly what was checked, and not even an admin approves her own.")
    n.command("ann", f"oreo cr approve {story.name} {cr_id}")
    try:
        cr_decisions.approve(story.ann, story.name, cr_id)
    except NotAllowedError as error:
        n.error(error)
    else:
        _expect(False, "the author could approve")
    n.show("")
    _approve(story, cr_id, {_WARNING: f"{LARGE_ORDER[0]} is the hotel's yearly order"})


def _change_some_rows(story: Story) -> None:
    n = story.narrator
    n.step("A change to some rows", "Two columns, with semicolons: what a file does not name stays as it is.")
    answer = _upload(story, story.files.changes, "Refunds of the first week", CRState.IN_REVIEW)
    _show_standing(story, answer.document)
    cr_id = str(answer.document["change_request_id"])
    n.show("")
    n.command("bea", f"oreo cr diff {story.name} {cr_id}")
    n.draw(cr.diff(story.bea, story.name, cr_id).render)
    n.show("")
    _approve(story, cr_id, {})


def _look_back(story: Story) -> None:
    n = story.narrator
    n.step("Who changed what, and why", "Every version of main names its change request, author and approvers.")
    n.command("ann", f"oreo history {story.name}")
    n.draw(history(story.ann, story.name).render)

    n.step("Time travel", f"Every version of the last {story.spec.policies.time_travel_days} days can be read.")
    newest = show_dataset(story.ann.ws, story.ann.actor, story.spec.ref)["delta_version"]
    where, select = "order_id=eq.O-100001", "order_id,customer,status,amount"
    for version in (newest - 1, newest):
        n.command("ann", f"oreo query {story.name} --where {where} --select {select} --version {version}")
        n.draw(query(story.ann, story.name, [select], [where], version=version).render)
        n.show("")


def _audit(story: Story) -> None:
    n = story.narrator
    n.step("The audit trail", "Each event carries a hash of the one before it: tampering with any of them shows.")
    n.command("ann", f"oreo audit log {story.name} --limit {_EVENTS}")
    made = table("event", "actor", "action", "subject", right=("event",))
    for event in audit.events(story.ann.ws.catalog, story.spec.ref, limit=_EVENTS):
        made.add_row(str(event.seq), event.actor, event.action, event.subject or "-")
    n.show(made, "")
    n.command("ann", "oreo audit verify")
    answer = audit_cli.verify(story.ann)
    n.draw(answer.render)
    _expect(answer.error is None, "the audit trail is broken")


def _upload(story: Story, file: Path, note: str, outcome: CRState) -> Answer:
    story.narrator.command("ann", f'oreo upload {story.name} {file.name} --note "{note}" --wait')
    answer = upload(story.ann, story.name, file, note=note, wait=True)
    _expect(answer.document["state"] == outcome, f"{file.name} is {answer.document['state']}, not {outcome}")
    return answer


def _approve(story: Story, cr_id: str, acks: dict[str, str]) -> None:
    """Bea approves, and the merge follows."""
    given = [f"{name}={reason}" for name, reason in acks.items()]
    shown = "".join(f' --ack "{text}"' for text in given)
    story.narrator.command("bea", f"oreo cr approve {story.name} {cr_id}{shown} --wait")
    answer = cr_decisions.approve(story.bea, story.name, cr_id, given, wait=True)
    _expect(answer.document["state"] == CRState.CLOSED, f"{cr_id} is {answer.document['state']}, not merged")
    story.narrator.show(f"[green]Merged.[/] Main: {story.main}. The staged table is gone.")


def _show_standing(story: Story, document: dict[str, Any]) -> None:
    """Where a change request stands, on one line."""
    counts, found = document["counts"], document["checks"]
    warned = found["failed_warning"]
    line = Text.assemble(
        state(document["state"]),
        f"   {document['rows_read']} rows read: ",
        changes(counts),
        (f"={counts['unchanged']}", "dim"),
        f"   {found['passed']} checks passed, {warned} warning{'' if warned == 1 else 's'}",
    )
    story.narrator.show(line)
    if document["absent_columns"]:
        names = ", ".join(document["absent_columns"])
        story.narrator.show(Text(f"Not in the file, so they stay as they are: {names}.", style="dim"))


def _expect(held: bool, otherwise: str) -> None:
    """The demo claims only what really happened."""
    if not held:
        raise DefectError(f"The demo did not go as it should: {otherwise}.", "Please report it.")
