"""The paper's four memories. A policy lists the legal actions for a mention that matches no tracked entity.

| paper  | class             | room left    | full                                             |
|--------|-------------------|--------------|--------------------------------------------------|
| U-MEM  | `UnboundedMemory` | NEW, INVALID | –                                                |
| U-MEM* | `TrackAllMemory`  | NEW          | –                                                |
| LB-MEM | `LearnedMemory`   | NEW, INVALID | EVICT any cell, IGNORE, INVALID                  |
| RB-MEM | `RuleMemory`      | NEW, INVALID | EVICT the least recently seen, IGNORE, INVALID   |

`WithRecall` adds an archive of evicted entities to any of them. A new behaviour is a new class with `options`; the
loops that call it do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from longcoref.config import MemoryConfig
from longcoref.errors import UsageError, unknown_name
from longcoref.memory.actions import IGNORE, INVALID, Action, ActionKind
from longcoref.memory.cells import Cells

RECALL_CANDIDATES = 8
"""The largest number of archived entities that are compared with a mention."""


@dataclass(frozen=True, slots=True)
class Options:
    """The legal actions for an unmatched mention. `new` is the free cell to open, `evict` the cells to choose from."""

    new: int | None = None
    evict: Sequence[int] = ()
    ignore: bool = False
    invalid: bool = False

    def actions(self) -> list[Action]:
        """The options as actions, in the order in which ties are broken."""
        offered = [] if self.new is None else [Action(ActionKind.NEW, self.new)]
        offered += [Action(ActionKind.EVICT, cell) for cell in self.evict]
        return offered + [IGNORE] * self.ignore + [INVALID] * self.invalid

    def action(self, number: int) -> Action:
        """The same as `actions()[number]`, without building the list."""
        if self.new is not None:
            if number == 0:
                return Action(ActionKind.NEW, self.new)
            number -= 1
        if number < len(self.evict):
            return Action(ActionKind.EVICT, self.evict[number])
        return IGNORE if self.ignore and number == len(self.evict) else INVALID


class MemoryPolicy(Protocol):
    """What the loops ask of a memory. `capacity` is None if the memory may grow."""

    @property
    def name(self) -> str:
        """Its name in commands and configs."""

    @property
    def capacity(self) -> int | None:
        """The largest number of entities tracked at once."""

    @property
    def recalls(self) -> bool:
        """Whether an evicted entity can return to a cell; in the paper it is forgotten."""

    def options(self, cells: Cells) -> Options:
        """What may be done with a mention that matches none of the entities in `cells`."""


def empty_cells(policy: MemoryPolicy) -> Cells:
    """The cells of an empty memory under this policy; evicted entities are counted only where they can return."""
    return Cells(archive={} if policy.recalls else None)


@dataclass(frozen=True, slots=True)
class UnboundedMemory:
    """U-MEM: every entity is kept; a mention can be rejected as invalid."""

    name = "unbounded"
    recalls = False
    capacity = None

    def options(self, cells: Cells) -> Options:
        """There is always room."""
        return Options(new=len(cells), invalid=True)


@dataclass(frozen=True, slots=True)
class TrackAllMemory:
    """U-MEM*: every mention that matches nothing opens an entity; for data without singletons."""

    name = "track-all"
    recalls = False
    capacity = None

    def options(self, cells: Cells) -> Options:
        """No mention is ever rejected."""
        return Options(new=len(cells))


def _checked(capacity: int | None) -> None:
    if capacity is not None and capacity < 1:
        raise UsageError(f"a memory needs at least one cell, got {capacity}")


@dataclass(frozen=True, slots=True)
class LearnedMemory:
    """LB-MEM: when full, any entity may be evicted; the model predicts which has the fewest mentions to come."""

    capacity: int | None
    name = "learned"
    recalls = False

    def __post_init__(self) -> None:
        _checked(self.capacity)

    def options(self, cells: Cells) -> Options:
        """Like U-MEM while there is room."""
        if self.capacity is None or len(cells) < self.capacity:
            return Options(new=len(cells), invalid=True)
        return Options(evict=range(len(cells)), ignore=True, invalid=True)


@dataclass(frozen=True, slots=True)
class RuleMemory:
    """RB-MEM: when full, only the least recently seen entity may be evicted."""

    capacity: int | None
    name = "rule"
    recalls = False

    def __post_init__(self) -> None:
        _checked(self.capacity)

    def options(self, cells: Cells) -> Options:
        """Like U-MEM while there is room."""
        if self.capacity is None or len(cells) < self.capacity:
            return Options(new=len(cells), invalid=True)
        return Options(evict=(cells.least_recently_seen(),), ignore=True, invalid=True)


@dataclass(frozen=True, slots=True)
class GivenMentions:
    """Another policy, for mentions given by the caller: none is rejected as invalid."""

    policy: MemoryPolicy

    @property
    def name(self) -> str:
        """The name of the wrapped policy."""
        return self.policy.name

    @property
    def capacity(self) -> int | None:
        """The capacity of the wrapped policy."""
        return self.policy.capacity

    @property
    def recalls(self) -> bool:
        """As the wrapped policy."""
        return self.policy.recalls

    def options(self, cells: Cells) -> Options:
        """What the wrapped policy offers, without INVALID."""
        return replace(self.policy.options(cells), invalid=False)


@dataclass(frozen=True, slots=True)
class WithRecall:
    """Another policy, whose evicted entities are archived and can return.

    Before an entity is opened, the archive is searched; an entity that returns takes the free cell, or the cell that
    scores best for eviction.
    """

    policy: MemoryPolicy
    recalls = True

    @property
    def name(self) -> str:
        """The name of the wrapped policy."""
        return self.policy.name

    @property
    def capacity(self) -> int | None:
        """The capacity of the wrapped policy."""
        return self.policy.capacity

    def options(self, cells: Cells) -> Options:
        """What the wrapped policy offers."""
        return self.policy.options(cells)


POLICIES: dict[str, Callable[[int | None], MemoryPolicy]] = {
    "unbounded": lambda capacity: UnboundedMemory(),
    "track-all": lambda capacity: TrackAllMemory(),
    "learned": LearnedMemory,
    "rule": RuleMemory,
}


def memory_policy(name: str, capacity: int | None = None, *, recall: bool = False) -> MemoryPolicy:
    """The policy of that name; `capacity` None means no bound; with `recall`, evicted entities can return."""
    if name not in POLICIES:
        raise UsageError(unknown_name("memory", name, POLICIES))
    policy = POLICIES[name](capacity)
    return WithRecall(policy) if recall else policy


def chosen_policy(
    default: MemoryConfig, *, memory: str | None = None, cells: int | None = None, recall: bool | None = None
) -> MemoryPolicy:
    """The policy of a model's own memory, with each setting that is not None in place of the model's."""
    name = default.policy if memory is None else memory
    policy = memory_policy(name, default.cells or None if cells is None else cells)
    if cells is not None and policy.capacity is None:
        raise UsageError(f"the memory {name!r} has no capacity: leave out the cells, or choose the memory 'learned'")
    return WithRecall(policy) if (default.recall if recall is None else recall) else policy
