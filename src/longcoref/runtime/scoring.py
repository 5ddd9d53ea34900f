"""The scores of one mention: with the entities in memory, with archived ones, and of the options if none fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longcoref.features.matching import match_levels_of
from longcoref.features.pairs import FEATURES, SCALAR_FEATURES, START, PairCoder
from longcoref.memory.policies import Options
from longcoref.runtime.cell_state import CellContent, CellState, Incoming
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.tables import Integers, add_rows


class Scorer:
    """The scoring functions of a model in a text of one genre.

    `last_action` is the row of the feature of that name: what was done with the mention before.
    """

    def __init__(self, heads: Heads, genre: int, coder: PairCoder) -> None:
        self._heads, self._genre, self._coder = heads, genre, coder
        self.last_action = START
        self._own_features = self._features_of_newcomers()

    def pair_features(self, mention: Incoming, memory: CellState) -> Integers:
        """The rows of the tables of features for each cell: shape (tables, cells)."""
        self._coder.after(self.last_action, mention.terms)
        match = memory.match.levels(mention.facts, len(memory))
        return self._heads.layout.rows(self._coder.codes(mention.terms, memory.terms, match))

    def links(self, products: Floats, features: Integers, memory: CellState, mention: Incoming) -> Floats:
        """f_c with every cell, shape (cells,), from the products of `Meetings`, which may be overwritten."""
        return self._linked(products, memory.link_parts, features, mention)

    def _linked(self, hidden: Floats, link_parts: Floats, features: Integers, mention: Incoming) -> Floats:
        hidden += link_parts
        hidden += mention.projected
        add_rows(hidden, self._heads.link_table, features)
        return self._heads.link.finish(hidden, mention.score)

    def options(self, options: Options, features: Integers, memory: CellState, mention: Incoming) -> Floats:
        """NEW scores 0, EVICT −f_r(e), IGNORE −f_r(x), INVALID −s_m: in the order of `Options.actions()`."""
        scores: list[float] = [] if options.new is None else [0.0]
        fertility = self._heads.fertility
        if fertility and options.evict:
            parts = memory.fertility_parts
            cells = slice(len(parts)) if len(options.evict) == len(parts) else list(options.evict)
            hidden = parts[cells].copy()
            add_rows(hidden, self._heads.fertility_table, features[:, cells])
            scores += (-fertility.finish(hidden)).tolist()
        if fertility and options.ignore:
            scores.append(-float(fertility.finish(mention.as_candidate + self._own_features[self.last_action])))
        if options.invalid:
            scores.append(-mention.score)
        return np.array(scores, dtype=np.float32)

    def recalls(self, mention: Incoming, archived: Sequence[CellContent]) -> list[float]:
        """f_c with each of some archived entities, for a mention whose `pair_features` are known."""
        if not archived:
            return []
        heads = self._heads
        match = np.array(match_levels_of(mention.facts, (content.keys for content in archived)))
        terms = np.array([self._coder.of_facts(content.facts) for content in archived]).T
        rows = heads.layout.rows(self._coder.codes(mention.terms, terms, match))
        vectors = np.array([content.vector for content in archived])
        link_parts = np.array([content.link_part for content in archived])
        scores: list[float] = self._linked(heads.products(mention.x * vectors), link_parts, rows, mention).tolist()
        return scores

    def _features_of_newcomers(self) -> Floats:
        """What features add to f_r of a mention that is not an entity yet, for each last action: (actions, hidden)."""
        heads, actions = self._heads, FEATURES["last_action"]
        codes = np.zeros((len(heads.config.features), actions), dtype=np.int64)
        for row, name in enumerate(heads.config.features):
            if name in SCALAR_FEATURES:
                codes[row] = np.arange(actions) if name == "last_action" else self._genre
        added = np.zeros((actions, heads.config.hidden), dtype=np.float32)
        if heads.fertility:
            add_rows(added, heads.fertility_table, heads.layout.rows(codes))
        return added
