"""The right action for every mention, which the model learns (paper, appendix on ground truth)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longcoref.memory.actions import IGNORE, INVALID, Action, ActionKind
from longcoref.memory.cells import Cells
from longcoref.memory.policies import MemoryPolicy, empty_cells


def oracle_actions(entities: Sequence[int | None], sizes: Mapping[int, int], policy: MemoryPolicy) -> list[Action]:
    """The actions that keep the most gold mentions tracked, in the order of the mentions.

    `entities` has the gold entity of each mention in text order, None for a mention that is not gold. `sizes` has
    the number of gold mentions of every entity, including those that were never proposed: these are never processed, so
    they always count as remaining. If the policy recalls, an evicted entity is recalled instead of opened again.
    """
    cells = empty_cells(policy)
    number_of: dict[int, int] = {}  # the number of each gold entity when it was last opened
    held: list[int | None] = []  # the gold entity in each cell; None where an invalid mention was tracked
    cell_of: dict[int, int] = {}
    remaining = dict(sizes)
    actions = []
    for index, entity in enumerate(entities):
        if entity is not None and entity in cell_of:
            action = Action(ActionKind.LINK, cell_of[entity])
        else:
            action = _unmatched(entity, cells, held, remaining, policy)
            if entity is not None and action.cell is not None:
                number = number_of.setdefault(entity, cells.opened)
                if cells.archive and number in cells.archive:
                    action = Action(ActionKind.RECALL, action.cell, number)
                else:
                    number_of[entity] = cells.opened
            if action.cell is not None:
                if action.cell == len(held):
                    held.append(None)
                elif (evicted := held[action.cell]) is not None:
                    del cell_of[evicted]
                held[action.cell] = entity
                if entity is not None:
                    cell_of[entity] = action.cell
        cells.apply(action, index)
        actions.append(action)
        if entity is not None:
            remaining[entity] -= 1
    return actions


def _unmatched(
    entity: int | None, cells: Cells, held: Sequence[int | None], remaining: Mapping[int, int], policy: MemoryPolicy
) -> Action:
    options = policy.options(cells)
    if entity is None and options.invalid:
        return INVALID
    if options.new is not None:
        return Action(ActionKind.NEW, options.new)

    def left(cell: int) -> int:
        inside = held[cell]
        return 0 if inside is None else remaining[inside]

    # The fewest remaining mentions; ties go to the least recently seen entity.
    cell = min(options.evict, key=lambda cell: (left(cell), cells.last_seen[cell]))
    newcomer = 0 if entity is None else remaining[entity]
    return Action(ActionKind.EVICT, cell) if left(cell) <= newcomer else IGNORE
