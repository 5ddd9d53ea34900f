"""The table of mentions that the passes of post-processing work on."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from longcoref.book.numbers import CLEAR
from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.english.lexicon import FEMININE, MASCULINE
from longcoref.english.names import Name
from longcoref.features.facts import MentionFacts
from longcoref.memory.decision import Rivals
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text.quotations import Quotation

_NOBODY: Mapping[int, float] = MappingProxyType({})  # most mentions are no "he" or "she", and share it


@dataclass(slots=True, eq=False)
class Row:
    """A mention and its state after the passes so far.

    `score` is the probability of `entity`. `rivals` are the entities that the reader compared a "he" or "she" with, and
    `shares` the probabilities of the people that it may be. `quotation` is the number of the quotation that the mention
    is in. `words` and `facts` are those of the mention, which the passes ask for again and again.
    """

    mention: MentionRecord
    entity: int
    score: float
    rivals: Rivals = ()
    shares: Mapping[int, float] = field(default_factory=lambda: _NOBODY)
    quotation: int | None = None
    words: WordSpan = field(init=False)
    facts: MentionFacts = field(init=False)

    def __post_init__(self) -> None:
        self.words, self.facts = self.mention.words, self.mention.facts

    @classmethod
    def of(cls, mention: MentionRecord) -> Row | None:
        """The row of a mention as the reader decided it, None if it was rejected."""
        return None if mention.entity is None else cls(mention, *mention.read, mention.rivals)

    def move(self, entity: int, score: float) -> None:
        """Moves the mention to another entity, with the probability that it belongs there."""
        if entity != self.entity:
            self.entity, self.score = entity, score

    @property
    def name(self) -> Name | None:
        """The personal name that the mention is."""
        return self.mention.name

    @property
    def gender(self) -> int:
        """MASCULINE or FEMININE, 0 if the wording shows neither."""
        return self.facts.gender if self.facts.gender in (MASCULINE, FEMININE) else 0


@dataclass(slots=True, eq=False)
class Table:
    """The mentions of a document that are in an entity, in text order, and what is known about the whole text.

    `people` are the entities that are persons, `narrator` is the one who tells the story.
    """

    document: Document
    rows: list[Row]
    people: set[int] = field(default_factory=set)
    quotations: list[Quotation] = field(default_factory=list)
    narrator: int | None = None

    @classmethod
    def of(cls, document: Document, mentions: Iterable[MentionRecord]) -> Table:
        """The table of the mentions that were assigned to an entity."""
        table = cls(document, [row for mention in cancellable(mentions) if (row := Row.of(mention)) is not None])
        table.people = table.find_people()
        return table

    def find_people(self) -> set[int]:
        """The entities most of whose mentions are persons; all entities if the model has no types."""
        counts = Counter((row.entity, row.mention.type) for row in self.rows)
        most: dict[int, tuple[int, str | None]] = {}
        for (entity, type), count in counts.items():
            if count > most.get(entity, (0, None))[0]:
                most[entity] = count, type
        return {entity for entity, (_, type) in most.items() if type in ("PER", None)}

    def new_entity(self) -> int:
        """A number that no entity has."""
        return 1 + max((row.entity for row in self.rows), default=0)

    def put_quotations(self, quotations: Sequence[Quotation]) -> None:
        """Sets the quotations, and for each mention the one that it is in."""
        self.quotations = list(quotations)
        starts = [quotation.words.start for quotation in quotations]
        for row in self.rows:
            number = bisect_right(starts, row.words.start) - 1
            row.quotation = number if number >= 0 and row.words.start < quotations[number].words.end else None


def clear_gender(genders: Counter[int]) -> int:
    """The gender that the counted words agree on, 0 if they are too few or disagree."""
    total = genders.total()
    return next((gender for gender, count in genders.items() if count >= CLEAR * max(1, total - count)), 0)


def genders_contradict(first: int, second: int) -> bool:
    """Whether two genders are known and differ."""
    return first | second == MASCULINE | FEMININE
