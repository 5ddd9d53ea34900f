"""What can be done with a mention."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ActionKind(enum.Enum):
    """The five things that can happen to a mention."""

    LINK = "link"  # it refers to the entity in a cell
    NEW = "new"  # it opens an entity in a free cell
    EVICT = "evict"  # it opens an entity in a cell whose entity is forgotten
    IGNORE = "ignore"  # it is valid, but what is in memory is worth more
    INVALID = "invalid"  # it refers to nothing


@dataclass(frozen=True, slots=True)
class Action:
    """One decision. `cell` is the cell that is linked to, opened or overwritten, and None for the other kinds."""

    kind: ActionKind
    cell: int | None = None

    def __post_init__(self) -> None:
        if (self.cell is None) != (self.kind in (ActionKind.IGNORE, ActionKind.INVALID)):
            raise ValueError(f"{self.kind.value} with cell {self.cell}")


IGNORE = Action(ActionKind.IGNORE)
INVALID = Action(ActionKind.INVALID)
