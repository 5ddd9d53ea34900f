"""Quoted speech: where it begins and ends, by the marks of the text.

Most books use double marks, straight or curly. A text without them is read by its single marks, and a text without
either by dashes at the start of a paragraph. A quotation inside another one is part of it. A paragraph that opens with
a mark while a quotation is open continues the same speech; if it does not, the closing mark was forgotten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, NamedTuple

from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.english.lexicon import SPEECH_VERBS
from longcoref.spans import CharSpans, WordSpan
from longcoref.text.turns import find_turns


@dataclass(frozen=True, slots=True)
class Marks:
    """The quotation marks of a text. A closing mark that may be an apostrophe needs punctuation before it."""

    opening: frozenset[str]
    closing: frozenset[str]
    straight: str
    apostrophe: bool

    def count(self, words: Iterable[str]) -> int:
        """How many words are marks that may open a quotation."""
        return sum(map({*self.opening, self.straight}.__contains__, words))


DOUBLE = Marks(frozenset(("“", "``", "„", "«")), frozenset(("”", "''", "»")), '"', apostrophe=False)
LOW = Marks(frozenset(("„", "»")), frozenset(("“", "”", "«")), '"', apostrophe=False)
"""The marks of German and its neighbours, in which “ and « close."""
SINGLE = Marks(frozenset(("‘", "`")), frozenset("’"), "'", apostrophe=True)
_DASHES = frozenset(("—", "--", "―", "–"))
_BEFORE_CLOSING = frozenset((",", ".", "!", "?", ";", ":", "-", "...", "…", *_DASHES))
LONGEST = 400
"""Words: without paragraphs to go by, a quotation longer than this was left open by mistake."""
_HABIT = 4
"""Marks of a kind: a text with fewer does not use them for speech."""
_NESTED = 3
"""Double marks are for quotations inside quotations if there are this many times as many single ones."""
ROLES = ("speaker", "addressee")
"""Who speaks a quotation, and to whom."""


class Passage(NamedTuple):
    """The words of a quotation, marks included, and whether it continues the speech of the quotation before it."""

    words: WordSpan
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Quotation:
    """Quoted speech, marks included: its words, and its span in code points.

    `continues` says that it is a further paragraph of the quotation before it. `speaker` and `addressee` are entities,
    None as long as none was found; `score` is the probability of the speaker, `addressee_score` that of the addressee.
    `name` is the speaker as a script or chat names them, "" in prose.
    """

    words: WordSpan
    start: int
    end: int
    continues: bool = False
    speaker: int | None = None
    addressee: int | None = None
    score: float = 0.0
    addressee_score: float = 0.0
    name: str = ""

    @classmethod
    def of(cls, document: Document, words: WordSpan, *, continues: bool = False, name: str = "") -> Quotation:
        """The quotation of some words of a document."""
        return cls(words, *document.characters(words), continues, name=name)

    def as_json(self) -> dict[str, Any]:
        """The quotation as JSON values."""
        record: dict[str, Any] = {"start": self.start, "end": self.end, "speaker": self.speaker}
        record |= {"addressee": self.addressee, "score": round(self.score, 4)}
        return {**record, "continues": True} if self.continues else record


@dataclass(slots=True)
class QuotationScanner:
    """Finds quotations word by word, so that a text may come in pieces of any size.

    With `paragraphs`, the caller says where they start. `open_for` is the number of words since the open quotation
    began, its mark included, and 0 outside quotations; `inside` says whether the last word is inside a quotation, whose
    outer marks are not.
    """

    marks: Marks = DOUBLE
    paragraphs: bool = False
    open_for: int = 0
    position: int = 0
    inside: bool = False
    _continues: bool = False
    _previous: str = " "

    def step(self, word: str, *, starts_paragraph: bool = False, spaced: bool = False) -> Passage | None:
        """Takes the next word; returns the quotation that ends before or with it.

        `spaced` says that the text has white space before the word and none after it, as before an opening mark.
        """
        marks, found = self.marks, None
        opening = word in marks.opening or word == marks.straight
        self.inside = False
        if self.open_for and starts_paragraph:
            found = self._close(self.position)
            if opening:
                self.open_for, self._continues = 1, True
        elif self.open_for and not self.paragraphs and word in marks.opening:
            found = self._close(self.position)  # the next paragraph of the same speech
            self.open_for, self._continues = 1, True
        elif self.open_for and (word in marks.closing or word == marks.straight) and self._may_close():
            found = self._close(self.position + 1)
        elif self.open_for:
            self.inside = True
            self.open_for += 1
            if self.open_for == LONGEST and not self.paragraphs:
                self.open_for, self._continues = 0, False
        elif word in marks.opening or (word == marks.straight and self._may_open(spaced=spaced)):
            self.open_for, self._continues = 1, False
        self.position += 1
        self._previous = word
        return found

    def pass_over(self, count: int, last: str) -> None:
        """Takes words of which none is a mark or starts a paragraph, like a `step` for each."""
        self.inside = self.open_for > 0
        if self.inside:
            self.open_for += count
            if self.open_for >= LONGEST and not self.paragraphs:
                self.inside = self.open_for == LONGEST
                self.open_for, self._continues = 0, False
        self.position += count
        self._previous = last

    def finish(self) -> Passage | None:
        """The quotation that was left open at the end of the text."""
        return self._close(self.position) if self.open_for > 1 else None

    def _close(self, end: int) -> Passage:
        found = Passage(WordSpan(self.position - self.open_for, end), self._continues)
        self.open_for, self._continues = 0, False
        return found

    def _may_open(self, *, spaced: bool) -> bool:
        """Whether a straight mark can open a quotation: a single one not at the end of a word."""
        return not self.marks.apostrophe or not self._previous[-1].isalnum() or spaced

    def _may_close(self) -> bool:
        """A double mark always closes; a single one may be an apostrophe unless punctuation comes before it."""
        return not self.marks.apostrophe or self._previous in _BEFORE_CLOSING


def paragraph_starts(document: Document) -> list[bool]:
    """Whether each word is the first after an empty line, or the first of the text."""
    text = document.text
    starts = [False] * len(document.words)
    starts[:1] = [True] * len(starts[:1])
    assert isinstance(document.offsets, CharSpans)  # since the document was made
    for index, between in document.offsets.gaps(2):
        starts[index] = max(text.count("\n", *between), text.count("\r", *between)) > 1
    return starts


def find_quotations(document: Document) -> list[Quotation]:
    """The quotations of a document in text order; they do not overlap.

    In a script or a chat, what each speaker says is a quotation, and marks inside it are part of it.
    """
    marks = _double_marks(document.words)
    double, single = marks.count(document.words), SINGLE.count(document.words)
    if double >= max(_HABIT, single / _NESTED) or 0 < double >= single:
        passages = _marked(document, marks)
    elif single >= _HABIT:
        passages = _marked(document, SINGLE)
    else:
        passages = _dashed(document)
    quoted = [Quotation.of(document, words, continues=continues) for words, continues in passages]
    turns = find_turns(document)
    starts = [turn.words.start for turn in turns]

    def is_outside(quotation: Quotation) -> bool:
        number = bisect_left(starts, quotation.words.end) - 1
        return number < 0 or turns[number].words.end <= quotation.words.start

    said = [Quotation.of(document, turn.words, continues=turn.continues, name=turn.speaker) for turn in turns]
    return sorted([*said, *filter(is_outside, quoted)], key=lambda quotation: quotation.start)


def _double_marks(words: Sequence[str]) -> Marks:
    """The double marks of a text: `LOW` if it opens quotations with „ or » at least as often as “ occurs."""
    inward = next((word for word in words if word in ("«", "»")), None) == "»"
    low = words.count("„") + (words.count("»") if inward else 0)
    return LOW if low and low >= words.count("“") else DOUBLE


def _marked(document: Document, marks: Marks) -> Iterator[Passage]:
    words, starts = document.words, paragraph_starts(document)
    scanner = QuotationScanner(marks, paragraphs=any(islice(starts, 1, None)))
    all_marks = {*marks.opening, *marks.closing, marks.straight}
    steps = [index for index, (word, start) in enumerate(zip(words, starts, strict=True)) if start or word in all_marks]
    for index in cancellable(steps):
        if passed := index - scanner.position:
            scanner.pass_over(passed, words[index - 1])
        spaced = words[index] == marks.straight and _spaced(document, index)
        if (found := scanner.step(words[index], starts_paragraph=starts[index], spaced=spaced)) is not None:
            yield found
    if passed := len(words) - scanner.position:
        scanner.pass_over(passed, words[-1])
    if (found := scanner.finish()) is not None:
        yield found


def _spaced(document: Document, index: int) -> bool:
    start, end = document.offsets[index]
    return start > 0 and document.text[start - 1].isspace() and not document.text[end : end + 1].isspace()


def _dashed(document: Document) -> Iterator[Passage]:
    """Speech after a dash that opens a paragraph, up to a speech verb that follows punctuation, or to its end.

    In a text without paragraphs, each sentence is treated as one.
    """
    words, starts = document.words, paragraph_starts(document)
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
        yield Passage(WordSpan(start, stop))
