"""What set-up prepares so that Spark starts fast and offline: Java checked, jars fetched, class archive made.

Run by `make setup` as `python -m oreo_assets.lake.provision`; running it again does nothing.
"""

from __future__ import annotations

import logging
import sys

from ..model.errors import OreoError
from ..settings import Settings
from .class_training import ensure_archive
from .jars import ensure_jars
from .java import find_java

logger = logging.getLogger(__name__)


def provision(settings: Settings) -> None:
    """Prepare this machine. Only Java and the jars are indispensable."""
    java = find_java()
    logger.info("Java %s (%s)", java.version, java.command)
    logger.info("Delta jars in %s", ensure_jars(settings)[0].parent)
    try:
        logger.info("Class archive %s", ensure_archive(settings))
    except OreoError as error:
        logger.warning("No class archive, so Spark will start some seconds slower: %s", error.message)


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        provision(Settings.from_env())
    except OreoError as error:
        logger.error("%s", error)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
