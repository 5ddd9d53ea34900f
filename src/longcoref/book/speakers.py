"""Who speaks each quotation, and to whom.

A candidate is a mention of a person near the quotation, or somebody who takes part in the conversation around it. Each
has plain cues (a speech verb next to it, its distance, whose turn it is) with learned weights (`book.choice`). The
speakers of a conversation are decided together (`book.conversation`), because people take turns; addressees follow in
text order.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from longcoref.book.choice import Candidate, learned_weights, likeliest, masses, normalized, shares
from longcoref.book.conversation import Turns, Utterance, decide
from longcoref.book.dialogue import STOPS, Dialogue, Voices, is_vocative
from longcoref.book.numbers import MOVED, SAME_CONVERSATION, TAG
from longcoref.book.table import Row, Table
from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.english.lexicon import (
    SPEECH_VERBS,
)
from longcoref.features.facts import SECOND_PERSON
from longcoref.text.quotations import Quotation

_MENTION_CUES = (
    "verb_then_mention",
    "mention_then_verb_after",
    "mention_then_verb_before",
    "colon_before",
    "same_sentence_before",
    "same_sentence_after",
    "before",
    "log_distance_before",
    "log_distance_after",
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
    "spoke_last_adjacent",
    "spoke_last_next_paragraph",
    "spoke_last_far",
    "spoke_before_last_adjacent",
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
    "spoke_before_adjacent",
    "spoke_before_near",
    "spoke_before_far",
    "spoke_behind_adjacent",
    "spoke_behind_near",
    "spoke_behind_far",
    "named_in_quotation",
    "called_in_quotation",
    "history",
)
"""The cues of a candidate; their weights are in `models/speakers.json`."""

Past = dict[int, list[str]]
"""The people who take part in a conversation, with the cues that this gives them."""


def speaker_candidates(dialogue: Dialogue, number: int, turns: Turns) -> list[Candidate]:
    """The possible speakers of a quotation, given those who spoke before in the conversation."""
    past: Past = {}
    if not dialogue.opens_conversation(number):
        past = {
            entity: [cue] for entity, cue in zip(turns, dialogue.turn_cues(number), strict=True) if entity is not None
        }
    return _candidates(dialogue, number, past)


def addressee_candidates(
    dialogue: Dialogue, number: int, voices: Voices, addressed: Sequence[int | None]
) -> list[Candidate]:
    """The possible addressees of a quotation, given all speakers and the addressees of the quotations before it."""
    spoken = voices.spoken
    past: Past = {}
    speaker = spoken[number]
    if speaker is not None:
        past[speaker] = ["speaks"]
    for cue, (other, place) in (("spoke_before", voices.before(number)), ("spoke_behind", voices.after(number))):
        if other is not None:
            past.setdefault(other, []).append(f"{cue}_{place}")
    last = addressed[number - 1] if number and spoken[number - 1] == speaker else None
    if last is not None and dialogue.gap(number) <= SAME_CONVERSATION:
        past.setdefault(last, []).append("addressed_last")
    for row in dialogue.within[number]:
        if not row.facts.pronoun and is_vocative(dialogue.words, row.words):
            past.setdefault(row.entity, [])
    return _candidates(dialogue, number, past)


def _candidates(dialogue: Dialogue, number: int, past: Past) -> list[Candidate]:
    """The mentions around a quotation and the participants, with each entity's role in conversation and quotation."""
    named = _named(dialogue, number)

    def candidate(entity: int, cues: Mapping[str, float], chance: float = 1.0) -> Candidate:
        if entity in past:
            cues = {**cues, **dict.fromkeys(past[entity], 1.0)}
        if entity in named:
            cues = {**cues, named[entity]: 1.0}
        return Candidate(entity, cues, chance)

    found = []
    for row, cues in _near(dialogue, number):
        found += [candidate(entity, cues, share) for entity, share in (row.shares or {row.entity: 1.0}).items()]
    return found + [candidate(entity, {"history": 1.0}) for entity in past]


def _named(dialogue: Dialogue, number: int) -> dict[int, str]:
    """The entities that are named or described in a quotation, each with the cue that this gives them."""
    named: dict[int, str] = {}
    for row in dialogue.within[number]:
        if not row.facts.pronoun and named.get(row.entity) != "called_in_quotation":
            vocative = is_vocative(dialogue.words, row.words)
            named[row.entity] = "called_in_quotation" if vocative else "named_in_quotation"
    return named


def _near(dialogue: Dialogue, number: int) -> Iterator[tuple[Row, dict[str, float]]]:
    """The mentions around a quotation with their cues."""
    begin, end = dialogue.quotations[number].words
    first, middle, last = (
        bisect_left(dialogue.starts, place) for place in (begin - SAME_CONVERSATION, begin, end + SAME_CONVERSATION)
    )
    for place in range(first, last):
        row = dialogue.outside[place]
        cues = dict.fromkeys(dialogue.wording[place], 1.0)
        if place < middle:
            for cue in _cues_before(dialogue, number, row):
                cues[cue] = 1.0
            cues["log_distance_before"] = math.log1p(max(0, begin - row.words.end))
        else:
            for cue in _cues_after(dialogue, number, row):
                cues[cue] = 1.0
            cues["log_distance_after"] = math.log1p(max(0, row.words.start - end))
        if place in (middle - 1, middle):
            cues["nearest_before" if place < middle else "nearest_after"] = 1.0
        yield row, cues


