"""Who speaks each quotation, and to whom.

A candidate is a mention of a person near the quotation, or a voice of the exchange around it. Each has plain cues (a
speech verb beside it, its distance, whose turn it is); a learned weight for every cue gives its score, and an entity
has the probabilities of all its candidates. Quotations are decided in text order, so that turns can follow turns.
`scripts/train_speakers.py` learns the weights; they depend on no model.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from longcoref.document import Document
from longcoref.english.lexicon import OBJECT_PRONOUNS, PLURAL, POSSESSIVE_DETERMINERS, PREPOSITIONS, SPEECH_VERBS
from longcoref.features.facts import FIRST_PERSON, MentionFacts
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation, paragraph_starts

_BEFORE, _AFTER = 60, 30  # words around a quotation where candidates stand
_NEAR_TURN = 14  # words between two quotations of one exchange
_CONVERSATION = 120  # words after which an exchange is over
_SALIENCE = 0.15  # who is mentioned often speaks often: the power of the count that weighs a guess
_BEHIND_CALLED = frozenset((",", "!", "?", ".", ";", "--", "—", '"', "”", "''", "'", "’"))
_STOPS = frozenset((".", "!", "?"))


@dataclass(frozen=True, slots=True)
class PersonMention:
    """A mention of a person: its words, its entity, and its facts; of a pronoun also the chances of all it may be."""

    span: WordSpan
    entity: int
    facts: MentionFacts
    chances: Mapping[int, float] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A quotation, who speaks it and who is spoken to, as entities; None where nobody was found."""

    quotation: Quotation
    speaker: int | None
    addressee: int | None = None
    probability: float = 0.0


_MENTION_CUES = (
    "verb_then_mention",
    "mention_then_verb_after",
    "mention_then_verb_before",
    "colon_before",
    "same_sentence_before",
    "same_sentence_after",
    "before_3",
    "before_10",
    "before_25",
    "before_60",
    "after_3",
    "after_10",
    "after_30",
    "nearest_before",
    "nearest_after",
    "subject_before",
    "quotation_between",
    "same_paragraph_before",
    "same_paragraph_after",
    "previous_paragraph",
    "pronoun",
    "name",
    "narrator",
    "plural",
    "object",
    "owner",
    "behind_to",
    "behind_preposition",
    "inside",
)
SPEAKER_CUES = (
    *_MENTION_CUES,
    "spoke_last_same_paragraph",
    "spoke_last_after_tag",
    "spoke_last_next_paragraph",
    "spoke_last_far",
    "spoke_before_last_near",
    "spoke_before_last_far",
    "named_in_quotation",
    "called_in_quotation",
    "history",
)
ADDRESSEE_CUES = (
    *_MENTION_CUES,
    "speaks",
    "addressed_last",
    "spoke_before_near",
    "spoke_before_far",
    "spoke_behind_near",
    "spoke_behind_far",
    "named_in_quotation",
    "called_in_quotation",
    "history",
)
"""What may speak for a candidate; docs/novels.md says how much each weighs."""


class _Page:
    """What candidates are read from: the words, where paragraphs begin, and the mentions outside quotations."""

    def __init__(self, document: Document, quotations: Sequence[Quotation], mentions: Sequence[PersonMention]) -> None:
        self.words = [word.lower() for word in document.words]
        starts = paragraph_starts(document)
        self.paragraph = np.cumsum(starts).tolist() if any(starts[1:]) else None
        self.sentence = [n for n, (start, end) in enumerate(document.sentences) for _ in range(start, end)]
        self.quotations = quotations
        starts_of = [quotation.span.start for quotation in quotations]
        ordered = sorted(mentions, key=lambda mention: mention.span)

        def quotation_at(place: int) -> int | None:
            number = bisect_left(starts_of, place + 1) - 1
            return number if number >= 0 and place < quotations[number].span.end else None

        inside = [quotation_at(mention.span.start) for mention in ordered]
        self.outside = [mention for mention, where in zip(ordered, inside, strict=True) if where is None]
        self.starts = [mention.span.start for mention in self.outside]
        self.within: list[list[PersonMention]] = [[] for _ in quotations]
        for mention, where in zip(ordered, inside, strict=True):
            if where is not None:
                self.within[where].append(mention)

    def same_paragraph(self, first: int, second: int) -> bool:
        """Whether two words stand in one paragraph; in a text without paragraphs, nobody knows."""
        return self.paragraph is not None and self.paragraph[first] == self.paragraph[second]

    def distance(self, first: int, second: int) -> int:
        """The words between two quotations."""
        first, second = sorted((first, second))
        return self.quotations[second].span.start - self.quotations[first].span.end


def is_called(words: Sequence[str], span: WordSpan) -> bool:
    """Whether the words of a mention in a quotation call somebody: they stand between marks, one of them a comma."""
    start, end = span
    before, behind = words[start - 1] if start else ",", words[end] if end < len(words) else "."
    return not before[-1:].isalnum() and not behind[:1].isalnum() and (before == "," or behind in _BEHIND_CALLED)


