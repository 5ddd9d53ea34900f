"""Features of a mention and an entity: small integers that index embedding tables (the paper's g).

The paper has `count`, `distance`, `last_action` and `genre`; the others are ours. A feature is a row in `FEATURES`, in
`_MENTION` and in `_ENTITY`. The code of a pair is looked up at the sum of a term of the mention and one of the entity.
The loop thus computes all features with all cells in a few operations, because the terms of entities change one cell at
a time. Terms are computed for arrays of any shape, for the parallel teacher (all mentions against all cells).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.english.lexicon import PRONOUN_CLASSES
from longcoref.errors import ConfigError, unknown_name
from longcoref.features.facts import MentionFacts
from longcoref.features.speech import IN_QUOTATIONS, PlacedFacts, Role
from longcoref.memory.actions import ActionKind

Integers = npt.NDArray[np.int64]

FEATURES: Mapping[str, int] = {
    "count": 10,  # mentions the entity has, bucketed
    "distance": 10,  # proposals since its last mention, bucketed
    "last_action": 5,  # what happened to the mention before this one
    "genre": 0,  # as many rows as the model has genres
    "sentences": 10,  # sentences since its last mention, bucketed
    "quote": 4,  # is the mention, and was the entity's last one, inside quotation marks
    "agreement": 5,  # gender and number cues: unknown, one-sided, agreeing, contradicting
    "match": 7,  # string match with the entity's names and nouns, or with its pronouns
    "spoke": 35,  # the mention's role in the speech around it, and turns since the entity last spoke, bucketed
    "heard": 70,  # its role, turns since the entity was last addressed, and whether the entity is a narrator
}
SCALAR_FEATURES = ("last_action", "genre")  # the same for all cells

# Rows of `last_action`; a new entity and an evicting one look alike, as in the paper.
LAST_ACTION = {
    ActionKind.LINK: 0,
    ActionKind.RECALL: 0,
    ActionKind.NEW: 1,
    ActionKind.EVICT: 1,
    ActionKind.INVALID: 2,
    ActionKind.IGNORE: 3,
}
START = 4

_IN_QUOTATIONS = np.array([int(role in IN_QUOTATIONS) for role in Role])

# Levels of string match between two mentions.
NO_MATCH, SAME_TOKEN, SAME_HEAD, SAME_STRING = range(4)

_BUCKET = np.array([0, 1, 2, 3, 4, 5, 5, 5] + [6] * 8 + [7] * 16 + [8] * 32 + [9], dtype=np.int64)
"""The paper's buckets: 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""

# Of two sets of gender bits: neither known, only the entity's, only the mention's, some in common, none in common.
_AGREEMENT = np.array([[(3 + (not a & b)) if a and b else 2 * (a > 0) + (b > 0) for b in range(16)] for a in range(16)])

_PRONOUN_SETS = 2**PRONOUN_CLASSES
_NEVER = -(2**40)
"""The term of an entity that has had no such turn."""


def _matches() -> Integers:
    """The codes of `match`, by the terms of mention and entity and the level of string match.

    Mentions are not a name, a name, or a pronoun of one of the classes; entities have had a name or not, and a set of
    pronouns. A pronoun was or was not seen; otherwise there are two different names, or the level.
    """
    level, named, _ = np.indices((4, 2, _PRONOUN_SETS))
    of_names = np.where((level == NO_MATCH) & (named == 1), 6, level)
    sets = np.tile(np.arange(_PRONOUN_SETS), 2)
    of_pronouns = [4 + ((sets >> number) & 1) for number in range(1, PRONOUN_CLASSES)]
    return np.concatenate([level.ravel(), of_names.ravel(), *of_pronouns])


def feature_rows(features: Sequence[str], genres: int) -> tuple[int, ...]:
    """The number of rows of each feature's table."""
    for name in features:
        if name not in FEATURES:
            raise ConfigError(unknown_name("feature", name, FEATURES))
    return tuple(genres if name == "genre" else FEATURES[name] for name in features)


