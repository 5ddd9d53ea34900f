"""The API: its answers, its refusals, and its description."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any, get_args

import pytest
import schemathesis
from hypothesis import Phase, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.testclient import TestClient

import longcoref
from longcoref.book.revision import NOTHING
from longcoref.memory import chosen_policy
from longcoref.render.outputs import write_results
from longcoref.resolver import Resolver
from longcoref.server import answers
from longcoref.server.access import Access
from longcoref.server.app import build_app
from longcoref.server.limits import Limits
from longcoref.server.schemas import To
from longcoref.text import tokenize
from serving import JSON, LONG, TEXT, URL, client_of, lines_of, metric, visiting


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of some sentences is read in many pieces."""
    monkeypatch.setattr(answers, "_PIECE", 200)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return longcoref.load(threads=1)


@pytest.fixture(scope="module")
def client(resolver: Resolver) -> Iterator[TestClient]:
    with client_of(build_app(resolver)) as client:
        yield client


# Answers


def test_the_answer_is_what_resolve_gives(client: TestClient, resolver: Resolver) -> None:
    answer = client.post(URL, json={"text": TEXT, "id": "inn"})
    assert answer.status_code == 200
    assert answer.json() == resolver(TEXT, id="inn").as_json()
    for cluster in answer.json()["clusters"]:
        for mention in cluster["mentions"]:
            assert TEXT[mention["start"] : mention["end"]] == mention["text"]


@pytest.mark.parametrize("format", get_args(To))
def test_other_formats_are_those_of_the_command(client: TestClient, resolver: Resolver, format: str) -> None:
    answer = client.post(URL, json={"text": TEXT, "id": "inn", "to": format})
    written = io.StringIO()
    write_results([resolver(TEXT, id="inn")], written, format)
    if format == "json":
        assert answer.json() == resolver(TEXT, id="inn").as_json()
    else:
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.text == written.getvalue()
        assert client.post(URL, json={"text": TEXT, "to": format, "stream": True}).status_code == 422


@pytest.mark.parametrize("format", ["json", "resolved"])
def test_a_batch_has_the_answers_of_its_texts(client: TestClient, format: str) -> None:
    texts = [{"text": TEXT, "id": "inn"}, {"text": ""}, {"text": "Ann left. She was late."}]
    settings = {"to": format, "cells": 5, "types": ["PER"]}
    answer = client.post("/v1/batch", json={"texts": texts, **settings})
    assert answer.status_code == 200
    single = [client.post(URL, json={**text, **settings}) for text in texts]
    assert answer.json()["results"] == [one.json() if format == "json" else one.text for one in single]
    assert client.post("/v1/batch", json={"texts": []}).json() == {"results": []}


def test_a_batch_has_the_limits_of_a_request(resolver: Resolver) -> None:
    with client_of(build_app(resolver, Limits(max_bytes=3000, max_seconds=0.5))) as client:
        assert client.post("/v1/batch", json={"texts": [{"text": "Ann left. " * 50}] * 20}).status_code == 413
        assert client.post("/v1/batch", json={"texts": [{"text": "a"}] * 1001}).status_code in (413, 422)
        assert client.post("/v1/batch", json={"texts": [{"text": 1}]}).json()["detail"][0]["loc"][:2] == [
            "body",
            "texts",
        ]
    with client_of(build_app(resolver, Limits(max_seconds=0.2))) as client:
        assert client.post("/v1/batch", json={"texts": [{"text": LONG}] * 3}).status_code == 503


@pytest.mark.parametrize("text", ["", " \n", "\x00", "a" * 70_000, "He " * 500], ids=lambda text: repr(text[:5]))
def test_any_text_has_an_answer(client: TestClient, resolver: Resolver, text: str) -> None:
    assert client.post(URL, json={"text": text}).json() == resolver(text).as_json()


@pytest.mark.parametrize(("memory", "cells"), [("rule", 2), ("learned", 1), ("unbounded", None), (None, 3)])
def test_a_request_may_choose_its_memory(
    client: TestClient, resolver: Resolver, memory: str | None, cells: int | None
) -> None:
    answer = client.post(URL, json={"text": TEXT, "memory": memory, "cells": cells}).json()
    own = Resolver(resolver.model, chosen_policy(resolver.model.config.memory, memory=memory, cells=cells))
    assert answer == own(TEXT).as_json()
    assert answer["memory"] == {"policy": memory or "learned", "capacity": cells}


