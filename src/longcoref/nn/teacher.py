"""Parallel teacher forcing: the whole history of the memory, as index arrays, before any score is computed.

The actions are known in advance, be they the oracle's or the model's own, so every state an entity will ever have is a
mean of known mentions. `unroll` says which mention meets which state, with which features, and what would be right; one
batched graph then gives all scores and losses. No loop over mentions touches a tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.features.pairs import (
    LAST_ACTION,
    SCALAR_FEATURES,
    START,
    EntityArrays,
    MentionArrays,
    match_levels,
    mention_arrays,
    pair_codes,
)
from longcoref.features.speech import HEARS, SPEAKS, PlacedFacts, Role
from longcoref.memory.actions import Action, ActionKind
from longcoref.memory.cells import Cells
from longcoref.memory.policies import RECALL_CANDIDATES, MemoryPolicy, empty_cells

Integers = npt.NDArray[np.int64]

NONE = -1


@dataclass(frozen=True, slots=True)
class Recalls:
    """The archived entities that mentions are compared with before they take a cell without a link.

    A step is such a mention with at least one candidate, a pair is a mention and the state in which an archived entity
    was evicted. Pronouns are not compared, as at run time.
    """

    pair_mention: Integers  # (pairs,) sorted
    pair_state: Integers  # (pairs,)
    pair_step: Integers  # (pairs,)
    pair_column: Integers  # (pairs,) its number among the candidates of the step
    pair_codes: Integers  # (pairs, features)
    target: Integers  # (steps,) the number of the entity that returns, or NONE

    @property
    def mentions(self) -> Integers:
        """Of each step, its mention."""
        first: Integers = self.pair_mention[self.pair_column == 0]
        return first


@dataclass(frozen=True, slots=True)
class Unrolled:
    """A document's teacher-forced history. Mentions and states are numbered in text order.

    A state is an entity after one more mention; `members[s]` is that mention. `sequence` lists the states entity by
    entity, `offsets` where each entity begins in it. A pair is a mention and the state of a tracked entity.
    """

    members: Integers  # (states,) the mention that made the state
    sequence: Integers  # (states,) states, entity by entity
    offsets: Integers  # (entities,) into `sequence`
    pair_mention: Integers  # (pairs,) sorted
    pair_state: Integers  # (pairs,)
    pair_cell: Integers  # (pairs,)
    pair_codes: Integers  # (pairs, features)
    target: Integers  # (mentions,) the cell to link to, or NONE
    self_codes: Integers  # (mentions, features) of a mention paired with itself, for f_r(x)
    option_mention: Integers  # (options,) mentions that link to nothing and have a choice, sorted
    option_full: npt.NDArray[np.bool_]  # (options,) whether the choice includes eviction and ignoring
    evict_pair: Integers  # (evictions,) the pair of the entity that may be evicted, sorted
    evict_option: Integers  # (evictions,) the choice that it belongs to
    evict_column: Integers  # (evictions,) its number among the evictions of that choice
    option_target: Integers  # (options,) the column of the right option
    recalls: Recalls | None = None  # if the memory recalls and something was archived

    @property
    def mentions(self) -> int:
        """The number of mentions."""
        return len(self.target)


# Columns of a choice: 0 is NEW, 1 INVALID, 2 IGNORE, and evictions follow.
NEW_COLUMN, INVALID_COLUMN, IGNORE_COLUMN, EVICT_COLUMN = range(4)
_COLUMNS = {
    ActionKind.NEW: NEW_COLUMN,
    ActionKind.RECALL: NEW_COLUMN,
    ActionKind.INVALID: INVALID_COLUMN,
    ActionKind.IGNORE: IGNORE_COLUMN,
}


def unroll(
    actions: Sequence[Action],
    facts: Sequence[PlacedFacts],
    index: npt.ArrayLike,
    policy: MemoryPolicy,
    *,
    features: Sequence[str],
    genre: int = 0,
    right: Sequence[Action] | None = None,
) -> Unrolled:
    """The history of a memory that is forced along `actions`; `index` has each mention's number among all proposals.

    `right` has the actions that would have been right, where they are not the ones taken.
    """
    count, right = len(actions), actions if right is None else right
    mention = mention_arrays(facts, index)
    replay = _Replay.of(actions, right, policy)
    table = _state_table(replay, count)
    pair_mention, pair_cell = np.nonzero(table != NONE)
    pair_state = table[pair_mention, pair_cell]
    last_action = np.array([START, *(LAST_ACTION[action.kind] for action in actions)], dtype=np.int64)[:count]

    entity = np.array(replay.entities, dtype=np.int64)
    sequence = np.argsort(entity, kind="stable")
    offsets = np.searchsorted(entity[sequence], np.arange(entity.max(initial=-1) + 1))
    members = np.array(replay.members, dtype=np.int64)
    states = _entity_arrays(mention, members, sequence, offsets)
    needed = "match" in features or policy.recalls
    match = _state_matches(facts, members, sequence, offsets) if needed else np.zeros((len(members), count))

    def codes(row: Integers, state: Integers) -> Integers:
        return pair_codes(
            features,
            mention[row],
            states[state],
            match=match[state, row],
            last_action=last_action[row],
            genre=genre,
        )

    pair_of = np.full(table.shape, NONE)
    pair_of[pair_mention, pair_cell] = np.arange(len(pair_mention))
    evict_option, evict_cell, evict_column = np.array(replay.evictions, dtype=np.int64).reshape(-1, 3).T
    option_mention = np.array(replay.option_mentions, dtype=np.int64)
    return Unrolled(
        members=members,
        sequence=sequence,
        offsets=offsets,
        pair_mention=pair_mention,
        pair_state=pair_state,
        pair_cell=pair_cell,
        pair_codes=codes(pair_mention, pair_state),
        target=np.array([a.cell if a.kind is ActionKind.LINK else NONE for a in right], dtype=np.int64),
        self_codes=_self_codes(features, last_action, genre),
        option_mention=option_mention,
        option_full=np.array(replay.option_full, dtype=bool),
        evict_pair=pair_of[option_mention[evict_option], evict_cell],
        evict_option=evict_option,
        evict_column=evict_column,
        option_target=np.array(replay.option_targets, dtype=np.int64),
        recalls=_recalls([one for one in replay.openings if not mention.pronoun[one.mention]], match, codes),
    )


def _self_codes(features: Sequence[str], last_action: Integers, genre: int) -> Integers:
    """The features of mentions paired with themselves: only those that do not depend on an entity are known."""
    codes = np.zeros((len(last_action), len(features)), dtype=np.int64)
    for column, name in enumerate(features):
        if name in SCALAR_FEATURES:
            codes[:, column] = last_action if name == "last_action" else genre
    return codes


@dataclass(frozen=True, slots=True)
class _Opening:
    """A mention that takes a cell without a link, the states of the archived entities, and the one that returns."""

    mention: int
    states: list[int]
    returning: int | None


@dataclass(frozen=True, slots=True)
class _Replay:
    """The result of replaying the actions, as plain lists."""

    members: list[int]  # of each state, the mention
    cells: list[int]  # of each state, the cell
    entities: list[int]  # of each state, the entity
    option_mentions: list[int]
    option_full: list[bool]
    option_targets: list[int]
    evictions: list[tuple[int, int, int]]  # choice, cell, number among the evictions of the choice
    openings: list[_Opening]  # if something is archived

    @classmethod
    def of(cls, actions: Sequence[Action], right: Sequence[Action], policy: MemoryPolicy) -> _Replay:
        walk = cls([], [], [], [], [], [], [], [])
        memory = empty_cells(policy)
        latest: dict[int, int] = {}  # the state of each entity
        for number, (action, best) in enumerate(zip(actions, right, strict=True)):
            if best.kind is not ActionKind.LINK:
                walk._choose(number, best, memory, policy)
                if memory.archive and best.cell is not None:
                    returning = None if best.entity is None else latest[best.entity]
                    walk.openings.append(_Opening(number, [latest[e] for e in reversed(memory.archive)], returning))
            memory.apply(action, number)
            if action.cell is not None:
                latest[memory.entities[action.cell]] = len(walk.members)
                walk.members.append(number)
                walk.cells.append(action.cell)
                walk.entities.append(memory.entities[action.cell])
        return walk

    def _choose(self, number: int, action: Action, memory: Cells, policy: MemoryPolicy) -> None:
        options = policy.options(memory)
        if not options.invalid and not options.evict:
            return  # only one action is legal: nothing to learn
        choice = len(self.option_mentions)
        self.option_mentions.append(number)
        self.option_full.append(options.new is None)
        self.evictions.extend((choice, cell, place) for place, cell in enumerate(options.evict))
        # A recalled entity takes a cell like a new one.
        if options.evict and action.cell is not None:
            self.option_targets.append(EVICT_COLUMN + options.evict.index(action.cell))
        else:
            self.option_targets.append(_COLUMNS[action.kind])


def _recalls(
    openings: Sequence[_Opening], match: npt.NDArray[Any], codes: Callable[[Integers, Integers], Integers]
) -> Recalls | None:
    """The candidates: the entity that returns, and the best string matches, latest first."""
    if not openings:
        return None
    found: list[Integers] = []
    for opening in openings:
        states = np.array(opening.states, dtype=np.int64)
        best = states[np.argsort(-match[states, opening.mention], kind="stable")][:RECALL_CANDIDATES]
        if opening.returning is not None and opening.returning not in best:
            best[-1] = opening.returning
        found.append(best)
    lengths = [len(states) for states in found]
    state = np.concatenate(found)
    row = np.repeat([opening.mention for opening in openings], lengths)
    return Recalls(
        pair_mention=row,
        pair_state=state,
        pair_step=np.repeat(np.arange(len(found)), lengths),
        pair_column=np.concatenate([np.arange(length) for length in lengths]),
        pair_codes=codes(row, state),
        target=np.array(
            [
                NONE if opening.returning is None else states.tolist().index(opening.returning)
                for opening, states in zip(openings, found, strict=True)
            ],
            dtype=np.int64,
        ),
    )


def _state_table(replay: _Replay, count: int) -> Integers:
    """Shape (mentions, cells): the state in each cell when the mention is processed, or NONE."""
    table = np.full((count + 1, max(replay.cells, default=-1) + 1), NONE, dtype=np.int64)
    if replay.members:
        table[np.array(replay.members) + 1, replay.cells] = np.arange(len(replay.members))
    # States are numbered in text order, so the running maximum of a column is the state the cell is in.
    return np.maximum.accumulate(table, axis=0)[:count]


def _entity_arrays(mention: MentionArrays, members: Integers, sequence: Integers, offsets: Integers) -> EntityArrays:
    columns = ((mention.pronoun > 0) << mention.pronoun, mention.gender, mention.named, mention.role == Role.NARRATOR)
    bits = np.stack(columns, axis=1)
    pronouns, gender, named, narrates = _so_far(np.bitwise_or, bits[members], sequence, offsets).T
    turns = np.stack([mention.turn * np.isin(mention.role, list(roles)) for roles in (SPEAKS, HEARS)], axis=1)
    spoke, heard = _so_far(np.maximum, turns[members], sequence, offsets).T
    return EntityArrays(
        count=_so_far(np.add, np.ones_like(members), sequence, offsets),
        last_index=mention.index[members],
        last_sentence=mention.sentence[members],
        last_quoted=mention.quoted[members],
        pronouns=pronouns,
        gender=gender,
        named=named,
        narrates=narrates,
        spoke=spoke,
        heard=heard,
    )


def _state_matches(
    facts: Sequence[PlacedFacts], members: Integers, sequence: Integers, offsets: Integers
) -> npt.NDArray[np.int8]:
    """Shape (states, mentions): the best string match of a mention with the mentions of a state."""
    return _so_far(np.maximum, match_levels([placed.facts for placed in facts])[members], sequence, offsets)


def _so_far(combine: np.ufunc, values: npt.NDArray[Any], sequence: Integers, offsets: Integers) -> npt.NDArray[Any]:
    """The values of each state's mention, combined with those of the earlier mentions of its entity: (states, ...)."""
    ordered = values[sequence]
    for start, end in itertools.pairwise([*offsets.tolist(), len(ordered)]):
        if end - start > 1:
            combine.accumulate(ordered[start:end], axis=0, out=ordered[start:end])
    values[sequence] = ordered
    return values
