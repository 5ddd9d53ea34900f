"""The working memory: which entity each cell holds, and when it was last seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from longcoref.memory.actions import Action, ActionKind


@dataclass(slots=True)
class Cells:
    """Bookkeeping of the cells in use; entities are numbered in the order in which they were opened.

    `entities[c]`, `counts[c]` and `last_seen[c]` are the entity in cell c, how many of its mentions the cell has
    seen, and the index of the latest of them. An entity that was evicted and returns is a new entity.
    """

    entities: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    last_seen: list[int] = field(default_factory=list)
    opened: int = 0

    def __len__(self) -> int:
        return len(self.entities)

    def apply(self, action: Action, mention: int) -> int | None:
        """Does what `action` says for the mention of that index. Returns the entity that was evicted, if one was."""
        if action.cell is None:
            return None
        if action.kind is ActionKind.LINK:
            self.counts[action.cell] += 1
            self.last_seen[action.cell] = mention
            return None
        evicted = None
        if action.kind is ActionKind.NEW:
            if action.cell != len(self):
                raise ValueError(f"new entity in cell {action.cell}, but {len(self)} cells are in use")
            self.entities.append(self.opened)
            self.counts.append(1)
            self.last_seen.append(mention)
        else:
            evicted = self.entities[action.cell]
            self.entities[action.cell] = self.opened
            self.counts[action.cell] = 1
            self.last_seen[action.cell] = mention
        self.opened += 1
        return evicted

    def least_recently_seen(self) -> int:
        """The cell whose latest mention lies furthest back."""
        return min(range(len(self)), key=self.last_seen.__getitem__)
