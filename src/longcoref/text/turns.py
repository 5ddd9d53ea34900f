"""Turns of a script, a chat or a transcript: who speaks, as the text itself says, and what is said.

A speaker is named at the start of a line (`ALICE: Yes.`, `HAMLET. Ay.`, `[10:02] alice: yes`, `<alice> yes`) or on a
line above their words, as in a screenplay. One such line proves nothing, so a text has turns only if many of its lines
or paragraphs open with a name, and the names recur. Speakers that were given with the words of a document
(`Document.speakers`) are turns without a name in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from longcoref.document import Document
from longcoref.english.lexicon import NOT_SPEAKERS, NUMBERED_HEADINGS, TITLES
from longcoref.spans import CharSpan, WordSpan

_SHARE = 0.3  # of the paragraphs, or of the lines if there are no paragraphs, that open with a name
_INDENT = 60  # characters before a heading
_DATE = r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},?[ \t]+)?"
_TIME = (
    rf"(?:[\[(]?{_DATE}\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:[.,]\d{{1,3}})?(?:[ \t]?[APap]\.?[Mm]\.?)?[\])]?"
    r"[ \t]{0,4}[-–—]?[ \t]{0,4})"
)
_NAME = r"[^\W\d_][\w.'’-]{0,30}(?:[ \t][\w#&][\w.'’#&-]{0,30}){0,4}"
_CAPITALS = r"[A-Z][A-Z0-9.'’#&-]{0,30}(?:[ \t][A-Z0-9#&][A-Z0-9.'’#&-]{0,30}){0,4}"
_ASIDE = r"(?:[ \t]*[(\[][^)\]\n]{1,60}[)\]])?"
_CHAT = re.compile(
    rf"^[ \t]{{0,60}}{_TIME}?(?:<(?P<nick>[^<>\s]{{1,40}})>|(?P<name>{_NAME}){_ASIDE}[ \t]?:)(?=\s)", re.M
)
_PLAY = re.compile(rf"^[ \t]{{0,60}}(?P<name>{_CAPITALS}){_ASIDE}\.{_ASIDE}(?=\s)", re.M)
_ABOVE = re.compile(rf"(?:\A|\n[ \t\r]*\n)[ \t]{{0,60}}(?P<name>{_CAPITALS}){_ASIDE}[ \t]*[:.]?[ \t]*\r?\n(?=[ \t]*\S)")
_HEADING = re.compile(
    rf"(?:INT|EXT|I/E|FADE|CUT|DISSOLVE|CURTAIN|THE END|END OF|{'|'.join(sorted(NUMBERED_HEADINGS))})\b", re.IGNORECASE
)
_BLANK = re.compile(r"\n[ \t\r]*\n\s*")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says without interruption.

    `speaker` is the name as it is given, and `words` what is said. `label` is where the text names the speaker, and
    `head` the whole opening of the turn, with its time and marks; both are None in a turn without one. `continues`
    says that the turn goes on after a stage direction.
    """

    speaker: str
    words: WordSpan
    label: WordSpan | None = None
    head: WordSpan | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True)
class _Opening:
    """The opening of a turn, in characters; `above` says that the name is on a line of its own."""

    name: CharSpan
    start: int
    end: int
    above: bool


def speaker_key(name: str) -> str:
    """What two spellings of one speaker's name have in common."""
    return " ".join(name.casefold().rstrip(".:").split())


def find_turns(document: Document) -> list[Turn]:
    """The turns of a document in text order, none if it is not a script, a chat or a transcript."""
    if document.speakers is not None:
        return list(_given(document.speakers))
    openings = _openings(document.text)
    if not openings:
        return []
    starts = [start for start, _ in document.offsets]
    found: list[Turn] = []
    for number, opening in enumerate(openings):
        end = openings[number + 1].start if number + 1 < len(openings) else len(document.text)
        label = _words(starts, *opening.name)
        head = _words(starts, opening.start, opening.end)
        speaker = " ".join(document.text[slice(*opening.name)].split())
        parts = [words for words in _said(document.text, starts, opening, end) if words.start < words.end]
        for place, words in enumerate(parts):
            found.append(Turn(speaker, words, continues=True) if place else Turn(speaker, words, label, head))
    return [turn for turn in found if turn.label is None or turn.label.start < turn.label.end]


def is_heading_number(document: Document, word: int) -> bool:
    """Whether a word is the number of a heading: the "I" of "ACT I" is no pronoun."""
    if not word or document.words[word - 1].lower() not in NUMBERED_HEADINGS:
        return False
    heading, place = document.words[word - 1], document.offsets[word - 1].start
    line = document.text[max(0, place - _INDENT) : place].rpartition("\n")[2]
    following = document.words[word + 1 : word + 2]
    return heading[0].isupper() and not line.strip() and not any(map(str.islower, following))


def _given(speakers: Sequence[str | None]) -> Iterator[Turn]:
    """The turns of speakers that are given word by word."""
    position = 0
    for speaker, words in groupby(speakers):
        end = position + sum(1 for _ in words)
        if speaker is not None:
            yield Turn(speaker, WordSpan(position, end))
        position = end


def _openings(text: str) -> list[_Opening]:
    """The openings of turns, if there are enough of them for a script, a chat or a transcript."""
    layouts = [
        [opening for found in pattern.finditer(text) if (opening := _opening(found)) is not None]
        for pattern in (_CHAT, _PLAY, _ABOVE)
    ]
    openings = max(layouts, key=len)
    names = Counter(speaker_key(text[slice(*opening.name)]) for opening in openings)
    blank = len(_BLANK.findall(text.strip()))
    units = 1 + (blank or text.strip().count("\n"))
    is_habit = len(openings) >= max(2, _SHARE * units) and len(names) <= len(openings) / 2 + 1
    return openings if is_habit and not NOT_SPEAKERS.issuperset(names) else []


def _opening(found: re.Match[str]) -> _Opening | None:
    """The opening that a pattern found, None if it is nobody's name."""
    kind = found.lastgroup or "name"
    words = found[kind].split()
    if kind == "name":
        if _HEADING.match(found[kind]) or speaker_key(found[kind]) in NOT_SPEAKERS:
            return None
        if words[-1].lower() in TITLES or "to" in speaker_key(found[kind]).split():
            return None  # "ANN HALE TO MRS. LEE", above a letter
        if len(words) > 1 and any(word[0].islower() for word in words):
            return None  # "He said this: ..."
    start, end = found.span(kind)
    above = found.re is _ABOVE
    name = CharSpan(start, end - (above and found[kind].endswith(".")))
    return _Opening(name, start if above else found.start(), found.end(), above)


def _said(text: str, starts: Sequence[int], opening: _Opening, end: int) -> Iterator[WordSpan]:
    """The words of a turn; a heading or a stage direction interrupts it. Words below a name end at an empty line."""
    begin = position = opening.end
    while position < end:
        blank = _BLANK.search(text, position, end)
        stop, following = (blank.start(), blank.end()) if blank else (end, end)
        paragraph = text[position:stop].lstrip()
        if position > opening.end and (paragraph[:1] in ("[", "(") or _HEADING.match(paragraph)):
            yield _words(starts, begin, position)
            begin = following
        position = following
        if opening.above:
            yield _words(starts, begin, stop)
            return
    yield _words(starts, begin, end)


def _words(starts: Sequence[int], start: int, end: int) -> WordSpan:
    """The words that begin between two characters."""
    return WordSpan(bisect_left(starts, start), bisect_left(starts, end))
