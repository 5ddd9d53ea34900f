"""Entities that left the memory, kept so that they can come back.

What is looked up for a mention is a constant number of them: those last archived under one of its strings, and those
whose vectors are nearest among the latest. The oldest are moved to a database on disk, so that what is held in memory
does not grow beyond a size; only the strings they are found by stay.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from longcoref.errors import InputError
from longcoref.features.facts import MentionFacts
from longcoref.features.matching import keys_of
from longcoref.memory.policies import RECALL_CANDIDATES
from longcoref.runtime.heads import Floats

IN_MEMORY = 2048
"""Entities; more are on disk."""
NEAREST_AMONG = 256
"""The latest entities, whose vectors are compared."""
_PER_STRING = 4  # entities that one string finds
_BY_VECTOR = 2  # candidates of a mention; the others are found by string


@dataclass(frozen=True, slots=True)
class Archived:
    """All that a cell knows of its entity: vector, weight, facts, and the strings it matches."""

    vector: Floats
    weight: float
    facts: list[int]
    keys: list[tuple[int, str]]

    def as_json(self) -> dict[str, Any]:
        """Everything but the vector, as JSON values."""
        return {"weight": self.weight, "facts": self.facts, "keys": self.keys}

    @classmethod
    def of(cls, vector: Floats, values: dict[str, Any]) -> Archived:
        """The way back from `as_json`."""
        keys = [(level, string) for level, string in values["keys"]]
        return cls(vector, values["weight"], values["facts"], keys)


class Archive:
    """The entities that left the memory, by number."""

    def __init__(self, width: int, *, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._near: dict[int, Archived] = {}  # the latest, in the order in which they came
        self._disk: sqlite3.Connection | None = None
        self._far: set[int] = set()  # those on disk
        self._by_string: dict[str, list[int]] = {}  # lists are smaller than deques, and there are many
        self._latest = np.full(NEAREST_AMONG, -1, dtype=np.int64)
        self._vectors = np.zeros((NEAREST_AMONG, width), dtype=np.float32)  # of length 1
        self._next = 0

    def __len__(self) -> int:
        return len(self._near) + len(self._far)

    def __contains__(self, entity: int) -> bool:
        return entity in self._near or entity in self._far

    def put(self, entity: int, archived: Archived) -> None:
        """An entity leaves the memory."""
        self._near[entity] = archived
        for string in dict.fromkeys(string for _, string in archived.keys):
            found = self._by_string.setdefault(string, [])
            if entity in found:
                found.remove(entity)
            found.append(entity)
            del found[:-_PER_STRING]
        length = float(np.linalg.norm(archived.vector))
        self._latest[self._next], self._vectors[self._next] = entity, archived.vector / max(length, 1e-9)
        self._next = (self._next + 1) % NEAREST_AMONG
        if len(self._near) > self._in_memory:
            oldest = next(iter(self._near))
            self._to_disk(oldest, self._near.pop(oldest))

    def take(self, entity: int) -> Archived:
        """An entity comes back."""
        archived = self.get(entity)
        self._near.pop(entity, None)
        if entity in self._far:
            self._far.remove(entity)
            self._execute("delete from archive where entity = ?", entity)
        self._latest[self._latest == entity] = -1
        return archived

    def get(self, entity: int) -> Archived:
        """What was archived of an entity."""
        if entity in self._near:
            return self._near[entity]
        ((vector, values),) = self._execute("select vector, facts from archive where entity = ?", entity)
        return Archived.of(np.frombuffer(vector, dtype=np.float32), json.loads(values))

    def candidates(self, facts: MentionFacts, x: Floats) -> list[int]:
        """The entities that a mention may be compared with: by its whole wording, its head, its words, its vector."""
        found: dict[int, None] = {}
        for _, string in sorted(keys_of(facts), reverse=True):
            for entity in reversed(self._by_string.get(string, ())):
                if entity in self and len(found) < RECALL_CANDIDATES - _BY_VECTOR:
                    found[entity] = None
        if found or facts.head:
            nearness = np.where(self._latest >= 0, self._vectors @ x, -np.inf)
            for place in np.argsort(-nearness, kind="stable")[:_BY_VECTOR]:
                if self._latest[place] >= 0:
                    found[int(self._latest[place])] = None
        return list(found)

    def _execute(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement returns."""
        try:
            if self._disk is None:
                # An empty name is a temporary file, deleted when it is closed; the server's threads take turns.
                self._disk = sqlite3.connect("", check_same_thread=False)
                self._disk.execute("create table archive (entity integer primary key, vector blob, facts text)")
            return self._disk.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise InputError(
                f"the temporary file of recall cannot be used ({error}); free some disk space, or set TMPDIR to a "
                "folder that has some"
            ) from error

    def _to_disk(self, entity: int, archived: Archived) -> None:
        vector = archived.vector.astype(np.float32).tobytes()
        self._execute("insert into archive values (?, ?, ?)", entity, vector, json.dumps(archived.as_json()))
        self._far.add(entity)

    def _all(self) -> Iterator[tuple[int, Archived]]:
        """In the order in which they came, as far as it matters: those on disk first."""
        yield from ((entity, self.get(entity)) for entity in sorted(self._far))
        yield from self._near.items()

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Everything, as JSON values and arrays by name."""
        held = list(self._all())
        facts = {
            "entities": [entity for entity, _ in held],
            "archived": [archived.as_json() for _, archived in held],
            "strings": [[string, list(found)] for string, found in self._by_string.items()],
            "next": self._next,
        }
        vectors = np.array([archived.vector for _, archived in held], dtype=np.float32)
        arrays: dict[str, npt.NDArray[Any]] = {
            "vectors": vectors.reshape(len(held), self._vectors.shape[1]),
            "latest": self._latest,
            "near": self._vectors,
        }
        return facts, {f"archive.{name}": array for name, array in arrays.items()}

    def restore(self, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Goes back to where `state` was called."""
        entities: Iterable[int] = facts["entities"]
        for entity, values, vector in zip(entities, facts["archived"], arrays["archive.vectors"], strict=True):
            self.put(entity, Archived.of(vector, values))
        self._by_string = {string: list(found) for string, found in facts["strings"]}
        self._latest, self._vectors = arrays["archive.latest"].copy(), arrays["archive.near"].copy()
        self._next = facts["next"]
