"""Sessions over Spark Connect: one shared by the process, replaced when its server has gone.

PySpark itself keeps a session for ever: against a server that was restarted, each call of it would retry
for ten minutes and then fail.
"""

from __future__ import annotations

import atexit
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ..model.errors import UnavailableError
from .connect_server import answers
from .spark_config import session_config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

_DEFAULT_PORT = 15002
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class _Opened:
    url: str
    # A fork copies the object but not the threads of its gRPC channel.
    process: int
    session: Any


_current: _Opened | None = None


def shared(url: str) -> SparkSession:
    """The session of this process on that server."""
    global _current
    opened = _current
    if opened is not None and (opened.process, opened.url) == (os.getpid(), url) and _is_alive(opened):
        return cast("SparkSession", opened.session)
    host, port = host_and_port(url)
    if not answers(port, host, timeout=10):
        raise UnavailableError(f"No Spark answers at {host}:{port}.", "Check SPARK_REMOTE, or start that server.")
    if opened is not None:
        logger.info("The Spark server of the last session has gone; opening a new session.")
        _drop(opened)
    session = _open(url)
    if _current is None:
        atexit.register(_close_at_exit)
    _current = _Opened(url, os.getpid(), session)
    return cast("SparkSession", session)


def another(session: SparkSession) -> SparkSession:
    """A second session on the same server, with settings and temporary views of its own."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    assert _current is not None
    assert _current.session is session
    own = _prepared(ConnectSession.builder.remote(_current.url).create(), _current.url)
    for name, value in session_config().items():
        own.conf.set(name, value)
    return cast("SparkSession", own)


def is_connect_process() -> bool:
    """Whether this process has a session over Connect; if so, PySpark can have no other kind in it."""
    return _current is not None and _current.process == os.getpid()


def host_and_port(url: str) -> tuple[str, int]:
    """`sc://host:port/;token=…` → host and port."""
    parts = urlsplit(url)
    return parts.hostname or "localhost", parts.port or _DEFAULT_PORT


def _open(url: str) -> Any:
    from dagster_pyspark import LazyPySparkResource

    # PySpark refuses a `spark.remote` beside one of these in the environment.
    for name in ("MASTER", "SPARK_LOCAL_REMOTE"):
        os.environ.pop(name, None)
    # The lazy resource is the one that needs no Dagster run around it.
    session = LazyPySparkResource(spark_config={"spark.remote": url, **session_config()}).spark_session
    return _prepared(session, url)


def _prepared(session: Any, url: str) -> Any:
    """The session without what would make it hang for ten minutes when its server has gone."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    # PySpark clears its ML cache when the process ends.
    atexit.unregister(session.client._cleanup_ml_cache)
    if host_and_port(url)[0] in _LOOPBACK:
        # No network that could come back: what does not answer for some seconds is dead, and a merge that
        # waits for it would hold its dataset all the while.
        session.client.set_retry_policies([DefaultPolicy(max_retries=6, backoff_multiplier=2, max_backoff=2000)])
    return session


def is_gone() -> bool:
    """Whether nothing listens any more where this process has its sessions."""
    assert _current is not None
    host, port = host_and_port(_current.url)
    return not answers(port, host)


def _is_alive(opened: _Opened) -> bool:
    """A few milliseconds: first whether anything listens, as PySpark would wait long for a dead server."""
    from pyspark.errors import PySparkException

    host, port = host_and_port(opened.url)
    if opened.session.is_stopped or not answers(port, host):
        return False
    try:
        opened.session.conf.get("spark.sql.session.timeZone")
    except PySparkException:
        return False
    return True


def _drop(opened: _Opened) -> None:
    """Make PySpark forget the session, without asking a server that may no longer be there."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    if opened.process == os.getpid():
        # Not session.stop(): that waits for the server.
        opened.session.client._channel.close()
        opened.session.client._closed = True
    with ConnectSession._lock:
        ConnectSession._default_session = None
        ConnectSession._active_session.session = None


def _close_at_exit() -> None:
    """Give the session back, or each command would leave one behind in the server for hours."""
    if is_connect_process() and _current is not None and answers(host_and_port(_current.url)[1]):
        _current.session.stop()
