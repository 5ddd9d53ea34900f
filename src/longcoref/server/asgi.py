"""The types of an ASGI application, and the one form in which requests are refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response `{"detail": …}`, itself an ASGI application."""
    return JSONResponse({"detail": detail}, status, headers)


def header(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a request header; `name` is in lower case."""
    return [value for key, value in scope["headers"] if key == name]
