"""Evicted entities, kept so that they can return to a cell.

For each mention a constant number of entities is looked up: those last archived under one of its strings, and those
whose vectors are nearest among the latest. The oldest entities, and the strings under which nothing was archived
lately, are moved to a database on disk, so that memory is bounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from longcoref.features.facts import MentionFacts
from longcoref.features.matching import keys_of
from longcoref.memory.policies import RECALL_CANDIDATES, MemoryPolicy
from longcoref.runtime.cell_state import CellContent
from longcoref.runtime.heads import Floats, Heads
from longcoref.temporary import TemporaryDatabase

IN_MEMORY = 512
"""Entities that are kept in memory; the others are on disk."""
STRINGS_PER_ENTITY = 16
"""For each entity in memory, how many of the strings by which entities are found stay there too."""
NEAREST_AMONG = 256
"""How many of the latest entities are compared by vector."""
_PER_STRING = 4  # entities found by one string
_BY_VECTOR = 2  # candidates found by vector; the others are found by string


class AnyArchive(Protocol):
    """What the clustering loop asks of an archive."""

    def put(self, entity: int, content: CellContent) -> None:
        """Archives an entity that was evicted."""

    def take(self, entity: int) -> CellContent:
        """Removes an entity, which returns to a cell."""

    def get(self, entity: int) -> CellContent:
        """What was archived of an entity."""

    def candidates(self, facts: MentionFacts, x: Floats) -> list[int]:
        """The archived entities to compare a mention with."""

    def state(self) -> tuple[dict[str, Any] | None, dict[str, npt.NDArray[Any]]]:
        """Everything, as JSON values and arrays by name."""

    def restore(self, facts: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores a `state`."""


def archive_for(policy: MemoryPolicy, heads: Heads) -> AnyArchive:
    """An empty archive for the entities of these heads, or one that keeps nothing if the policy does not recall."""
    return Archive(heads.span_width, heads.config.hidden) if policy.recalls else NoArchive()


