"""The one sequential loop: each mention joins a tracked entity, opens one, brings one back, or is left out.

The loop never asks which memory policy, second step or archive it has: the policy says what is legal, the second step
chooses, and the archive answers with nothing where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.errors import UsageError
from longcoref.features.facts import HE_OR_SHE
from longcoref.features.pairs import LAST_ACTION, PairCoder, mention_arrays
from longcoref.features.speech import PlacedFacts
from longcoref.memory.actions import Action, ActionKind, link
from longcoref.memory.cells import Cells
from longcoref.memory.decision import Decision, Rivals
from longcoref.memory.policies import MemoryPolicy, Options
from longcoref.memory.second_step import second_step
from longcoref.runtime.archive import archive_for
from longcoref.runtime.cell_state import CellState, Incoming
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.meetings import Meetings
from longcoref.runtime.scoring import Scorer
from longcoref.runtime.tables import Integers

_MENTIONS_AT_ONCE = 8
_PAIRS_AT_ONCE = 512
"""Bounds on one matrix product: larger ones cost memory, and more products among the mentions themselves."""
_RIVALS, _RIVALRY = 8, 6.0  # entities recorded for "he" and "she": at most this many, at most this far below the best
_UNSCORED = np.zeros(0, dtype=np.float32)


@dataclass(slots=True)  # made for every mention, and a frozen one takes four times as long
class _Choice:
    """What to do with a mention, and the scores of the second step if there was one."""

    action: Action
    options: Options | None
    scores: Floats
    recalled: Sequence[tuple[int, float]] = ()


class Clusterer:
    """Clusters mentions in text order under any memory policy. Keeps its state between calls."""

    def __init__(self, heads: Heads, policy: MemoryPolicy, *, genre: int = 0) -> None:
        if policy.capacity is not None and heads.fertility is None:
            raise UsageError(
                f"this model was trained without f_r, so it cannot decide which entity to evict: the memory "
                f"{policy.name!r} with {policy.capacity} cells needs a model with fertility; use --memory unbounded"
            )
        self._heads, self._policy = heads, policy
        self._second_step = second_step(heads.config.options)
        self._coder = PairCoder(heads.config.features, genre)
        self._scorer = Scorer(heads, genre, self._coder)
        self._memory = CellState(heads, policy, self._coder)
        self._archive = archive_for(policy, heads)
        self._seen = 0  # mentions proposed so far: the paper's distances count all of them

    @property
    def cells(self) -> Cells:
        """Which entity each cell holds."""
        return self._memory.cells

    def cluster(
        self, x: Floats, scores: Floats, facts: Sequence[PlacedFacts], forced: Iterable[Action] | None = None
    ) -> Iterator[Decision]:
        """Decides the next mentions in text order: vectors (mentions, span), s_m (mentions,), facts.

        `forced` gives the actions to take instead of the best ones; all scores are computed nevertheless.
        """
        projected = self._heads.projections(x)
        mentions = self._incoming(x, projected, scores, facts)
        actions = repeat(None) if forced is None else iter(forced)
        start = 0
        while start < len(mentions):
            rows = slice(start, start + self._batch_size(len(mentions) - start))
            memory = self._memory
            meetings = Meetings(x[rows], memory.vectors, self._heads.products)
            for row, mention in enumerate(mentions[rows]):
                features = self._scorer.pair_features(mention, memory)
                links = self._scorer.links(meetings.of(row, len(memory)), features, memory, mention)
                choice = self._choose(mention, links, features, next(actions))
                rivals = self._rivals(links) if mention.facts.pronoun in HE_OR_SHE else ()
                evicted, entity = self._perform(choice.action, mention, meetings, row)
                yield Decision(
                    action=choice.action,
                    entity=entity,
                    evicted=evicted,
                    mention_score=mention.score,
                    links=links,
                    offered=choice.options,
                    options=choice.scores,
                    recalled=choice.recalled,
                    rivals=rivals,
                )
            start = rows.stop

    def _incoming(self, x: Floats, projected: Floats, scores: Floats, facts: Sequence[PlacedFacts]) -> list[Incoming]:
        rows = np.concatenate([x, projected[:, 1], projected[:, 2]], axis=1)
        arrays = mention_arrays(facts, np.arange(self._seen, self._seen + len(x)))
        columns = (
            x,
            projected[:, 0],
            projected[:, 2],
            rows,
            self._heads.entity_weights(x).tolist(),
            scores.tolist(),
            arrays.rows(),
            np.moveaxis(self._coder.of_mentions(arrays), -1, 0)[..., None],
            [one.facts for one in facts],
        )
        return [Incoming(*row) for row in zip(*columns, strict=True)]

    def _batch_size(self, remaining: int) -> int:
        """How many mentions to compare at once, so that all batches have about the same size."""
        largest = min(_MENTIONS_AT_ONCE, max(1, _PAIRS_AT_ONCE // max(1, len(self._memory))))
        return -(-remaining // -(-remaining // largest))

    def _choose(self, mention: Incoming, links: Floats, features: Integers, forced: Action | None) -> _Choice:
        """The best action, or the forced one with the scores of its alternatives."""
        action = forced or _best_link(links)
        if action is not None and action.kind is ActionKind.LINK:
            return _Choice(action, None, _UNSCORED)
        options = self._policy.options(self.cells)
        scores = self._scorer.options(options, features, self._memory, mention)
        action = action or self._second_step.choose(options, scores, mention.score)
        if action.kind is ActionKind.INVALID:
            return _Choice(action, options, scores)
        entities = self._archive.candidates(mention.facts, mention.x)
        recalls = self._scorer.recalls(mention, [self._archive.get(entity) for entity in entities])
        recalled = list(zip(entities, recalls, strict=True))
        return _Choice(forced or _best_recall(recalled, options, scores) or action, options, scores, recalled)

    def _perform(
        self, action: Action, mention: Incoming, meetings: Meetings, row: int
    ) -> tuple[int | None, int | None]:
        """Changes the memory as the action says; returns the evicted entity and the mention's own, if any."""
        memory, cell = self._memory, action.cell
        evicted, entity = memory.cells.apply(action, self._seen), None
        if cell is not None:
            entity = memory.cells.entities[cell]
            if evicted is not None:
                self._archive.put(evicted, memory.content(cell))
            if action.entity is not None:
                memory.put_back(cell, self._archive.take(action.entity))
                meetings.place(row, cell, memory.vectors[cell])
            meetings.change(cell, row, memory.add(action, mention))
        self._scorer.last_action = LAST_ACTION[action.kind]
        self._seen += 1
        return evicted, entity

    def _rivals(self, links: Floats) -> Rivals:
        """The entities whose link scores are near the best one."""
        scores: list[float] = links.tolist()  # for as many as there are cells, faster than numpy
        least = max(scores, default=0.0) - _RIVALRY
        near = [(entity, score) for entity, score in zip(self.cells.entities, scores, strict=True) if score > least]
        return tuple(sorted(near, key=lambda rival: -rival[1])[:_RIVALS])

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What is kept between calls: JSON values, and arrays by name."""
        facts, arrays = self._memory.state()
        archive, archived = self._archive.state()
        facts |= {"seen": self._seen, "last_action": self._scorer.last_action, "archive": archive}
        return facts, arrays | archived

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores a `state`."""
        self._memory.restore(facts, arrays)
        self._archive.restore(facts["archive"], arrays)
        self._seen, self._scorer.last_action = facts["seen"], facts["last_action"]


def _best_recall(recalled: Sequence[tuple[int, float]], options: Options, scores: Floats) -> Action | None:
    """Recalls the archived entity with the highest score, if that is above 0, the score of none.

    It takes the free cell, or the one whose entity scores best for eviction.
    """
    entity, score = max(recalled, key=lambda pair: pair[1], default=(-1, 0.0))
    if score <= 0:
        return None
    cell = options.evict[int(scores[: len(options.evict)].argmax())] if options.new is None else options.new
    return Action(ActionKind.RECALL, cell, entity)


def _best_link(links: Floats) -> Action | None:
    """The link with the highest score, if that is above 0, the score of none."""
    if len(links):
        best = int(links.argmax())
        if links[best] > 0:
            return link(best)
    return None
