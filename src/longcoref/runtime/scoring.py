"""The scores of one mention: with the entities in memory, with archived ones, and of the options if none fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from longcoref.features.matching import MatchIndex
from longcoref.features.pairs import FEATURES, SCALAR_FEATURES, START, EntityArrays, pair_codes
from longcoref.memory.policies import Options
from longcoref.runtime.cell_state import CellContent, CellState, Incoming
from longcoref.runtime.heads import Floats, Heads


class Scorer:
    """The scoring functions of a model in a text of one genre.

    `last_action` is the row of the feature of that name: what was done with the mention before.
    """

    def __init__(self, heads: Heads, genre: int) -> None:
        self._heads, self._genre = heads, genre
        self.last_action = START
        self._own_features = self._features_of_newcomers()
        self._feature_places: npt.NDArray[np.int64] = np.zeros((0, len(heads.table_offsets)), dtype=np.int64)

    def pair_features(self, mention: Incoming, memory: CellState) -> Floats:
        """A one-hot row of the features with each cell: shape (cells, rows of all feature tables)."""
        count, rows = len(memory), len(self._heads.link_table)
        codes = pair_codes(
            self._heads.config.features,
            mention.arrays,
            memory.entities,
            match=memory.match.levels(mention.facts, count),
            last_action=self.last_action,
            genre=self._genre,
        )
        if len(self._feature_places) < count:
            self._feature_places = np.arange(0, 2 * count * rows, rows)[:, None] + self._heads.table_offsets
        codes += self._feature_places[:count]
        features = np.zeros(count * rows, dtype=np.float32)
        features[codes] = 1
        return features.reshape(count, rows)

    def links(self, products: Floats, features: Floats, memory: CellState, mention: Incoming) -> Floats:
        """f_c with every cell, shape (cells,), from the products of `Meetings`."""
        hidden = features @ self._heads.link_table
        hidden += self._heads.widened(products)
        hidden += memory.link_parts
        hidden += mention.projected
        return self._heads.link.finish(hidden) + mention.score

    def options(self, options: Options, features: Floats, memory: CellState, mention: Incoming) -> Floats:
        """NEW scores 0, EVICT −f_r(e), IGNORE −f_r(x), INVALID −s_m: in the order of `Options.actions()`."""
        scores: list[float] = [] if options.new is None else [0.0]
        fertility = self._heads.fertility
        if fertility and options.evict:
            cells = slice(len(features)) if len(options.evict) == len(features) else list(options.evict)
            hidden = features[cells] @ self._heads.fertility_table
            hidden += memory.fertility_parts[cells]
            scores += (-fertility.finish(hidden)).tolist()
        if fertility and options.ignore:
            scores.append(-float(fertility.finish(mention.as_candidate + self._own_features[self.last_action])))
        if options.invalid:
            scores.append(-mention.score)
        return np.array(scores, dtype=np.float32)

    def recalls(self, mention: Incoming, archived: Sequence[CellContent]) -> list[float]:
        """f_c with each of some archived entities."""
        if not archived:
            return []
        heads, link = self._heads, self._heads.link
        match = MatchIndex((row, *key) for row, content in enumerate(archived) for key in content.keys)
        codes = pair_codes(
            heads.config.features,
            mention.arrays,
            EntityArrays(*np.array([content.facts for content in archived]).T),
            match=match.levels(mention.facts, len(archived)),
            last_action=self.last_action,
            genre=self._genre,
        )
        vectors = np.array([content.vector for content in archived])
        hidden = heads.widened(heads.products(mention.x * vectors)) + mention.projected
        hidden += np.array([content.link_part for content in archived])
        hidden += heads.link_table[codes + heads.table_offsets].sum(1)
        scores: list[float] = (link.finish(hidden) + mention.score).tolist()
        return scores

    def _features_of_newcomers(self) -> Floats:
        """What features add to f_r of a mention that is not an entity yet, for each last action: (actions, hidden)."""
        codes = np.zeros((FEATURES["last_action"], len(self._heads.table_offsets)), dtype=np.int64)
        for column, name in enumerate(self._heads.config.features):
            if name in SCALAR_FEATURES:
                codes[:, column] = np.arange(len(codes)) if name == "last_action" else self._genre
        table = self._heads.fertility_table
        return np.asarray(table[codes + self._heads.table_offsets].sum(1)) if len(table) else table
