"""A second look at the clusters of a whole text, with what only the whole text shows.

The memory decides mention by mention, before it is known who speaks and what everybody is called. Here, the persons
whom the text names are told apart and brought together (`names`), a "he" or "she" goes to the likeliest of those whom
the memory compared it with, now that it is known who they are, and the persons of a dialogue are told apart (`speech`):
"I" in a quotation is its speaker, "you" and a noun that calls somebody ("sir") its addressee, "he" and "she" rather
neither, and "I" outside quotations the one narrator. Each mention is looked at a constant number of times.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from longcoref.book.persons import NamedPersons, Seen, contradicts, gender_of
from longcoref.book.speakers import PersonMention, Turn, attribute, is_called
from longcoref.document import Document
from longcoref.english.lexicon import SPEECH_VERBS
from longcoref.english.names import clear_gender
from longcoref.features.facts import FIRST_PERSON, HE_OR_SHE, SECOND_PERSON
from longcoref.text.quotations import Quotation, find_quotations

_NARRATOR = 5  # "I"s outside quotations, fewer than which make no narrator
_NARRATING = 0.1  # their share of all "I", "he" and "she" there, below which there is none either
_CALLED = 3  # times that somebody whom the narration never names is called by name, to be its narrator
_HEAP = 100  # mentions from which an entity may be a heap of pronouns of many people
_LOOSE = 0.2  # the share of nouns up to which an entity without a name is but a heap of pronouns
_HARDLY_NAMED = 0.05  # the share of names up to which it has none to speak of
_PRESENT, _ABSENT = 400, 3.0  # who was not named or described for so many words loses so much of a link score
_SALIENCE = 0.5  # who is mentioned often is meant often: the power of the count that weighs a guess
_ADDRESSED = 0.5  # how likely it is, against anybody else, that "he" or "she" is who is spoken to


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The entity of each mention as it is now, the quotations with their speakers, and the narrator, as entities.

    Entities are numbered anew, in order of first mention: one that lost or gave away its first one is another by now.
    """

    entities: list[int]
    turns: list[Turn]
    narrator: int | None = None


def look_again(document: Document, mentions: Sequence[Seen], *, names: bool = True, speech: bool = True) -> SecondLook:
    """Looks again at the mentions of a document, which are in text order."""
    if names:
        named = NamedPersons(mentions, _persons(mentions))
        mentions = [
            replace(mention, rivals=named.people(mention), entity=named.person_of(mention)) for mention in mentions
        ]
    persons = _persons(mentions)
    chances = _chances(mentions, persons) if names or speech else [{} for _ in mentions]
    mentions = [
        mention if not known else replace(mention, entity=max(known, key=known.__getitem__))
        for mention, known in zip(mentions, chances, strict=True)
    ]
    quotations = find_quotations(document)
    places = _places(mentions, quotations)
    narrator = _narrator(mentions, places) if speech else None
    if narrator is not None:
        mentions = [
            replace(mention, entity=narrator) if mention.facts.pronoun == FIRST_PERSON and place is None else mention
            for mention, place in zip(mentions, places, strict=True)
        ]
        persons.add(narrator)
        if (called := _called(document, mentions, places)) is not None:
            mentions = [
                replace(mention, entity=narrator) if mention.entity == called else mention for mention in mentions
            ]
            for known in chances:
                if called in known:
                    known[narrator] = known.get(narrator, 0.0) + known.pop(called)
    # Who is only ever called ("my dear") is somebody else, and is to be found out here.
    told = {seen.entity for seen, place in zip(mentions, places, strict=True) if place is None or seen.facts.name}
    persons &= told
    turns = attribute(
        document,
        quotations,
        [
            PersonMention(mention.span, mention.entity, mention.facts, _among(persons, known))
            for mention, known in zip(mentions, chances, strict=True)
            if mention.entity in persons and mention.facts.pronoun != SECOND_PERSON
        ],
    )
    entities = [mention.entity for mention in mentions]
    if speech:
        for number, (mention, place) in enumerate(zip(mentions, places, strict=True)):
            if place is not None:
                entities[number] = _in_quotation(document, mention, chances[number], turns[place])
            elif chances[number] and (speaker := _tagged(document, mention, turns)) in chances[number]:
                entities[number] = speaker
    return _numbered(entities, turns, narrator)


