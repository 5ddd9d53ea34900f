"""The scores of one mention: with the entities in memory, with archived ones, and of the options if none fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longcoref.features.matching import match_level
from longcoref.features.pairs import FEATURES, SCALAR_FEATURES, START, EntityArrays, PairCoder, stacked
from longcoref.memory.policies import Options
from longcoref.runtime.cell_state import CellContent, CellState, Incoming
from longcoref.runtime.heads import Floats, Heads


class Scorer:
    """The scoring functions of a model in a text of one genre.

    `last_action` is the row of the feature of that name: what was done with the mention before.
    """

    def __init__(self, heads: Heads, genre: int, coder: PairCoder) -> None:
        self._heads, self._genre, self._coder = heads, genre, coder
        self.last_action = START
        self._own_features = self._features_of_newcomers()
        self._offsets = heads.table_offsets[:, None]
        self._places = self._offsets[:, :0]  # where the one-hot rows of each cell have the tables of features

    def pair_features(self, mention: Incoming, memory: CellState) -> Floats:
        """A one-hot row of the features with each cell: shape (cells, rows of all feature tables)."""
        count, rows = len(memory), len(self._heads.link_table)
        self._coder.after(self.last_action, mention.terms)
        codes = self._coder.codes(mention.terms, memory.terms, memory.match.levels(mention.facts, count))
        if self._places.shape[1] < count:
            self._places = self._offsets + np.arange(0, 2 * count * rows, rows)
        codes += self._places[:, :count]
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
        facts = EntityArrays(*np.array([content.facts for content in archived]).T)
        match = np.array([match_level(mention.facts, content.keys) for content in archived])
        self._coder.after(self.last_action, mention.terms)
        terms = stacked(self._coder.of_entities(facts), match.shape)
        codes = self._coder.codes(mention.terms, terms, match) + self._offsets
        vectors = np.array([content.vector for content in archived])
        hidden = heads.widened(heads.products(mention.x * vectors)) + mention.projected
        hidden += np.array([content.link_part for content in archived])
        hidden += heads.link_table[codes.T].sum(1)
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
