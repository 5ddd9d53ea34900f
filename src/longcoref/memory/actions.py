"""The actions that can be taken for a mention."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache


class ActionKind(enum.Enum):
    """The six kinds of action."""

    LINK = "link"  # it refers to the entity in a cell
    NEW = "new"  # it opens an entity in a free cell
    EVICT = "evict"  # it opens an entity in a cell whose entity is evicted
    RECALL = "recall"  # it refers to an evicted entity, which returns to a cell
    IGNORE = "ignore"  # it is valid, but the entities in memory are worth more
    INVALID = "invalid"  # it refers to nothing


@dataclass(frozen=True, slots=True)
class Action:
    """One decision. `cell` is the cell that is linked to, opened or overwritten, and None for the other kinds.

    `entity` is the number of the entity that a RECALL brings back.
    """

    kind: ActionKind
    cell: int | None = None
    entity: int | None = None

    def __post_init__(self) -> None:
        if (self.cell is None) != (self.kind in (ActionKind.IGNORE, ActionKind.INVALID)):
            raise ValueError(f"{self.kind.value} with cell {self.cell}")
        if (self.entity is None) != (self.kind is not ActionKind.RECALL):
            raise ValueError(f"{self.kind.value} with entity {self.entity}")


@lru_cache(maxsize=128)
def link(cell: int) -> Action:
    """The link to the entity in a cell, of which most memories have few."""
    return Action(ActionKind.LINK, cell)


IGNORE = Action(ActionKind.IGNORE)
INVALID = Action(ActionKind.INVALID)
