"""The working memory: which entity each cell holds, and when it was last seen."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field

from longcoref.memory.actions import Action, ActionKind


class Counts(MutableMapping[int, int]):
    """A number above 0 for some entities, in four bytes for each; a dictionary of a long text has millions of bytes."""

    def __init__(self) -> None:
        self._numbers = array("I")
        self._size = 0

    def __getitem__(self, entity: int) -> int:
        if entity < len(self._numbers) and (number := self._numbers[entity]):
            return number
        raise KeyError(entity)

    def __setitem__(self, entity: int, number: int) -> None:
        self._numbers.extend([0] * (entity + 1 - len(self._numbers)))
        self._size += (number > 0) - (self._numbers[entity] > 0)
        self._numbers[entity] = number

    def __delitem__(self, entity: int) -> None:
        self[entity]  # raises KeyError
        self[entity] = 0

    def __iter__(self) -> Iterator[int]:
        return (entity for entity, number in enumerate(self._numbers) if number)

    def __len__(self) -> int:
        return self._size


@dataclass(slots=True)
class Cells:
    """Bookkeeping of the cells in use; entities are numbered in the order in which they were opened.

    `entities[c]`, `counts[c]` and `last_seen[c]` are the entity in cell c, the number of its mentions, and the index of
    the latest one. `archive` has the number of mentions of each evicted entity that can be recalled; if it is None, an
    evicted entity that is mentioned again is a new entity.
    """

    entities: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    last_seen: list[int] = field(default_factory=list)
    opened: int = 0
    archive: MutableMapping[int, int] | None = None

    def __len__(self) -> int:
        return len(self.entities)

    def apply(self, action: Action, mention: int) -> int | None:
        """Applies an action for the mention of this index. Returns the evicted entity, if any."""
        if action.cell is None:
            return None
        if action.kind is ActionKind.LINK:
            self.counts[action.cell] += 1
            self.last_seen[action.cell] = mention
            return None
        entity, count = self.opened, 1
        if action.entity is not None:
            if self.archive is None or action.entity not in self.archive:
                raise ValueError(f"entity {action.entity} is recalled, but is not in the archive")
            entity, count = action.entity, self.archive.pop(action.entity) + 1
        else:
            self.opened += 1
        if action.cell == len(self) and action.kind is not ActionKind.EVICT:
            self.entities.append(entity)
            self.counts.append(count)
            self.last_seen.append(mention)
            return None
        if action.kind is ActionKind.NEW:
            raise ValueError(f"new entity in cell {action.cell}, but {len(self)} cells are in use")
        evicted = self.entities[action.cell]
        if self.archive is not None:
            self.archive[evicted] = self.counts[action.cell]
        self.entities[action.cell] = entity
        self.counts[action.cell] = count
        self.last_seen[action.cell] = mention
        return evicted

    def least_recently_seen(self) -> int:
        """The cell whose latest mention is the oldest."""
        return min(range(len(self)), key=self.last_seen.__getitem__)
