"""The jsonlines of the coreference literature: one document per line.

Keys: `doc_key`, `sentences` (lists of words), `clusters` (lists of [first word, last word], **inclusive**, counted
over the document) and, optionally, `speakers` (in the shape of `sentences`). Other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from longcoref.clusters import Cluster, cluster_of
from longcoref.document import Document
from longcoref.errors import quoted
from longcoref.formats.build import build_document, key_of, parse_key
from longcoref.formats.records import Record, is_list_of, read_record_lines
from longcoref.formats.source import Source

_NOBODY = frozenset(("", "-", "_"))


def read(source: Source, *, lenient: bool = False) -> Iterator[tuple[int, Document]]:
    """The documents of a file, each with its line."""
    for record in read_record_lines(source):
        yield record.line, _document(source, record)


def _document(source: Source, record: Record) -> Document:
    sentences = record.array("sentences")
    for index, sentence in enumerate(sentences):
        if not is_list_of(sentence, str) or "" in sentence:
            raise record.error(f"sentences[{index}]: expected a list of words, got {quoted(sentence)}")
    id, part = parse_key(record.string("doc_key") or source.stem)
    clusters = record.get("clusters")
    return build_document(
        source,
        record.line,
        id=id,
        part=part,
        sentences=sentences,
        speakers=_speakers(record, sentences),
        clusters=None
        if clusters is None
        else [_cluster(record, index) for index in range(len(record.array("clusters")))],
    )


def _cluster(record: Record, index: int) -> Cluster:
    spans = record.array("clusters")[index]
    if not is_list_of(spans, list) or not spans or not all(len(span) == 2 and is_list_of(span, int) for span in spans):
        raise record.error(f"clusters[{index}]: expected a list of [first word, last word], got {quoted(spans)}")
    return cluster_of((first, last + 1) for first, last in spans)


def _speakers(record: Record, sentences: list[Any]) -> list[str | None] | None:
    if record.get("speakers") is None:
        return None
    speakers = record.array("speakers")
    if not speakers:
        return None
    if not is_list_of(speakers, list) or list(map(len, speakers)) != list(map(len, sentences)):
        raise record.error("speakers: expected a list for each sentence with a name for each word")
    names = [name for sentence in speakers for name in sentence]
    if not all(name is None or isinstance(name, str) for name in names):
        raise record.error("speakers: expected names")
    return [None if name in _NOBODY else name for name in names]


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Writes one line per document."""
    for document in documents:
        record: dict[str, Any] = {
            "doc_key": key_of(document),
            "sentences": [document.words[start:end] for start, end in document.sentences],
        }
        if document.speakers is not None:
            names = [name or "-" for name in document.speakers]
            record["speakers"] = [names[start:end] for start, end in document.sentences]
        if document.clusters is not None:
            record["clusters"] = [[[start, end - 1] for start, end in cluster.spans] for cluster in document.clusters]
        stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def detect(head: str, name: str) -> bool:
    """Whether this is the beginning of such a file."""
    return (
        head.lstrip().startswith("{") and ('"doc_key"' in head or '"sentences"' in head) and '"longcoref/' not in head
    )
