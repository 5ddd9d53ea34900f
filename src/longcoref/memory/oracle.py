"""The right action for every mention, which the model learns (paper, appendix on ground truth)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from longcoref.memory.actions import IGNORE, INVALID, Action, ActionKind
from longcoref.memory.cells import Cells
from longcoref.memory.policies import MemoryPolicy, empty_cells


def oracle_actions(
    entities: Sequence[int | None],
    sizes: Mapping[int, int],
    policy: MemoryPolicy,
    taken: Sequence[Action] | None = None,
) -> list[Action]:
    """The actions that keep the most gold mentions tracked, in the order of the mentions.

    `entities` has the gold entity of each mention in text order, None for a mention that is not gold. `sizes` has
    the number of gold mentions of every entity, including those that were never proposed: these are never processed, so
    they always count as remaining. If the policy recalls, an evicted entity is recalled instead of opened again.

    `taken` has the actions that were really taken, right or wrong; each action is then the right one after those
    before it. An entity in memory stands for the gold entity that most of its mentions belong to.
    """
    cells = empty_cells(policy)
    contents: list[Counter[int]] = []  # of each entity that was opened: its mentions by gold entity
    owners: list[int | None] = []  # and the gold entity that it stands for; None if it has no gold mention
    remaining = dict(sizes)
    actions = []
    for index, entity in enumerate(entities):
        action = _right(entity, cells, contents, owners, remaining, policy)
        actions.append(action)
        done = action if taken is None else taken[index]
        cells.apply(done, index)
        if done.cell is not None:
            number = cells.entities[done.cell]
            if number == len(contents):
                contents.append(Counter())
                owners.append(None)
            if entity is not None:
                contents[number][entity] += 1
                owners[number] = max(contents[number], key=contents[number].__getitem__)
        if entity is not None:
            remaining[entity] -= 1
    return actions


def _right(
    entity: int | None,
    cells: Cells,
    contents: Sequence[Counter[int]],
    owners: Sequence[int | None],
    remaining: Mapping[int, int],
    policy: MemoryPolicy,
) -> Action:
    def most(numbers: list[int]) -> int:
        return max(numbers, key=lambda number: contents[number][entity])  # type: ignore[index]

    if entity is not None and (tracked := [n for n in cells.entities if owners[n] == entity]):
        return Action(ActionKind.LINK, cells.entities.index(most(tracked)))
    action = _unmatched(entity, cells, owners, remaining, policy)
    if entity is None or action.cell is None:
        return action
    archived = [n for n in cells.archive or () if owners[n] == entity]
    return Action(ActionKind.RECALL, action.cell, most(archived)) if archived else action


def _unmatched(
    entity: int | None,
    cells: Cells,
    owners: Sequence[int | None],
    remaining: Mapping[int, int],
    policy: MemoryPolicy,
) -> Action:
    options = policy.options(cells)
    if entity is None and options.invalid:
        return INVALID
    if options.new is not None:
        return Action(ActionKind.NEW, options.new)

    def left(cell: int) -> int:
        owner = owners[cells.entities[cell]]
        return 0 if owner is None else remaining[owner]

    # The fewest remaining mentions; ties go to the least recently seen entity.
    cell = min(options.evict, key=lambda cell: (left(cell), cells.last_seen[cell]))
    newcomer = 0 if entity is None else remaining[entity]
    return Action(ActionKind.EVICT, cell) if left(cell) <= newcomer else IGNORE