Candidates = tuple[list[int], list[list[str]], list[float]]
"""The entity of each candidate of a quotation, its cues, and the chance that it is that entity."""


def _near(page: _Page, number: int) -> Candidates:
    """The mentions around a quotation."""
    begin, end = page.quotations[number].span
    words = page.words
    first, last = bisect_left(page.starts, begin - _BEFORE), bisect_left(page.starts, end + _AFTER)
    near = page.outside[first:last]
    behind_previous = page.quotations[number - 1].span.end if number else 0
    before_next = page.quotations[number + 1].span.start if number + 1 < len(page.quotations) else len(words)
    rows: list[list[str]] = []
    entities: list[int] = []
    chances: list[float] = []
    middle = bisect_left(page.starts, begin) - first
    for place, mention in enumerate(near):
        (start, stop), facts = mention.span, mention.facts
        before = start < begin
        cues = []
        if before:
            distance = begin - stop
            gap = words[stop:begin]
            if distance <= 12 and any(word in SPEECH_VERBS for word in gap[:4]) and not _STOPS.intersection(gap):
                cues.append("mention_then_verb_before")
            if words[begin - 1] in (":", ",") and start >= behind_previous:
                cues.append("colon_before" if words[begin - 1] == ":" else "same_sentence_before")
            elif page.sentence[start] == page.sentence[begin - 1] and start >= behind_previous:
                cues.append("same_sentence_before")
            cues.append(next(f"before_{limit}" for limit in (3, 10, 25, 60) if distance <= limit))
            if place == middle - 1:
                cues.append("nearest_before")
            if start == 0 or words[start - 1] in _STOPS or page.sentence[start] != page.sentence[start - 1]:
                cues.append("subject_before")
            if start < behind_previous:
                cues.append("quotation_between")
            if page.same_paragraph(start, begin):
                cues.append("same_paragraph_before")
            elif page.paragraph is not None and page.paragraph[start] == page.paragraph[begin] - 1:
                cues.append("previous_paragraph")
        else:
            distance = start - end
            if distance <= 2 and any(word in SPEECH_VERBS for word in words[end:start]):
                cues.append("verb_then_mention")
            elif distance <= 1 and any(word in SPEECH_VERBS for word in words[stop : stop + 3]):
                cues.append("mention_then_verb_after")
            if page.sentence[start] == page.sentence[end - 1] and start < before_next:
                cues.append("same_sentence_after")
            cues.append(next(f"after_{limit}" for limit in (3, 10, 30) if distance <= limit))
            if place == middle:
                cues.append("nearest_after")
            if start >= before_next:
                cues.append("quotation_between")
            if page.same_paragraph(start, end - 1):
                cues.append("same_paragraph_after")
        text = words[start] if stop - start == 1 else ""
        if facts.pronoun:
            cues.append("narrator" if facts.pronoun == FIRST_PERSON else "pronoun")
        elif facts.named:
            cues.append("name")
        if facts.gender & PLURAL:
            cues.append("plural")
        if text in OBJECT_PRONOUNS:
            cues.append("object")
        if text in POSSESSIVE_DETERMINERS:
            cues.append("owner")
        if start and words[start - 1] in PREPOSITIONS:
            cues.append("behind_to" if words[start - 1] == "to" else "behind_preposition")
        if any(
            other.span != mention.span and other.span.start <= start and stop <= other.span.end
            for other in near[max(0, place - 2) : place + 2]
        ):
            cues.append("inside")
        for entity, chance in (mention.chances or {mention.entity: 1.0}).items():
            entities.append(entity)
            rows.append(cues)
            chances.append(chance)
    return entities, rows, chances


def _with_history(page: _Page, number: int, near: Candidates, past: dict[int, list[str]]) -> Candidates:
    """The candidates with those of the exchange beside them, and what each entity is in it and in the quotation."""
    entities, rows = [*near[0], *past], [[*cues] for cues in near[1]] + [["history"] for _ in past]
    chances = [*near[2], *(1.0 for _ in past)]
    named: dict[int, str] = {}
    for mention in page.within[number]:
        if not mention.facts.pronoun and named.get(mention.entity) != "called_in_quotation":
            named[mention.entity] = (
                "called_in_quotation" if is_called(page.words, mention.span) else "named_in_quotation"
            )
    for entity, cues in zip(entities, rows, strict=True):
        cues += past.get(entity, ())
        if entity in named:
            cues.append(named[entity])
    return entities, rows, chances


def speaker_candidates(page: _Page, number: int, spoken: Sequence[int | None]) -> Candidates:
    """Who may speak a quotation, given who spoke those before it."""
    return _with_history(page, number, _near(page, number), _turns_before(page, number, spoken))


