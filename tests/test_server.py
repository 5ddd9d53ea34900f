"""The server: its answers, its limits, and what becomes of clients that leave."""

from __future__ import annotations

import itertools
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import anyio
import pytest
import schemathesis
from hypothesis import Phase, given, settings
from prometheus_client.parser import text_string_to_metric_families
from schemathesis.specs.openapi.checks import positive_data_acceptance
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait
from starlette.testclient import TestClient

import longcoref
from longcoref.cli import main
from longcoref.memory import memory_policy
from longcoref.resolver import Resolver
from longcoref.runtime.heads import Floats
from longcoref.runtime.pieces import Integers
from longcoref.runtime.reading import WindowEncoder
from longcoref.runtime.windows import Window
from longcoref.server import answers
from longcoref.server.app import build_app
from longcoref.server.limits import Limits
from longcoref.text import tokenize

TEXT = (
    "“I am late,” said Anna.\r\nMrs. Hallow kept the inn at Saltby. "
    "Her husband had drowned, and she never spoke of him.\r\n🐦 Her parrot did."
)
LONG = "Nora Finch rowed to the island, and her brother waited on the pier for her until the lamp went out. " * 40
URL = "/v1/resolve"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a text of some sentences is read in many."""
    monkeypatch.setattr(answers, "_PIECE", 200)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return longcoref.load(threads=1)


@pytest.fixture(scope="module")
def client(resolver: Resolver) -> Iterator[TestClient]:
    with TestClient(build_app(resolver)) as client:
        yield client


@contextmanager
def visiting(resolver: Resolver, **limits: Any) -> Iterator[TestClient]:
    """A client of a server with these limits."""
    with TestClient(build_app(resolver, Limits(**limits))) as client:
        yield client


def metric(client: TestClient, name: str, **labels: str) -> float:
    """What the server counts under a name."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    values = [s.value for f in families for s in f.samples if s.name == name and s.labels.items() >= labels.items()]
    return sum(values)


def lines_of(text: str) -> list[dict[str, Any]]:
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


# Answers


def test_the_answer_is_what_resolve_gives(client: TestClient, resolver: Resolver) -> None:
    answer = client.post(URL, json={"text": TEXT, "id": "inn"})
    assert answer.status_code == 200
    assert answer.json() == resolver(TEXT, id="inn").as_json()
    for cluster in answer.json()["clusters"]:
        for mention in cluster["mentions"]:
            assert TEXT[mention["start"] : mention["end"]] == mention["text"]


@pytest.mark.parametrize("text", ["", " \n", "\x00", "a" * 70_000, "He " * 500], ids=lambda text: repr(text[:5]))
def test_any_text_has_an_answer(client: TestClient, resolver: Resolver, text: str) -> None:
    assert client.post(URL, json={"text": text}).json() == resolver(text).as_json()


@pytest.mark.parametrize(("memory", "cells"), [("rule", 2), ("learned", 1), ("unbounded", None), (None, 3)])
def test_a_request_may_choose_its_memory(
    client: TestClient, resolver: Resolver, memory: str | None, cells: int | None
) -> None:
    answer = client.post(URL, json={"text": TEXT, "memory": memory, "cells": cells}).json()
    own = Resolver(resolver.model, memory_policy(memory or "learned", cells))
    assert answer == own(TEXT).as_json()
    assert answer["memory"] == {"policy": memory or "learned", "capacity": cells}


def test_a_request_may_choose_whom_to_see(client: TestClient, resolver: Resolver) -> None:
    answer = client.post(URL, json={"text": TEXT, "types": ["PER"], "min_mentions": 2}).json()
    assert answer == resolver(TEXT).select(types=["PER"], min_mentions=2).as_json()
    assert 0 < len(answer["clusters"]) < len(resolver(TEXT))


