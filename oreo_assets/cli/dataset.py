"""`oreo dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..model.errors import OreoError, SpecError
from .arguments import Dataset
from .command import command, noun
from .face import Answer, Face, dataset_of

if TYPE_CHECKING:
    from rich.console import Console

    from ..workflow.datasets import Applied

app = noun("dataset", "Datasets: declared in files, one each.")


@command(
    app,
    "apply",
    """
    oreo dataset apply orders.yaml
    oreo dataset apply datasets/           every .yaml and .yml file in a folder
    """,
)
def apply(
    face: Face,
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Dataset files, or folders of them.")],
) -> Answer:
    """Create datasets from their files, or change them to what the files say.

    All files are read before anything is done. Applying the same file again changes nothing. Takes the role
    admin in the project.
    """
    from ..model.spec_file import load_spec_file
    from ..workflow.datasets import apply_dataset

    specs = [load_spec_file(file) for file in _expand(files)]
    done: list[Applied] = []
    error: OreoError | None = None
    with face.working("Applying…") as tell:
        for spec in specs:
            tell(f"Applying {spec.ref}…")
            try:
                done.append(apply_dataset(face.ws, face.actor, spec))
            except OreoError as problem:
                if not done:
                    raise
                error = problem
                break
    if any(applied.created for applied in done):
        _reload(face)

    def render(console: Console) -> None:
        for applied in done:
            what = "made" if applied.created else "changed" if applied.changes else "as it was"
            console.print(f"[bold]{applied.ref}[/]: {what}")
            for change in applied.changes:
                console.print(f"  {change}", markup=False)

    return Answer({"datasets": [applied.as_json() for applied in done]}, render, error)


@command(
    app,
    "list",
    """
    oreo dataset list
    oreo dataset list shop
    """,
)
def list_(
    face: Face,
    project: Annotated[str | None, typer.Argument(metavar="P", help="Only of this project.")] = None,
) -> Answer:
    """List datasets, with the version and size of each."""
    from ..model.ids import check_id
    from ..workflow.datasets import datasets

    if project is not None:
        check_id(project, "project id")
    found = datasets(face.ws, face.actor, project)

    def render(console: Console) -> None:
        from .render import count, moment, size, table

        if not found:
            console.print("No datasets yet. Declare one: oreo dataset apply FILE")
            return
        made = table(
            "dataset",
            "version",
            "rows",
            "files",
            "size",
            "changed (UTC)",
            "about",
            right=("version", "rows", "files", "size"),
        )
        for d in found:
            name = f"{d['project']}/{d['dataset']}"
            numbers = (
                count(d["delta_version"]),
                count(d["row_count"]),
                count(d["file_count"]),
                size(d["bytes"]),
            )
            made.add_row(name, *numbers, moment(d["updated_at"]), d["description"])
        console.print(made)

    return Answer(found, render)


@command(
    app,
    "show",
    """
    oreo dataset show shop/orders
    oreo dataset show shop/orders --json | jq .row_count
    """,
)
def show(face: Face, dataset: Dataset) -> Answer:
    """Show one dataset: its columns, checks, version and what is open."""
    from ..workflow.datasets import show_dataset

    ref = dataset_of(dataset)
    found = show_dataset(face.ws, face.actor, ref)

    def render(console: Console) -> None:
        from .dataset_card import show_card

        show_card(console, found)

    return Answer(found, render)


def _expand(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix in (".yaml", ".yml"))
            if not inside:
                raise SpecError(f"There is no .yaml file in {path}.", "Name the files, or another folder.")
            files += inside
        else:
            files.append(path)
    return files


def _reload(face: Face) -> None:
    from ..platform_info import tell_of_new_datasets

    if problem := tell_of_new_datasets(face.settings):
        face.note(f"The running platform could not be told ({problem}). Reload its definitions in Dagster.")
