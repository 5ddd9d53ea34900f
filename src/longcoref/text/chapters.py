"""The chapters of a book, found by their headings.

A heading is a short paragraph that says "Chapter" or the like, or is a number. A number with a title ("02 The Hunt") is
one only if it is the next number, so that an address is not taken for a heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from longcoref.document import Document
from longcoref.english.lexicon import NUMBERED_HEADINGS, OTHER_HEADINGS
from longcoref.spans import WordSpan
from longcoref.text.quotations import paragraph_starts

_LONGEST = 12  # words of a heading
_SHORTEST = 30  # words of a chapter: anything shorter is a table of contents or the heading of a volume
_NUMBER = r"(?:[IVXLC]+|\d{1,3})"
_HEADING = re.compile(
    rf"(?:(?:{'|'.join(sorted(NUMBERED_HEADINGS))})\s+(?:the\s+)?(?:{_NUMBER}|[a-z-]+)\b"
    rf"|(?:{'|'.join(sorted(OTHER_HEADINGS))})\W*$|{_NUMBER}\W*$)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d{1,3})[.:)]?\s+[A-Z][^.!?]*$|[IVXLC]+[.:]\s+[A-Z][^.!?]*$")


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its heading, "" for the text before the first one, its words, and the first word of the heading.

    Short text above a heading, such as a table of contents or the heading of a volume, belongs to the chapter.
    """

    title: str
    span: WordSpan
    heading: int


def find_chapters(document: Document) -> list[Chapter]:
    """The chapters in order; they cover all words. A text without headings is one chapter."""
    count = len(document.words)
    starts = [index for index, start in enumerate(paragraph_starts(document)) if start]
    found = [(0, "")]
    following = 1
    for start, end in pairwise([*starts, count]):
        if end - start <= _LONGEST:
            title = " ".join(document.text_of(WordSpan(start, end)).split())
            numbered = _NUMBERED.match(title)
            number = int(numbered[1]) if numbered and numbered[1] else None
            if number in (1, following):
                following = number + 1
            if (numbered and number in (None, following - 1)) or (_HEADING.match(title) and not title.islower()):
                found.append((start, title))
    chapters: list[Chapter] = []
    begin = 0
    for (start, title), (end, _) in pairwise([*found, (count, "")]):
        if end - start >= _SHORTEST:
            chapters.append(Chapter(title, WordSpan(begin, end), start))
            begin = end
    if begin < count:
        last = chapters.pop() if chapters else Chapter("", WordSpan(0, count), 0)
        chapters.append(replace(last, span=WordSpan(last.span.start, count)))
    return chapters
