"""The reader page: a text and its clusters as one HTML file that needs neither network nor server.

The parts of the page are the files in `reader/`. They are put together here with the data, which is packed into columns
of differences: a novel with all its mentions takes about two megabytes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from longcoref.document import Document
from longcoref.errors import UsageError
from longcoref.formats.json import SCHEMA, compact_parts, document_record
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
Integers = npt.NDArray[np.int64]

_MEMORY_ACTIONS = [kind.value for kind in ActionKind if kind is not ActionKind.INVALID]


def page(
    result: Result | Mapping[str, Any],
    text: str,
    *,
    title: str = "",
    trace: Trace | Iterable[MentionRecord] | None = None,
) -> str:
    """The reader page of a result, or of a record of the schema `longcoref/1`, and its text.

    Without a `title`, the page has the title that its text states, or else the id of the result. With a `trace`, it
    shows the memory over time and why a mention was put where it is.
    """
    decisions = trace if trace is None or isinstance(trace, Trace) else Trace(trace)
    return "".join(_page_parts(result, text, title, decisions))


def _page_parts(result: Result | Mapping[str, Any], text: str, title: str, trace: Trace | None) -> Iterator[str]:
    record = _record(result) | {"text": text}
    data: dict[str, Any] = {"title": title, "record": _pack(record)}
    if isinstance(result, Result) and result.document is not None:
        data["chapters"] = _chapters(result.document)
    if trace is not None:
        data["trace"] = trace.packed()
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
    parts, policy = _assembled(data, title=title, more=more, more_style=style, more_script=script)
    return "".join(parts), policy


def _assembled(
    data: dict[str, Any], *, title: str, more: str = "", more_style: str = "", more_script: str = ""
) -> tuple[Iterator[str], str]:
    """A page in parts, most of which need not be in memory at once, and its content security policy."""
    template, style, script = _parts()
    style, script = style + more_style, script + more_script
    policy = content_policy(style=style, script=script, connect=bool(more_script))
    fields = {
        "title": html.escape(title),
        "policy": policy,
        "style": style,
        "script": script,
        "more": more,
    }

    def parts() -> Iterator[str]:
        for number, part in enumerate(re.split(r"\{\{(\w+)\}\}", template)):
            if number % 2 == 0:
                yield part
            elif part == "data":
                # In JSON, < occurs only inside strings; escaped, no text can end the script element or open a comment.
                yield from (piece.replace("<", "\\u003c") for piece in compact_parts(data))
            else:
                yield fields[part]

    return parts(), policy


def content_policy(*, style: str, script: str = "", connect: bool = False) -> str:
    """The content security policy of a page that contains this style and script and needs nothing else."""
    sources = [f"style-src '{_hash(style)}'", *([f"script-src '{_hash(script)}'"] if script else [])]
    sources += ["connect-src 'self'"] if connect else []
    return f"default-src 'none'; {'; '.join(sources)}; img-src data:; base-uri 'none'; form-action 'none'"


def palette() -> str:
    """The style sheet of colours, fonts and buttons, for other pages that should look like this one."""
    return _part("palette.css")


def write_page(result: Result, stream: IO[str], *, trace: Trace | None = None) -> None:
    """Writes the page of a result that has its document."""
    stream.writelines(_page_parts(result, result.known_document.text, "", trace))


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
        return result.json_fields()
    if result.get("schema") != SCHEMA:
        raise UsageError(f"expected a result of schema {SCHEMA!r}, got {result.get('schema')!r}")
    return dict(result)


def _pack(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its long lists as columns; `unpacked` in reader/document.js is the inverse."""
    text, kinds, types = record["text"], _Numbers(), _Numbers()
    clusters: list[dict[str, Any]] = []
    rows = array("q")  # seven numbers for each mention
    for number, cluster in enumerate(record.get("clusters") or []):
        clusters.append({name: value for name, value in cluster.items() if name != "mentions"})
        for mention in cluster["mentions"]:
            start, end = mention["start"], mention["end"]
            if mention.get("text", text[start:end]) != text[start:end]:
                raise UsageError(
                    f"the result does not belong to this text: expected {mention['text'][:60]!r} at {start} to {end}, "
                    f"got {text[start:end][:60]!r}"
                )
            # The type of the mention, null included, or -1 if it is that of the cluster.
            type = types[mention["type"]] if "type" in mention else -1
            score = round(mention["score"] * 10_000) if "score" in mention else -1
            rows.extend((start, end, number, kinds[mention.get("kind")], type, score, mention.get("sentence", 0)))
    table = np.frombuffer(rows, dtype=np.int64).reshape(-1, 7).T
    starts, ends, numbers, kind, own_type, scores, sentences = table[:, np.lexsort((-table[1], table[0]))]
    kind, names_of_kinds = _by_first_use(kind, kinds)
    own_type, names_of_types = _by_first_use(own_type, types)
    columns = {
        "start": _differences(_each(starts)),
        "length": _each(ends - starts),
        "cluster": _each(numbers),
        "kind": _each(kind),
        "type": _each(own_type),
        "score": _each(scores),
        "sentence": _differences(_each(sentences)),
    }
    packed = {**record, "clusters": clusters}
    if record.get("quotes"):
        packed["quotes"] = _pack_quotes(record["quotes"], clusters)
    for key in ("words", "sentences"):
        if record.get(key) is not None:
            packed[key] = _differences(chain.from_iterable(record[key]))
    return packed | {"mentions": columns, "kinds": names_of_kinds, "types": names_of_types}


