"""Quoted speech: where it begins and ends, by the marks of the text.

Double marks, straight or curly, are what most books use; a text without them is read by its single marks, and one
without these by dashes at the head of a paragraph. What stands inside another quotation is part of it. A paragraph that
opens with a mark while a quotation is open goes on with the same speech; one that does not shows that a closing mark
was forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from longcoref.document import Document
from longcoref.spans import WordSpan

_DOUBLE_OPENING, _DOUBLE_CLOSING, _DOUBLE_EITHER = frozenset(("“", "``", "„", "«")), frozenset(("”", "''", "»")), '"'
_SINGLE_OPENING, _SINGLE_CLOSING, _SINGLE_EITHER = frozenset(("‘", "`")), frozenset("’"), "'"
_DASHES = frozenset(("—", "--", "―", "–"))
_BEFORE_CLOSING = frozenset((",", ".", "!", "?", ";", ":", "-", "...", "…", *_DASHES))
LONGEST = 400
"""Words; in a text without paragraphs, a quotation longer than this was left open."""
_FEW = 4
"""Marks of a kind, fewer than which are no habit of the text."""

_VERBS = """
say says said saying ask asks asked asking cry cries cried crying reply replies replied replying answer answers
answered answering exclaim exclaims exclaimed exclaiming whisper whispers whispered whispering murmur murmurs
murmured murmuring shout shouts shouted shouting call called calling continue continues continued continuing add
adds added adding return returned returning observe observes observed observing remark remarks remarked remarking
repeat repeats repeated repeating inquire inquires inquired inquiring enquired demand demands demanded demanding
declare declares declared declaring mutter mutters muttered muttering resume resumed begin begins began
interrupt interrupted suggest suggested explain explains explained announce announced think thinks thought
gasp gasped growl growled groan groaned sigh sighed sob sobbed scream screamed shriek shrieked roar roared laugh
laughed snap snapped retort retorted rejoin rejoined respond responded assent assented protest protested pursue
pursued proceed proceeded put insist insisted persist persisted admit admitted agree agreed beg begged urge urged
warn warned order ordered command commanded comment commented conclude concluded confess confessed echo echoed
ejaculate ejaculated falter faltered grumble grumbled hiss hissed implore implored plead pleaded speak spoke sang
stammer stammered state stated tell told wail wailed yell yelled quoth bawled breathed chuckled jeered sneered
"""
SPEECH_VERBS = frozenset(_VERBS.split())


@dataclass(frozen=True, slots=True)
class Quotation:
    """Quoted speech, marks included. `continues`: it is a further paragraph of the speech before it."""

    span: WordSpan
    continues: bool = False


def paragraph_starts(document: Document) -> list[bool]:
    """Of each word, whether it is the first behind an empty line, or of the text."""
    ends = [0, *(end for _, end in document.offsets)]
    text = document.text
    starts = [
        start - end > 1 and max(text.count("\n", end, start), text.count("\r", end, start)) > 1
        for end, (start, _) in zip(ends, document.offsets, strict=False)
    ]
    return [True, *starts[1:]] if starts else []


def find_quotations(document: Document) -> list[Quotation]:
    """The quotations of a document in text order; none stands inside another."""
    words = document.words
    double = sum(word in _DOUBLE_OPENING or word == _DOUBLE_EITHER for word in words)
    single = sum(word in _SINGLE_OPENING or word == _SINGLE_EITHER for word in words)
    starts = paragraph_starts(document)
    if double >= _FEW or 0 < double >= single:
        return list(_marked(document, starts, _DOUBLE_OPENING, _DOUBLE_CLOSING, _DOUBLE_EITHER))
    if single >= _FEW:
        return list(_marked(document, starts, _SINGLE_OPENING, _SINGLE_CLOSING, _SINGLE_EITHER))
    return list(_dashed(document, starts))


def _marked(
    document: Document, starts: list[bool], opening: frozenset[str], closing: frozenset[str], either: str
) -> Iterator[Quotation]:
    words = document.words
    paragraphs = any(starts[1:])
    begin: int | None = None
    continues = False
    for index, word in enumerate(words):
        if starts[index] and begin is not None:
            if index > begin:
                yield Quotation(WordSpan(begin, index), continues)
            # Goes on if the paragraph opens with a mark; else the closing mark was forgotten.
            begin, continues = (index, True) if word in opening or word == either else (None, False)
            continue
        opens = word in opening or (word == either and begin is None and _may_open(document, index))
        closes = word in closing or (word == either and begin is not None)
        if opens:
            if begin is not None and not paragraphs:
                yield Quotation(WordSpan(begin, index), continues)  # marks of the next paragraph of the same speech
                begin, continues = index, True
            elif begin is None:
                begin, continues = index, False
        elif begin is not None and closes and _may_close(document, index, either):
            yield Quotation(WordSpan(begin, index + 1), continues)
            begin, continues = None, False
        elif begin is not None and not paragraphs and index - begin > LONGEST:
            begin, continues = None, False
    if begin is not None and len(words) > begin + 1:
        yield Quotation(WordSpan(begin, len(words)), continues)


def _may_open(document: Document, index: int) -> bool:
    """Whether a straight mark can open: something follows it, and a single one stands not at the end of a word."""
    if index + 1 == len(document.words):
        return False
    if document.words[index] == _DOUBLE_EITHER:
        return True
    return index == 0 or not document.words[index - 1][-1].isalnum() or _spaced(document, index)


def _spaced(document: Document, index: int) -> bool:
    """Whether a mark has white space before it and none behind: only in text that shows it."""
    start, end = document.offsets[index]
    return start > 0 and document.text[start - 1].isspace() and not document.text[end : end + 1].isspace()


def _may_close(document: Document, index: int, either: str) -> bool:
    """A double mark always closes; a single one may be an apostrophe, so a stop or a mark has to stand before it."""
    return either == _DOUBLE_EITHER or document.words[index - 1] in _BEFORE_CLOSING


def _dashed(document: Document, starts: list[bool]) -> Iterator[Quotation]:
    """Speech behind a dash that opens a paragraph, up to a speech verb behind a stop, or to its end.

    A text without paragraphs is taken sentence by sentence.
    """
    words = document.words
    if any(starts[1:]):
        edges = [index for index, start in enumerate(starts) if start] + [len(words)]
    else:
        edges = [start for start, _ in document.sentences] + [len(words)]
    for start, end in pairwise(edges):
        if words[start] not in _DASHES or end - start < 2:
            continue
        stop = next(
            (
                index
                for index in range(start + 2, end)
                if words[index - 1] in _BEFORE_CLOSING
                and any(word in SPEECH_VERBS for word in words[index : min(index + 2, end)])
            ),
            end,
        )
        yield Quotation(WordSpan(start, stop))
