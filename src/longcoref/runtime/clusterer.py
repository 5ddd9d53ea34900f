"""The one sequential loop: each mention is linked to a tracked entity, opens one, or is passed over.

The loop never asks which memory policy it has. All that a mention needs to be compared with is kept per cell (the
entity's vector, its projections, its facts), and changes only where the mention goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.errors import UsageError
from longcoref.features.facts import HE_OR_SHE, MentionFacts, PlacedFacts
from longcoref.features.matching import MatchIndex
from longcoref.features.pairs import (
    FEATURES,
    LAST_ACTION,
    SCALAR_FEATURES,
    START,
    EntityArrays,
    MentionArrays,
    mention_arrays,
    pair_codes,
)
from longcoref.memory.actions import IGNORE, INVALID, Action, ActionKind
from longcoref.memory.cells import Cells
from longcoref.memory.decision import Decision, Rivals
from longcoref.memory.policies import MemoryPolicy, Options
from longcoref.runtime.archive import Archive, Archived
from longcoref.runtime.heads import Floats, Heads

_CELL_ARRAYS = ("vectors", "link_parts", "fertility_parts", "weights")  # one row per cell
_MENTIONS_AT_ONCE = 8
_PAIRS_AT_ONCE = 512
"""Bounds of what is scored in one product: more costs pairs among the mentions themselves, and memory."""
_RIVALS, _RIVALRY = 8, 6.0  # so many entities, and no more than so far behind the best, are remembered of a pronoun


class Clusterer:
    """Clusters mentions as they come, under any memory policy. Keeps its state between calls."""

    def __init__(self, heads: Heads, policy: MemoryPolicy, *, genre: int = 0) -> None:
        if policy.capacity is not None and heads.fertility is None:
            raise UsageError(
                f"this model was trained without f_r, so it cannot say whom to forget: the memory {policy.name!r} with "
                f"{policy.capacity} cells needs a model with fertility; use --memory unbounded"
            )
        self._heads, self._policy, self._genre = heads, policy, genre
        self.cells = Cells(archive={} if policy.recalls else None)
        self._archive = Archive(heads.span_width) if policy.recalls else None
        self._seen = 0  # mentions proposed so far: the paper's distances count all of them
        self._last_action = START
        rows = policy.capacity or 64
        self._vectors = np.zeros((rows, heads.span_width), dtype=np.float32)
        self._link_parts = np.zeros((rows, heads.config.hidden), dtype=np.float32)
        self._fertility_parts = np.zeros_like(self._link_parts)
        self._weights = np.zeros(rows, dtype=np.float32)
        self._facts = np.zeros((len(EntityArrays.__slots__), rows), dtype=np.int64)
        self._match = MatchIndex()
        self._own_features = self._features_of_newcomers()
        self._feature_places: npt.NDArray[np.int64] = np.zeros((0, len(heads.table_offsets)), dtype=np.int64)

    def cluster(
        self, x: Floats, scores: Floats, facts: Sequence[PlacedFacts], forced: Iterable[Action] | None = None
    ) -> Iterator[Decision]:
        """Decides the next mentions in text order: vectors (mentions, span), s_m (mentions,), facts.

        `forced` gives the actions to take instead of the best ones; the scores are computed all the same.
        """
        link, fertility = self._heads.link, self._heads.fertility
        projected = x @ link.parts[0] + link.bias
        as_entity = x @ link.parts[1]
        as_candidate = x @ fertility.parts[0] + fertility.bias if fertility else as_entity
        weights = self._heads.entity_weights(x)
        mentions = mention_arrays(facts, np.arange(self._seen, self._seen + len(x))).rows()
        actions = None if forced is None else iter(forced)
        start = 0
        while start < len(x):
            largest = min(_MENTIONS_AT_ONCE, max(1, _PAIRS_AT_ONCE // max(1, len(self.cells))))
            size = -(-(len(x) - start) // -(-(len(x) - start) // largest))  # parts of about the same size
            part = slice(start, start + size)
            meetings = _Meetings(
                x[part],
                projected[part],
                as_entity[part],
                self._vectors[: len(self.cells)],
                self._link_parts[: len(self.cells)],
                link.parts[2],
            )
            for row, i in enumerate(range(start, start + size)):
                mention, score = mentions[i], float(scores[i])
                features = self._pair_features(mention, facts[i].facts)
                links = self._link_scores(meetings.of(row, len(self.cells)), features) + score
                action = _best_link(links) if actions is None else next(actions)
                second, options = links[:0], None
                recalled: list[tuple[int, float]] = []
                if action is None or action.kind is not ActionKind.LINK:
                    options = self._policy.options(self.cells)
                    second = self._option_scores(options, features, as_candidate[i], score)
                    action = action or self._best_option(options, second, score)
                    if action.kind is not ActionKind.INVALID and self._archive is not None:
                        recalled = self._recall_scores(x[i], projected[i], mention, facts[i].facts, score)
                        if actions is None:
                            action = _best_recall(recalled, options, second) or action
                rivals = self._rivals(links) if mention.pronoun in HE_OR_SHE else ()
                leaving = None if action.cell is None else self._leaving(action)
                evicted, entity = self.cells.apply(action, self._seen), None
                if evicted is not None and leaving is not None and self._archive is not None:
                    self._archive.put(evicted, leaving)
                if action.cell is not None:
                    if action.entity is not None:
                        self._put_back(action.cell, action.entity)
                        meetings.place(row, action.cell, self._vectors[action.cell], self._link_parts[action.cell])
                    entity = self.cells.entities[action.cell]
                    values = (x[i], as_entity[i], as_candidate[i])
                    share = self._update(action, values, float(weights[i]), mention, facts[i].facts)
                    meetings.change(action.cell, row, share)
                self._last_action = LAST_ACTION[action.kind]
                self._seen += 1
                yield Decision(action, entity, evicted, score, links, options, second, recalled, rivals)
            start += size

    def _pair_features(self, mention: MentionArrays, facts: MentionFacts) -> Floats:
        """A row for each cell in use, with a 1 for the value of each feature: (cells, rows of all feature tables)."""
        count, heads = len(self.cells), self._heads
        codes = pair_codes(
            heads.config.features,
            mention,
            EntityArrays(*self._facts[:, :count]),
            match=self._match.levels(facts, count),
            last_action=self._last_action,
            genre=self._genre,
        )
        rows = len(heads.link_table)
        if len(self._feature_places) < count:
            self._feature_places = np.arange(0, 2 * count * rows, rows)[:, None] + heads.table_offsets
        codes += self._feature_places[:count]
        features = np.zeros(count * rows, dtype=np.float32)
        features[codes] = 1
        return features.reshape(count, rows)

    def _link_scores(self, hidden: Floats, features: Floats) -> Floats:
        """f_c of a mention with every cell in use, without s_m."""
        hidden += features @ self._heads.link_table
        return self._heads.link.finish(hidden)

    def _option_scores(self, options: Options, features: Floats, as_candidate: Floats, score: float) -> Floats:
        """NEW scores 0, EVICT −f_r(e), IGNORE −f_r(x), INVALID −s_m: in the order of `Options.actions()`."""
        scores: list[float] = [] if options.new is None else [0.0]
        fertility = self._heads.fertility
        if fertility and options.evict:
            cells = slice(len(features)) if len(options.evict) == len(features) else list(options.evict)
            hidden = features[cells] @ self._heads.fertility_table
            hidden += self._fertility_parts[: len(features)][cells]
            scores += (-fertility.finish(hidden)).tolist()
        if fertility and options.ignore:
            scores.append(-float(fertility.finish(as_candidate + self._own_features[self._last_action])))
        if options.invalid:
            scores.append(-score)
        return np.array(scores, dtype=np.float32)

    def _recall_scores(
        self, x: Floats, projected: Floats, mention: MentionArrays, facts: MentionFacts, score: float
    ) -> list[tuple[int, float]]:
        """f_c of a mention with the archived entities that are worth a comparison."""
        assert self._archive is not None
        entities = [] if mention.pronoun else self._archive.candidates(facts, x)
        if not entities:
            return []
        archived = [self._archive.get(entity) for entity in entities]
        match = MatchIndex((row, *key) for row, one in enumerate(archived) for key in one.keys)
        codes = pair_codes(
            self._heads.config.features,
            mention,
            EntityArrays(*np.array([one.facts for one in archived]).T),
            match=match.levels(facts, len(archived)),
            last_action=self._last_action,
            genre=self._genre,
        )
        vectors = np.array([one.vector for one in archived])
        link = self._heads.link
        hidden = (x * vectors) @ link.parts[2] + vectors @ link.parts[1] + projected
        hidden += self._heads.link_table[codes + self._heads.table_offsets].sum(1)
        scores = (link.finish(hidden) + score).tolist()
        return list(zip(entities, scores, strict=True))

    def _rivals(self, links: Floats) -> Rivals:
        """The entities whose scores are near the best one."""
        if not len(links):
            return ()
        near = np.flatnonzero(links > links.max() - _RIVALRY)
        best = near[np.argsort(-links[near], kind="stable")][:_RIVALS]
        return tuple((self.cells.entities[cell], float(links[cell])) for cell in best.tolist())

    def _leaving(self, action: Action) -> Archived | None:
        """What the archive keeps of the entity that an action drives from its cell, if there is an archive and one."""
        cell = action.cell
        if self._archive is None or cell is None or action.kind is ActionKind.LINK or cell == len(self.cells):
            return None
        facts, weight = self._facts[:, cell].tolist(), float(self._weights[cell])
        return Archived(self._vectors[cell].copy(), weight, facts, self._match.keys(cell))

    def _put_back(self, cell: int, entity: int) -> None:
        """An archived entity is in a cell again, as it was when it left."""
        assert self._archive is not None
        archived = self._archive.take(entity)
        if cell == len(self._vectors):
            self._grow()
        link, fertility = self._heads.link, self._heads.fertility
        self._vectors[cell], self._weights[cell] = archived.vector, archived.weight
        self._link_parts[cell] = archived.vector @ link.parts[1]
        if fertility:
            self._fertility_parts[cell] = archived.vector @ fertility.parts[0] + fertility.bias
        self._facts[:, cell] = archived.facts
        self._match.forget(cell)
        self._match.put(cell, archived.keys)

    def _features_of_newcomers(self) -> Floats:
        """What features add to f_r of a mention that is no entity yet, for each last action: (actions, hidden)."""
        codes = np.zeros((FEATURES["last_action"], len(self._heads.table_offsets)), dtype=np.int64)
        for column, name in enumerate(self._heads.config.features):
            if name in SCALAR_FEATURES:
                codes[:, column] = np.arange(len(codes)) if name == "last_action" else self._genre
        table = self._heads.fertility_table
        return np.asarray(table[codes + self._heads.table_offsets].sum(1)) if len(table) else table

    def _best_option(self, options: Options, second: Floats, score: float) -> Action:
        if self._heads.config.options == "staged" and options.ignore and options.invalid:
            # Whether the mention is valid at all, as with room left; whether it is worth a place, whose ever; who goes.
            if score <= 0:
                return INVALID
            going, ignored = second[: len(options.evict)], second[len(options.evict)]
            return IGNORE if ignored > np.logaddexp.reduce(going) else options.action(int(going.argmax()))
        return options.action(int(second.argmax()))

    def _update(
        self,
        action: Action,
        values: tuple[Floats, Floats, Floats],
        weight: float,
        mention: MentionArrays,
        facts: MentionFacts,
    ) -> float:
        """Adds a mention to the entity in a cell: its vector, two projections, facts. Gives its share of the mean."""
        cell = action.cell
        assert cell is not None
        if cell == len(self._vectors):
            self._grow()
        linked = action.kind in (ActionKind.LINK, ActionKind.RECALL)
        total = weight + float(self._weights[cell]) if linked else weight
        self._weights[cell] = total
        share = weight / total
        # Projections are linear, so their running means are the projections of the running mean.
        for kept, value in zip((self._vectors, self._link_parts, self._fertility_parts), values, strict=True):
            _mix(kept[cell], value, share)
        known = self._facts[:, cell].tolist() if linked else [0] * len(self._facts)
        self._facts[:, cell] = (
            self.cells.counts[cell],
            mention.index,
            mention.sentence,
            mention.quoted,
            known[4] | (mention.pronoun > 0) << mention.pronoun,
            known[5] | mention.gender,
            known[6] | mention.named,
        )
        if action.kind is ActionKind.EVICT:
            self._match.forget(cell)
        self._match.add(cell, facts)
        return share

    def _grow(self) -> None:
        for name in _CELL_ARRAYS:
            array: npt.NDArray[Any] = getattr(self, f"_{name}")
            setattr(self, f"_{name}", np.concatenate([array, np.zeros_like(array)]))
        self._facts = np.concatenate([self._facts, np.zeros_like(self._facts)], axis=1)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What is kept between calls: JSON values, and arrays by name."""
        count = len(self.cells)
        arrays = {f"memory.{name}": getattr(self, f"_{name}")[:count] for name in _CELL_ARRAYS}
        facts = {"cells": asdict(self.cells), "seen": self._seen, "last_action": self._last_action}
        arrays["memory.facts"] = self._facts[:, :count]
        facts["match"] = self._match.entries()
        if self._archive is not None:
            facts["archive"], archived = self._archive.state()
            arrays |= archived
        return facts, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes back to where `state` was called."""
        self.cells = Cells(**facts["cells"])
        if self.cells.archive is not None:  # JSON has only strings for keys
            self.cells.archive = {int(entity): held for entity, held in self.cells.archive.items()}
        self._seen, self._last_action = facts["seen"], facts["last_action"]
        count = len(self.cells)
        while len(self._vectors) < count:
            self._grow()
        for name in _CELL_ARRAYS:
            getattr(self, f"_{name}")[:count] = arrays[f"memory.{name}"]
        self._facts[:, :count] = arrays["memory.facts"]
        self._match = MatchIndex(facts["match"])
        if self._archive is not None:
            self._archive.restore(facts["archive"], dict(arrays))


class _Meetings:
    """What goes into the hidden layer of f_c, features aside, when some mentions meet the cells.

    All products W(x⊙e) are one large matrix product, made before the first of the mentions is decided. That is possible
    because the layer is linear in e and e is a running mean: where a mention joins a cell, what the later mentions get
    from that cell moves by the same share towards what they get from that mention.
    """

    def __init__(
        self, x: Floats, projected: Floats, as_entity: Floats, vectors: Floats, link_parts: Floats, matrix: Floats
    ) -> None:
        (size, width), count, hidden = x.shape, len(vectors), matrix.shape[1]
        self._x, self._projected, self._matrix = x, projected, matrix
        met = size * count
        # Behind the pairs with cells stand, for each mention but the last, its pairs with the later ones.
        edges = [met + row * (2 * size - row - 1) // 2 for row in range(size)]
        pairs = np.empty((edges[-1], width), dtype=x.dtype)
        np.multiply(x[:, None], vectors, out=pairs[:met].reshape(size, count, width))
        for row, (start, end) in enumerate(pairwise(edges)):
            np.multiply(x[row + 1 :], x[row], out=pairs[start:end])
        products = pairs @ matrix
        # Room for the cells that these mentions may open.
        self._cells = np.empty((size, count + size, hidden), dtype=x.dtype)
        np.add(products[:met].reshape(size, count, hidden), link_parts, out=self._cells[:, :count])
        self._cells[:, :count] += projected[:, None]
        self._mentions = [products[start:end] for start, end in pairwise([*edges, edges[-1]])]
        for row, sums in enumerate(self._mentions):
            sums += projected[row + 1 :]
            sums += as_entity[row]

    def of(self, row: int, count: int) -> Floats:
        """The sums of one mention with the first `count` cells; may be overwritten."""
        return self._cells[row, :count]

    def place(self, row: int, cell: int, vector: Floats, link_part: Floats) -> None:
        """Another entity is in a cell when mention `row` comes."""
        later = slice(row + 1, None)
        self._cells[later, cell] = (self._x[later] * vector) @ self._matrix + link_part + self._projected[later]

    def change(self, cell: int, row: int, share: float) -> None:
        """Mention `row` is now that share of the entity in a cell."""
        _mix(self._cells[row + 1 :, cell], self._mentions[row], share)


def _mix(kept: Floats, value: Floats, share: float) -> None:
    """Moves `kept` towards a value by a share of the way."""
    if share == 1:
        kept[...] = value
    else:
        kept += (value - kept) * np.float32(share)


def _best_recall(recalled: Sequence[tuple[int, float]], options: Options, second: Floats) -> Action | None:
    """The return of the archived entity with the highest score, if it beats none, which scores 0.

    It takes the free cell, or the one whose entity is worth least.
    """
    entity, score = max(recalled, key=lambda pair: pair[1], default=(-1, 0.0))
    if score <= 0:
        return None
    cell = options.evict[int(second[: len(options.evict)].argmax())] if options.new is None else options.new
    return Action(ActionKind.RECALL, cell, entity)


def _best_link(links: Floats) -> Action | None:
    """The link with the highest score, if it beats none, which scores 0."""
    if len(links):
        best = int(links.argmax())
        if links[best] > 0:
            return Action(ActionKind.LINK, best)
    return None
