"""Sentence splitting of raw English, for text that arrives whole or piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longcoref.cancellation import cancellable
from longcoref.document import Document, Sentence
from longcoref.english.lexicon import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    DOTTED_TITLES,
    SAINTS_LIKE_OPENERS,
    SENTENCE_OPENERS,
)
from longcoref.spans import CharSpans, WordSpan
from longcoref.text.words import CLOSER, DASH, DOTTED, ELLIPSIS, INITIALS, PLAIN, STOP, WINDOW, WORD

# A text without sentence ends is cut here, so that nothing grows with it.
MAX_WORDS = 512

# Characters of a whole text that are split at a time, so that its sentences are not held in addition to the document.
_BLOCK = 65536

# How many characters a decision may look ahead, white space included. The four patterns look less far.
_PEEK = 64
_FIRST_WORD = re.compile(r"[\"“”'‘’«‹(\[{_*`\s—―–-]{0,8}([^\W_]{0,20}\.?)")
_NUMBER = re.compile(r"\s{1,4}[0-9]")
_INITIAL = re.compile(r"\s{0,4}[A-Z]\.")
_LABEL = re.compile(r"[0-9]{1,3}|[IVXLC]{1,8}")

_PERHAPS = "abbreviation or ellipsis"  # it ends a sentence if a new one visibly opens after it
_CONTINUES = frozenset(",:;-—―–")  # a sentence goes on after these, over a blank line too
_CLOSES_AFTER_SPACE = frozenset("”»›)]}")  # the closing marks that cannot open


class SentenceStream:
    """Splits text that comes in pieces: however it is cut, the sentences are the same.

    Beside the sentences that `feed` and `finish` return it holds the open sentence (at most `MAX_WORDS` words) and the
    characters that are not decided yet: about a line, or `WINDOW` where there is no white space.
    """

    def __init__(self) -> None:
        self._buffer = ""  # one character that is decided, then those that are not
        self._position = 0  # in the buffer: where the next word is looked for
        self._base = 0  # in the text: where the buffer begins
        self._breaks = 0  # line ends since the last word, in white space that is no longer in the buffer
        self._words: list[str] = []  # the open sentence
        self._starts: list[int] = []
        self._ends: list[int] = []
        # The mark that may have ended it, or `_PERHAPS`, or nothing; and whether a quote or bracket closed after it.
        self._stop = ""
        self._closed = False

    def feed(self, chunk: str) -> list[Sentence]:
        """The sentences that are complete now that `chunk` has come."""
        self._buffer += chunk
        return self._read(self._decidable())

    def finish(self) -> list[Sentence]:
        """The sentences that were still open at the end of the text. A new text needs a new stream."""
        sentences = self._read(len(self._buffer) + 1)
        if self._words:
            sentences.append(self._take())
        return sentences

    def _decidable(self) -> int:
        """Words that start before this place in the buffer cannot change any more, whatever comes.

        They end before white space that has enough text after it to look ahead, or lie a whole window before the end.
        """
        far = max(len(self._buffer) - WINDOW, self._position)
        near = len(self._buffer) - _PEEK
        # Between two letters the split is the same for white space at the edges.
        last_words = f"x{self._buffer[far:near]}x".rsplit(None, 1)[1:]
        return near - len(last_words[0]) if last_words else far

    def _read(self, limit: int) -> list[Sentence]:
        """Reads the words that start before `limit` and returns the sentences they complete."""
        buffer, base, position = self._buffer, self._base, self._position
        words, starts, ends = self._words, self._starts, self._ends
        sentences: list[Sentence] = []
        for match in WORD.finditer(buffer, position) if position < limit else ():
            kind = match.lastindex
            if kind is None:
                if match.end() >= limit:
                    break
                self._breaks += _line_breaks(match[0])
                position = match.end()
                continue
            start, end = match.span(kind)
            if start >= limit:
                break
            # Only a word after a possible end, or after more than one space, can begin a sentence.
            if self._stop or start > position + 1 or self._breaks:
                paragraph = self._breaks + _line_breaks(buffer[position:start]) > 1
                self._breaks = 0
                if self._ends_before(kind, start, paragraph=paragraph, glued=start == position):
                    sentences.append(self._take())
            if len(words) > MAX_WORDS - 2:  # the match may be two words
                sentences.append(self._take())
            word = match[kind]
            position = end
            if kind != PLAIN:
                if kind == DOTTED:
                    self._stop = _stop_of_dotted(word, buffer, end)
                    if self._stop == ".":
                        words.append(word[:-1])
                        starts.append(base + start)
                        ends.append(base + end - 1)
                        word, start = ".", end - 1
                elif kind == STOP:
                    self._stop = word[-1]
                elif kind in (ELLIPSIS, INITIALS):
                    self._stop = _PERHAPS
            words.append(word)
            starts.append(base + start)
            ends.append(base + end)
        keep = max(position - 1, 0)  # words look back by one character
        self._buffer, self._position, self._base = buffer[keep:], position - keep, base + keep
        return sentences

    def _ends_before(self, kind: int, start: int, *, paragraph: bool, glued: bool) -> bool:
        """Whether the open sentence ends before the word of that kind at `start` of the buffer."""
        stop, closed, words, buffer = self._stop, self._closed, self._words, self._buffer
        if paragraph:
            return bool(stop or (words and words[-1][-1] not in _CONTINUES and not buffer[start].islower()))
        if not stop or kind in (STOP, ELLIPSIS):
            return False
        if kind == CLOSER and (glued or buffer[start] in _CLOSES_AFTER_SPACE):
            self._closed = True
            return False
        self._stop, self._closed = "", False
        if buffer[start] in ",;:" or (len(words) == 2 and stop == "." and _LABEL.fullmatch(words[0])):
            return False
        first = _first_word(buffer, start)
        if stop == _PERHAPS:
            return first in SENTENCE_OPENERS
        if kind == DASH:
            return first[:1].isupper()
        if first[:1].islower():
            # "Oh! what" are two sentences in our yardstick, "Oh!" she said is one. A point before a small letter ends
            # an abbreviation we do not know, unless the writer uses no capitals.
            return (stop != "." or words[0].islower()) and not closed and not glued
        return True

    def _take(self) -> Sentence:
        """Closes the open sentence."""
        sentence = Sentence(tuple(self._words), CharSpans.of(self._starts, self._ends))
        self._words.clear()
        self._starts.clear()
        self._ends.clear()
        self._stop, self._closed = "", False
        return sentence


def tokenize(text: str, *, id: str = "") -> Document:
    """The words and sentences of a text, with their exact places in it."""
    stream = SentenceStream()
    words: list[str] = []
    known: dict[str, str] = {}  # a text has few different words, and equal ones share their memory
    spans: list[WordSpan] = []

    def read() -> Iterator[CharSpans]:
        for start in cancellable(range(0, len(text) + _BLOCK, _BLOCK), every=1):
            piece = text[start : start + _BLOCK]
            for sentence in stream.feed(piece) if piece else stream.finish():
                spans.append(WordSpan(len(words), len(words) + len(sentence.words)))
                words.extend(map(known.setdefault, sentence.words, sentence.words))
                yield sentence.offsets

    offsets = CharSpans.joined(read())
    return Document(id=id, text=text, words=tuple(words), offsets=offsets, sentences=tuple(spans))


def _line_breaks(space: str) -> int:
    """How many lines end in a stretch of white space, be it written with LF, CRLF or CR."""
    return max(space.count("\n"), space.count("\r"))


def _first_word(buffer: str, start: int) -> str:
    """The word after opening quotes, brackets, dashes and white space, with its full stop; may be empty."""
    match = _FIRST_WORD.match(buffer, start)
    return match[1] if match else ""


def _stop_of_dotted(word: str, buffer: str, end: int) -> str:
    """What the point of a dotted word ends: a sentence ("."), `_PERHAPS` one, or no more than the word ("")."""
    stem = word[:-1]
    if not stem.islower():
        stem = stem.capitalize()
    if stem in DOTTED_TITLES or (stem in BEFORE_NUMBERS and _NUMBER.match(buffer, end)):
        return ""
    if stem in ABBREVIATIONS:
        return "" if stem == "St" and _first_word(buffer, end) in SAINTS_LIKE_OPENERS else _PERHAPS
    if len(stem) == 1 and stem.isalpha():
        # A letter is an initial unless a sentence opens after it; but I is a pronoun unless an initial follows.
        initial = _INITIAL.match(buffer, end) if stem == "I" else _first_word(buffer, end) not in SENTENCE_OPENERS
        return _PERHAPS if initial else "."
    return "."
