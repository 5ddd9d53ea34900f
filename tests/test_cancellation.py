"""Long work on a text can be stopped at any time."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.cancellation import cancellable, cancelled_by


class StoppedError(Exception):
    pass


def stop_at(call: int) -> Callable[[], None]:
    """A check that raises at its n-th call, counted from 0."""
    calls = itertools.count()

    def check() -> None:
        if next(calls) == call:
            raise StoppedError

    return check


@given(st.lists(st.integers(), max_size=30), st.integers(1, 10))
def test_the_items_are_the_same_and_the_check_is_called_for_every_few(items: list[int], every: int) -> None:
    calls: list[None] = []
    with cancelled_by(lambda: calls.append(None)):
        assert list(cancellable(items, every=every)) == items
    assert len(calls) == 1 + len(items) // every
    assert list(cancellable(items, every=every)) == items
    assert len(calls) == 1 + len(items) // every


@given(st.integers(0, 20), st.integers(1, 10))
def test_a_check_that_raises_stops_the_work(call: int, every: int) -> None:
    done: list[int] = []
    with pytest.raises(StoppedError), cancelled_by(stop_at(call)):
        done.extend(cancellable(itertools.count(), every=every))
    assert len(done) == call * every