def _cues_before(dialogue: Dialogue, number: int, row: Row) -> Iterator[str]:
    """The cues of a mention before a quotation that depend on where it is."""
    words, sentence, (start, stop) = dialogue.words, dialogue.sentence, row.words
    begin = dialogue.quotations[number].words.start
    after_previous = start >= (dialogue.quotations[number - 1].words.end if number else 0)
    near = words[stop : min(stop + TAG, begin)]
    if not SPEECH_VERBS.isdisjoint(near) and STOPS.isdisjoint(words[stop:begin]):
        yield "mention_then_verb_before"
    yield "before"
    if words[begin - 1] in (":", ",") and after_previous:
        yield "colon_before" if words[begin - 1] == ":" else "same_sentence_before"
    elif sentence[start] == sentence[begin - 1] and after_previous:
        yield "same_sentence_before"
    if start == 0 or words[start - 1] in STOPS or sentence[start] != sentence[start - 1]:
        yield "subject_before"
    if not after_previous:
        yield "quotation_between"
    paragraphs = dialogue.paragraphs_between(start, begin)
    if paragraphs in (0, 1):
        yield "previous_paragraph" if paragraphs else "same_paragraph_before"


def _cues_after(dialogue: Dialogue, number: int, row: Row) -> Iterator[str]:
    """The cues of a mention after a quotation that depend on where it is."""
    words, quotations, (start, stop) = dialogue.words, dialogue.quotations, row.words
    end = quotations[number].words.end
    before_next = start < (quotations[number + 1].words.start if number + 1 < len(quotations) else len(words))
    if start - end <= TAG and not SPEECH_VERBS.isdisjoint(words[end:start]):
        yield "verb_then_mention"
    elif start - end <= TAG and not SPEECH_VERBS.isdisjoint(words[stop : stop + TAG]):
        yield "mention_then_verb_after"
    if dialogue.sentence[start] == dialogue.sentence[end - 1] and before_next:
        yield "same_sentence_after"
    if not before_next:
        yield "quotation_between"
    if dialogue.paragraphs_between(end - 1, start) == 0:
        yield "same_paragraph_after"


def speakers_of(dialogue: Dialogue, weights: Mapping[str, float]) -> list[dict[int, float]]:
    """The probability of each possible speaker, for every quotation."""
    conversations: list[list[int]] = []
    for number in cancellable(range(len(dialogue.quotations))):
        if not dialogue.goes_on(number):
            if dialogue.opens_conversation(number):
                conversations.append([])
            conversations[-1].append(number)
    decided: dict[int, dict[int, float]] = {}
    for numbers in conversations:
        together = decide([utterance_of(dialogue, number, weights) for number in numbers])
        for number, probabilities in zip(numbers, together, strict=True):
            own = dialogue.own_name(number)
            decided[number] = probabilities if own is None else {own: MOVED}
    found: list[dict[int, float]] = []
    for number in range(len(dialogue.quotations)):
        found.append(decided[number] if number in decided else found[-1])
    return found


def utterance_of(dialogue: Dialogue, number: int, weights: Mapping[str, float]) -> Utterance:
    """What the cues of a quotation say about its speaker, apart from whose turn it is."""
    own = dialogue.own_name(number)
    alone = masses(speaker_candidates(dialogue, number, Turns()), weights) if own is None else {own: 1.0}
    if own is not None or dialogue.opens_conversation(number):
        return Utterance(alone, {}, 0.0, (1.0, 1.0))
    usual = math.exp(weights["history"])
    returning = masses(
        (Candidate(entity, {"history": 1.0, cue: 1.0}) for entity, cue in _named(dialogue, number).items()), weights
    )
    last, other = (math.exp(weights[cue]) for cue in dialogue.turn_cues(number))
    return Utterance(alone, returning, usual, (last, other))


def attribute(
    document: Document,
    quotations: Sequence[Quotation],
    rows: Sequence[Row],
    weights: Mapping[str, Mapping[str, float]],
) -> list[Quotation]:
    """The quotations with their speakers and addressees, given the mentions of people and the weights of the cues."""
    dialogue = Dialogue(document, quotations, rows)
    speakers = speakers_of(dialogue, weights["speaker"])
    spoken = [likeliest(found) for found in speakers]
    scores = [max(found.values(), default=0.0) for found in speakers]
    voices = Voices(dialogue, spoken)
    addressed: list[int | None] = []
    addressee_scores: list[float] = []
    for number in cancellable(range(len(quotations))):
        if dialogue.goes_on(number):
            addressed.append(addressed[-1])
            addressee_scores.append(addressee_scores[-1])
            continue
        found = shares(addressee_candidates(dialogue, number, voices, addressed), weights["addressee"])
        others = _without(found, spoken[number])
        addressed.append(likeliest(others))
        addressee_scores.append(max(others.values(), default=0.0))
    return [
        replace(quotation, speaker=speaker, score=score, addressee=addressee, addressee_score=addressee_score)
        for quotation, speaker, score, addressee, addressee_score in zip(
            quotations, spoken, scores, addressed, addressee_scores, strict=True
        )
    ]


def _without(found: Mapping[int, float], speaker: int | None) -> dict[int, float]:
    """The probabilities of everybody but the speaker: nobody addresses themselves."""
    return normalized({entity: share for entity, share in found.items() if entity != speaker})


def attribute_quotations(table: Table) -> None:
    """Finds the speakers and addressees of the quotations of a table.

    A vocative alone ("my dear") does not identify a person, so an entity that is only addressed is nobody's speaker.
    """
    table.people &= {row.entity for row in table.rows if row.quotation is None or row.facts.name}
    table.quotations = attribute(table.document, table.quotations, voices_in(table), learned_weights())


def voices_in(table: Table) -> list[Row]:
    """The mentions by which speakers and addressees are found."""
    rows = []
    for row in table.rows:
        if row.entity in table.people and row.facts.pronoun != SECOND_PERSON:
            known = {entity: share for entity, share in row.shares.items() if entity in table.people}
            rows.append(row if len(known) == len(row.shares) else replace(row, shares=known))
    return rows
