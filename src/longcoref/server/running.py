"""The server process: its socket, its logs, and a clean shutdown."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from typing import Any

import uvicorn

from longcoref.errors import UsageError
from longcoref.resolver import Resolver
from longcoref.server.access import Access
from longcoref.server.access_log import LOGGER
from longcoref.server.app import build_app
from longcoref.server.asgi import Application
from longcoref.server.connections import BACKLOG, bounded_connections
from longcoref.server.limits import Limits

_FIRST_PASSED_DESCRIPTOR = 3

_SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter lock while others wait for it. A short text needs it often: with Python's
default of 5 milliseconds, the post-processing of other texts would hold it up."""

_SEND_BUFFER = 1 << 18
"""Bytes that the system keeps for a client that does not read. It would take some megabytes by itself, which is the
stream of a whole novel: the server would not notice that nobody reads it."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    If a service manager passes a socket to this process (systemd's socket activation), that one is used. It stays open
    while the server restarts, so that no connection is refused meanwhile.
    """
    if os.environ.get("LISTEN_PID") == str(os.getpid()) and os.environ.get("LISTEN_FDS") == "1":
        listening = socket.socket(fileno=_FIRST_PASSED_DESCRIPTOR)
    else:
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"cannot listen at {host}:{port} ({reason}): give another --host or --port") from error
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)  # connections inherit it
    return listening


def address_of(listening: socket.socket) -> str:
    """The address to open in a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(
    resolver: Resolver, listening: socket.socket, limits: Limits, access: Access, *, access_log: bool = True
) -> None:
    """Serves until SIGINT (Ctrl-C) or SIGTERM, then lets the requests in progress finish within the grace period."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    server_of(build_app(resolver, limits, access), limits, log_config=_log_config(access_log=access_log)).run(
        [listening]
    )


def server_of(app: Application, limits: Limits, *, log_config: dict[str, Any] | None = None) -> uvicorn.Server:
    """The server that runs an application; without `log_config`, logging is left as it is."""
    config = uvicorn.Config(
        app,
        http=bounded_connections(limits),
        loop="asyncio",
        ws="none",
        backlog=BACKLOG,
        log_config=log_config,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=limits.grace_seconds,  # type: ignore[arg-type]  # it is passed to asyncio.wait_for
    )
    return uvicorn.Server(config)


def _log_config(*, access_log: bool) -> dict[str, Any]:
    """The access log goes to standard output, errors go to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "%(message)s"}, "named": {"format": "%(levelname)s: %(message)s"}},
        "filters": {"cancelled": {"()": _WithoutCancelled}},
        "handlers": {
            "output": {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stdout"},
            "errors": {
                "class": "logging.StreamHandler",
                "formatter": "named",
                "stream": "ext://sys.stderr",
                "filters": ["cancelled"],
            },
        },
        "loggers": {
            "uvicorn": {"handlers": ["errors"], "level": "ERROR", "propagate": False},
            LOGGER: {"handlers": ["output"], "level": "INFO" if access_log else "WARNING", "propagate": False},
        },
    }


class _WithoutCancelled(logging.Filter):
    """Leaves out the tracebacks of requests that are cancelled on shutdown: they are no errors."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record."""
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
