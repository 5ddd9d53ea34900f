"""The reader page: a text and its clusters as one HTML file that needs neither network nor server.

The parts of the page are the files in `reader/`. They are put together here with the data, which is packed into columns
of differences: a novel with all its mentions takes about two megabytes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import IO, Any

from longcoref.document import Document
from longcoref.errors import UsageError
from longcoref.formats.json import SCHEMA, document_record
from longcoref.memory.actions import ActionKind
from longcoref.mention import MentionRecord
from longcoref.result import Result
from longcoref.text.chapters import find_chapters

_SCRIPTS = (
    "document",
    "validation",
    "edits",
    "paragraphs",
    "title",
    "chapters",
    "state",
    "text",
    "cast",
    "details",
    "corrections",
    "strips",
    "memory",
    "network",
    "search",
    "address",
    "autosave",
    "exports",
    "page",
)
_MEMORY_ACTIONS = [kind.value for kind in ActionKind if kind is not ActionKind.INVALID]


def page(
    result: Result | Mapping[str, Any], text: str, *, title: str = "", trace: Iterable[MentionRecord] | None = None
) -> str:
    """The reader page of a result, or of a record of the schema `longcoref/1`, and its text.

    Without a `title`, the page has the title that its text states, or else the id of the result. `trace` are the
    mentions with their decisions (`Resolver.mentions`); with them, the page shows the memory over time and why a
    mention was put where it is.
    """
    record = _record(result) | {"text": text}
    data: dict[str, Any] = {"title": title, "record": _pack(record)}
    if isinstance(result, Result) and result.document is not None:
        data["chapters"] = _chapters(result.document)
    if trace is not None:
        data["trace"] = _pack_trace(trace)
    return _assembled(data, title=title or str(record.get("id") or ""))[0]


def outline(document: Document) -> dict[str, Any]:
    """The words, sentences and chapters of a document, which the page needs in order to correct its result."""
    record = document_record(document)
    return {"words": record["words"], "sentences": record["sentences"], "chapters": _chapters(document)}


def _chapters(document: Document) -> list[dict[str, Any]]:
    """Where each chapter begins, where its heading is, and its title."""
    return [
        {
            "start": document.offsets[chapter.span.start].start,
            "heading": document.offsets[chapter.heading].start,
            "title": chapter.title,
        }
        for chapter in find_chapters(document)
    ]


def live_page(*, title: str, more: str, style: str, script: str) -> tuple[str, str]:
    """The reader page without a text, for a server that gives it one; and its content security policy.

    `more` is HTML, `style` and `script` come after the page's own. The script may talk to its server.
    """
    data = {"title": title, "record": _pack({"schema": SCHEMA, "text": ""})}
    return _assembled(data, title=title, more=more, more_style=style, more_script=script)


def _assembled(
    data: Mapping[str, Any], *, title: str, more: str = "", more_style: str = "", more_script: str = ""
) -> tuple[str, str]:
    template, style, script = _parts()
    style, script = style + more_style, script + more_script
    policy = content_policy(style=style, script=script, connect=bool(more_script))
    fields = {
        "title": html.escape(title),
        "policy": policy,
        "style": style,
        "script": script,
        "more": more,
        # In JSON, < occurs only inside strings; escaped, no text can end the script element or open a comment.
        "data": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fields[found[1]], template), policy


def content_policy(*, style: str, script: str = "", connect: bool = False) -> str:
    """The content security policy of a page that contains this style and script and needs nothing else."""
    sources = [f"style-src '{_hash(style)}'", *([f"script-src '{_hash(script)}'"] if script else [])]
    sources += ["connect-src 'self'"] if connect else []
    return f"default-src 'none'; {'; '.join(sources)}; img-src data:; base-uri 'none'; form-action 'none'"


def palette() -> str:
    """The style sheet of colours, fonts and buttons, for other pages that should look like this one."""
    return _part("palette.css")


def write_page(result: Result, stream: IO[str], *, trace: Iterable[MentionRecord] | None = None) -> None:
    """Writes the page of a result that has its document."""
    stream.write(page(result, result.known_document.text, trace=trace))


@cache
def _parts() -> tuple[str, str, str]:
    scripts = (_part(f"{name}.js") for name in _SCRIPTS)
    return _part("reader.html"), f"{palette()}\n{_part('reader.css')}", "\n".join(scripts)


def _part(name: str) -> str:
    return (files(__package__) / "reader" / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    """The name of an inline script or style in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def _record(result: Result | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(result, Result):
        return result.as_json(text=True)
    if result.get("schema") != SCHEMA:
        raise UsageError(f"expected a result of schema {SCHEMA!r}, got {result.get('schema')!r}")
    return dict(result)


def _pack(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its long lists as columns; `unpacked` in reader/document.js is the inverse."""
    text, clusters = record["text"], record.get("clusters") or []
    mentions = sorted(
        ((mention, number) for number, cluster in enumerate(clusters) for mention in cluster["mentions"]),
        key=lambda pair: (pair[0]["start"], -pair[0]["end"]),
    )
    for mention, _ in mentions:
        start, end = mention["start"], mention["end"]
        if mention.get("text", text[start:end]) != text[start:end]:
            raise UsageError(
                f"the result does not belong to this text: expected {mention['text'][:60]!r} at {start} to {end}, "
                f"got {text[start:end][:60]!r}"
            )
    kinds = _Numbers()
    types = _Numbers()
    columns = {
        "start": _differences([mention["start"] for mention, _ in mentions]),
        "length": [mention["end"] - mention["start"] for mention, _ in mentions],
        "cluster": [number for _, number in mentions],
        "kind": [kinds[mention.get("kind")] for mention, _ in mentions],
        # The type of the mention, null included, or -1 if it is that of the cluster.
        "type": [types[mention["type"]] if "type" in mention else -1 for mention, _ in mentions],
        "score": [round(mention["score"] * 10_000) if "score" in mention else -1 for mention, _ in mentions],
        "sentence": _differences([mention.get("sentence", 0) for mention, _ in mentions]),
    }
    packed = {**record, "clusters": [{k: v for k, v in c.items() if k != "mentions"} for c in clusters]}
    if record.get("quotes"):
        packed["quotes"] = _pack_quotes(record["quotes"], clusters)
    for key in ("words", "sentences"):
        if record.get(key) is not None:
            packed[key] = _differences(list(chain.from_iterable(record[key])))
    return packed | {"mentions": columns, "kinds": list(kinds), "types": list(types)}


def _pack_quotes(quotes: Sequence[Mapping[str, Any]], clusters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The quotations as columns; speakers and addressees are indexes into the list of clusters, -1 is none."""
    places = {cluster["id"]: place for place, cluster in enumerate(clusters) if "id" in cluster}
    quotes = sorted(quotes, key=lambda quote: quote["start"])
    return {
        "start": _differences([quote["start"] for quote in quotes]),
        "length": [quote["end"] - quote["start"] for quote in quotes],
        "speaker": [places.get(quote.get("speaker"), -1) for quote in quotes],
        "addressee": [places.get(quote.get("addressee"), -1) for quote in quotes],
        "score": [round(quote["score"] * 10_000) if "score" in quote else -1 for quote in quotes],
        "continues": [number for number, quote in enumerate(quotes) if quote.get("continues")],
    }


class _Numbers(dict[Any, int]):
    """Numbers values in the order of their first use."""

    def __missing__(self, value: Any) -> int:
        self[value] = len(self)
        return self[value]


def _differences(numbers: Sequence[int]) -> list[int]:
    """Each number as its difference from the one before."""
    return [second - first for first, second in pairwise([0, *numbers])]


def _pack_trace(trace: Iterable[MentionRecord]) -> dict[str, Any]:
    """The decisions as columns; -1 is none. Invalid mentions did not change the memory and are only counted."""
    mentions = list(trace)
    valid = [mention for mention in mentions if mention.decided.action.kind is not ActionKind.INVALID]
    decisions = [mention.decided for mention in valid]
    return {
        "invalid": len(mentions) - len(valid),
        "actions": _MEMORY_ACTIONS,
        "start": _differences([mention.start for mention in valid]),
        "length": [mention.end - mention.start for mention in valid],
        "action": [_MEMORY_ACTIONS.index(decision.action.kind.value) for decision in decisions],
        "cell": [_number(decision.action.cell) for decision in decisions],
        "entity": [_number(decision.entity) for decision in decisions],
        "evicted": [_number(decision.evicted) for decision in decisions],
        "mention_score": [round(float(decision.mention_score), 2) for decision in decisions],
        "best_link": [round(float(max(decision.links)), 2) if len(decision.links) else None for decision in decisions],
    }


def _number(number: int | None) -> int:
    return -1 if number is None else number
