"""The access log: one line for each request, in the Common Log Format with two more fields.

    127.0.0.1 - - [16/Nov/2026:15:39:21 +0000] "POST /v1/resolve HTTP/1.1" 200 5120 0.482 4f1c…

After the size of the body come the seconds that the request took and its id, which the response has as `X-Request-ID`.
Query strings and bodies are not logged. As in nginx, 499 means that the client disconnected before the response.
"""

from __future__ import annotations

import logging
import re
import time
from uuid import uuid4

from longcoref.server.asgi import Application, Message, Receive, Scope, Send, header

LOGGER = "longcoref.access"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_UNSAFE = re.compile(r"[^!#-\[\]-~]")
_LONGEST_PATH = 200
_DISCONNECTED = 499

_logger = logging.getLogger(LOGGER)


class AccessLog:
    """An ASGI application around another that gives every request an id, and logs it."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = header(scope, b"x-request-id")
        id = given[0] if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]) else uuid4().hex.encode()
        status, size = _DISCONNECTED, 0
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"x-request-id", id)]}
                status = message["status"]
            await send(message)
            size += len(message.get("body", b""))

        try:
            await self._app(scope, receive, counted)
        finally:
            _logger.info(
                '%s - - [%s] "%s %s HTTP/%s" %d %d %.3f %s',
                (scope.get("client") or ("-",))[0],
                time.strftime("%d/%b/%Y:%H:%M:%S %z"),
                scope["method"],
                _shown(scope["path"]),
                scope.get("http_version", "1.1"),
                status,
                size,
                time.perf_counter() - began,
                id.decode(),
            )


def _shown(path: str) -> str:
    """A path that can neither break the line nor fill the log."""
    shown = _UNSAFE.sub("?", path[:_LONGEST_PATH])
    return shown if len(path) <= _LONGEST_PATH else f"{shown}..."
