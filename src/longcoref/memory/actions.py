"""What can be done with a mention."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ActionKind(enum.Enum):
    """The six things that can happen to a mention."""

    LINK = "link"  # it refers to the entity in a cell
    NEW = "new"  # it opens an entity in a free cell
    EVICT = "evict"  # it opens an entity in a cell whose entity is forgotten
    RECALL = "recall"  # it refers to an entity that was evicted, which returns to a cell
    IGNORE = "ignore"  # it is valid, but what is in memory is worth more
    INVALID = "invalid"  # it refers to nothing


@dataclass(frozen=True, slots=True)
class Action:
    """One decision. `cell` is the cell that is linked to, opened or overwritten, and None for the other kinds.

    `entity` is who returns in a RECALL, by the number under which it was opened.
    """

    kind: ActionKind
    cell: int | None = None
    entity: int | None = None

    def __post_init__(self) -> None:
        if (self.cell is None) != (self.kind in (ActionKind.IGNORE, ActionKind.INVALID)):
            raise ValueError(f"{self.kind.value} with cell {self.cell}")
        if (self.entity is None) != (self.kind is not ActionKind.RECALL):
            raise ValueError(f"{self.kind.value} with entity {self.entity}")


IGNORE = Action(ActionKind.IGNORE)
INVALID = Action(ActionKind.INVALID)
