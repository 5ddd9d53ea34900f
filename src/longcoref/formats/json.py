"""Our own JSON, schema `longcoref/1`: documents, and the results of `longcoref resolve`.

All offsets are code points of `text`, half-open. A result adds keys of its own (`model`, `memory`, each
cluster's `name`, each mention's `score`), which the reader ignores.
docs/formats.md has the schema.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby, islice, pairwise
from typing import IO, Any

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.errors import DocumentError, quoted
from longcoref.formats.build import in_text_order
from longcoref.formats.records import Record, is_list_of, read_record_lines, read_records
from longcoref.formats.source import Source
from longcoref.spans import CharSpan, WordsAt, WordSpan
from longcoref.text import tokenize

SCHEMA = "longcoref/1"
# Offsets beyond this are damage: a result without its text is read as a text of blanks, which takes memory.
_LONGEST_TEXT = 100_000_000
_WORD = re.compile(r"\S+")
_encoded = json.JSONEncoder(ensure_ascii=False).encode
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ITEMS_AT_ONCE = 4  # of a long list, when it is written; one cluster may have thousands of mentions
_NUMBERS_AT_ONCE = 4096  # of a long list of numbers


def document_record(document: Document) -> dict[str, Any]:
    """A document without its clusters, as JSON values."""
    return settled(document_fields(document))


def document_fields(document: Document) -> dict[str, Any]:
    """A document without its clusters, as JSON values; a long list is an iterator over what would be in it."""
    fields: dict[str, Any] = {"schema": SCHEMA, "id": document.id}
    if document.part:
        fields["part"] = document.part
    if document.genre is not None:
        fields["genre"] = document.genre
    fields["text"] = document.text
    fields["words"] = iter(document.offsets)
    fields["sentences"] = map(document.characters, document.sentences)
    if document.speakers is not None:
        fields["speakers"] = _speaker_runs(document)
    return fields


def settled(fields: dict[str, Any]) -> dict[str, Any]:
    """JSON values without iterators: they become lists."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in fields.items()}


def object_parts(fields: dict[str, Any]) -> Iterator[str]:
    """The text of a JSON object, as `json.dumps` writes it, in parts: long lists never exist as a whole."""
    return _object_parts(fields, _encoded, ", ", ": ", _ITEMS_AT_ONCE)


def compact_parts(fields: dict[str, Any]) -> Iterator[str]:
    """The text of a JSON object without white space, in parts. Iterators over numbers may also be in objects in it."""
    return _object_parts(fields, _compact, ",", ":", _NUMBERS_AT_ONCE)


def _object_parts(
    fields: dict[str, Any], encoded: Callable[[Any], str], comma: str, colon: str, at_once: int
) -> Iterator[str]:
    before = "{"
    for name, value in fields.items():
        yield f"{before}{encoded(name)}{colon}"
        before = comma
        if isinstance(value, Iterator):
            between = "["
            while items := list(islice(value, at_once)):
                yield between + encoded(items)[1:-1]
                between = comma
            yield "[]" if between == "[" else "]"
        elif isinstance(value, dict):
            yield from _object_parts(value, encoded, comma, colon, at_once)
        else:
            yield encoded(value)
    yield "}" if fields else "{}"


def _speaker_runs(document: Document) -> Iterator[dict[str, Any]]:
    position = 0
    for speaker, words in groupby(document.speakers or ()):
        length = sum(1 for _ in words)
        if speaker is not None:
            start, end = document.characters(WordSpan(position, position + length))
            yield {"speaker": speaker, "start": start, "end": end}
        position += length


