"""How the demo talks: numbered steps, the command for each, a clock while something takes its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..cli.face import Asked, Face
from ..model.errors import OreoError
from ..settings import Settings

_WIDTH = 110
_INDENT = 3


@dataclass
class Narrator:
    """One console, when the demo began, and whether it is to stop."""

    console: Console
    stop_if_asked: Callable[[], None]
    began: float = field(default_factory=time.monotonic)
    steps: int = 0

    @classmethod
    def on_stdout(cls, stop_if_asked: Callable[[], None]) -> Narrator:
        console = Console(highlight=False)
        console.width = min(_WIDTH, console.width) if console.is_terminal else _WIDTH
        return cls(console, stop_if_asked)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def step(self, title: str, why: str) -> None:
        """Begin a step: what happens, and why it matters."""
        self.steps += 1
        self.console.print()
        self.heading(f"[bold]{self.steps}. {title}[/]  [dim]{self.seconds:.1f} s[/]")
        self.show(Text(why, style="dim"), "")

    def heading(self, text: str) -> None:
        self.console.rule(text, align="left", style="dim")

    def command(self, who: str, text: str) -> None:
        """The command that a user would type for what follows."""
        self.stop_if_asked()
        prompt = Text.assemble(" " * _INDENT, (f"{who} $ ", "bold"), (text, "cyan"))
        self.console.print(prompt, soft_wrap=True)

    def show(self, *things: RenderableType) -> None:
        for thing in things:
            self.console.print(Padding(thing, (0, 0, 0, _INDENT), expand=False))

    def draw(self, render: Callable[[Console], None]) -> None:
        """What one of the CLI's own renderers prints, indented."""
        inner = Console(
            width=self.console.width - _INDENT,
            force_terminal=self.console.is_terminal,
            no_color=self.console.no_color,
            highlight=False,
        )
        with inner.capture() as captured:
            render(inner)
        self.show(Text.from_ansi(captured.get().rstrip("\n")))

    def error(self, error: OreoError) -> None:
        """An error as the command would end with it."""
        code = f"  (exit {int(error.exit_code)})"
        self.show(Text.assemble(("error: ", "bold red"), error.message, (code, "dim")))
        self.show(Text(error.remedy, style="cyan"))

    @contextmanager
    def working(self, text: str) -> Iterator[Callable[[str], None]]:
        """A spinner and a clock for as long as the block runs; where nobody watches, nothing."""
        if not self.console.is_terminal:
            yield lambda _text: self.stop_if_asked()
            return
        columns = (TextColumn("  "), SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task(text)

            def tell(said: str) -> None:
                self.stop_if_asked()
                progress.update(task, description=said)

            yield tell


@dataclass
class DemoFace(Face):
    """A user of the CLI whose waiting is shown by the narrator."""

    narrator: Narrator

    @classmethod
    def of(cls, settings: Settings, token: str, narrator: Narrator) -> DemoFace:
        mine = replace(settings, token=token)
        return cls(Asked(root=mine.root, token=token), mine, narrator)

    @contextmanager
    def working(self, text: str) -> Iterator[Callable[[str], None]]:
        with self.narrator.working(text) as tell:
            yield tell

    def note(self, text: str) -> None:
        self.narrator.show(Text(text, style="dim"))
