"""Which person of a text is meant where the memory gave one entity the names of several.

The names of the whole text say who there is (`memory.names`). An entity of the memory that is mostly called like one of
these persons is that person, and entities of one person are one. A name of another person in it is that other person's;
a pronoun or a noun beside it follows the name before it, if its gender allows, else it is of the person whom its entity
is called after most. The name of a place in it is that place's.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longcoref.memory.facts import MentionFacts
from longcoref.memory.names import FEMININE, MASCULINE, Name, persons_of
from longcoref.runtime.clusterer import Rivals
from longcoref.spans import WordSpan

_REACH = 30  # words behind a name within which what follows in the same entity is still of it
_RECENT = 8  # names of an entity that are remembered


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with the entity it was given, its kind (PROP, NOM, PRON), and its type where the model has types.

    `rivals` are the entities that a "he" or "she" may have been, with their scores (`Decision.rivals`).
    """

    span: WordSpan
    entity: int
    kind: str
    type: str | None
    facts: MentionFacts
    rivals: Rivals = ()

    @property
    def name(self) -> Name | None:
        """The name that the mention is, if it is one."""
        name = self.facts.name
        # A description in capitals (the Invisible Man) is as good as a name, though its kind is that of a noun.
        return name if name is not None and (self.kind == "PROP" or len(name.parts) > 1) else None


def gender_of(seen: Seen) -> int:
    """MASCULINE or FEMININE, 0 if the wording is neither."""
    return seen.facts.gender if seen.facts.gender in (MASCULINE, FEMININE) else 0


class NamedPersons:
    """The persons whom a text names, and who of them an entity of the memory is at a place of the text.

    Mentions must be asked for in text order: `person_of` remembers the names that it has come by.
    """

    def __init__(self, mentions: Sequence[Seen], persons: set[int]) -> None:
        """`persons` are the entities of the memory that are people."""
        self._persons, self._places = persons, _places(mentions, persons)
        named = [
            mention
            for mention in mentions
            if mention.entity in persons and mention.name is not None and mention.facts.exact not in self._places
        ]
        found, self._owner = persons_of(
            Counter(mention.name for mention in named if mention.name is not None), _pronouns(mentions, named)
        )
        self._gender = [person.gender for person in found]
        self._first = 1 + max((*self._places.values(), *(mention.entity for mention in mentions)), default=0)
        called: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for mention in named:
            if mention.name in self._owner:
                called[mention.entity][self._owner[mention.name]] += 1
        self._called = {entity: [owner for owner, _ in counts.most_common()] for entity, counts in called.items()}
        self._recent: defaultdict[int, deque[tuple[int, int]]] = defaultdict(lambda: deque(maxlen=_RECENT))

    def person_of(self, mention: Seen) -> int:
        """The number of the person that a mention is: new numbers for those with names, the entity's own for others."""
        if mention.kind == "PROP" and mention.entity in self._persons and mention.facts.exact in self._places:
            return self._places[mention.facts.exact]
        if mention.entity not in self._called:
            return mention.entity
        start = mention.span.start
        owner = self._owner.get(mention.name) if mention.name is not None else None
        if owner is None:
            owner, near = self._meant(mention.entity, start, gender_of(mention))
        if owner is not None and (mention.name is not None or near):
            self._recent[mention.entity].append((owner, start))
        return mention.entity if owner is None else self._first + owner

    def people(self, mention: Seen) -> Rivals:
        """Of a pronoun, the persons that its rivals are where it stands."""
        start, gender = mention.span.start, gender_of(mention)
        rivals = []
        for entity, score in mention.rivals:
            owner = self._meant(entity, start, gender)[0] if entity in self._called else None
            rivals.append((entity if owner is None else self._first + owner, score))
        return tuple(rivals)

    def _meant(self, entity: int, start: int, gender: int) -> tuple[int | None, bool]:
        """Who of the persons in an entity something of a gender is, and whether a name near by says so."""
        fitting = [owner for owner in self._called[entity] if not contradicts(gender, self._gender[owner])]
        for owner, place in reversed(self._recent[entity]):
            if start - place > _REACH:
                break
            if owner in fitting:
                return owner, True
        return (fitting or self._called[entity])[0], False


def _places(mentions: Sequence[Seen], persons: set[int]) -> dict[str, int]:
    """The names that are mostly no person's, each with the entity that is mostly called so, or a new one."""
    people: Counter[str] = Counter()
    entities: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for mention in mentions:
        if mention.kind == "PROP" and mention.facts.exact:
            people[mention.facts.exact] += 1 if mention.type in ("PER", None) else -1
            if mention.entity not in persons:
                entities[mention.facts.exact][mention.entity] += 1
    new = 1 + max((mention.entity for mention in mentions), default=0)
    names = [name for name, votes in people.items() if votes <= 0]
    return {
        name: entities[name].most_common(1)[0][0] if entities[name] else new + number
        for number, name in enumerate(names)
    }


def contradicts(first: int, second: int) -> bool:
    """Whether two genders are known, and differ."""
    return first | second == MASCULINE | FEMININE


def _pronouns(mentions: Iterable[Seen], named: Iterable[Seen]) -> dict[Name, Counter[int]]:
    """How often each name is that of an entity that is mostly "he", and mostly "she"."""
    pronouns: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for mention in mentions:
        if mention.facts.pronoun and gender_of(mention):
            pronouns[mention.entity][gender_of(mention)] += 1
    genders: defaultdict[Name, Counter[int]] = defaultdict(Counter)
    for mention in named:
        if mention.name is not None and pronouns[mention.entity]:
            genders[mention.name][pronouns[mention.entity].most_common(1)[0][0]] += 1
    return genders
