"""The process that touches the file: `python -m oreo_assets.convert.child FOLDER`, the request on its stdin.

It puts limits on itself before it reads a byte of the file, and leaves its answer in FOLDER/result.json.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from ..model.errors import BadFileError, OreoError
from .request import ConversionRequest, LimitsLike

RESULT = "result.json"
# What Python and the readers take before the first row, and what DuckDB maps without using it.
_OWN_MEMORY_MB = 512


def main() -> None:
    folder = Path(sys.argv[1])
    request = ConversionRequest.from_json(json.loads(sys.stdin.buffer.readline()))
    limit(request.limits)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    answer = json.dumps(_answer(request, folder))
    (folder / "answer.json").write_text(answer, encoding="utf-8")
    os.replace(folder / "answer.json", folder / RESULT)
    # Nothing is left to tidy up, and a reader's destructors may be slow.
    os._exit(0)


def limit(limits: LimitsLike) -> None:
    """Hard limits: nothing this process runs later can raise them again."""
    memory = (limits.max_memory_mb + _OWN_MEMORY_MB) << 20
    _set(resource.RLIMIT_AS, memory)
    _set(resource.RLIMIT_DATA, memory)
    # Two threads may work at a time, so that the processor's clock runs up to twice as fast as the wall's.
    _set(resource.RLIMIT_CPU, 2 * limits.max_seconds + 5)
    _set(resource.RLIMIT_FSIZE, 8 * limits.max_file_mb << 20)
    _set(resource.RLIMIT_CORE, 0)


def _answer(request: ConversionRequest, folder: Path) -> dict[str, Any]:
    try:
        from .pipeline import run

        return {"conversion": run(request, folder).as_json()}
    except BadFileError as error:
        return {"bad_file": [error.message, error.remedy, error.details]}
    except MemoryError:
        return {"exhausted": "memory"}
    except OreoError as error:
        return {"defect": error.message}
    except Exception as error:
        # Only the parent can tell people; here it is enough to say which of the known ends this is.
        words = str(error)
        if type(error).__name__ == "OutOfMemoryException" or "bad_alloc" in words or "Out of Memory" in words:
            return {"exhausted": "memory"}
        if "No space left" in words:
            return {"exhausted": "disk"}
        if "File too large" in words or "max_temp_directory_size" in words:
            return {"exhausted": "file size"}
        return {"defect": traceback.format_exc(limit=-6)}
    except BaseException as error:
        # A reader written in Rust panics past `Exception`.
        if type(error).__name__ == "PanicException":
            return {"crashed": "panic"}
        raise


def _set(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _end_with_the_parent() -> None:
    """The parent holds the other end of stdin; when it closes, nobody waits for the answer any more."""
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