def addressee_candidates(
    page: _Page, number: int, spoken: Sequence[int | None], addressed: Sequence[int | None]
) -> Candidates:
    """Whom a quotation may be said to, given who speaks all of them and to whom those before it are said."""
    past: dict[int, list[str]] = {}
    speaker = spoken[number]
    if speaker is not None:
        past[speaker] = ["speaks"]
    for cue, step in (("spoke_before", -1), ("spoke_behind", 1)):
        other, near = _other_voice(page, number, step, spoken)
        if other is not None:
            past.setdefault(other, []).append(f"{cue}_{'near' if near else 'far'}")
    last = addressed[number - 1] if number and spoken[number - 1] == speaker else None
    if last is not None and page.distance(number - 1, number) <= _CONVERSATION:
        past.setdefault(last, []).append("addressed_last")
    for mention in page.within[number]:
        if not mention.facts.pronoun and is_called(page.words, mention.span):
            past.setdefault(mention.entity, [])
    return _with_history(page, number, _near(page, number), past)


def _other_voice(page: _Page, number: int, step: int, spoken: Sequence[int | None]) -> tuple[int | None, bool]:
    """The nearest voice before or behind that is not the speaker's, in the same exchange; and whether it is near."""
    index, near = number + step, True
    while 0 <= index < len(spoken):
        distance = page.distance(index, index - step)
        near = near and distance <= _NEAR_TURN
        if distance > _CONVERSATION:
            break
        if spoken[index] is not None and spoken[index] != spoken[number]:
            return spoken[index], near
        index += step
    return None, False


def _turns_before(page: _Page, number: int, spoken: Sequence[int | None]) -> dict[int, list[str]]:
    """Who spoke last and before, with the cues that this gives them."""
    past: dict[int, list[str]] = {}
    begin = page.quotations[number].span.start
    last = spoken[number - 1] if number else None
    if last is not None:
        before = page.quotations[number - 1].span
        gap = begin - before.end
        if page.same_paragraph(before.end - 1, begin):
            cue = "spoke_last_same_paragraph"
        elif page.paragraph is None and 1 < gap <= _NEAR_TURN and page.words[begin - 1] not in _STOPS:
            cue = "spoke_last_after_tag"
        else:
            cue = "spoke_last_next_paragraph" if gap <= _NEAR_TURN else "spoke_last_far"
        if gap <= _CONVERSATION:
            past.setdefault(last, []).append(cue)
    # The turn before: of the last quotation that somebody else spoke.
    for index in range(number - 2, max(number - 6, -1), -1):
        other = spoken[index]
        if other is not None and other != last:
            if begin - page.quotations[index].span.end <= 2 * _CONVERSATION:
                near = begin - page.quotations[number - 1].span.end <= _NEAR_TURN
                past.setdefault(other, []).append(f"spoke_before_last_{'near' if near else 'far'}")
            break
    return past


@cache
def learned_weights() -> dict[str, dict[str, float]]:
    """The weight of each cue for speakers and for addressees, as learned."""
    table = json.loads((files("longcoref") / "models" / "speakers.json").read_text(encoding="utf-8"))
    return {"speaker": table["speaker"], "addressee": table["addressee"]}


def attribute(document: Document, quotations: Sequence[Quotation], mentions: Sequence[PersonMention]) -> list[Turn]:
    """Who speaks each quotation and to whom, given the mentions of persons with their entities."""
    page, weights = _Page(document, quotations, mentions), learned_weights()
    counts = Counter(mention.entity for mention in mentions)
    prior = {entity: (count + 1) ** _SALIENCE for entity, count in counts.items()}
    spoken: list[int | None] = []
    chances: list[float] = []
    for number, quotation in enumerate(quotations):
        if quotation.continues and spoken:
            spoken.append(spoken[-1])
            chances.append(chances[-1])
            continue
        shares = entity_shares(speaker_candidates(page, number, spoken), weights["speaker"], prior)
        best = max(shares, key=shares.__getitem__, default=None)
        spoken.append(best)
        chances.append(0.0 if best is None else shares[best])
    addressed: list[int | None] = []
    for number, quotation in enumerate(quotations):
        if quotation.continues and addressed:
            addressed.append(addressed[-1])
            continue
        shares = entity_shares(addressee_candidates(page, number, spoken, addressed), weights["addressee"], prior)
        others = (entity for entity in shares if entity != spoken[number])  # nobody is told what they say themselves
        addressed.append(max(others, key=shares.__getitem__, default=None))
    return [
        Turn(quotation, speaker, addressee, chance)
        for quotation, speaker, addressee, chance in zip(quotations, spoken, addressed, chances, strict=True)
    ]


def entity_shares(candidates: Candidates, weights: Mapping[str, float], prior: Mapping[int, float]) -> dict[int, float]:
    """The probability of each entity: the sum over its candidates of a softmax of their scores, times its prior."""
    entities, rows, chances = candidates
    scores = [sum(weights[cue] for cue in cues) for cues in rows]
    highest = max(scores, default=0.0)
    shares: dict[int, float] = {}
    for entity, score, chance in zip(entities, scores, chances, strict=True):
        shares[entity] = shares.get(entity, 0.0) + math.exp(score - highest) * chance * prior.get(entity, 1.0)
    total = sum(shares.values())
    return {entity: share / total for entity, share in shares.items()}