def _numbered(entities: Sequence[int], turns: Sequence[Turn], narrator: int | None) -> SecondLook:
    numbers: dict[int | None, int] = {}
    for entity in entities:
        numbers.setdefault(entity, len(numbers))
    return SecondLook(
        [numbers[entity] for entity in entities],
        [replace(turn, speaker=numbers.get(turn.speaker), addressee=numbers.get(turn.addressee)) for turn in turns],
        numbers.get(narrator),
    )


def _in_quotation(document: Document, mention: Seen, chances: Mapping[int, float], turn: Turn) -> int:
    """Who a mention in a quotation is, given who speaks it and to whom."""
    voice = None
    if mention.facts.pronoun == FIRST_PERSON:
        voice = turn.speaker
    elif mention.facts.pronoun == SECOND_PERSON or (
        not (mention.facts.pronoun or mention.facts.name)
        and mention.type in ("PER", None)
        and is_called(document.words, mention.span)
    ):
        voice = turn.addressee
    elif chances and turn.speaker is not None:
        doubts = {turn.addressee: _ADDRESSED, turn.speaker: 1 - turn.probability}
        voice = max(chances, key=lambda entity: chances[entity] * doubts.get(entity, 1.0))
    return mention.entity if voice is None else voice


def _tagged(document: Document, mention: Seen, turns: Sequence[Turn]) -> int:
    """Who speaks the quotation that a mention close behind it belongs to ("...," she said), -1 if none."""
    start, end = mention.span
    number = bisect_right(turns, start, key=lambda turn: turn.quotation.span.end) - 1
    if number < 0 or start - turns[number].quotation.span.end > 1:
        return -1
    words = document.words[turns[number].quotation.span.end : start] + document.words[end : end + 1]
    said = any(word.lower() in SPEECH_VERBS for word in words)
    speaker = turns[number].speaker
    return speaker if said and speaker is not None else -1


def _persons(mentions: Sequence[Seen]) -> set[int]:
    """The entities that are persons by the type of most of their mentions; all of them where there are no types."""
    types: defaultdict[int, Counter[str | None]] = defaultdict(Counter)
    for mention in mentions:
        types[mention.entity][mention.type] += 1
    return {entity for entity, counts in types.items() if counts.most_common(1)[0][0] in ("PER", None)}


def _chances(mentions: Sequence[Seen], persons: set[int]) -> list[dict[int, float]]:
    """Of each "he" and "she" the persons that it may be, and how likely; nothing of other mentions."""
    sizes = Counter(mention.entity for mention in mentions)
    genders: defaultdict[int, Counter[int]] = defaultdict(Counter)
    kinds: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for mention in mentions:
        kinds[mention.entity]["PROP" if mention.facts.name else mention.kind] += 1
        if gender := gender_of(mention):
            genders[mention.entity][gender] += 1 if mention.facts.pronoun else 3
    gender_of_entity = {entity: clear_gender(counts) for entity, counts in genders.items()}
    heaps = {entity for entity, count in kinds.items() if _is_heap(count)}
    last: dict[int, int] = {}  # where each entity was last called by a name or a noun

    def present(mention: Seen, entity: int) -> bool:
        return entity in last and mention.span.start - last[entity] <= _PRESENT

    def chances(mention: Seen) -> dict[int, float]:
        gender = gender_of(mention)
        fitting = [
            (entity, score if present(mention, entity) else score - _ABSENT)
            for entity, score in mention.rivals
            if entity in persons and not contradicts(gender, gender_of_entity.get(entity, 0))
        ]
        chosen = mention.entity if present(mention, mention.entity) else None
        return _shares([pair for pair in fitting if pair[0] not in heaps] or fitting, sizes, chosen)

    found: list[dict[int, float]] = []
    for mention in mentions:
        found.append(chances(mention) if mention.facts.pronoun in HE_OR_SHE else {})
        if not mention.facts.pronoun:
            last[mention.entity] = mention.span.start
    return found


