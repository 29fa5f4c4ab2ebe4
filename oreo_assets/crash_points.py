"""Named places in the life of a change request where a test can take the ground away.

The fault suite names one of them in OREO_CRASH_AT and says in OREO_CRASH_KILLS what happens there; without
these variables `reach` looks up one name and returns.
"""

from __future__ import annotations

import os
import signal
from enum import StrEnum

AT = "OREO_CRASH_AT"
KILLS = "OREO_CRASH_KILLS"
JVM = "OREO_CRASH_JVM"
VARIABLES = (AT, KILLS, JVM)


class Fault(StrEnum):
    """What happens at a crash point."""

    PYTHON = "python"
    """This process dies, as by a power cut; the engine works on."""
    JVM = "jvm"
    """The engine dies (the process whose number is in OREO_CRASH_JVM); this process goes on and finds it gone."""
    BOTH = "both"
    FREEZE = "freeze"
    """This process stops until a SIGCONT wakes it: the machine slept, or the network was away."""


def reach(name: str) -> None:
    """Do here and now what was asked for, if this is the place that was asked for."""
    if os.environ.get(AT) != name:
        return
    fault = Fault(os.environ.get(KILLS) or Fault.PYTHON)
    # Once: what is tried again in the same process must not meet the same end.
    del os.environ[AT]
    if fault in (Fault.JVM, Fault.BOTH):
        os.kill(int(os.environ[JVM]), signal.SIGKILL)
    if fault is Fault.FREEZE:
        os.kill(os.getpid(), signal.SIGSTOP)
    elif fault is not Fault.JVM:
        os.kill(os.getpid(), signal.SIGKILL)