class NoArchive:
    """Evicted entities are forgotten, as in the paper."""

    def put(self, entity: int, content: CellContent) -> None:
        """Forgets the entity."""

    def take(self, entity: int) -> CellContent:
        """Fails: nothing was kept."""
        raise KeyError(entity)

    get = take

    def candidates(self, facts: MentionFacts, x: Floats) -> list[int]:
        """None."""
        return []

    def state(self) -> tuple[None, dict[str, npt.NDArray[Any]]]:
        """Nothing."""
        return None, {}

    def restore(self, facts: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """There is nothing to restore."""


class Archive:
    """Evicted entities by their number."""

    def __init__(self, width: int, hidden: int, *, in_memory: int = IN_MEMORY) -> None:
        self._hidden, self._in_memory = hidden, in_memory
        self._near: dict[int, CellContent] = {}  # the latest, in order of eviction
        self._disk = TemporaryDatabase(
            "archive (entity integer primary key, vector blob, link_part blob, facts text)",
            "strings (string text primary key, entities text) without rowid",
        )
        self._by_string: dict[str, list[int]] = {}  # in the order in which they were last archived under
        self._latest = np.full(NEAREST_AMONG, -1, dtype=np.int64)
        self._vectors = np.zeros((NEAREST_AMONG, width), dtype=np.float32)  # of length 1
        self._next = 0

    def __len__(self) -> int:
        return len(self._near) + len(self._far())

    def __contains__(self, entity: int) -> bool:
        return entity in self._near or self._disk.row("select 1 from archive where entity = ?", entity) is not None

    def put(self, entity: int, content: CellContent) -> None:
        """Archives an entity that was evicted."""
        self._near[entity] = content
        for string in dict.fromkeys(string for _, string in content.keys):
            found = [*(other for other in self._found_by(string) if other != entity), entity]
            self._by_string.pop(string, None)
            self._by_string[string] = found[-_PER_STRING:]
        length = math.sqrt(content.vector @ content.vector)
        self._latest[self._next], self._vectors[self._next] = entity, content.vector / max(length, 1e-9)
        self._next = (self._next + 1) % NEAREST_AMONG
        if len(self._near) > self._in_memory:
            oldest = next(iter(self._near))
            self._to_disk(oldest, self._near.pop(oldest))
        while len(self._by_string) > STRINGS_PER_ENTITY * self._in_memory:
            string = next(iter(self._by_string))
            self._disk.execute("replace into strings values (?, ?)", string, json.dumps(self._by_string.pop(string)))

    def take(self, entity: int) -> CellContent:
        """Removes an entity, which returns to a cell."""
        content = self.get(entity)
        if self._near.pop(entity, None) is None:
            self._disk.execute("delete from archive where entity = ?", entity)
        self._latest[self._latest == entity] = -1
        return content

    def get(self, entity: int) -> CellContent:
        """What was archived of an entity."""
        if entity in self._near:
            return self._near[entity]
        row = self._disk.row("select vector, link_part, facts from archive where entity = ?", entity)
        if row is None:
            raise KeyError(entity)
        *arrays, values = row
        vector, link_part = (np.frombuffer(array, dtype=np.float32) for array in arrays)
        return CellContent.of(vector, link_part, json.loads(values))

    def candidates(self, facts: MentionFacts, x: Floats) -> list[int]:
        """The entities to compare a mention with: by its exact string, its head, its words, its vector.

        A pronoun has no candidates: it refers to an entity that was mentioned recently.
        """
        if facts.pronoun:
            return []
        found: dict[int, None] = {}
        for _, string in sorted(keys_of(facts), reverse=True):
            for entity in reversed(self._found_by(string)):
                if entity in self and len(found) < RECALL_CANDIDATES - _BY_VECTOR:
                    found[entity] = None
        held = np.flatnonzero(self._latest >= 0)
        if len(held) and (found or facts.head):
            nearness = (self._vectors[: held[-1] + 1] @ x)[held]
            for _ in range(min(_BY_VECTOR, len(held))):
                nearest = int(nearness.argmax())
                found[int(self._latest[held[nearest]])] = None
                nearness[nearest] = -np.inf
        return list(found)

    def _found_by(self, string: str) -> list[int]:
        """The entities last archived under a string, the latest at the end."""
        found = self._by_string.get(string)
        if found is None:
            row = self._disk.row("select entities from strings where string = ?", string)
            found = json.loads(row[0]) if row else []
        return found

    def _far(self) -> list[int]:
        """The entities on disk."""
        return [entity for (entity,) in self._disk.rows("select entity from archive order by entity")]

    def _to_disk(self, entity: int, content: CellContent) -> None:
        arrays = (array.astype(np.float32).tobytes() for array in (content.vector, content.link_part))
        self._disk.execute("insert into archive values (?, ?, ?, ?)", entity, *arrays, json.dumps(content.as_json()))

    def _all(self) -> Iterator[tuple[int, CellContent]]:
        """All entities, those on disk first: the order decides only which are moved to disk next."""
        yield from ((entity, self.get(entity)) for entity in self._far())
        yield from self._near.items()

    def _all_strings(self) -> dict[str, list[int]]:
        """All strings, those on disk first; what is in memory is newer."""
        far = {string: json.loads(found) for string, found in self._disk.rows("select * from strings order by string")}
        near = self._by_string
        return {string: found for string, found in far.items() if string not in near} | near

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Everything, as JSON values and arrays by name."""
        held = list(self._all())
        facts = {
            "entities": [entity for entity, _ in held],
            "archived": [content.as_json() for _, content in held],
            "strings": [[string, found] for string, found in self._all_strings().items()],
            "next": self._next,
        }
        vectors = np.array([content.vector for _, content in held], dtype=np.float32)
        parts = np.array([content.link_part for _, content in held], dtype=np.float32)
        arrays: dict[str, npt.NDArray[Any]] = {
            "vectors": vectors.reshape(len(held), self._vectors.shape[1]),
            "link_parts": parts.reshape(len(held), self._hidden),
            "latest": self._latest,
            "near": self._vectors,
        }
        return facts, {f"archive.{name}": array for name, array in arrays.items()}

    def restore(self, facts: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores a `state`."""
        entities: Iterable[int] = facts["entities"]
        rows = zip(arrays["archive.vectors"], arrays["archive.link_parts"], facts["archived"], strict=True)
        for entity, row in zip(entities, rows, strict=True):
            self.put(entity, CellContent.of(*row))
        self._by_string = {string: list(found) for string, found in facts["strings"]}
        self._latest, self._vectors = arrays["archive.latest"].copy(), arrays["archive.near"].copy()
        self._next = facts["next"]
