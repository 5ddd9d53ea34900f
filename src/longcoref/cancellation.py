"""Stopping long work on a text, for callers with a deadline or a client that may disconnect.

Long loops iterate over `cancellable(items)`. A caller that may want to stop them runs them in `cancelled_by(check)`:
`check` is then called at regular intervals, and stops the work by raising an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

ITEMS = 1000
"""The number of items between two calls of the check: about a millisecond of work."""

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def cancelled_by(check: Callable[[], None]) -> Iterator[None]:
    """Has `check` called from time to time inside the block, by this thread only."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def cancellable(items: Iterable[Item], *, every: int | None = None) -> Iterator[Item]:
    """The items, with a call of the check before the first and after every `every` of them."""
    check = _check.get()
    if check is None:
        yield from items
        return
    remaining = iter(items)
    while True:
        check()
        count = 0
        for item in islice(remaining, every or ITEMS):
            yield item
            count += 1
        if count < (every or ITEMS):
            return
