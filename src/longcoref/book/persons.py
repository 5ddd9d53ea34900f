"""Which person of a text is meant where the memory gave one entity the names of several.

The names of the whole text say who there is (`english.names`). An entity that is mostly called like one of these
persons is that person, and entities of one person are one. A name of another person in it is that other person's;
"he" or "she" follows the name close before it, if its gender allows; all else is of the person of fitting gender whom
the entity is called after most. The name of a place in it is that place's.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longcoref.english.lexicon import FEMININE, MASCULINE
from longcoref.english.names import Name, persons_of
from longcoref.features.facts import HE_OR_SHE, MentionFacts
from longcoref.memory.decision import Rivals
from longcoref.spans import WordSpan

_REACH = 30  # words behind a name within which "he" or "she" in the same entity is of it
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
        self._persons, self._place_names = persons, _place_names(mentions, persons)
        named = [
            mention
            for mention in mentions
            if mention.entity in persons and mention.name is not None and mention.facts.exact not in self._place_names
        ]
        found, self._owner = persons_of(
            Counter(mention.name for mention in named if mention.name is not None), _pronouns(mentions, named)
        )
        self._gender = [person.gender for person in found]
        self._first = 1 + max((*self._place_names.values(), *(mention.entity for mention in mentions)), default=0)
        called: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for mention in named:
            if mention.name in self._owner:
                called[mention.entity][self._owner[mention.name]] += 1
        self._called = {entity: [owner for owner, _ in counts.most_common()] for entity, counts in called.items()}
        self._recent: defaultdict[int, deque[tuple[int, int]]] = defaultdict(lambda: deque(maxlen=_RECENT))

    def person_of(self, mention: Seen) -> int:
        """The number of the person that a mention is: new numbers for those with names, the entity's own for others."""
        if mention.kind == "PROP" and mention.entity in self._persons and mention.facts.exact in self._place_names:
            return self._place_names[mention.facts.exact]
        if mention.entity not in self._called:
            return mention.entity
        near = self._near(mention.entity, mention)
        owner = None if mention.name is None else self._owner.get(mention.name)
        if owner is None:
            owner = self._meant(mention.entity, mention)
        if mention.name is not None or near is not None:
            self._recent[mention.entity].append((owner, mention.span.start))
        return self._first + owner

    def people(self, mention: Seen) -> Rivals:
        """Of a pronoun, the persons that its rivals are where it stands."""
        return tuple(
            (self._first + self._meant(entity, mention) if entity in self._called else entity, score)
            for entity, score in mention.rivals
        )

    def _meant(self, entity: int, mention: Seen) -> int:
        """Who of the persons in an entity a mention would be."""
        near = self._near(entity, mention)
        return self._fitting(entity, mention)[0] if near is None else near

    def _near(self, entity: int, mention: Seen) -> int | None:
        """The person of the last fitting name in an entity, if the mention is a "he" or "she" close behind it."""
        if mention.facts.pronoun not in HE_OR_SHE:
            return None
        fitting = self._fitting(entity, mention)
        close = (owner for owner, place in reversed(self._recent[entity]) if mention.span.start - place <= _REACH)
        return next((owner for owner in close if owner in fitting), None)

    def _fitting(self, entity: int, mention: Seen) -> list[int]:
        """The persons in an entity whose gender may be a mention's, the most named one first; all if none fits."""
        owners, gender = self._called[entity], gender_of(mention)
        return [owner for owner in owners if not contradicts(gender, self._gender[owner])] or owners


def _place_names(mentions: Sequence[Seen], persons: set[int]) -> dict[str, int]:
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
