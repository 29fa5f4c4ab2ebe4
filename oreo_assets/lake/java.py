"""The Java that Spark will run on, and whether it is one that Spark accepts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from ..model.errors import UnavailableError

ACCEPTED = (17, 21)
_INSTALL = (
    "Install Java 17 or 21. Debian or Ubuntu: sudo apt-get install openjdk-17-jre-headless. "
    "macOS: brew install openjdk@17, then set JAVA_HOME to it."
)


@dataclass(frozen=True)
class Java:
    """A Java runtime: the command, its feature release (17) and its full version text (17.0.15+6)."""

    command: str
    feature: int
    version: str


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """The runtime that Spark's own scripts would choose; an error that names the remedy if it will not do."""
    # JAVA_HOME is read here, not in Settings, because Spark's launcher reads it too and must agree with us.
    env = os.environ if environ is None else environ
    home = env.get("JAVA_HOME")
    command = f"{home}/bin/java" if home else shutil.which("java", path=env.get("PATH"))
    if command is None or shutil.which(command) is None:
        missing = f"JAVA_HOME is {home}, but there is no bin/java in it." if home else "Java is not installed."
        raise UnavailableError(missing, _INSTALL)
    java = _ask(command)
    if java.feature not in ACCEPTED:
        raise UnavailableError(f"Java {java.version} ({command}) is not one that Spark 4.1 accepts.", _INSTALL)
    return java


def _ask(command: str) -> Java:
    try:
        answer = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"{command} does not run: {error}", _INSTALL) from error
    text = answer.stderr + answer.stdout
    short = re.search(r'version "(\d+)[^"]*"', text)
    if short is None:
        first_line = text.splitlines()[0] if text else "nothing"
        raise UnavailableError(f"{command} -version said {first_line!r}.", _INSTALL)
    full = re.search(r"\(build ([^,)]+)", text)
    return Java(command, int(short[1]), full[1] if full else short[0])