def _is_heap(kinds: Counter[str]) -> bool:
    """Whether an entity, by the kinds of its mentions, is but the pronouns of many people."""
    size = kinds.total()
    return size >= _HEAP and kinds["PROP"] <= _HARDLY_NAMED * size and kinds["NOM"] <= _LOOSE * size


def _shares(rivals: Sequence[tuple[int, float]], sizes: Mapping[int, int], chosen: int | None) -> dict[int, float]:
    """Probabilities from link scores; an entity that is several rivals has the sum of theirs.

    Nobody is likelier than who was chosen, if they are still there: the memory is not overruled without a reason.
    """
    best = max((score for _, score in rivals), default=0.0)
    weights: dict[int, float] = {}
    for entity, score in rivals:
        weights[entity] = weights.get(entity, 0.0) + math.exp(score - best) * sizes[entity] ** _SALIENCE
    if chosen in weights:
        weights = {chosen: max(weights.values())} | {e: weight for e, weight in weights.items() if e != chosen}
    total = sum(weights.values())
    return {entity: weight / total for entity, weight in weights.items()}


def _among(persons: set[int], chances: Mapping[int, float]) -> dict[int, float] | None:
    """The chances of these persons, None if there are none."""
    return {entity: chance for entity, chance in chances.items() if entity in persons} or None


def _places(mentions: Sequence[Seen], quotations: Sequence[Quotation]) -> list[int | None]:
    """The number of the quotation that each mention stands in."""
    starts = [quotation.span.start for quotation in quotations]
    numbers = [bisect_right(starts, mention.span.start) - 1 for mention in mentions]
    return [
        number if number >= 0 and mention.span.start < quotations[number].span.end else None
        for number, mention in zip(numbers, mentions, strict=True)
    ]


def _narrator(mentions: Sequence[Seen], places: Sequence[int | None]) -> int | None:
    """The entity that most "I"s outside quotations are, if there are enough of them to make a narrator."""
    outside = [mention for mention, place in zip(mentions, places, strict=True) if place is None]
    found = Counter(mention.entity for mention in outside if mention.facts.pronoun == FIRST_PERSON)
    others = sum(mention.facts.pronoun in HE_OR_SHE for mention in outside)
    count = sum(found.values())
    if count < max(_NARRATOR, _NARRATING * (count + others)):
        return None  # a letter in a novel has no narrator of the novel
    narrator, own = found.most_common(1)[0]
    # Whom the narration names or calls he or she is not who tells it, though the memory put the two together.
    told = sum(
        mention.entity == narrator and (mention.name is not None or mention.facts.pronoun in HE_OR_SHE)
        for mention in outside
    )
    return narrator if told <= _NARRATING * own else 1 + max(mention.entity for mention in mentions)


def _called(document: Document, mentions: Sequence[Seen], places: Sequence[int | None]) -> int | None:
    """The person whom a narrator is: others call them by name in quotations, and the narration never names them."""
    called: Counter[int] = Counter()
    named = {True: Counter[int](), False: Counter[int]()}
    for mention, place in zip(mentions, places, strict=True):
        if mention.name is not None:
            named[place is not None][mention.entity] += 1
            called[mention.entity] += place is not None and is_called(document.words, mention.span)
    fitting = [entity for entity, count in called.items() if count >= _CALLED and not named[False][entity]]
    return max(fitting, key=called.__getitem__, default=None)