@dataclass(slots=True)  # made for every mention, and a frozen one takes four times as long
class MentionArrays:
    """Facts of mentions as arrays; any shape, the same for all. `index` counts all proposals."""

    index: Integers
    sentence: Integers
    pronoun: Integers
    gender: Integers
    named: Integers
    role: Integers
    turn: Integers

    @property
    def quoted(self) -> Any:
        """Whether each mention is inside a quotation."""
        return _IN_QUOTATIONS.take(self.role)

    def __getitem__(self, key: Any) -> MentionArrays:
        return MentionArrays(*(getattr(self, name)[key] for name in self.__slots__))

    def rows(self) -> list[MentionArrays]:
        """Each mention by itself, as plain numbers, which numpy handles faster than its own scalars."""
        return [
            MentionArrays(*row) for row in zip(*(getattr(self, name).tolist() for name in self.__slots__), strict=True)
        ]


def mention_arrays(placed: Sequence[PlacedFacts], index: npt.ArrayLike) -> MentionArrays:
    """The facts of mentions in arrays of shape (mentions,)."""
    columns = (
        [each.sentence for each in placed],
        *([getattr(each.facts, name) for each in placed] for name in ("pronoun", "gender", "named")),
        [each.role for each in placed],
        [each.turn for each in placed],
    )
    return MentionArrays(np.asarray(index, dtype=np.int64), *(np.array(column, dtype=np.int64) for column in columns))


@dataclass(slots=True)  # made for every mention, and a frozen one takes four times as long
class EntityArrays:
    """What is known of entities in memory, as arrays of one shape: totals, and facts of the latest mention.

    `pronouns` and `gender` are unions of bits over the entity's mentions, `named` whether one of them is a name.
    `spoke` and `heard` are the latest turns in which the entity spoke and was addressed, 0 if there is none.
    """

    count: Integers
    last_index: Integers
    last_sentence: Integers
    last_quoted: Integers
    pronouns: Integers
    gender: Integers
    named: Integers
    narrates: Integers
    spoke: Integers
    heard: Integers

    def __getitem__(self, key: Any) -> EntityArrays:
        return EntityArrays(*(getattr(self, name)[key] for name in self.__slots__))


_TABLES = (_BUCKET, _AGREEMENT.ravel(), _matches(), np.arange(0, FEATURES["heard"], 2))
_AGREE, _MATCH, _EVEN, _SAME = np.cumsum([len(table) for table in _TABLES]).tolist()
"""Where the tables begin in which codes are looked up, one after the other; the last one has the numbers from 0 on."""
_LEVEL = 2 * _PRONOUN_SETS  # from one level of match to the next

# Of mentions: where the codes that they can have begin, their terms, and the largest sum of terms that is told apart.
_MENTION: Mapping[str, Callable[[MentionArrays], tuple[Any, Any, int]]] = {
    "count": lambda mention: (0, 0, len(_BUCKET) - 1),
    "distance": lambda mention: (0, mention.index, len(_BUCKET) - 1),
    "last_action": lambda mention: (_SAME, 0, 0),
    "genre": lambda mention: (_SAME, 0, 0),
    "sentences": lambda mention: (0, mention.sentence, len(_BUCKET) - 1),
    "quote": lambda mention: (_SAME + 2 * mention.quoted, 0, 1),
    "agreement": lambda mention: (_AGREE + 16 * mention.gender, 0, 15),
    "match": lambda mention: (
        _MATCH + _LEVEL * (4 * mention.named + (mention.pronoun > 0) * (7 + mention.pronoun)),
        0,
        4 * _LEVEL - 1,
    ),
    "spoke": lambda mention: (_SAME + 5 * mention.role, mention.turn + 1, 4),
    "heard": lambda mention: (_EVEN + 5 * mention.role, mention.turn + 1, 4),
}

# Of entities: their terms. Turns since they spoke or were addressed: none, this one, one ago, two, or more.
_ENTITY: Mapping[str, Callable[[EntityArrays], Any]] = {
    "count": lambda entity: entity.count,
    "distance": lambda entity: -entity.last_index,
    "last_action": lambda entity: 0,
    "genre": lambda entity: 0,
    "sentences": lambda entity: -entity.last_sentence,
    "quote": lambda entity: entity.last_quoted,
    "agreement": lambda entity: entity.gender,
    "match": lambda entity: entity.named * _PRONOUN_SETS + entity.pronouns,
    "spoke": lambda entity: (entity.spoke == 0) * _NEVER - entity.spoke,
    "heard": lambda entity: (entity.heard == 0) * _NEVER - entity.heard,
}


