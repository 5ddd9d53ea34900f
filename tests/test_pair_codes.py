"""The codes of pair features, which are looked up by sums, equal those that each feature's definition gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longcoref.english.lexicon import PRONOUN_CLASSES
from longcoref.features.pairs import FEATURES, NO_MATCH, EntityArrays, MentionArrays, pair_codes
from longcoref.features.speech import IN_QUOTATIONS, Role

BIT, BITS = st.integers(0, 1), st.integers(0, 15)
pronouns = st.sets(st.integers(1, PRONOUN_CLASSES - 1)).map(lambda found: sum(1 << number for number in found))
turns = st.integers(0, 9)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[int], int, int]:
    """The facts of a mention and of an entity that came before it, their level of match, and the last action."""
    pronoun = draw(st.integers(0, PRONOUN_CLASSES - 1))
    index, sentence = draw(st.integers(1, 200)), draw(st.integers(0, 200))
    named, level = (0, NO_MATCH) if pronoun else (draw(BIT), draw(st.integers(0, 3)))
    mention = [index, sentence, pronoun, draw(BITS), named, draw(st.sampled_from(list(Role))), draw(turns)]
    last = [draw(st.integers(0, index - 1)), draw(st.integers(0, sentence)), draw(BIT)]
    entity = [draw(st.integers(1, 100)), *last, draw(pronouns), draw(BITS), draw(BIT), draw(BIT)]
    return mention, [*entity, draw(turns), draw(turns)], level, draw(st.integers(0, FEATURES["last_action"] - 1))


def bucket(number: int) -> int:
    return number if number < 5 else min(int(np.log2(number)) + 3, 9)


def since(turn: int, last: int) -> int:
    return min(max(turn - last + 1, 0), 4) if last else 0


def plain(mention: MentionArrays, entity: EntityArrays, level: int, last_action: int, genre: int) -> dict[str, int]:
    both = mention.gender & entity.gender
    genders = 3 + (not both) if mention.gender and entity.gender else 2 * (mention.gender > 0) + (entity.gender > 0)
    names = mention.named and entity.named
    if mention.pronoun:
        match = 4 + (entity.pronouns >> mention.pronoun & 1)
    else:
        match = 6 if names and level == NO_MATCH else level
    return {
        "count": bucket(entity.count),
        "distance": bucket(mention.index - entity.last_index),
        "last_action": last_action,
        "genre": genre,
        "sentences": bucket(mention.sentence - entity.last_sentence),
        "quote": 2 * (mention.role in IN_QUOTATIONS) + entity.last_quoted,
        "agreement": genders,
        "match": match,
        "spoke": 5 * mention.role + since(mention.turn, entity.spoke),
        "heard": 2 * (5 * mention.role + since(mention.turn, entity.heard)) + entity.narrates,
    }


@given(st.lists(pairs(), min_size=1, max_size=9), st.permutations(list(FEATURES)), st.integers(0, 99))
def test_codes_are_those_of_the_definitions(found, features: list[str], genre: int) -> None:
    mentions, entities, levels, actions = zip(*found, strict=True)
    codes = pair_codes(
        features,
        MentionArrays(*np.array(mentions).T),
        EntityArrays(*np.array(entities).T),
        match=np.array(levels),
        last_action=np.array(actions),
        genre=genre,
    )
    for row, mention, entity, level, action in zip(codes.tolist(), mentions, entities, levels, actions, strict=True):
        expected = plain(MentionArrays(*mention), EntityArrays(*entity), level, action, genre)
        assert row == [expected[name] for name in features]
        assert all(expected[name] < FEATURES[name] for name in features if name != "genre")
