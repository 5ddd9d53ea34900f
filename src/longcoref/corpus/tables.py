"""The four tables of a corpus, as Parquet: documents, entities, mentions and quotations.

`SCHEMAS` has the columns of each with their Arrow types; docs/corpus.md describes them. The bytes of a table depend on
its rows alone, so two runs over the same documents can be compared file by file.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from longcoref.errors import optional_module
from longcoref.features.facts import THIRD_PERSON
from longcoref.render.cast import KIND_COLUMNS, cast
from longcoref.result import Result
from longcoref.text.chapters import find_chapters
from longcoref.text.quotations import paragraph_starts

Row = dict[str, Any]

SCHEMAS: dict[str, dict[str, str]] = {
    "documents": {
        **dict.fromkeys(("document", "source", "hash", "model"), "string"),
        **dict.fromkeys(
            ("characters", "words", "sentences", "paragraphs", "chapters", "entities", "mentions", "quotations"),
            "int32",
        ),
    },
    "entities": {
        "document": "string",
        "entity": "int32",
        "name": "string",
        "type": "string",
        **dict.fromkeys(("mentions", *KIND_COLUMNS.values(), *THIRD_PERSON.values(), "quotations"), "int32"),
        **dict.fromkeys(("first_sentence", "last_sentence"), "int32"),
        "aliases": "list<string>",
    },
    "mentions": {
        "document": "string",
        **dict.fromkeys(
            ("entity", "start", "end", "first_word", "end_word", "sentence", "paragraph", "chapter"), "int32"
        ),
        **dict.fromkeys(("text", "kind", "type", "pronoun"), "string"),
        "score": "float32",
    },
    "quotations": {
        "document": "string",
        **dict.fromkeys(("start", "end", "first_word", "end_word", "sentence"), "int32"),
        "text": "string",
        "continues": "bool",
        **dict.fromkeys(("speaker", "addressee"), "int32"),
        **dict.fromkeys(("score", "addressee_score"), "float32"),
    },
}


def rows_of(result: Result, *, source: str, hash: str) -> dict[str, list[Row]]:
    """The rows of a document for every table, in text order."""
    document = result.known_document
    paragraph_of = _numbered(paragraph_starts(document))
    chapters = find_chapters(document)
    chapter_of = [number for number, chapter in enumerate(chapters) for _ in range(*chapter.span)]
    name = {"document": result.id}
    counts = {
        "characters": len(document.text),
        "words": len(document.words),
        "sentences": len(document.sentences),
        "paragraphs": max(paragraph_of, default=-1) + 1,
        "chapters": len(chapters),
        "entities": len(result),
        "mentions": len(result.mentions),
        "quotations": sum(not quote.continues for quote in result.quotes),
    }
    entities = [
        {
            **name,
            "entity": entry.cluster.id,
            "name": entry.cluster.name,
            "type": entry.cluster.type,
            "mentions": len(entry.cluster),
            **{column: entry.wordings[kind].total() for kind, column in KIND_COLUMNS.items()},
            **{pronoun: entry.pronouns[pronoun] for pronoun in THIRD_PERSON.values()},
            "quotations": entry.quotes,
            "first_sentence": entry.first,
            "last_sentence": entry.last,
            "aliases": entry.aliases,
        }
        for entry in cast(result)
    ]
    mentions = [
        {
            **name,
            "entity": cluster.id,
            "start": mention.start,
            "end": mention.end,
            "first_word": mention.words.start,
            "end_word": mention.words.end,
            "sentence": mention.sentence,
            "paragraph": paragraph_of[mention.words.start],
            "chapter": chapter_of[mention.words.start],
            "text": mention.text,
            "kind": mention.kind,
            "type": mention.type,
            "pronoun": THIRD_PERSON.get(mention.facts.pronoun),
            "score": mention.score,
        }
        for mention, cluster in result.mentions
    ]
    quotations = [
        {
            **name,
            "start": quote.start,
            "end": quote.end,
            "first_word": quote.words.start,
            "end_word": quote.words.end,
            "sentence": document.sentence_of(quote.words.start),
            "text": document.text[quote.start : quote.end],
            **{column: getattr(quote, column) for column in ("continues", "speaker", "addressee", "score")},
            "addressee_score": quote.addressee_score,
        }
        for quote in result.quotes
    ]
    about = {**name, "source": source, "hash": hash, "model": result.model, **counts}
    return {"documents": [about], "entities": entities, "mentions": mentions, "quotations": quotations}


def _numbered(starts: Iterable[bool]) -> list[int]:
    """The number of the paragraph that each word is in, counted from 0."""
    numbers, number = [], -1
    for start in starts:
        number += start
        numbers.append(number)
    return numbers


def parquet_of(table: str, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A table as a Parquet file."""
    arrow = _pyarrow()
    rows = list(rows)
    types = {"list<string>": arrow.list_(arrow.string()), "bool": arrow.bool_()}
    columns = {
        name: arrow.array([row[name] for row in rows], types.get(type) or getattr(arrow, type)())
        for name, type in SCHEMAS[table].items()
    }
    stream = io.BytesIO()
    _parquet().write_table(arrow.table(columns), stream, compression="zstd")
    return stream.getvalue()


def without(table: str, content: bytes, documents: Collection[str]) -> bytes:
    """A table as a Parquet file without the rows of some documents: the file that the other rows alone would give."""
    rows = read_rows(content, list(SCHEMAS[table]))
    return parquet_of(table, (row for row in rows if row["document"] not in documents))


def read_rows(table: bytes, columns: list[str]) -> Iterator[Row]:
    """The rows of a Parquet file, with some of their columns."""
    yield from _parquet().read_table(io.BytesIO(table), columns=columns).to_pylist()


def _pyarrow() -> Any:
    return optional_module("pyarrow", extra="corpus", needed_for="a corpus run")


def _parquet() -> Any:
    return optional_module("pyarrow.parquet", extra="corpus", needed_for="a corpus run")
