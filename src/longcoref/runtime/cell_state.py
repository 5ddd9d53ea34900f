"""Everything the memory knows about the entities in its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.features.facts import MentionFacts
from longcoref.features.matching import MatchIndex
from longcoref.features.pairs import EntityArrays, MentionArrays
from longcoref.features.speech import HEARS, IN_QUOTATIONS, SPEAKS, Role
from longcoref.memory.actions import Action, ActionKind
from longcoref.memory.cells import Cells, Counts
from longcoref.memory.policies import MemoryPolicy, empty_cells
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.meetings import mix

_ROWS = 64  # of an unbounded memory, initially
_ARRAYS = ("vectors", "link_parts", "fertility_parts", "weights")  # one row per cell


@dataclass(frozen=True, slots=True)
class Incoming:
    """A mention before it is decided: its vector, and its projections by the first layers, computed once.

    `projected` is its part of the hidden layer of f_c as a mention, `as_entity` the part it would have as an entity,
    `as_candidate` its part of the hidden layer of f_r. `weight` is how much it counts in the mean of its entity.
    """

    x: Floats
    projected: Floats
    as_entity: Floats
    as_candidate: Floats
    weight: float
    score: float
    arrays: MentionArrays
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

    def __init__(self, heads: Heads, policy: MemoryPolicy) -> None:
        self._heads = heads
        self.cells = empty_cells(policy)
        if self.cells.archive is not None:
            self.cells.archive = Counts()
        self.match = MatchIndex()
        rows = policy.capacity or _ROWS
        self._vectors = np.zeros((rows, heads.span_width), dtype=np.float32)
        self._link_parts = np.zeros((rows, heads.config.hidden), dtype=np.float32)
        self._fertility_parts = np.zeros_like(self._link_parts)
        self._weights = np.zeros(rows, dtype=np.float32)
        self._facts = np.zeros((len(EntityArrays.__slots__), rows), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def vectors(self) -> Floats:
        """The mean vector of each entity; shape (cells, span)."""
        return self._vectors[: len(self.cells)]

    @property
    def link_parts(self) -> Floats:
        """Each entity's part of the hidden layer of f_c; shape (cells, hidden)."""
        return self._link_parts[: len(self.cells)]

    @property
    def fertility_parts(self) -> Floats:
        """Each entity's part of the hidden layer of f_r; shape (cells, hidden)."""
        return self._fertility_parts[: len(self.cells)]

    @property
    def entities(self) -> EntityArrays:
        """The facts about each entity; arrays of shape (cells,)."""
        return EntityArrays(*self._facts[:, : len(self.cells)])

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
        mix(self._vectors[cell], mention.x, share)
        mix(self._link_parts[cell], mention.as_entity, share)
        mix(self._fertility_parts[cell], mention.as_candidate, share)
        known = self._facts[:, cell].tolist() if joins else [0] * len(self._facts)
        facts = mention.arrays
        self._facts[:, cell] = (
            self.cells.counts[cell],
            facts.index,
            facts.sentence,
            facts.role in IN_QUOTATIONS,
            known[4] | (facts.pronoun > 0) << facts.pronoun,
            known[5] | facts.gender,
            known[6] | facts.named,
            known[7] | (facts.role == Role.NARRATOR),
            max(known[8], facts.turn if facts.role in SPEAKS else 0),
            max(known[9], facts.turn if facts.role in HEARS else 0),
        )
        if action.kind is ActionKind.EVICT:
            self.match.forget(cell)
        self.match.add(cell, mention.facts)
        return share

    def content(self, cell: int) -> CellContent:
        """A copy of what a cell knows about its entity."""
        facts, weight = self._facts[:, cell].tolist(), float(self._weights[cell])
        arrays = self._vectors[cell].copy(), self._link_parts[cell].copy()
        return CellContent(*arrays, weight, facts, self.match.keys(cell))

    def put_back(self, cell: int, content: CellContent) -> None:
        """Puts an entity into a cell as it was when its content was copied."""
        self._reserve(cell)
        fertility = self._heads.fertility
        self._vectors[cell], self._weights[cell] = content.vector, content.weight
        self._link_parts[cell] = content.link_part
        if fertility:
            self._fertility_parts[cell] = content.vector @ fertility.parts[0] + fertility.bias
        self._facts[:, cell] = content.facts
        self.match.forget(cell)
        self.match.put(cell, content.keys)

    def _reserve(self, cell: int) -> None:
        """Doubles the arrays until they have a row for the cell."""
        while cell >= len(self._vectors):
            for name in _ARRAYS:
                array: npt.NDArray[Any] = getattr(self, f"_{name}")
                setattr(self, f"_{name}", np.concatenate([array, np.zeros_like(array)]))
            self._facts = np.concatenate([self._facts, np.zeros_like(self._facts)], axis=1)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Everything, as JSON values and arrays by name."""
        count = len(self.cells)
        arrays = {f"memory.{name}": getattr(self, f"_{name}")[:count] for name in _ARRAYS}
        arrays["memory.facts"] = self._facts[:, :count]
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
        for name in _ARRAYS:
            getattr(self, f"_{name}")[:count] = arrays[f"memory.{name}"]
        self._facts[:, :count] = arrays["memory.facts"]