@pytest.mark.parametrize("text", [TEXT, LONG], ids=["short", "long"])
def test_a_stream_says_the_same_line_by_line(client: TestClient, resolver: Resolver, text: str) -> None:
    asked = client.post(URL, json={"text": text, "stream": True, "id": "tale"})
    assert asked.headers["content-type"] == "application/x-ndjson"
    assert (
        client.post(URL, json={"text": text, "id": "tale"}, headers={"Accept": "application/x-ndjson"}).text
        == asked.text
    )
    lines = lines_of(asked.text)
    whole = resolver(text, id="tale").as_json()
    assert lines[0] == {"schema": "longcoref-stream/1", **{key: whole[key] for key in ("id", "model", "memory")}}
    clusters: dict[int, dict[str, Any]] = {}
    for line in lines:
        if "mention" in line:
            clusters.setdefault(line["cluster"], {"mentions": []})["mentions"].append(line["mention"])
        elif "closed" in line:
            assert line["closed"]["mentions"] == len(clusters[line["closed"]["id"]]["mentions"])
            clusters[line["closed"]["id"]] |= {key: line["closed"][key] for key in ("id", "name", "type")}
    for cluster in clusters.values():
        for mention in cluster["mentions"]:
            if mention["type"] == cluster["type"]:
                del mention["type"]
    plain = Resolver(resolver.model, resolver.policy, names=False, speech=False)
    assert [clusters[number] for number in sorted(clusters)] == plain(text).as_json()["clusters"]
    progress = [line["progress"] for line in lines if "progress" in line]
    assert [step["characters"] for step in progress] == sorted(step["characters"] for step in progress)
    assert progress[-1] == {"characters": len(text), "of": len(text)}
    assert lines[-2]["end"]["clusters"] == len(clusters)
    assert lines[-1] == {"result": whole}


def test_a_stream_has_every_decision_if_wanted(client: TestClient, resolver: Resolver) -> None:
    lines = lines_of(client.post(URL, json={"text": TEXT, "stream": True, "trace": True}).text)
    decisions = [(line["start"], line["end"], line["action"]) for line in lines if "action" in line]
    steps = resolver.steps(tokenize(TEXT))
    assert decisions == [(step.start, step.end, step.decision.action.kind.value) for step in steps]


def test_answers_are_not_mixed_up(client: TestClient, resolver: Resolver) -> None:
    couples = itertools.product(("Ada", "Mary", "Ruth", "Jane"), ("Tom", "Sam", "Paul", "Hugh"))
    texts = [
        f"{name} met {other}. She gave him {count} coins, and he thanked her. " * (1 + count % 3)
        for count, (name, other) in enumerate(couples)
    ]
    expected = [resolver(text).as_json() for text in texts]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda text: client.post(URL, json={"text": text}).json(), texts * 2))
    assert answers == expected * 2