def cluster_records(document: Document) -> list[dict[str, Any]]:
    """The clusters of a document as JSON values.

    A type that all mentions of a cluster share is stored with the cluster, otherwise with each mention.
    """
    starts = [sentence.start for sentence in document.sentences]
    records = []
    for cluster in document.clusters or ():
        types = {mention.type for mention in cluster.mentions}
        record: dict[str, Any] = {}
        if cluster.id is not None:
            record["id"] = int(cluster.id) if re.fullmatch("0|[1-9][0-9]{0,8}", cluster.id) else cluster.id
        if len(types) == 1 and None not in types:
            record["type"] = types.pop()
        record["mentions"] = mentions = []
        for mention in cluster.mentions:
            start, end = document.characters(mention.span)
            item: dict[str, Any] = {"start": start, "end": end, "text": document.text[start:end]}
            if len(types) > 1:
                item["type"] = mention.type
            if mention.kind is not None:
                item["kind"] = mention.kind
            if mention.score is not None:
                item["score"] = round(mention.score, 4)
            item["sentence"] = bisect_right(starts, mention.span.start) - 1
            mentions.append(item)
        records.append(record)
    return records


def object_line(document: Document) -> str:
    """A document as one line of JSON."""
    fields = document_fields(document)
    if document.clusters is not None:
        fields["clusters"] = cluster_records(document)
    return "".join(object_parts(fields))


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes an object for a single document, and a list with one document per line for several."""
    write_objects(((object_line(document),) for document in documents), stream)


def write_objects(objects: Iterable[Iterable[str]], stream: IO[str]) -> None:
    """Writes a single JSON object, given in parts, as it is, and several as a list with one per line."""
    several = False
    pending: Iterable[str] | None = None
    for parts in objects:
        if pending is not None:
            stream.write("" if several else "[")
            stream.writelines(pending)
            stream.write(",\n")
            several = True
        pending = parts
    stream.writelines(["[]"] if pending is None else pending)
    stream.write("]\n" if several else "\n")


def write_lines(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes one JSON object per line and document."""
    stream.writelines(f"{object_line(document)}\n" for document in documents)


RECORD_READERS: dict[str, Callable[[Source], Iterator[Record]]] = {"json": read_records, "jsonl": read_record_lines}
"""How the objects of a file are read, by the name of its format."""


