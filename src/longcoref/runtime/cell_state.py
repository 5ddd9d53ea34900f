"""Everything the memory knows about the entities in its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.features.facts import MentionFacts
from longcoref.features.matching import MatchIndex
from longcoref.features.pairs import EntityArrays, MentionArrays, PairCoder, stacked
from longcoref.features.speech import HEARS, IN_QUOTATIONS, SPEAKS, Role
from longcoref.memory.actions import Action, ActionKind
from longcoref.memory.cells import Cells, Counts
from longcoref.memory.policies import MemoryPolicy, empty_cells
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.meetings import mix

Integers = npt.NDArray[np.int64]

_ROWS = 64  # of an unbounded memory, initially


@dataclass(slots=True)  # made for every mention, and a frozen one takes four times as long
class Incoming:
    """A mention before it is decided: its vector, and its projections by the first layers, computed once.

    `projected` is its part of the hidden layer of f_c as a mention, `as_candidate` its part of the hidden layer of f_r.
    `row` is what a cell holds if the mention is its entity: its vector, its part of the hidden layer of f_c as an
    entity, and `as_candidate`. `weight` is how much it counts in the mean of its entity. `terms` are those of its
    features.
    """

    x: Floats
    projected: Floats
    as_candidate: Floats
    row: Floats
    weight: float
    score: float
    arrays: MentionArrays
    terms: Integers
    facts: MentionFacts


@dataclass(frozen=True, slots=True)
class CellContent:
    """All that a cell knows about its entity.

    Its mean vector, that vector's part of the hidden layer of f_c, total weight, facts, and strings with match levels.
    """

    vector: Floats
    link_part: Floats
    weight: float
    facts: list[int]
    keys: list[tuple[int, str]]

    def as_json(self) -> dict[str, Any]:
        """Everything but the arrays, as JSON values."""
        return {"weight": self.weight, "facts": self.facts, "keys": self.keys}

    @classmethod
    def of(cls, vector: Floats, link_part: Floats, values: dict[str, Any]) -> CellContent:
        """The inverse of `as_json`."""
        keys = [(level, string) for level, string in values["keys"]]
        return cls(vector, link_part, values["weight"], values["facts"], keys)


class CellState:
    """The cells in use, with an array row for each: vectors, their projections, weights, facts, strings."""

    def __init__(self, heads: Heads, policy: MemoryPolicy, coder: PairCoder) -> None:
        self._heads, self._coder = heads, coder
        self.cells = empty_cells(policy)
        if self.cells.archive is not None:
            self.cells.archive = Counts()
        self.match = MatchIndex()
        rows = policy.capacity or _ROWS
        span, hidden = heads.span_width, heads.config.hidden
        self._parts = slice(span), slice(span, span + hidden), slice(span + hidden, None)
        # Vectors, and their parts of the hidden layers of f_c and f_r: running means that move together.
        self._means = np.zeros((rows, span + 2 * hidden), dtype=np.float32)
        self._weights = np.zeros(rows, dtype=np.float32)
        self._facts: list[list[int]] = []  # of each entity, in the order of `EntityArrays`
        self._terms = np.zeros((len(heads.config.features) + 1, rows), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.cells.entities)

    @property
    def vectors(self) -> Floats:
        """The mean vector of each entity; shape (cells, span)."""
        return self._means[: len(self.cells), self._parts[0]]

    @property
    def link_parts(self) -> Floats:
        """Each entity's part of the hidden layer of f_c; shape (cells, hidden)."""
        return self._means[: len(self.cells), self._parts[1]]

    @property
    def fertility_parts(self) -> Floats:
        """Each entity's part of the hidden layer of f_r; shape (cells, hidden)."""
        return self._means[: len(self.cells), self._parts[2]]

    @property
    def terms(self) -> Integers:
        """The terms of each entity's features; shape (features + 1, cells)."""
        return self._terms[:, : len(self.cells)]

    def add(self, action: Action, mention: Incoming) -> float:
        """Adds a mention to the entity in the action's cell, after `cells.apply`; returns its share of the mean."""
        cell = action.cell
        assert cell is not None
        self._reserve(cell)
        joins = action.kind in (ActionKind.LINK, ActionKind.RECALL)
        total = mention.weight + float(self._weights[cell]) if joins else mention.weight
        self._weights[cell] = total
        share = mention.weight / total
        # Projections are linear, so their running means are the projections of the running mean.
        mix(self._means[cell], mention.row, share)
        known = self._facts[cell] if joins else [0] * len(EntityArrays.__slots__)
        facts = mention.arrays
        self._know(
            cell,
            [
                self.cells.counts[cell],
                facts.index,
                facts.sentence,
                int(facts.role in IN_QUOTATIONS),
                known[4] | (facts.pronoun > 0) << facts.pronoun,
                known[5] | facts.gender,
                known[6] | facts.named,
                known[7] | (facts.role == Role.NARRATOR),
                max(known[8], facts.turn if facts.role in SPEAKS else 0),
                max(known[9], facts.turn if facts.role in HEARS else 0),
            ],
        )
        if action.kind is ActionKind.EVICT:
            self.match.forget(cell)
        self.match.add(cell, mention.facts)
        return share

    def _know(self, cell: int, facts: list[Any]) -> None:
        """Sets the facts about the entity in a cell, which may be the first one that is free."""
        self._facts[cell : cell + 1] = [facts]
        self._terms[:, cell] = self._coder.of_facts(facts)

    def content(self, cell: int) -> CellContent:
        """A copy of what a cell knows about its entity."""
        vector, link_part, _ = (self._means[cell, part].copy() for part in self._parts)
        weight = float(self._weights[cell])
        return CellContent(vector, link_part, weight, self._facts[cell], self.match.keys(cell))

    def put_back(self, cell: int, content: CellContent) -> None:
        """Puts an entity into a cell as it was when its content was copied."""
        self._reserve(cell)
        fertility = self._heads.fertility
        part = content.vector @ fertility.parts[0] + fertility.bias if fertility else content.link_part
        for columns, values in zip(self._parts, (content.vector, content.link_part, part), strict=True):
            self._means[cell, columns] = values
        self._weights[cell] = content.weight
        self._know(cell, content.facts)
        self.match.forget(cell)
        self.match.put(cell, content.keys)

    def _reserve(self, cell: int) -> None:
        """Doubles the arrays until they have a row for the cell."""
        while cell >= len(self._means):
            self._means, self._weights = (
                np.concatenate([old, np.zeros_like(old)]) for old in (self._means, self._weights)
            )
            self._terms = np.concatenate([self._terms, np.zeros_like(self._terms)], axis=1)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Everything, as JSON values and arrays by name."""
        count = len(self.cells)
        arrays = {f"memory.{name}": np.ascontiguousarray(array[:count]) for name, array in self._arrays().items()}
        arrays["memory.facts"] = self._facts_of_cells()
        archive = self.cells.archive
        cells = asdict(replace(self.cells, archive=None)) | {"archive": None if archive is None else dict(archive)}
        return {"cells": cells, "match": self.match.entries()}, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores a `state`."""
        archived = facts["cells"]["archive"]
        self.cells = Cells(**{**facts["cells"], "archive": None})
        if archived is not None:
            self.cells.archive = Counts()
            self.cells.archive.update((int(entity), held) for entity, held in archived.items())  # JSON has only strings
        self.match = MatchIndex(facts["match"])
        count = len(self.cells)
        self._reserve(count - 1)
        for name, array in self._arrays().items():
            array[:count] = arrays[f"memory.{name}"]
        self._facts = arrays["memory.facts"].T.tolist()
        entities = EntityArrays(*arrays["memory.facts"])
        self._terms[:, :count] = stacked(self._coder.of_entities(entities), (count,))

    def _facts_of_cells(self) -> Integers:
        """The facts of all entities, as `EntityArrays` has them: (facts, cells)."""
        facts: Integers = np.array(self._facts, dtype=np.int64).reshape(-1, len(EntityArrays.__slots__)).T
        return facts

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a saved state has one row of for each cell, by name."""
        names = "vectors", "link_parts", "fertility_parts"
        means = {name: self._means[:, part] for name, part in zip(names, self._parts, strict=True)}
        return {**means, "weights": self._weights}
