"""The worst errors in context, as a record that the reader page shows.

Each error becomes a passage: a heading that says what is wrong, then the sentences of its mentions. The
entities of the page are the errors: the mentions that are wrong or missing in one colour, those that they should be
split from or merged with in another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from longcoref.analysis.errors import DocumentErrors, Error, ErrorType
from longcoref.document import Document
from longcoref.formats.json import SCHEMA
from longcoref.spans import WordSpan

_SENTENCES = 6  # wrong mentions shown in a passage, and as many of the others
_GAP = " […] "
# The text of the heading, and the meaning of the second colour.
_SAID = {
    ErrorType.CONFLATED_ENTITIES: ("these are two, and the response has them as one", "the other entity"),
    ErrorType.DIVIDED_ENTITY: ("these are one, and the response has them as two", "the other part"),
    ErrorType.EXTRA_MENTION: ("the key has no such mention here", "the rest of the entity"),
    ErrorType.EXTRA_ENTITY: ("the key has no such entity", ""),
    ErrorType.MISSING_MENTION: ("the response does not have this mention", "the rest of the entity"),
    ErrorType.MISSING_ENTITY: ("the response has nothing of this entity", ""),
    ErrorType.SPAN_ERROR: ("the response has the wrong words", "the right ones"),
}


def example_record(worst: Iterable[tuple[DocumentErrors, Error]]) -> dict[str, Any]:
    """A record of schema `longcoref/1`, its text included, with a passage for each of these errors."""
    text = ""
    clusters: list[dict[str, Any]] = []
    for number, (entry, error) in enumerate(worst, 1):
        said, second = _SAID[error.type]
        label = f"{number} {error.type.value}"
        text += f"{number}. {error.type.value.capitalize()} in {entry.document.id}: {said}.\n\n"
        passage, places = _passage(entry.document, error, len(text))
        text += passage + "\n\n\n"
        for name, spans in ((label, error.spans), (f"{label}: {second}", error.other)):
            mentions = [places[span] for span in spans if span in places]
            if mentions:
                clusters.append({"id": len(clusters), "name": name, "type": None, "mentions": mentions})
    return {"schema": SCHEMA, "text": text, "clusters": clusters}


def _passage(document: Document, error: Error, begin: int) -> tuple[str, dict[WordSpan, dict[str, int]]]:
    """The sentences of an error's mentions, and the offset of each mention, counted from `begin`."""
    starts = [sentence.start for sentence in document.sentences]

    def sentence_of(span: WordSpan) -> int:
        return bisect_right(starts, span.start) - 1

    wrong = sorted({sentence_of(span) for span in error.spans})[:_SENTENCES]
    others = {sentence_of(span) for span in error.other}
    # Of the others, the nearest are the most informative.
    near = sorted(others, key=lambda number: min(abs(number - place) for place in wrong))[:_SENTENCES]
    parts: list[str] = []
    places: dict[WordSpan, dict[str, int]] = {}
    before = None
    for number in sorted({*wrong, *near}):
        if before is not None:
            parts.append("\n" if number == before + 1 else _GAP)
        before = number
        sentence = document.sentences[number]
        start, end = document.characters(sentence)
        shift = begin + sum(map(len, parts)) - start
        parts.append(document.text[start:end])
        for span in {*error.spans, *error.other}:
            if sentence.start <= span.start and span.end <= sentence.end:
                first, last = document.characters(span)
                places[span] = {"start": first + shift, "end": last + shift}
    return "".join(parts), places
