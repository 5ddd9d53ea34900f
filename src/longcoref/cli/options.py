"""What several commands check alike."""

from __future__ import annotations

from longcoref.errors import UsageError

_WITHOUT_CAPACITY = ("unbounded", "track-all")


def capacity_of(memory: str, cells: int | None, default: int) -> int | None:
    """The capacity that `--memory` and `--cells` ask for together; None is no bound."""
    if memory not in _WITHOUT_CAPACITY:
        return default if cells is None else cells
    if cells is not None:
        raise UsageError(f"the memory {memory!r} has no capacity: leave out --cells, or take --memory learned")
    return None


def numbers_of(text: str) -> list[int]:
    """Numbers written as `0-2`, `0,3` or both."""
    numbers: list[int] = []
    for item in text.split(","):
        first, dash, last = item.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"expected numbers such as 0-2 or 0,3,5, got {text!r}")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
