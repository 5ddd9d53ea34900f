"""Features of a mention and an entity: small integers that index embedding tables (the paper's g).

The paper has `count`, `distance`, `last_action` and `genre`; the others are ours. A feature is a row in `FEATURES`
and a line in `pair_codes`. Codes are computed for arrays of any shape, so that the parallel teacher (all mentions
against all cells) and the sequential loop (one mention against the cells) call the same function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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

# Of two sets of gender bits: neither known, only the entity's, only the mention's, some in common, none in common.
_AGREEMENT = np.array([[(3 + (not a & b)) if a and b else 2 * (a > 0) + (b > 0) for b in range(16)] for a in range(16)])

# By whether the mention is a pronoun, whether the entity has had such a pronoun, the level of string match, and whether
# both are names: a pronoun that was or was not seen, two different names, or the level.
_MATCH = np.array(
    [
        4 + seen if pronoun else 6 if named and level == NO_MATCH else level
        for pronoun in (0, 1)
        for seen in (0, 1)
        for level in (NO_MATCH, SAME_TOKEN, SAME_HEAD, SAME_STRING)
        for named in (0, 1)
    ]
)


def bucket(values: Integers) -> Integers:
    """The paper's buckets: 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""
    codes: Integers = _BUCKET.take(values, mode="clip")
    return codes


def _since(turn: Any, last: Integers) -> Any:
    """0 if the entity has had no such turn, 1 if it is this one, 2 and 3 for one and two turns ago, 4 for longer."""
    return np.where(last > 0, np.clip(turn - last, 0, 3) + 1, 0)  # a tag may precede its turn, and so other mentions


def feature_rows(features: Sequence[str], genres: int) -> tuple[int, ...]:
    """The number of rows of each feature's table."""
    for name in features:
        if name not in FEATURES:
            raise ConfigError(unknown_name("feature", name, FEATURES))
    return tuple(genres if name == "genre" else FEATURES[name] for name in features)


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


def pair_codes(
    features: Sequence[str],
    mention: MentionArrays,
    entity: EntityArrays,
    *,
    match: npt.NDArray[Any],
    last_action: npt.ArrayLike,
    genre: int,
) -> Integers:
    """The code of each feature for each pair: shape (..., features) where ... is the broadcast shape.

    `match` is the highest level of string match between the mention and any mention of the entity.
    """

    def code(name: str) -> Any:
        if name == "count":
            return bucket(entity.count)
        if name == "distance":
            return bucket(mention.index - entity.last_index)
        if name == "last_action":
            return last_action
        if name == "genre":
            return genre
        if name == "sentences":
            return bucket(mention.sentence - entity.last_sentence)
        if name == "quote":
            return 2 * mention.quoted + entity.last_quoted
        if name == "agreement":
            return _AGREEMENT.take(16 * mention.gender + entity.gender)
        if name == "spoke":
            return 5 * mention.role + _since(mention.turn, entity.spoke)
        if name == "heard":
            return 2 * (5 * mention.role + _since(mention.turn, entity.heard)) + entity.narrates
        return _match_codes(mention, entity, match)

    codes = np.empty((*np.broadcast(mention.index, entity.count).shape, len(features)), dtype=np.int64)
    for column, name in enumerate(features):
        codes[..., column] = code(name)
    return codes


def _match_codes(mention: MentionArrays, entity: EntityArrays, match: npt.NDArray[Any]) -> Any:
    if isinstance(mention.pronoun, int):  # one mention, as in the loop: most of the cases below cannot occur
        if mention.pronoun:
            return 4 + ((entity.pronouns >> mention.pronoun) & 1)
        return _MATCH.take(match * 2 + entity.named) if mention.named else match
    seen = (entity.pronouns >> mention.pronoun) & 1
    return _MATCH.take((mention.pronoun > 0) * 16 + seen * 8 + match * 2 + (mention.named & entity.named))


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
