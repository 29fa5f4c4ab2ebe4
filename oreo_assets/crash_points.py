"""Named places in the life of a change request where a test can end the process.

The fault suite sets OREO_CRASH_AT to one of these names; in any other process `reach` does nothing.
"""

from __future__ import annotations

import os
import signal

_VARIABLE = "OREO_CRASH_AT"


def reach(name: str) -> None:
    """Die here and now, as by a power cut, if this is the place that was asked for."""
    if os.environ.get(_VARIABLE) == name:
        os.kill(os.getpid(), signal.SIGKILL)
