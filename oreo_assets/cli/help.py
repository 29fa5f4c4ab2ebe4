"""Help screens that read like a tool people like: what it is for, how it is called, examples.

Plain text with a little colour on a terminal. Rich would draw boxes, lose the line breaks of the examples,
and cost a quarter of a second.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

_NOISE = re.compile(r"\s*\[(required|x>=?\d+)\]|;\s*(required|x>=?\d+)(?=\])")
GLOBAL_OPTIONS = frozenset({"--root", "--token", "--json", "--debug", "--help"})


@dataclass(frozen=True)
class Lazy:
    """A command that is imported when it is needed: its module here, its summary, its Typer app."""

    module: str
    summary: str
    attribute: str = "app"


class OreoCommand(TyperCommand):
    """One command."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_intro(self, ctx, formatter.width))
        own, shared = _parameters(self, ctx)
        for title in ("Arguments", "Options"):
            _section(formatter, title, own[title])
        _examples(formatter, self.epilog)
        _section(formatter, "Everywhere", shared)


class OreoGroup(TyperGroup):
    """A noun with its verbs, or (with `lazy`) the whole tool."""

    lazy: ClassVar[Mapping[str, Lazy]] = {}
    sections: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.lazy and cmd_name not in self.commands:
            entry = self.lazy[cmd_name]
            module = import_module(f"{__package__}.{entry.module}")
            command = typer.main.get_command(getattr(module, entry.attribute))
            command.name = cmd_name
            self.commands[cmd_name] = command
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args and args[0] not in known:
            close = get_close_matches(args[0], known, n=1)
            ctx.fail(f"There is no command {args[0]!r}." + (f" Did you mean {close[0]!r}?" if close else ""))
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_intro(self, ctx, formatter.width))
        sections = self.sections or {"Commands": tuple(self.list_commands(ctx))}
        width = max(len(name) for names in sections.values() for name in names)
        for title, names in sections.items():
            _section(formatter, title, [(name.ljust(width), self._summary(ctx, name)) for name in names])
        _examples(formatter, self.epilog)
        own, shared = _parameters(self, ctx)
        _section(formatter, "Options", own["Options"])
        _section(formatter, "Everywhere", shared)
        formatter.write(f"\nMore on a command: {ctx.command_path} COMMAND --help\n")

    def _summary(self, ctx: Any, name: str) -> str:
        if name in self.lazy:
            return self.lazy[name].summary
        return _split(self.get_command(ctx, name).help)[0]


def _intro(command: Any, ctx: Any, width: int) -> str:
    summary, more = _split(command.help)
    pieces = " ".join(command.collect_usage_pieces(ctx)).replace("[OPTIONS]", "")
    pieces = pieces.translate(str.maketrans("", "", "{}"))
    ending = [] if isinstance(command, TyperGroup) else ["[options]"]
    usage = " ".join([ctx.command_path, *pieces.split(), *ending])
    parts = [_bold(summary), *_wrapped(more, width), f"{_bold('Usage:')} {usage}"]
    return "\n\n".join(parts) + "\n"


def _split(text: str | None) -> tuple[str, str]:
    summary, _, more = inspect.cleandoc(text or "").partition("\n\n")
    return " ".join(summary.split()), more


def _wrapped(text: str, width: int) -> Iterable[str]:
    import textwrap

    for paragraph in filter(None, text.split("\n\n")):
        keeps_breaks = any(line.startswith("  ") for line in paragraph.splitlines())
        yield paragraph if keeps_breaks else textwrap.fill(" ".join(paragraph.split()), width)


def _parameters(command: Any, ctx: Any) -> tuple[dict[str, list[Any]], list[Any]]:
    own: dict[str, list[Any]] = {"Arguments": [], "Options": []}
    shared = []
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is None:
            continue
        if GLOBAL_OPTIONS.intersection(param.opts):
            shared.append(record)
        else:
            own["Options" if param.param_type_name == "option" else "Arguments"].append(_tidy(param, record))
    return own, shared


def _tidy(param: Any, record: tuple[str, str]) -> tuple[str, str]:
    """Without what tells a reader nothing: `<str>`, `x>=0`, and what the usage line says already."""
    name, text = record
    if param.param_type_name == "argument":
        name = param.metavar or param.name.upper()
    return name, _NOISE.sub("", text).rstrip()


def _section(formatter: Any, title: str, rows: list[tuple[str, str]]) -> None:
    if rows:
        formatter.write(f"\n{_bold(title)}\n")
        with formatter.indentation():
            formatter.write_dl(rows, col_max=26)


def _examples(formatter: Any, text: str | None) -> None:
    if text:
        lines = inspect.cleandoc(text).splitlines()
        formatter.write(f"\n{_bold('Examples')}\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines))


def _bold(text: str) -> str:
    plain = os.environ.get("NO_COLOR") or not sys.stdout.isatty()
    return text if plain else typer.style(text, bold=True)
