"""Who may use the server: the host names it answers to, and the token that requests must carry."""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from longcoref.errors import UsageError
from longcoref.server.asgi import Application, Receive, Scope, Send, header, refusal

TOKEN_VARIABLE = "LONGCOREF_TOKEN"
ANY_HOST = "*"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_WITHOUT_TOKEN = frozenset({"/", "/docs", "/openapi.json", "/health"})
"""Static pages and the health check: they say nothing about anybody's text."""

_SHORTEST_TOKEN = 16
_PORT = re.compile(r":[0-9]*$")


@dataclass(frozen=True, slots=True)
class Access:
    """The host names that the server answers to, without ports, and its token, if it has one.

    The host check defends against DNS rebinding, where a web page makes a browser send requests to a server on its own
    machine under the page's host name.
    """

    hosts: frozenset[str] = _LOOPBACK
    token: str | None = None


def access_to(
    host: str, *, allowed_hosts: Iterable[str] = (), token_file: Path | None = None, no_token: bool = False
) -> Access:
    """The access to a server that listens at `host`; a token is required if other machines can reach it."""
    token = _token(token_file)
    if no_token and token is not None:
        raise UsageError(f"a token was given: leave out --no-token, or --token-file and {TOKEN_VARIABLE}")
    if token is None and not no_token and not _is_loopback(host):
        raise UsageError(
            f"other machines can reach {host}: give a token with --token-file or {TOKEN_VARIABLE}, or say --no-token"
        )
    return Access(_LOOPBACK | {_host_name(name) for name in (host, *allowed_hosts)}, token)


def _token(path: Path | None) -> str | None:
    if path is None:
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
        if not token:
            return None
    else:
        try:
            token = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the token from {path}: {error}") from error
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"expected a token of at least {_SHORTEST_TOKEN} ASCII characters without spaces "
            "(for example from: openssl rand -hex 32)"
        )
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _host_name(host: str) -> str:
    """A host as the Host header spells it."""
    host = host.lower()
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


class Guard:
    """An ASGI application around another that refuses requests from strangers, and ambiguous ones."""

    def __init__(self, app: Application, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        app = self._app if scope["type"] != "http" else self._refusal(scope) or self._app
        await app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Application | None:
        if header(scope, b"content-length") and header(scope, b"transfer-encoding"):
            # A proxy may go by the other header, and take the rest of this body for a separate request.
            detail = "send either Content-Length or Transfer-Encoding, not both"
            return refusal(400, detail, {"Connection": "close"})
        if not self._is_for_us(scope):
            return refusal(421, "this server does not answer to that host name: see longcoref serve --allow-host")
        if self._access.token is not None and scope["path"] not in _WITHOUT_TOKEN and not self._has_token(scope):
            detail = "a token is required: send the header Authorization: Bearer TOKEN"
            return refusal(401, detail, {"WWW-Authenticate": "Bearer"})
        return None

    def _is_for_us(self, scope: Scope) -> bool:
        if ANY_HOST in self._access.hosts:
            return True
        names = [_PORT.sub("", value.decode("latin-1")).lower() for value in header(scope, b"host")]
        return len(names) == 1 and names[0] in self._access.hosts

    def _has_token(self, scope: Scope) -> bool:
        expected = f"Bearer {self._access.token}".encode()
        given = header(scope, b"authorization")
        return len(given) == 1 and hmac.compare_digest(given[0], expected)
