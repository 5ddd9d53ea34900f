"""BookNLP's files `.tokens` and `.entities`, with the same columns, so that scripts written for BookNLP keep working.

Columns that longcoref does not compute (lemma, part of speech, dependency, event) are `_`. As in BookNLP, everything is
counted from 0, the end of an entity is its last token, and `byte_onset` and `byte_offset` count characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from longcoref.errors import UsageError
from longcoref.result import Result

TOKEN_COLUMNS = (
    "paragraph_ID",
    "sentence_ID",
    "token_ID_within_sentence",
    "token_ID_within_document",
    "word",
    "lemma",
    "byte_onset",
    "byte_offset",
    "POS_tag",
    "fine_POS_tag",
    "dependency_relation",
    "syntactic_head_ID",
    "event",
)
ENTITY_COLUMNS = ("COREF", "start_token", "end_token", "prop", "cat", "text")


def write_tokens(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes one row per word. Paragraphs are separated by empty lines."""
    document = only_result(results).known_document
    write_row(stream, TOKEN_COLUMNS)
    paragraph = token = position = 0
    for number, (first, end) in enumerate(document.sentences):
        for within in range(end - first):
            start, stop = document.offsets[token]
            between = document.text[position:start]
            # Line breaks may be LF, CRLF or CR. Those before the first word end no paragraph.
            paragraph += token > 0 and max(between.count("\n"), between.count("\r")) > 1
            position = stop
            word = document.words[token]
            write_row(stream, (paragraph, number, within, token, word, "_", start, stop, "_", "_", "_", "_", "_"))
            token += 1


def write_entities(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes one row per mention: its entity, first and last token, kind, type and words."""
    result = only_result(results)
    write_row(stream, ENTITY_COLUMNS)
    words = result.known_document.words
    for mention, cluster in result.mentions:
        start, end = mention.words
        text = " ".join(words[start:end])
        write_row(stream, (cluster.id, start, end - 1, mention.kind, mention.type or cluster.type or "_", text))


def write_row(stream: IO[str], cells: Iterable[object]) -> None:
    """Writes a line of tab-separated cells."""
    # Words contain no white space, so nothing needs quoting; BookNLP does not quote either.
    stream.write("\t".join(map(str, cells)) + "\n")


def only_result(results: Iterable[Result]) -> Result:
    """The single result that a file of BookNLP can hold."""
    first, *others = results
    if others:
        raise UsageError("BookNLP has one file per text, and there are several texts: write to a folder (-o OUT/)")
    return first