class PairCoder:
    """Computes the codes of some features in documents of one genre."""

    def __init__(self, features: Sequence[str], genre: int) -> None:
        self._mention, self._entity = [_MENTION[name] for name in features], [_ENTITY[name] for name in features]
        self._row = {name: row for row, name in enumerate(features)}
        self._genre = genre
        same = np.arange(max(genre + 1, FEATURES["spoke"]))
        self._lookup = np.concatenate([*_TABLES, same])

    def of_mentions(self, mention: MentionArrays) -> Integers:
        """The terms of mentions, and their smallest and largest sums with those of entities: (3, features, ...)."""
        terms = np.empty((3, len(self._mention), *np.shape(mention.index)), dtype=np.int64)
        for row, of_mention in enumerate(self._mention):
            start, term, most = of_mention(mention)
            terms[0, row], terms[1, row], terms[2, row] = start + term, start, start + most
        if "genre" in self._row:
            terms[:, self._row["genre"]] += self._genre
        return terms

    def after(self, last_action: int | Integers, terms: Integers) -> None:
        """Completes the terms of mentions with what was done with the mention before."""
        if "last_action" in self._row:
            terms[:, self._row["last_action"]] = _SAME + last_action

    def of_entities(self, entity: EntityArrays) -> list[Any]:
        """The terms of entities, a number or array per feature, and whether they narrate."""
        return [*[of_entity(entity) for of_entity in self._entity], entity.narrates]

    def of_facts(self, facts: Sequence[Any]) -> list[Any]:
        """The terms of one entity, given its facts in the order of `EntityArrays`."""
        return self.of_entities(EntityArrays(*facts))

    def codes(self, mention: Integers, entity: Integers, match: npt.NDArray[np.int64]) -> Integers:
        """The code of each feature for each pair: (features, ...).

        The terms have the shapes (3, features, ...) and (features + 1, ...). `match` is the highest level of string
        match between the mention and any mention of the entity.
        """
        index = mention[0] + entity[:-1]
        if "match" in self._row:
            index[self._row["match"]] += _LEVEL * match
        np.maximum(index, mention[1], out=index)
        np.minimum(index, mention[2], out=index)
        codes: Integers = self._lookup.take(index)
        if "heard" in self._row:
            codes[self._row["heard"]] += entity[-1]
        return codes


def pair_codes(
    features: Sequence[str],
    mention: MentionArrays,
    entity: EntityArrays,
    *,
    match: npt.NDArray[Any],
    last_action: int | Integers,
    genre: int,
) -> Integers:
    """The code of each feature for mentions and entities in arrays of one shape: (..., features)."""
    coder = PairCoder(features, genre)
    mentions = coder.of_mentions(mention)
    coder.after(last_action, mentions)
    entities = stacked(coder.of_entities(entity), mentions.shape[2:])
    return np.ascontiguousarray(np.moveaxis(coder.codes(mentions, entities, match.astype(np.int64)), 0, -1))


def stacked(terms: Sequence[Any], shape: tuple[int, ...]) -> Integers:
    """Terms of entities as one array; some of them may be single numbers."""
    array = np.empty((len(terms), *shape), dtype=np.int64)
    for row, term in enumerate(terms):
        array[row] = term
    return array


def match_levels(facts: Sequence[MentionFacts]) -> npt.NDArray[np.int8]:
    """Levels of string match between all pairs of mentions: shape (mentions, mentions)."""
    count = len(facts)
    levels = np.zeros((count, count), dtype=np.int8)
    vocabulary: dict[str, int] = {}
    pairs = [(row, vocabulary.setdefault(t, len(vocabulary))) for row, fact in enumerate(facts) for t in fact.tokens]
    if pairs:
        incidence = np.zeros((count, len(vocabulary)), dtype=np.float32)
        incidence[tuple(np.array(pairs).T)] = 1
        levels[incidence @ incidence.T > 0] = SAME_TOKEN
    for level, strings in (
        (SAME_HEAD, [fact.head for fact in facts]),
        (SAME_STRING, [fact.exact for fact in facts]),
    ):
        known: dict[str, int] = {}
        numbers = np.array([known.setdefault(string, len(known)) if string else -1 for string in strings], dtype=int)
        same = (numbers[:, None] == numbers) & (numbers >= 0)
        np.maximum(levels, same * np.int8(level), out=levels)
    return levels
