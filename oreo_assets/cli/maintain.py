"""`oreo maintain`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import MaybeDataset
from .command import command, noun
from .face import Answer, Face, dataset_of

if TYPE_CHECKING:
    from rich.console import Console

app = noun("maintain", "Keep datasets in shape. The platform does this on a schedule; here it is by hand.")

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
_CHORES = {
    "optimize": "Compact small files into larger ones, ordered for the queries people make.",
    "vacuum": "Delete files that no version within the dataset's time travel needs.",
    "checkpoint": "Write a checkpoint of the log, so that the table opens faster.",
    "cleanup": "End what outlived its time: undecided change requests, old imports and edit sessions.",
    "all": "All four: optimize, vacuum, checkpoint, cleanup.",
}


def _maintain(face: Face, chores: list[str], dataset: str | None, dry_run: bool) -> Answer:
    from ..workflow.maintenance import Chore, maintain_all

    ref = dataset_of(dataset) if dataset is not None else None
    with face.working("Maintaining…") as tell:
        done = maintain_all(
            face.ws,
            face.actor,
            [Chore(chore) for chore in chores],
            ref,
            dry_run=dry_run,
            tell=lambda chore: tell(f"{chore} {ref or 'all datasets'}…"),
        )

    def render(console: Console) -> None:
        from .render import table

        if not done.reports:
            console.print("There is no dataset that you may maintain (it takes the role admin).")
            return
        made = table("dataset", "chore", "what")
        for report in done.reports:
            made.add_row(str(report.ref), report.chore, report.summary)
        console.print(made)

    return Answer(done.as_json(), render, done.error)


def _register(name: str, summary: str) -> None:
    chores = [word for word in _CHORES if word != "all"] if name == "all" else [name]

    def run(face: Face, dataset: MaybeDataset = None, dry_run: DryRun = False) -> Answer:
        return _maintain(face, chores, dataset, dry_run)

    run.__doc__ = f"{summary}\n\nFor one dataset, or for all that you administer. Takes the role admin."
    examples = f"oreo maintain {name} --dry-run\noreo maintain {name} shop/orders"
    register: Callable[..., object] = command(app, name, examples)
    register(run)


for _name, _summary in _CHORES.items():
    _register(_name, _summary)