def test_what_a_request_does_not_choose_is_as_the_server_says(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Resolver] = []

    def spied(own: Resolver, **options: Any) -> answers.WholeAnswer:
        used.append(own)
        return answers.WholeAnswer(own, **options)

    monkeypatch.setattr("longcoref.server.app.WholeAnswer", spied)
    own = resolver.with_settings(memory="rule", cells=2, recall=True, post_processing="none")
    choices: list[dict[str, Any]] = [
        {}, {"cells": 3}, {"recall": False}, {"memory": "learned"}, {"memory": "unbounded"}, {"post_processing": "all"}
    ]  # fmt: skip
    with visiting(own) as client:
        for chosen in choices:
            assert client.post(URL, json={"text": TEXT, **chosen}).status_code == 200
    expected = [own.with_settings(**chosen) for chosen in choices]
    assert [(one.policy, one.book) for one in used] == [(one.policy, one.book) for one in expected]
    assert [one.policy.recalls for one in used] == [True, True, False, True, True, True]


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
    plain = Resolver(resolver.model, resolver.policy, book=NOTHING)
    assert [clusters[number] for number in sorted(clusters)] == plain(text).as_json()["clusters"]
    progress = [line["progress"] for line in lines if "progress" in line]
    assert [step["characters"] for step in progress] == sorted(step["characters"] for step in progress)
    assert progress[-1] == {"characters": len(text), "of": len(text)}
    assert lines[-2]["end"]["clusters"] == len(clusters)
    assert lines[-1] == {"result": whole}


def test_a_stream_has_every_decision_if_wanted(client: TestClient, resolver: Resolver) -> None:
    lines = lines_of(client.post(URL, json={"text": TEXT, "stream": True, "trace": True}).text)
    decisions = [(line["start"], line["end"], line["action"]) for line in lines if "action" in line]
    mentions = resolver.mentions(tokenize(TEXT))
    assert decisions == [(mention.start, mention.end, mention.decided.action.kind.value) for mention in mentions]


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
        (b"", 422, "body"),
        (b'{"text": ', 400, "not JSON"),
        (b"She came.", 400, "not JSON"),
        (b'{"text": "\xff"}', 400, "body"),
        (b"[" * 100_000, 400, "body"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(client: TestClient, body: Any, status: int, said: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post(URL, content=content, headers=JSON)
    assert answer.status_code == status
    assert said in json.dumps(answer.json()["detail"])
    assert TEXT not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        {"x" * 1_000_000: 1},
        {"text": TEXT, "types": ["x" * 1_000_000]},
        {"text": TEXT, "memory": "x" * 1_000_000},
        {"text": TEXT, "id": "x" * 1_000_000},
        {f"field {number}": 1 for number in range(50_000)},
    ],
    ids=["name", "type", "memory", "id", "names"],
)
def test_a_refusal_does_not_repeat_what_was_sent(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post(URL, json=body)
    assert answer.status_code == 422
    assert len(answer.content) < 5_000


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_what_another_sites_page_can_send_is_refused(client: TestClient, kind: str | None) -> None:
    answer = client.post(URL, content=b'{"text": "She."}', headers={"Content-Type": kind} if kind else None)
    assert answer.status_code == 415


def test_a_model_that_reads_whole_documents_only_is_refused_at_once(resolver: Resolver) -> None:
    config = resolver.model.config
    model = replace(resolver.model, config=replace(config, proposals=replace(config.proposals, rule="top")))
    with pytest.raises(longcoref.LongcorefError, match="piece by piece"):
        build_app(Resolver(model, resolver.policy))


# What surrounds the answers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 200), ("GET", "/docs", 200), ("GET", "/health", 200), ("GET", "/metrics", 200), ("GET", URL, 405),
     ("GET", "/openapi.json", 200), ("GET", "/../etc/passwd", 404), ("POST", URL, 415), ("GET", "/docs/x", 404),
     ("HEAD", "/", 200), ("HEAD", URL, 405)],
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


@pytest.mark.parametrize("path", ["/", "/docs", "/health", "/openapi.json", "/nowhere"])
def test_head_is_get_without_the_body(client: TestClient, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    varying = "x-request-id"
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert {**head.headers, varying: ""} == {**whole.headers, varying: ""}


def test_what_is_counted(resolver: Resolver) -> None:
    with visiting(resolver) as client:
        client.post(URL, json={"text": TEXT})
        client.post(URL, json={"text": TEXT, "cells": 0})
        assert metric(client, "longcoref_requests_total", status="200") == 1
        assert metric(client, "longcoref_requests_total", status="422") == 1
        assert metric(client, "longcoref_characters_total") == len(TEXT)
        assert metric(client, "longcoref_request_seconds_count") == 2
        assert metric(client, "process_resident_memory_bytes") > 10**7
        health = client.get("/health").json()
    assert health == {
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


# The description


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_nothing_that_the_description_allows_or_forbids_breaks_the_server(
    resolver: Resolver, mode: schemathesis.GenerationMode
) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", build_app(resolver, access=Access(frozenset({"*"}))))
    operations = [found.ok() for found in schema.get_all_operations()]
    assert {operation.path for operation in operations} == {URL, "/v1/batch", "/health", "/metrics"}
    for operation in operations:
        if mode is schemathesis.GenerationMode.NEGATIVE and operation.path != URL:
            continue  # they take nothing that could be wrong

        @settings(max_examples=25, phases=(Phase.generate,))
        @given(operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            # That trace needs stream, or unbounded no cells, is said in words and not in the description.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        check()
