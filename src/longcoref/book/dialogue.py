"""Conversations in a text: its quotations, the paragraphs and people around them, and who speaks before and after."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, islice

from longcoref.book.numbers import SAME_CONVERSATION, SAME_EXCHANGE, TAG
from longcoref.book.table import Row
from longcoref.document import Document
from longcoref.english.lexicon import (
    OBJECT_PRONOUNS,
    PLURAL,
    POSSESSIVE_DETERMINERS,
    POSSESSIVE_ENDINGS,
    PREPOSITIONS,
    SPEECH_VERBS,
)
from longcoref.features.facts import FIRST_PERSON
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation, paragraph_starts

_AFTER_VOCATIVE = frozenset((",", "!", "?", ".", ";", "--", "—", '"', "”", "''", "'", "’"))
STOPS = frozenset((".", "!", "?"))
_BEFORE_OWN_NAME = (("i", "am"), ("i", "'m"), ("i", "’m"), ("name", "is"), ("name", "'s"), ("name", "’s"))


class Dialogue:
    """Where the candidates of quotations come from: the words, the paragraphs, and the mentions of people.

    `outside` are the mentions outside quotations, with where they start and the cues of their `wording`; `within` has
    those in each quotation.
    """

    def __init__(self, document: Document, quotations: Sequence[Quotation], rows: Sequence[Row]) -> None:
        """`rows` are the mentions of people in text order, with the quotation that each is in."""
        lowered = {word: word.lower() for word in set(document.words)}  # equal words share their memory
        self.words = [lowered[word] for word in document.words]
        starts = paragraph_starts(document)
        self._paragraph = array("i", accumulate(starts)) if any(islice(starts, 1, None)) else None
        self.sentence = array("i", (n for n, (start, end) in enumerate(document.sentences) for _ in range(start, end)))
        self.quotations = quotations
        self.outside = [row for row in rows if row.quotation is None]
        self.starts = [row.words.start for row in self.outside]
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.wording = [shared.setdefault(cues, cues) for cues in map(self._wording, range(len(self.outside)))]
        self.within: list[list[Row]] = [[] for _ in quotations]
        for row in rows:
            if row.quotation is not None:
                self.within[row.quotation].append(row)

    @property
    def has_paragraphs(self) -> bool:
        """Whether the text shows where paragraphs begin."""
        return self._paragraph is not None

    def paragraphs_between(self, first: int, second: int) -> int | None:
        """How many paragraphs the second word is after the first one, None in a text without paragraphs."""
        return None if self._paragraph is None else self._paragraph[second] - self._paragraph[first]

    def _wording(self, place: int) -> tuple[str, ...]:
        """The cues that a mention outside quotations has by its wording, the word before it, and mentions around it."""
        row = self.outside[place]
        words, facts, (start, stop) = self.words, row.facts, row.words
        cues = []
        if facts.pronoun:
            cues.append("narrator" if facts.pronoun == FIRST_PERSON else "pronoun")
        elif facts.named:
            cues.append("name")
        if facts.gender & PLURAL:
            cues.append("plural")
        text = words[start] if stop - start == 1 else ""
        if text in OBJECT_PRONOUNS:
            cues.append("object")
        if text in POSSESSIVE_DETERMINERS:
            cues.append("owner")
        if start and words[start - 1] in PREPOSITIONS:
            cues.append("behind_to" if words[start - 1] == "to" else "behind_preposition")
        for other in self.outside[max(0, place - 2) : place + 2]:
            if other is not row and other.words.start <= start and stop <= other.words.end:
                return (*cues, "inside")
        return tuple(cues)

    def goes_on(self, number: int) -> bool:
        """Whether a quotation is the rest of the one before it: a further paragraph, or after a tag ("..." he said)."""
        if not number or self.quotations[number].continues:
            return number > 0
        before, begin = self.quotations[number - 1].words.end, self.quotations[number].words.start
        verbs = [place for place in range(before, begin) if self.words[place] in SPEECH_VERBS]
        return (
            len(verbs) == 1
            and verbs[0] - before < TAG
            and STOPS.isdisjoint(self.words[before:begin])
            and self.paragraphs_between(before - 1, begin) in (0, None)
        )

    def own_name(self, number: int) -> int | None:
        """Who says in a quotation what they are called ("I am Ann", "my name is Ann"), if somebody does."""
        for row in self.within[number]:
            start, end = row.words
            before, after = tuple(self.words[start - 2 : start]), self.words[end : end + 1]
            if row.mention.kind == "PROP" and row.name is not None and before in _BEFORE_OWN_NAME:
                is_mine = before[0] == "i" or self.words[start - 3] == "my"
                if is_mine and not {*after, self.words[end - 1]} & {*POSSESSIVE_ENDINGS}:
                    return row.entity
        return None

    def gap(self, number: int) -> int:
        """The words between a quotation and the one before it."""
        return self.quotations[number].words.start - self.quotations[number - 1].words.end

    def opens_conversation(self, number: int) -> bool:
        """Whether a quotation is the first one of a conversation."""
        return not number or self.gap(number) > SAME_CONVERSATION

    def turn_cues(self, number: int) -> tuple[str, str]:
        """What it means for a quotation inside a conversation to have spoken last, and last before somebody else."""
        gap, begin, before = self.gap(number), self.quotations[number].words.start, self.quotations[number - 1].words
        paragraphs = self.paragraphs_between(before.end - 1, begin)
        place = "near" if gap <= SAME_EXCHANGE else "far"
        is_next = paragraphs == 1 and self.paragraphs_between(begin - 1, begin) == 1
        if is_next or (paragraphs is None and not gap):
            place = "adjacent"
        if paragraphs == 0:
            cue = "same_paragraph"
        elif not self.has_paragraphs and 1 < gap <= SAME_EXCHANGE and self.words[begin - 1] not in STOPS:
            cue = "after_tag"
        else:
            cue = "next_paragraph" if place == "near" else place
        return f"spoke_last_{cue}", f"spoke_before_last_{place}"


def is_vocative(words: Sequence[str], span: WordSpan) -> bool:
    """Whether a mention in a quotation addresses somebody: it is between punctuation marks, usually after a comma."""
    start, end = span
    before, after = words[start - 1] if start else ",", words[end] if end < len(words) else "."
    return not before[-1:].isalnum() and not after[:1].isalnum() and (before == "," or after in _AFTER_VOCATIVE)


class Voices:
    """The speakers of all quotations, and for each the nearest other voice before and after it.

    Neighbours are found by one walk over the quotations in each direction.
    """

    def __init__(self, dialogue: Dialogue, spoken: Sequence[int | None]) -> None:
        self.spoken = spoken
        gaps = [0, *(dialogue.gap(number) for number in range(1, len(spoken)))]
        # How many wide gaps there are up to each quotation: equal counts mean that there is none in between.
        self._adjacent = list(accumulate(gap > 0 for gap in gaps))
        self._exchange = list(accumulate(gap > SAME_EXCHANGE for gap in gaps))
        self._conversation = list(accumulate(gap > SAME_CONVERSATION for gap in gaps))
        self._before = _other_voices(spoken)
        mirrored = _other_voices(spoken[::-1])[::-1]
        self._after = [None if index is None else len(spoken) - 1 - index for index in mirrored]

    def before(self, number: int) -> tuple[int | None, str]:
        """The nearest other voice before a quotation in the same conversation, and whether the two are close."""
        return self._voice(number, self._before[number])

    def after(self, number: int) -> tuple[int | None, str]:
        """The nearest other voice after a quotation in the same conversation, and whether the two are close."""
        return self._voice(number, self._after[number])

    def _voice(self, number: int, index: int | None) -> tuple[int | None, str]:
        if index is None or self._conversation[index] != self._conversation[number]:
            return None, ""
        if self._adjacent[index] == self._adjacent[number]:
            return self.spoken[index], "adjacent"
        return self.spoken[index], "near" if self._exchange[index] == self._exchange[number] else "far"


def _other_voices(spoken: Sequence[int | None]) -> list[int | None]:
    """For each quotation, the last one before it that somebody else speaks."""
    found: list[int | None] = []
    last: int | None = None  # the last quotation with a speaker,
    other: int | None = None  # and the last before it with another one
    for number, speaker in enumerate(spoken):
        found.append(last if last is None or spoken[last] != speaker else other)
        if speaker is not None:
            if last is not None and spoken[last] != speaker:
                other = last
            last = number
    return found
