"""The one sequential loop: each mention is linked to a tracked entity, opens one, or is passed over.

The loop never asks which memory policy it has. All that a mention needs to be compared with is kept per cell (the
entity's vector, its projections, its facts), and changes only where the mention goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.errors import UsageError
from longcoref.memory.actions import INVALID, Action, ActionKind
from longcoref.memory.cells import Cells
from longcoref.memory.facts import MentionFacts
from longcoref.memory.features import (
    LAST_ACTION,
    SCALAR_FEATURES,
    START,
    EntityArrays,
    MentionArrays,
    mention_arrays,
    pair_codes,
)
from longcoref.memory.policies import MemoryPolicy, Options
from longcoref.runtime.heads import Floats, Heads, Integers, Layer
from longcoref.runtime.matching import MatchIndex


@dataclass(frozen=True, slots=True)
class Decision:
    """What was done with a mention, and why.

    `links` are the scores of the cells in use when it came; none scores 0. `options` has the scores of the second step
    in the order of `Options.actions()`, empty where the mention was linked. Entities are numbered as they are opened.
    """

    action: Action
    entity: int | None
    evicted: int | None
    mention_score: float
    links: Floats
    options: Floats


class Clusterer:
    """Clusters mentions as they come, under any memory policy. Keeps its state between calls."""

    def __init__(self, heads: Heads, policy: MemoryPolicy, *, genre: int = 0) -> None:
        if policy.capacity is not None and heads.fertility is None:
            raise UsageError(
                f"this model was trained without f_r, so it cannot say whom to forget: the memory {policy.name!r} with "
                f"{policy.capacity} cells needs a model with fertility; use --memory unbounded"
            )
        self._heads, self._policy, self._genre = heads, policy, genre
        self.cells = Cells()
        self._seen = 0  # mentions proposed so far: the paper's distances count all of them
        self._last_action = START
        rows = policy.capacity or 64
        self._vectors = np.zeros((rows, heads.span_width), dtype=np.float32)
        self._link_parts = np.zeros((rows, heads.config.hidden), dtype=np.float32)
        self._fertility_parts = np.zeros_like(self._link_parts)
        self._weights = np.zeros(rows, dtype=np.float32)
        self._facts = np.zeros((len(EntityArrays.__slots__), rows), dtype=np.int64)
        self._match = MatchIndex()

    def cluster(
        self, x: Floats, scores: Floats, facts: Sequence[MentionFacts], forced: Iterable[Action] | None = None
    ) -> Iterator[Decision]:
        """Decides the next mentions in text order: vectors (mentions, span), s_m (mentions,), facts.

        `forced` gives the actions to take instead of the best ones; the scores are computed all the same.
        """
        link, fertility = self._heads.link, self._heads.fertility
        projected = x @ link.parts[0] + link.bias
        as_entity = x @ link.parts[1]
        as_candidate = x @ fertility.parts[0] if fertility else as_entity
        weights = self._heads.entity_weights(x)
        mentions = mention_arrays(facts, np.arange(self._seen, self._seen + len(x)))
        actions = None if forced is None else iter(forced)
        for i in range(len(x)):
            mention, score = mentions[i], float(scores[i])
            links, codes = self._link_scores(x[i], projected[i], score, mention, facts[i])
            action = _best_link(links) if actions is None else next(actions)
            second = links[:0]
            if action is None or action.kind is not ActionKind.LINK:
                options = self._policy.options(self.cells)
                second = self._option_scores(options, codes, as_candidate[i], score)
                action = action or self._best_option(options, second, score)
            evicted = self.cells.apply(action, self._seen)
            if action.cell is not None:
                self._update(action, (x[i], as_entity[i], as_candidate[i]), float(weights[i]), mention, facts[i])
            self._last_action = LAST_ACTION[action.kind]
            self._seen += 1
            entity = None if action.cell is None else self.cells.entities[action.cell]
            yield Decision(action, entity, evicted, score, links, second)

    def _link_scores(
        self, x: Floats, projected: Floats, score: float, mention: MentionArrays, facts: MentionFacts
    ) -> tuple[Floats, Integers]:
        count = len(self.cells)
        entities = EntityArrays(*self._facts[:, :count])
        codes = pair_codes(
            self._heads.config.features,
            mention,
            entities,
            match=self._match.levels(facts, count),
            last_action=self._last_action,
            genre=self._genre,
        )
        link = self._heads.link
        hidden = (self._vectors[:count] * x) @ link.parts[2]
        hidden += projected
        hidden += self._link_parts[:count]
        for column, table in enumerate(self._heads.link_tables):
            hidden += table[codes[:, column]]
        return link.finish(hidden) + score, codes

    def _option_scores(self, options: Options, codes: Integers, as_candidate: Floats, score: float) -> Floats:
        """NEW scores 0, EVICT −f_r(e), IGNORE −f_r(x), INVALID −s_m: in the order of `Options.actions()`."""
        scores: list[float] = [] if options.new is None else [0.0]
        fertility = self._heads.fertility
        if options.evict and fertility:
            cells = np.array(options.evict)
            hidden = self._fertility_parts[cells] + fertility.bias
            for column, table in enumerate(self._heads.fertility_tables):
                hidden += table[codes[cells, column]]
            scores += list(-fertility.finish(hidden))
        if options.ignore and fertility:
            scores.append(-self._own_fertility(fertility, as_candidate + fertility.bias))
        if options.invalid:
            scores.append(-score)
        return np.array(scores, dtype=np.float32)

    def _own_fertility(self, fertility: Layer, hidden: Floats) -> float:
        for name, table in zip(self._heads.config.features, self._heads.fertility_tables, strict=True):
            row = 0 if name not in SCALAR_FEATURES else self._last_action if name == "last_action" else self._genre
            hidden += table[row]
        return float(fertility.finish(hidden))

    def _best_option(self, options: Options, second: Floats, score: float) -> Action:
        offered = options.actions()
        if self._heads.config.options == "staged" and options.ignore:
            # First whether the mention is valid at all, as with room left; then who goes.
            return INVALID if score <= 0 else offered[int(second[:-1].argmax())]
        return offered[int(second.argmax())]

    def _update(
        self,
        action: Action,
        values: tuple[Floats, Floats, Floats],
        weight: float,
        mention: MentionArrays,
        facts: MentionFacts,
    ) -> None:
        """Adds a mention to the entity in a cell: its vector and two projections, its weight and its facts."""
        cell = action.cell
        assert cell is not None
        if cell == len(self._vectors):
            self._grow()
        linked = action.kind is ActionKind.LINK
        self._weights[cell] = weight + (self._weights[cell] if linked else 0)
        share = weight / self._weights[cell]
        # Projections are linear, so their running means are the projections of the running mean.
        for kept, value in zip((self._vectors, self._link_parts, self._fertility_parts), values, strict=True):
            kept[cell] += (value - kept[cell]) * share
        known = EntityArrays(*self._facts[:, cell] * linked)
        self._facts[:, cell] = (
            self.cells.counts[cell],
            mention.index,
            mention.sentence,
            mention.quoted,
            known.pronouns | (mention.pronoun > 0) << mention.pronoun,
            known.gender | mention.gender,
            known.named | mention.named,
        )
        if action.kind is ActionKind.EVICT:
            self._match.forget(cell)
        self._match.add(cell, facts)

    def _grow(self) -> None:
        for name in ("_vectors", "_link_parts", "_fertility_parts", "_weights"):
            array: npt.NDArray[Any] = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros_like(array)]))
        self._facts = np.concatenate([self._facts, np.zeros_like(self._facts)], axis=1)


def _best_link(links: Floats) -> Action | None:
    """The link with the highest score, if it beats none, which scores 0."""
    if len(links) and links.max() > 0:
        return Action(ActionKind.LINK, int(links.argmax()))
    return None