# Mistakes


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 422, "text"),
        ({"text": 3}, 422, "text"),
        ({"text": TEXT, "memry": "rule"}, 422, "memry"),
        ({"text": TEXT, "memory": "elephant"}, 422, "learned"),
        ({"text": TEXT, "cells": 0}, 422, "cells"),
        ({"text": TEXT, "cells": 10**9}, 422, "cells"),
        ({"text": TEXT, "memory": "unbounded", "cells": 5}, 422, "no capacity"),
        ({"text": TEXT, "types": ["PRE"]}, 422, "did you mean 'PER'?"),
        ({"text": TEXT, "min_mentions": 0}, 422, "min_mentions"),
        ({"text": TEXT, "trace": True}, 422, "stream"),
        ({"text": "half a character: \ud83d"}, 422, "text"),
        ({"text": TEXT, "half \ud83d": 1}, 422, "unicode"),
        ([], 422, "body"),
        (b'{"text": ', 422, "JSON"),
        (b'{"text": "\xff"}', 400, "body"),
        (b"[" * 100_000, 400, "body"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(client: TestClient, body: Any, status: int, said: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post(URL, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert said in json.dumps(answer.json()["detail"])
    assert TEXT not in answer.text


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_what_another_sites_page_can_send_is_refused(client: TestClient, kind: str | None) -> None:
    answer = client.post(URL, content=b'{"text": "She."}', headers={"Content-Type": kind} if kind else None)
    assert answer.status_code == 415


def test_a_model_that_reads_whole_documents_only_is_refused_at_once(resolver: Resolver) -> None:
    config = resolver.model.config
    model = replace(resolver.model, config=replace(config, proposals=replace(config.proposals, rule="top")))
    with pytest.raises(longcoref.LongcorefError, match="piece by piece"):
        build_app(Resolver(model, resolver.policy))


# Limits


@pytest.mark.parametrize("chunked", [False, True])
def test_a_text_that_is_too_large_is_refused(resolver: Resolver, chunked: bool) -> None:
    with visiting(resolver, max_bytes=1000) as client:
        for size, status in ((900, 200), (1100, 413), (9000, 413)):
            body = json.dumps({"text": "x " * (size // 2)}).encode()
            content = iter([body[:500], body[500:]]) if chunked else body
            answer = client.post(URL, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code == status
        assert "1000 bytes" in answer.json()["detail"]
        assert metric(client, "longcoref_requests_total", status="413") == 2


def test_time_is_up(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count()
    monkeypatch.setattr(answers, "current_time", lambda: 3600 * next(hours))
    with visiting(resolver) as client:
        answer = client.post(URL, json={"text": TEXT})
        assert answer.status_code == 503
        assert "not read within" in answer.json()["detail"]
        assert lines_of(client.post(URL, json={"text": TEXT, "stream": True}).text)[-1]["error"]["status"] == 503
        assert metric(client, "longcoref_stopped_total", reason="time") == 2


@dataclass
class Held:
    """An encoder that works only when it is let, and counts."""

    encoder: WindowEncoder
    begun: threading.Event = field(default_factory=threading.Event)
    free: threading.Event = field(default_factory=threading.Event)
    count: int = 0

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Floats:
        self.count += 1
        self.begun.set()
        assert self.free.wait(60)
        return self.encoder.encode(ids, windows)


@pytest.fixture
def held(resolver: Resolver) -> tuple[Held, Resolver]:
    encoder = Held(resolver.model.encoder)
    return encoder, Resolver(replace(resolver.model, encoder=encoder), resolver.policy)


def test_who_comes_when_the_queue_is_full_is_refused(held: tuple[Held, Resolver], resolver: Resolver) -> None:
    encoder, slow = held
    with visiting(slow, at_once=1, queue=1) as client, ThreadPoolExecutor(2) as pool:
        first = pool.submit(client.post, URL, json={"text": TEXT})
        assert encoder.begun.wait(60)
        second = pool.submit(client.post, URL, json={"text": LONG})
        while metric(client, "longcoref_inside") < 2:
            pass
        third = client.post(URL, json={"text": TEXT})
        assert third.status_code == 503
        assert int(third.headers["retry-after"]) > 0
        assert client.get("/health").status_code == 200  # who watches is not kept waiting
        assert metric(client, "longcoref_reading") == 1
        encoder.free.set()
        assert first.result().json() == resolver(TEXT).as_json()
        assert second.result().json() == resolver(LONG).as_json()
        assert client.post(URL, json={"text": TEXT}).status_code == 200
        assert metric(client, "longcoref_inside") == 0


# Clients that leave


@dataclass
class Visit:
    """A request without a network: what the client sends, and when it leaves."""

    app: Any
    body: bytes
    left: anyio.Event = field(default_factory=anyio.Event)
    sent: list[dict[str, Any]] = field(default_factory=list)
    on_send: Callable[[], None] = lambda: None

    async def run(self) -> None:
        headers = [(b"content-type", b"application/json"), (b"host", b"test")]
        scope = {"type": "http", "method": "POST", "path": URL, "raw_path": URL.encode(), "query_string": b"",
                 "headers": headers, "http_version": "1.1", "scheme": "http", "server": ("test", 80),
                 "client": ("test", 1), "root_path": "", "asgi": {"version": "3.0", "spec_version": "2.3"}}  # fmt: skip
        body: list[bytes] = [self.body]

        async def receive() -> dict[str, Any]:
            if body:
                return {"type": "http.request", "body": body.pop(), "more_body": False}
            await self.left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            self.sent.append(message)
            self.on_send()

        await self.app(scope, receive, send)


@pytest.mark.parametrize("stream", [False, True])
def test_the_work_of_a_client_that_leaves_is_stopped(held: tuple[Held, Resolver], stream: bool) -> None:
    encoder, slow = held
    app = build_app(slow, Limits(at_once=1, queue=1))

    async def leave() -> None:
        visit = Visit(app, json.dumps({"text": LONG, "stream": stream}).encode())
        waiting = Visit(app, json.dumps({"text": LONG}).encode())
        async with anyio.create_task_group() as group:
            group.start_soon(visit.run)
            await anyio.to_thread.run_sync(encoder.begun.wait)
            group.start_soon(waiting.run)
            await anyio.wait_all_tasks_blocked()
            waiting.left.set()  # one leaves the queue, the other while a thread is busy with its first piece
            visit.left.set()
            await anyio.wait_all_tasks_blocked()
            encoder.free.set()
        assert not waiting.sent
        assert not any(message.get("more_body") is False for message in visit.sent)

    anyio.run(leave)
    with TestClient(app) as client:
        assert metric(client, "longcoref_stopped_total", reason="client") == 2
        assert metric(client, "longcoref_inside") == metric(client, "longcoref_reading") == 0
        assert encoder.count == 1  # the piece under way, and no more
        assert 0 < metric(client, "longcoref_characters_total") < len(LONG) / 2
        encoder.count = 0
        client.post(URL, json={"text": LONG})
        assert encoder.count > 3


def test_an_upload_that_does_not_go_on_is_given_up(resolver: Resolver) -> None:
    app = build_app(resolver, Limits(upload_seconds=0.01))
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": URL, "headers": [(b"content-type", b"application/json")]}
    anyio.run(app, scope, anyio.sleep_forever, send)
    assert sent[0]["status"] == 408


# What surrounds the answers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 200), ("GET", "/docs", 200), ("GET", "/health", 200), ("GET", "/metrics", 200), ("GET", URL, 405),
     ("GET", "/openapi.json", 200), ("GET", "/../etc/passwd", 404), ("POST", URL, 415), ("GET", "/docs/x", 404)],
)  # fmt: skip
def test_every_answer_tells_the_browser_its_limits(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in answer.headers


def test_what_is_counted(resolver: Resolver) -> None:
    with visiting(resolver) as client:
        client.post(URL, json={"text": TEXT})
        client.post(URL, json={"text": TEXT, "cells": 0})
        assert metric(client, "longcoref_requests_total", status="200") == 1
        assert metric(client, "longcoref_requests_total", status="422") == 1
        assert metric(client, "longcoref_characters_total") == len(TEXT)
        assert metric(client, "longcoref_request_seconds_count") == 2
        assert metric(client, "process_resident_memory_bytes") > 10**7
    assert client.get("/health").json() == {
        "status": "ok", "version": longcoref.__version__, "model": resolver.model.name
    }  # fmt: skip


class Outside(HTMLParser):
    """The tags of a page, and what it would fetch."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.fetched: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        wanted = ("src",) if tag == "a" else ("src", "href")
        self.fetched += [
            value or "" for name, value in attrs if name in wanted and not (value or "").startswith("data:")
        ]


def test_the_pages_need_no_network(client: TestClient) -> None:
    documentation = Outside(client.get("/docs").text)
    assert "script" not in documentation.tags
    assert documentation.fetched == []
    assert Outside(client.get("/").text).fetched == []


def test_the_documentation_has_every_path_and_field(client: TestClient) -> None:
    page, description = client.get("/docs").text, client.get("/openapi.json").json()
    for path in description["paths"]:
        assert path in page
    for name, schema in description["components"]["schemas"].items():
        assert f'id="{name}"' in page
        for name in schema["properties"]:
            assert f"<code>{name}</code>" in page


# The process


@contextmanager
def running(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own at a free port, and its address."""
    command = [sys.executable, "-m", "longcoref", "serve", "--port", "0", "--threads", "1", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/", said)
            assert found, said + process.stderr.read()
            yield process, found[0]
        finally:
            process.kill()


def test_a_signal_ends_the_server_while_a_text_is_being_read() -> None:
    with running() as (process, address):
        body = json.dumps({"text": LONG * 200, "stream": True}).encode()
        asked = Request(f"{address}v1/resolve", body, {"Content-Type": "application/json"})
        with urlopen(asked, timeout=60) as answer:
            assert json.loads(answer.readline())["schema"] == "longcoref-stream/1"
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGTERM)
        assert "Traceback" not in said


def test_an_address_that_is_taken_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as done:
        main(["serve", "--port", str(taken.getsockname()[1])])
    assert done.value.code == 2
    assert re.fullmatch(r"longcoref: cannot listen at 127\.0\.0\.1:\d+ .*--port\n", capsys.readouterr().err)


def test_without_the_extra_the_command_says_which(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("longcoref.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(SystemExit) as done:
        main(["serve"])
    assert done.value.code == 1
    assert "pip install 'longcoref[serve]'" in capsys.readouterr().err


# The page in a browser


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running("--max-bytes", "6000") as (_, address):
        yield address


@dataclass
class Page:
    """The server's page, used as a person would."""

    driver: webdriver.Chrome

    def element(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    def wait(self, condition: Callable[[], object]) -> None:
        WebDriverWait(self.driver, 60).until(lambda _: condition())

    def paste(self, text: str) -> None:
        """Puts a text into the field as the clipboard would, and has it read."""
        field = self.element("#start-text")
        self.driver.execute_script("arguments[0].select(); document.execCommand('insertText', false, arguments[1])",
                                   field, text)  # fmt: skip
        self.element("#start-read").click()

    def read(self, text: str) -> None:
        self.paste(text)
        done = "return !document.getElementById('start').open && document.getElementById('reading').hidden"
        self.wait(lambda: self.driver.execute_script(done))


@pytest.fixture
def page(driver: tuple[webdriver.Chrome, Path], address: str) -> Iterator[Page]:
    """The page as it opens; at the end, nothing may have gone wrong in it but what the server refused."""
    chrome, _ = driver
    chrome.get_log("browser")
    chrome.get(address)
    yield Page(chrome)
    assert [entry for entry in chrome.get_log("browser") if "413" not in entry["message"]] == []


def test_a_pasted_text_is_read_and_shown(page: Page, resolver: Resolver) -> None:
    text = TEXT.replace("\r\n", "\n")
    page.read(text)
    result = resolver(text)
    counts = dict(zip(page.texts(".entity .name"), map(int, page.texts(".entity .count")), strict=True))
    assert counts == {cluster.name: cluster.count for cluster in result if cluster.count > 1}
    drawn = page.texts(".mention")
    assert {mention.text for mention, cluster in result.mentions if cluster.count > 1} == set(drawn)
    page.element("#tab-memory").click()
    opened = Resolver(resolver.model, resolver.policy, names=False, speech=False)(text)
    page.wait(lambda: f"{len(opened)} entities" in page.element("#strip-note").text)
    # And another, shorter one in the same page, with nobody twice.
    page.element("#another").click()
    page.read("A ship came.")
    assert page.texts("#blocks") == ["A ship came."]
    assert page.texts(".entity .name") == ["A ship"]


def test_markup_in_a_text_stays_text(page: Page) -> None:
    text = "Lydia wrote <script>document.title = 'lost'</script> and <b onclick=x>she</b> smiled. Lydia <i>sang</i>."
    page.read(text)
    assert page.element("#blocks").text == text
    assert page.driver.title == text[:60].strip()
    assert page.driver.find_elements(By.CSS_SELECTOR, "#blocks b, #blocks i, #blocks script") == []


def test_what_the_page_gives_is_what_the_server_says(
    page: Page, driver: tuple[webdriver.Chrome, Path], resolver: Resolver
) -> None:
    _, folder = driver
    page.read(LONG[:2000])
    page.element("#download").click()
    page.wait(lambda: list(folder.glob("Nora*.json")))
    (file,) = folder.glob("Nora*.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    assert record["clusters"] == resolver(LONG[:2000]).as_json()["clusters"]
    assert record["text"] == LONG[:2000]


def test_a_refusal_is_told_and_the_text_kept(page: Page) -> None:
    page.paste("Too long. " * 700)
    page.wait(lambda: "6000 bytes" in page.element("#start-error").text)
    page.read("She came back, and her dog too.")


def test_reading_can_be_stopped(page: Page) -> None:
    page.paste(LONG)
    page.driver.execute_script("document.getElementById('reading-stop').click()")
    page.wait(lambda: not page.element("#reading").is_displayed())


# The description


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_nothing_that_the_description_allows_or_forbids_breaks_the_server(
    resolver: Resolver, mode: schemathesis.GenerationMode
) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", build_app(resolver))
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} == {URL, "/health", "/metrics"}
    for operation in operations:
        if mode is schemathesis.GenerationMode.NEGATIVE and operation.path != URL:
            continue  # they take nothing that could be wrong

        @settings(max_examples=25, phases=(Phase.generate,))
        @given(operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            # That trace needs stream, or unbounded no cells, is said in words and not in the description.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        check()
