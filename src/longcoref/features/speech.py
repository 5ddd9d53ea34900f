"""Who may be speaking, as far as the words before a mention and its own sentence tell: its turn and its role.

A turn is what one speaker says before another one answers. LitBank and streamed text have no paragraphs, so turns are
told apart by the narration between two quotations: none, and somebody answers; a few words, and the same speaker goes
on. In 60 documents of LitBank, the "I" of both is the same person in 4 of 63 and in 51 of 66 cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from longcoref.english.lexicon import AROUND_VOCATIVES, DETERMINERS, SPEECH_VERBS
from longcoref.features.facts import FIRST_PERSON, SECOND_PERSON, MentionFacts, mention_facts
from longcoref.spans import WordSpan
from longcoref.text.quotations import DOUBLE, QuotationScanner

INTERRUPTION = 15
"""Words of narration that may interrupt one speaker's turn."""
APART = 3
"""By how much the number of a turn rises after more narration than that, so that it neither answers nor goes on."""
_MARKS = DOUBLE.opening | {DOUBLE.straight}
_TAG = 8  # words between a speaker and the quotation that they introduce, at most
_ENDS_TAG = frozenset((",", ":"))
_AROUND_VOCATIVE = AROUND_VOCATIVES | {",", ";", "!", "?", ".", "—", "--"}


class Role(IntEnum):
    """What a mention is to the speech around it."""

    NARRATED = 0
    NARRATOR = 1  # "I" in narration
    QUOTED = 2  # spoken of
    SPEAKER = 3  # "I" in a quotation
    ADDRESSEE = 4  # "you" in a quotation
    TAG = 5  # "X" of "said X"
    VOCATIVE = 6  # "X" of "Come, X!"


IN_QUOTATIONS = frozenset((Role.QUOTED, Role.SPEAKER, Role.ADDRESSEE, Role.VOCATIVE))
SPEAKS = frozenset((Role.SPEAKER, Role.TAG))
HEARS = frozenset((Role.ADDRESSEE, Role.VOCATIVE))


@dataclass(frozen=True, slots=True)
class PlacedFacts:
    """The facts of a mention, the number of its sentence, and its part in the speech around it.

    They depend only on the words before the mention and on its sentence, so a text read in pieces has the same facts as
    one read whole.
    """

    facts: MentionFacts
    sentence: int
    role: Role = Role.NARRATED
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Speech:
    """A sentence as speech: for each word its turn, or the latest one, and whether it is inside a quotation.

    `outside_for` is the number of words between the latest quotation and each word outside quotations.
    """

    words: Sequence[str]
    turns: Sequence[int]
    inside: Sequence[bool]
    outside_for: Sequence[int]

    def placed(self, start: int, end: int, sentence: int) -> PlacedFacts:
        """The facts of the mention from word `start` to `end` of this sentence, whose number is given."""
        facts = mention_facts(self.words[start:end])
        return PlacedFacts(facts, sentence, *self._part(start, end, facts.pronoun))

    def _part(self, start: int, end: int, pronoun: int) -> tuple[Role, int]:
        """The role and the turn of a mention; `pronoun` is its class, 0 if it is none."""
        turn = self.turns[start]
        if self.inside[start]:
            if pronoun:
                return {FIRST_PERSON: Role.SPEAKER, SECOND_PERSON: Role.ADDRESSEE}.get(pronoun, Role.QUOTED), turn
            return (Role.VOCATIVE if self._is_vocative(start, end) else Role.QUOTED), turn
        tagged = self._tagged(start, end)
        if tagged is not None:
            return Role.TAG, tagged
        return (Role.NARRATOR if pronoun == FIRST_PERSON else Role.NARRATED), turn

    def _tagged(self, start: int, end: int) -> int | None:
        """The turn whose speaker a mention in narration names."""
        if start and self.words[start - 1] in SPEECH_VERBS and self.outside_for[start] in (1, 2):
            return self.turns[start]  # “…” said X
        if SPEECH_VERBS.isdisjoint(self.words[end : end + 2]):
            return None
        if not self.outside_for[start]:
            return self.turns[start]  # “…” X said
        opening = next((place for place in range(end, min(end + _TAG, len(self.words))) if self.inside[place]), None)
        if opening is not None and opening > 1 and self.words[opening - 2] in _ENDS_TAG:
            return self.turns[opening]  # X said, “…”
        return None

    def _is_vocative(self, start: int, end: int) -> bool:
        before = start == 0 or not self.inside[start - 1] or self.words[start - 1].lower() in _AROUND_VOCATIVE
        after = end == len(self.words) or not self.inside[end] or self.words[end] in _AROUND_VOCATIVE
        first = self.words[start].lower()
        return before and after and end - start <= 3 and (first not in DETERMINERS or first == "my")


@dataclass(slots=True)
class SpeechScanner:
    """Follows the speech of a text sentence by sentence."""

    turn: int = 0
    outside_for: int = INTERRUPTION + 1
    _quotes: QuotationScanner = field(default_factory=QuotationScanner)

    def scan(self, words: Sequence[str]) -> Speech:
        """Takes the words of the next sentence."""
        if not self._quotes.open_for and _MARKS.isdisjoint(words):
            return self._narration(words)
        turns, inside, outside_for = [], [], []
        for word in words:
            was_open = self._quotes.open_for > 0
            self._quotes.step(word)
            is_open = self._quotes.open_for > 0
            outside_for.append(self.outside_for)
            if is_open and not was_open:
                self.turn += 1 if not self.outside_for else 0 if self.outside_for <= INTERRUPTION else APART
            self.outside_for = 0 if is_open or was_open else self.outside_for + 1
            turns.append(self.turn)
            inside.append(self._quotes.inside)
        return Speech(words, turns, inside, outside_for)

    def _narration(self, words: Sequence[str]) -> Speech:
        """Passes over a sentence without quotation marks, which most are."""
        outside = range(self.outside_for, self.outside_for + len(words))
        self.outside_for += len(words)
        return Speech(words, [self.turn] * len(words), [False] * len(words), outside)


def document_facts(
    words: Sequence[str], sentences: Sequence[WordSpan], spans: Iterable[tuple[int, int]]
) -> list[PlacedFacts]:
    """The facts of spans of a whole document."""
    scanner = SpeechScanner()
    speech = [scanner.scan(words[start:end]) for start, end in sentences]
    sentence_of = [number for number, (start, end) in enumerate(sentences) for _ in range(start, end)]
    placed = []
    for start, end in spans:
        number = sentence_of[start]
        begin = sentences[number].start
        placed.append(speech[number].placed(start - begin, end - begin, number))
    return placed
