"""A second look at the clusters of a whole text, with what only the whole text shows.

The memory decides mention by mention, before it is known who speaks and what everybody is called. Here, entities with
the names of one person become one (`names`), and the persons of a dialogue are told apart (`speech`): "I" in a
quotation is its speaker, "you" and a noun that calls somebody ("sir") its addressee, and "I" outside quotations the one
narrator. Each mention is looked at a constant number of times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from longcoref.document import Document
from longcoref.memory.facts import FIRST_PERSON, SECOND_PERSON, MentionFacts
from longcoref.memory.names import FEMININE, MASCULINE, Name, persons_of
from longcoref.runtime.speakers import PersonMention, Turn, attribute, is_called
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation, find_quotations

_NARRATOR = 5  # "I"s outside quotations, fewer than which make no narrator


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with the entity it was given, its kind (PROP, NOM, PRON), and its type where the model has types."""

    span: WordSpan
    entity: int
    kind: str
    type: str | None
    facts: MentionFacts


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The entity of each mention as it is now, and the quotations with their speakers, as entities.

    Entities are numbered anew, in order of first mention: one that lost or gave away its first one is another by now.
    """

    entities: list[int]
    turns: list[Turn]


def look_again(document: Document, mentions: Sequence[Seen], *, names: bool = True, speech: bool = True) -> SecondLook:
    """Looks again at the mentions of a document, which are in text order."""
    persons = _persons(mentions)
    if names:
        merged = same_name(mentions, persons)
        mentions = [replace(mention, entity=merged.get(mention.entity, mention.entity)) for mention in mentions]
        persons = {merged.get(entity, entity) for entity in persons}
    quotations = find_quotations(document)
    places = _places(mentions, quotations)
    narrator = _narrator(mentions, places) if speech else None
    if narrator is not None:
        mentions = [
            replace(mention, entity=narrator) if mention.facts.pronoun == FIRST_PERSON and place is None else mention
            for mention, place in zip(mentions, places, strict=True)
        ]
        persons.add(narrator)
    # Who is only ever called ("my dear") is somebody else, and is to be found out here.
    told = {seen.entity for seen, place in zip(mentions, places, strict=True) if place is None or seen.facts.name}
    persons &= told
    turns = attribute(
        document,
        quotations,
        [
            PersonMention(mention.span, mention.entity, mention.facts)
            for mention in mentions
            if mention.entity in persons and mention.facts.pronoun != SECOND_PERSON
        ],
    )
    entities = [mention.entity for mention in mentions]
    if speech:
        for number, (mention, place) in enumerate(zip(mentions, places, strict=True)):
            if place is not None and (voice := _voice(document, mention, turns[place])) is not None:
                entities[number] = voice
    return _numbered(entities, turns)


def _numbered(entities: Sequence[int], turns: Sequence[Turn]) -> SecondLook:
    numbers: dict[int | None, int] = {}
    for entity in entities:
        numbers.setdefault(entity, len(numbers))
    return SecondLook(
        [numbers[entity] for entity in entities],
        [replace(turn, speaker=numbers.get(turn.speaker), addressee=numbers.get(turn.addressee)) for turn in turns],
    )


def _voice(document: Document, mention: Seen, turn: Turn) -> int | None:
    """The speaker or the addressee, if a mention in a quotation is one of them by its wording."""
    if mention.facts.pronoun == FIRST_PERSON:
        return turn.speaker
    calls = mention.kind == "NOM" and mention.type in ("PER", None) and is_called(document.words, mention.span)
    return turn.addressee if mention.facts.pronoun == SECOND_PERSON or calls else None


def _persons(mentions: Sequence[Seen]) -> set[int]:
    """The entities that are persons by the type of most of their mentions; all of them where there are no types."""
    types: defaultdict[int, Counter[str | None]] = defaultdict(Counter)
    for mention in mentions:
        types[mention.entity][mention.type] += 1
    return {entity for entity, counts in types.items() if counts.most_common(1)[0][0] in ("PER", None)}


def same_name(mentions: Sequence[Seen], persons: set[int]) -> dict[int, int]:
    """Of each entity that is called like an earlier one, that earlier one."""
    names: Counter[Name] = Counter()
    called: defaultdict[int, Counter[Name]] = defaultdict(Counter)
    pronouns: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for mention in mentions:
        if mention.entity not in persons:
            continue
        if mention.kind == "PROP" and mention.facts.name is not None:
            names[mention.facts.name] += 1
            called[mention.entity][mention.facts.name] += 1
        elif mention.facts.pronoun and mention.facts.gender in (MASCULINE, FEMININE):
            pronouns[mention.entity][mention.facts.gender] += 1
    genders: defaultdict[Name, Counter[int]] = defaultdict(Counter)
    for entity, counts in called.items():
        if pronouns[entity]:
            gender = pronouns[entity].most_common(1)[0][0]
            for name, count in counts.items():
                genders[name][gender] += count
    owner = persons_of(names, genders)[1]
    home: dict[int, int] = {}
    merged: dict[int, int] = {}
    for entity in sorted(called):
        owners: Counter[int] = Counter()
        for name, count in called[entity].items():
            if name in owner:
                owners[owner[name]] += count
        if owners:
            person = owners.most_common(1)[0][0]
            merged[entity] = home.setdefault(person, entity)
    return merged


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
    found = Counter(
        mention.entity
        for mention, place in zip(mentions, places, strict=True)
        if place is None and mention.facts.pronoun == FIRST_PERSON
    )
    return found.most_common(1)[0][0] if sum(found.values()) >= _NARRATOR else None
