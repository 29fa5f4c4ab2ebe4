"""From arguments to an exit code: every way a command can end is decided here."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from ..model.errors import DefectError, ExitCode, OreoError, UsageError
from ..model.safe_text import for_terminal
from .output import print_json

INTERRUPTED = 130
BROKEN_PIPE = 141


def run(argv: Sequence[str] | None = None) -> int:
    """Run `oreo` with these arguments; the exit code is INTERFACE's."""
    args = list(sys.argv[1:] if argv is None else argv)
    # Known before anything is parsed, as the arguments themselves may be what is wrong.
    flags = args[: args.index("--")] if "--" in args else args
    as_json, debug = "--json" in flags, "--debug" in flags
    _prepare(debug)
    try:
        code = _run(args, as_json=as_json, debug=debug)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read has had enough. What is left in the buffer must not be told at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return BROKEN_PIPE


def print_error(error: OreoError) -> None:
    """One line of what, one of what to do."""
    colour = not os.environ.get("NO_COLOR")
    typer.echo(_style("error: ", colour, fg="red", bold=True) + for_terminal(error.message), err=True)
    if error.remedy:
        typer.echo(_style(for_terminal(error.remedy), colour, fg="cyan"), err=True)


def _run(args: list[str], *, as_json: bool, debug: bool) -> int:
    from .app import app

    try:
        result = typer.main.get_command(app).main(args=args, prog_name="oreo", standalone_mode=False)
        return result if isinstance(result, int) else ExitCode.DONE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as error:
        # Typer's own way to end when nobody reads on.
        if isinstance(error.__context__, BrokenPipeError):
            raise BrokenPipeError from error
        raise
    except BrokenPipeError:
        raise
    except OreoError as error:
        return _fail(error, as_json, debug)
    except typer.TyperException as error:
        return _fail(_usage(error), as_json, debug=False)
    except Exception as error:
        logging.getLogger(__name__).debug("unexpected", exc_info=error)
        return _fail(_defect(error, debug), as_json, debug, shown=error)


def _fail(error: OreoError, as_json: bool, debug: bool, shown: Exception | None = None) -> int:
    if debug:
        import traceback

        traceback.print_exception(shown or error)
    if as_json:
        print_json(error.as_json())
    else:
        print_error(error)
    return int(error.exit_code)


def _usage(error: Any) -> UsageError:
    """What Typer found wrong with the call, in our shape."""
    message = str(error.format_message()).replace("\n\t", " ").strip()
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "oreo"
    return UsageError(message[:1].upper() + message[1:], f"See: {path} --help")


def _defect(error: Exception, debug: bool) -> DefectError:
    what = f"{type(error).__name__}: {error}".strip().splitlines()[0]
    remedy = "Please report it with the traceback above." if debug else "Run it again with --debug to see where."
    return DefectError(f"This is a defect of Oreo: {what}", remedy)


def _prepare(debug: bool) -> None:
    logging.basicConfig(
        level=logging.INFO if debug else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character shows a stand-in; it is no reason to fail.
            stream.reconfigure(errors="replace")


def _style(text: str, colour: bool, **style: Any) -> str:
    return typer.style(text, **style) if colour else text