def _pack_quotes(quotes: Iterable[Mapping[str, Any]], clusters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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


def _by_first_use(numbers: Integers, known: _Numbers) -> tuple[Integers, list[Any]]:
    """The numbers of values, -1 for none, changed to the order of their first use here; and the values themselves."""
    values, used = list(known), _Numbers()
    changed = [-1 if number < 0 else used[values[number]] for number in numbers.tolist()]
    return np.array(changed, dtype=np.int64), list(used)


def _each(numbers: Integers | array[int]) -> Iterator[int]:
    """The numbers one by one; they become Python objects when they are written."""
    yield from numbers.tolist()


def _differences(numbers: Iterable[int]) -> Iterator[int]:
    """Each number as its difference from the one before."""
    return (second - first for first, second in pairwise(chain((0,), numbers)))


class Trace:
    """The decisions about the mentions of a text, as columns: the mentions with all their scores take a kilobyte each.

    Invalid mentions did not change the memory and are only counted.
    """

    def __init__(self, mentions: Iterable[MentionRecord] = ()) -> None:
        """`mentions` have their decisions, like those of `Resolver.mentions`; more can be added later."""
        self._invalid = 0
        self._places = {name: array("q") for name in ("start", "length", "action", "cell", "entity", "evicted")}
        self._scores = {name: array("d") for name in ("mention_score", "best_link")}
        for mention in mentions:
            self.add(mention)

    def add(self, mention: MentionRecord) -> None:
        """Takes the next mention, with its decision."""
        decision = mention.decided
        action, links = decision.action, decision.links
        if action.kind is ActionKind.INVALID:
            self._invalid += 1
            return
        numbers = (_number(action.cell), _number(decision.entity), _number(decision.evicted))
        place = (mention.start, mention.end - mention.start, _MEMORY_ACTIONS.index(action.kind.value), *numbers)
        for column, number in zip(self._places.values(), place, strict=True):
            column.append(number)
        scores = (decision.mention_score, links.max() if len(links) else math.nan)
        for rounded, score in zip(self._scores.values(), scores, strict=True):
            rounded.append(round(float(score), 2))

    def packed(self) -> dict[str, Any]:
        """The columns as JSON values; -1 is none, and so is null for a score."""
        places = {name: _each(column) for name, column in self._places.items()}
        scores = {
            name: (None if math.isnan(score) else score for score in column) for name, column in self._scores.items()
        }
        columns = {**places, "start": _differences(places["start"]), **scores}
        return {"invalid": self._invalid, "actions": _MEMORY_ACTIONS, **columns}


def _number(number: int | None) -> int:
    return -1 if number is None else number