def read(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of a file, each with its first line."""
    for record in read_records(source):
        yield record.line, document_of_record(record)


def read_lines(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of a file with one per line, as a stream."""
    for record in read_record_lines(source):
        yield record.line, document_of_record(record)


def document_of_record(record: Record) -> Document:
    """The document that an object describes."""
    if record.get("schema") != SCHEMA:
        raise record.error(f"expected schema {SCHEMA!r}, got {quoted(record.get('schema'))}")
    id = record.string("id")
    try:
        document = _words(record, record.source.stem if id is None else id)
        words_at = WordsAt(document.offsets)
        return replace(
            document,
            part=0 if record.get("part") is None else record.integer("part"),
            genre=record.string("genre"),
            speakers=None if record.get("speakers") is None else _speakers(record, document, words_at),
            clusters=None if record.get("clusters") is None else _clusters(record, document, words_at),
        )
    except DocumentError as error:
        raise record.error(str(error)) from error


def words_at_record(place: Record, words_at: WordsAt) -> WordSpan:
    """The words at the `start` and `end` of an object."""
    start, end = place.integer("start"), place.integer("end")
    words = words_at(start, end)
    if words is None:
        raise place.error(f"{place.path}start: {start} to {end} does not begin and end with a word")
    return words


def _speakers(record: Record, document: Document, words_at: WordsAt) -> tuple[str | None, ...]:
    speakers: list[str | None] = [None] * len(document.words)
    position = 0
    for run in record.records("speakers"):
        start, end = words_at_record(run, words_at)
        if start < position:
            raise run.error(f"{run.path}start: overlaps the speaker before, or comes before it")
        speakers[start:end] = [run.string("speaker")] * (end - start)
        position = end
    return tuple(speakers)


def _clusters(record: Record, document: Document, words_at: WordsAt) -> tuple[Cluster, ...]:
    clusters: list[Cluster] = []
    seen: set[str] = set()
    for item in record.records("clusters"):
        number = item.get("id")
        id = str(number) if type(number) is int else item.string("id")
        if id in seen:
            raise item.error(f"{item.path}id: two clusters have the id {quoted(id)}")
        seen |= set() if id is None else {id}
        mentions = tuple(_mention(mention, item, document, words_at) for mention in item.records("mentions"))
        if not mentions:
            raise item.error(f"{item.path}mentions: expected at least one mention")
        clusters.append(Cluster(mentions, id))
    return in_text_order(clusters)


def _mention(record: Record, cluster: Record, document: Document, words_at: WordsAt) -> Mention:
    span = words_at_record(record, words_at)
    written, (start, end) = record.string("text"), document.characters(span)
    if written is not None and not (len(written) == end - start and document.text.startswith(written, start)):
        found = quoted(document.text_of(span))
        raise record.error(f"{record.path}text: {quoted(written)}, but the text has {found} there")
    typed = record if "type" in record.values else cluster
    score = None if record.get("score") is None else record.number("score")
    return Mention(span, record.string("kind"), typed.string("type"), score)


def _words(record: Record, id: str) -> Document:
    """Text, words and sentences; what the record does not contain is found by rule."""
    text = record.string("text")
    if text is None:
        return _on_blanks(record, id)
    if record.get("words") is None:
        return tokenize(text, id=id)
    offsets = _spans(record, "words")
    if record.get("sentences") is None:
        sentences = [WordSpan(0, len(offsets))] if offsets else []
    else:
        starts = {start: index for index, (start, _) in enumerate(offsets)}
        ends = {end: index + 1 for index, (_, end) in enumerate(offsets)}
        sentences = [WordSpan(starts.get(start, -1), ends.get(end, -1)) for start, end in _spans(record, "sentences")]
    words = tuple(text[start:end] for start, end in offsets)
    return Document(id=id, text=text, words=words, offsets=tuple(offsets), sentences=tuple(sentences))


def _spans(record: Record, key: str) -> list[CharSpan]:
    spans, position = record.array(key), 0
    for index, span in enumerate(spans):
        if not is_list_of(span, int) or len(span) != 2 or not position <= span[0] < span[1]:
            after = f" from {position} on" if position else ""
            raise record.error(f"{key}[{index}]: expected [start, end]{after}, got {quoted(span)}")
        position = span[1]
    return [CharSpan(*span) for span in spans]


def _on_blanks(record: Record, id: str) -> Document:
    """A result without its text: one sentence of the mentions' own texts at their offsets, with blanks between them."""
    mentions = chain.from_iterable(cluster.records("mentions") for cluster in record.records("clusters"))
    pieces: list[str] = []
    cuts = {0}
    position = 0
    for start, end, mention in sorted(
        ((mention.integer("start"), mention.integer("end"), mention) for mention in mentions), key=lambda item: item[:2]
    ):
        text = mention.string("text")
        if text is None or len(text) != end - start or end > _LONGEST_TEXT:
            raise record.error(
                f"{mention.path}text: expected the {end - start} characters of the mention, got {quoted(text)}"
            )
        cuts |= {start, end}
        if end > position:
            pieces += [" " * (start - position), text[max(0, position - start) :]]
            position = end
    whole = "".join(pieces)
    edges = sorted(cuts)
    offsets = [CharSpan(*found.span()) for start, end in pairwise(edges) for found in _WORD.finditer(whole, start, end)]
    words = tuple(whole[start:end] for start, end in offsets)
    sentences = (WordSpan(0, len(words)),) if words else ()
    return Document(id=id, text=whole, words=words, offsets=tuple(offsets), sentences=sentences)


def detect(head: str, name: str) -> bool:
    """Whether this is the beginning of a file in our JSON."""
    return not name.endswith(".jsonl") and _is_ours(head)


def detect_lines(head: str, name: str) -> bool:
    """Whether this is the beginning of a file in our JSON with one document per line."""
    return name.endswith(".jsonl") and _is_ours(head)


def _is_ours(head: str) -> bool:
    return head.lstrip()[:1] in ("{", "[") and re.search(r'"schema"\s*:\s*"longcoref/', head) is not None
