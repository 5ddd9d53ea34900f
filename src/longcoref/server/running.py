"""The server process: a socket of its own, and an end that is clean."""

from __future__ import annotations

import socket

import uvicorn

from longcoref.errors import UsageError
from longcoref.resolver import Resolver
from longcoref.server.app import build_app
from longcoref.server.limits import Limits

_GRACE_SECONDS = 5
"""After a signal, texts that are being read have so long to be finished; then they are stopped."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot listen at {host}:{port} ({reason}): give another --host or --port") from error


def address_of(listening: socket.socket) -> str:
    """The address for a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(resolver: Resolver, listening: socket.socket, limits: Limits) -> None:
    """Answers until a signal comes (Ctrl-C, SIGTERM)."""
    config = uvicorn.Config(
        build_app(resolver, limits),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])
