"""Who may use the server, and what is logged of it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import longcoref
from longcoref.cli import main
from longcoref.errors import UsageError
from longcoref.resolver import Resolver
from longcoref.server.access import Access, access_to
from longcoref.server.access_log import LOGGER
from longcoref.server.app import build_app
from longcoref.server.limits import Limits
from serving import TEXT, URL, connect, raw_request, received, running, serving, visiting

TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return longcoref.load(threads=1)


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGCOREF_TOKEN", raising=False)


# Host names


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("localhost:8000", 200), ("127.0.0.1:1", 200), ("[::1]:8000", 200), ("LOCALHOST", 200),
     ("evil.example", 421), ("localhost.evil.example", 421), ("evil.example:8000", 421), ("", 421)],
)  # fmt: skip
def test_only_loopback_names_are_answered(resolver: Resolver, host: str, status: int) -> None:
    with visiting(resolver) as client:
        for path in ("/", "/health", "/metrics", "/docs"):
            assert client.get(path, headers={"Host": host}).status_code == status
        assert client.post(URL, json={"text": "She."}, headers={"Host": host}).status_code == status


def test_further_names_can_be_allowed(resolver: Resolver) -> None:
    for allowed, host in (("coref.example", "coref.example:80"), ("fd00::1", "[fd00::1]:8000"), ("*", "any.example")):
        with visiting(resolver, access=access_to("127.0.0.1", allowed_hosts=[allowed])) as client:
            assert client.get("/health", headers={"Host": host}).status_code == 200
            assert client.get("/health").status_code == 200


# The token


@pytest.mark.parametrize(
    ("given", "status"),
    [(None, 401), (f"Bearer {TOKEN}", 200), (f"Bearer {TOKEN}x", 401), (f"Basic {TOKEN}", 401), ("Bearer é", 401)],
)
def test_requests_need_the_token(resolver: Resolver, given: str | None, status: int) -> None:
    headers = {} if given is None else {"Authorization": given.encode()}
    with visiting(resolver, access=Access(token=TOKEN)) as client:
        answer = client.post(URL, json={"text": TEXT}, headers=headers)
        assert answer.status_code == status
        assert ("www-authenticate" in answer.headers) == (status == 401)
        assert client.get("/metrics", headers=headers).status_code == status
        for path in ("/", "/docs", "/health"):
            assert client.get(path).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "coref.example"])
def test_other_machines_need_a_token(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="--token-file or LONGCOREF_TOKEN, or say --no-token"):
        access_to(host)
    assert access_to(host, no_token=True).token is None
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    assert access_to(host, token_file=path).token == TOKEN
    monkeypatch.setenv("LONGCOREF_TOKEN", TOKEN)
    assert access_to(host).token == TOKEN
    with pytest.raises(UsageError, match="leave out --no-token"):
        access_to(host, no_token=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_needs_none(host: str) -> None:
    assert access_to(host).token is None


@pytest.mark.parametrize("content", [b"", b"short", b"with a space in it", "sixteen-umlauts-ä".encode(), b"\xff" * 20])
def test_a_token_that_cannot_be_sent_or_is_guessed_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="token"):
        access_to("127.0.0.1", token_file=path)
    with pytest.raises(UsageError, match="cannot read the token"):
        access_to("127.0.0.1", token_file=tmp_path / "missing")


def test_the_command_refuses_to_serve_others_without_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["serve", "--host", "0.0.0.0", "--port", "0"])
    assert done.value.code == 2
    assert "other machines can reach 0.0.0.0" in capsys.readouterr().err


# Ambiguous requests


def test_two_lengths_are_refused(resolver: Resolver) -> None:
    limits = Limits()
    smuggled = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(build_app(resolver, limits), limits) as port:
        sent = raw_request(b"0\r\n\r\n" + smuggled, length=5, more=["Transfer-Encoding: chunked"])
        answer = received(connect(port, sent))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"not both" in answer
    assert answer.count(b"HTTP/1.1") == 1


# The access log


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def log() -> Iterator[list[str]]:
    logger, handler = logging.getLogger(LOGGER), Lines()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield handler.lines
    logger.removeHandler(handler)
    logger.setLevel(level)


LINE = re.compile(
    r'(?P<host>\S+) - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] '
    r'"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/1\.1" (?P<status>\d{3}) (?P<size>\d+) \d+\.\d{3} (?P<id>\S+)'
)  # fmt: skip


def test_every_request_is_logged_with_its_id_and_without_its_text(resolver: Resolver, log: list[str]) -> None:
    with visiting(resolver, max_bytes=1000) as client:
        answers = [
            client.post(URL, json={"text": TEXT}, headers={"X-Request-ID": "novel-7"}),
            client.post(f"{URL}?text=Hallow", json={"text": TEXT * 10}),
            client.post(URL, json={"text": TEXT, "Hallow": 1}),
            client.get("/health", headers={"Host": "evil.example", "X-Request-ID": 'no"good\tid'}),
        ]
    logged = [LINE.fullmatch(line) for line in log]
    assert [(found["status"], int(found["size"]), found["id"]) for found in logged if found] == [
        (str(answer.status_code), len(answer.content), answer.headers["x-request-id"]) for answer in answers
    ]
    assert [answer.status_code for answer in answers] == [200, 413, 422, 421]
    assert answers[0].headers["x-request-id"] == "novel-7"
    assert len({answer.headers["x-request-id"] for answer in answers}) == 4
    assert "Hallow" not in "".join(log)


@given(st.text(max_size=300))
def test_no_path_breaks_the_log(path: str) -> None:
    from longcoref.server.access_log import _shown

    shown = _shown(path)
    assert LINE.fullmatch(f'x - - [01/Jan/2026:00:00:00 +0000] "GET /{shown} HTTP/1.1" 404 0 0.000 x')
    assert len(shown) <= 203


def test_the_log_goes_to_standard_output_and_can_be_switched_off() -> None:
    for option, expected in (("--access-log", 1), ("--no-access-log", 0)):
        with running(option) as (process, address):
            port = int(address.rpartition(":")[2].strip("/"))
            sent = raw_request(json.dumps({"text": TEXT}).encode(), more=["Connection: close"])
            assert received(connect(port, sent)).startswith(b"HTTP/1.1 200")
            process.terminate()
            logged, errors = process.communicate(timeout=60)
        assert errors == ""
        assert len(LINE.findall(logged)) == len(logged.splitlines()) == expected


def test_errors_of_our_own_have_an_id_too(resolver: Resolver, log: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longcoref.server.app._answer", lambda *_, **__: 1 / 0)
    client = TestClient(build_app(resolver), base_url="http://localhost", raise_server_exceptions=False)
    assert client.post(URL, json={"text": TEXT}).status_code == 500
    (found,) = [LINE.fullmatch(line) for line in log]
    assert found
    assert found["status"] == "500"
