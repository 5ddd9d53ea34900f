"""The working memory: which entity each cell holds, and when it was last seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from longcoref.memory.actions import Action, ActionKind


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
    archive: dict[int, int] | None = None

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
