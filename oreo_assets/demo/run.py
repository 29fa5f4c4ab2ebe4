"""`oreo demo`: a throw-away root, the story on it, and what to open next."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..catalog.users import add_user
from ..cli.running import INTERRUPTED
from ..defs.interrupts import noticing_ctrl_c
from ..model.errors import UsageError
from ..model.spec_file import load_spec_file
from ..model.states import Role
from ..settings import Settings
from ..workflow.datasets import create_project
from ..workflow.workspace import Workspace
from .data import write_files
from .narrator import DemoFace, Narrator
from .story import Story, tell
from .warm_up import be_quiet, warm_up

DATASET_FILE = Path(__file__).with_name("orders.yaml")


def run_demo(settings: Settings | None = None, keep: bool = False) -> int:
    """Live through the demo on a root of its own; the exit code.

    With `settings` the root is theirs, and must not exist yet. It is removed at the end unless `keep`.
    """
    be_quiet()
    with noticing_ctrl_c() as stop_if_asked:
        narrator = Narrator.on_stdout(stop_if_asked)
        try:
            _live_through(settings, keep, narrator)
        except KeyboardInterrupt:
            gone = "" if keep else " The throw-away root is gone."
            narrator.console.print(f"\nStopped.{gone}", style="dim")
            return INTERRUPTED
    return 0


def _live_through(settings: Settings | None, keep: bool, narrator: Narrator) -> None:
    with _throw_away(settings, keep) as (mine, folder):
        try:
            story = _begin(mine, folder, narrator)
            tell(story)
            _end(story, keep)
        except Exception:
            narrator.stop_if_asked()  # a query that Ctrl-C ended tells of itself as a failure
            raise


@contextmanager
def _throw_away(given: Settings | None, keep: bool) -> Iterator[tuple[Settings, Path]]:
    """Settings whose root, catalog and Dagster home are new, and a folder for the files that are sent."""
    folder = Path(tempfile.mkdtemp(prefix="oreo-demo-"))
    wanted = given or Settings.from_env(root=str(folder / "delta"))
    # Never the user's own catalog or Dagster, whatever the environment says.
    mine = replace(
        wanted,
        catalog_url=f"sqlite:///{wanted.state_dir / 'catalog.db'}",
        dagster_home=wanted.state_dir / "dagster",
        dataset_files=None,
    )
    if not mine.is_local or Path(mine.root).exists() or mine.state_dir.exists():
        folder.rmdir()
        raise UsageError(
            f"The demo removes its root at the end, so {mine.root} cannot be it.",
            "Name a local folder that does not exist yet, or leave out --root.",
        )
    try:
        yield mine, folder
    finally:
        if not keep:
            for path in (Path(mine.root), mine.state_dir, folder):
                shutil.rmtree(path, ignore_errors=True)


def _begin(settings: Settings, folder: Path, n: Narrator) -> Story:
    """A project and two people in a new catalog, with everything slow started or imported."""
    spec = load_spec_file(DATASET_FILE)
    n.console.print("[bold]Oreo[/]: the life of a change request, on a throw-away root.")
    n.step("Two people and a project", "The first user of a new catalog is its admin; tokens are kept hashed.")
    ws = Workspace.open(settings)
    n.command("ann", "oreo user add ann --role admin")
    ann = DemoFace.of(settings, add_user(ws.catalog, None, "ann", Role.ADMIN, None).token, n)
    n.command("ann", f"oreo project create {spec.project}")
    create_project(ws, ann.actor, spec.project)
    n.command("ann", f"oreo user add bea --role reviewer --project {spec.project}")
    token = add_user(ws.catalog, ann.actor, "bea", Role.REVIEWER, spec.project).token
    with n.working("getting ready") as progress:
        warm_up(settings, progress)
    n.show(f"Ann will send files, Bea will review. Spark and libraries were ready after {n.seconds:.1f} s.")
    return Story(n, ann, DemoFace.of(settings, token, n), write_files(folder), spec)


def _end(story: Story, keep: bool) -> None:
    n, settings = story.narrator, story.ann.settings
    n.console.print()
    n.heading(f"[bold green]Done[/] in {n.seconds:.0f} s")
    if keep:
        n.console.print(
            "   The root was kept. To look around in it:\n\n"
            f"     export DELTA_DATA_ROOT={settings.root}\n"
            f"     export OREO_TOKEN={settings.token}\n"
            f"     oreo cr list {story.name}\n\n"
            f"   That is Ann. Bea's token is {story.bea.settings.token}\n"
            f"   The files that were sent are in {story.files.good.parent}\n",
            markup=False,
            soft_wrap=True,
        )
    n.show("What to open next:", "")
    n.show("  [cyan]make up[/]       the platform: what is sent gets checked, what is approved gets merged")
    n.show(f"                http://127.0.0.1:{settings.dagster_port}           Dagster: lineage, checks, runs")
    n.show(f"                http://127.0.0.1:{settings.api_port}/healthz   what is up")
    n.show("  [cyan]README.md[/]     the first ten minutes, with a dataset of your own")
    n.show("  [cyan]oreo --help[/]   every command, with examples", "")
    n.show("[dim]Spark stays warm for your next command; after ten idle minutes it stops by itself.[/]")
