"""How a command is declared: options that work everywhere, and an answer instead of printing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

import typer

from ..model.safe_text import check_text
from .face import Answer, Asked, Face
from .help import OreoCommand, OreoGroup
from .output import only_ours_on_stdout, print_json

Root = Annotated[
    str | None, typer.Option("--root", metavar="FOLDER", help="The data root, instead of DELTA_DATA_ROOT.")
]
Token = Annotated[str | None, typer.Option("--token", metavar="TOKEN", help="Who you are, instead of OREO_TOKEN.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error, and the log.")]

Command = Callable[..., Answer]

_GLOBALS = {"root": (Root, None), "token": (Token, None), "as_json": (Json, False), "debug": (Debug, False)}


def remember(ctx: typer.Context, root: str | None, token: str | None, as_json: bool, debug: bool) -> Asked:
    """Join what was given here with what was given further to the left, which it overrides."""
    before = ctx.obj if isinstance(ctx.obj, Asked) else Asked()
    ctx.obj = replace(
        before,
        root=root or before.root,
        token=token or before.token,
        as_json=as_json or before.as_json,
        debug=debug or before.debug,
    )
    return ctx.obj


def noun(name: str, help: str) -> typer.Typer:
    """A group of commands: `oreo NAME verb`."""
    app = typer.Typer(name=name, cls=OreoGroup, help=help, add_completion=False, rich_markup_mode=None)

    @app.callback(invoke_without_command=True, help=help)
    def group(
        ctx: typer.Context,
        root: Root = None,
        token: Token = None,
        as_json: Json = False,
        debug: Debug = False,
    ) -> None:
        remember(ctx, root, token, as_json, debug)
        if ctx.invoked_subcommand is None:
            known = ", ".join(ctx.command.list_commands(ctx))  # type: ignore[attr-defined]
            ctx.fail(f"Which command? `{ctx.command_path}` goes on with one of {known}.")

    return app


def verb() -> typer.Typer:
    """A command on its own: `oreo NAME`."""
    return typer.Typer(add_completion=False, rich_markup_mode=None)


def command(app: typer.Typer, name: str, examples: str) -> Callable[[Command], Command]:
    """Register a function of `(face, …)` that returns an Answer, with the global options added to its own."""

    def register(function: Command) -> Command:
        app.command(name, cls=OreoCommand, epilog=examples)(_with_globals(function))
        return function

    return register


def _with_globals(function: Command) -> Callable[..., None]:
    hints = get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints[parameter.name])
        for parameter in list(inspect.signature(function).parameters.values())[1:]
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, annotation=kind, default=default) for name, (kind, default) in _GLOBALS.items()
    ]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)

    @functools.wraps(function)
    def run(ctx: typer.Context, **given: Any) -> None:
        asked = remember(ctx, *(given.pop(name) for name in _GLOBALS))
        for name, value in given.items():
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str):
                    check_text(text, name.replace("_", " "))
        _answer(asked, functools.partial(function, **given))

    signature = inspect.Signature([context, *(p.replace(kind=keyword) for p in own), *shared])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return run


def _answer(asked: Asked, function: Callable[[Face], Answer]) -> None:
    from .running import print_error

    face = Face.open(asked)
    if asked.as_json:
        with only_ours_on_stdout():
            answer = function(face)
        print_json(answer.as_json())
    else:
        answer = function(face)
        answer.render(face.out)
        if answer.error:
            print_error(answer.error)
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)
