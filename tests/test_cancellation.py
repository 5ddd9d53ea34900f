"""Long work on a text can be stopped at any time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref import cancellation
from longcoref.book.revision import EVERYTHING
from longcoref.cancellation import cancellable, cancelled_by
from longcoref.outcome import post_processed
from longcoref.result import Result
from longcoref.text import tokenize
from test_revision import GROWING, Case


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


def processed(case: Case, check: Callable[[], None]) -> None:
    """Everything that is done with the mentions of a text, up to the JSON."""
    with cancelled_by(check):
        document = tokenize(case.document.text)
        found = post_processed(document, case.mentions, EVERYTHING)
        Result(found.clusters, "model", "learned", 20, document=document, quotes=found.quotes).to_json()


@pytest.mark.parametrize("growing", sorted(GROWING))
def test_post_processing_can_be_stopped_all_along(growing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "ITEMS", 5)
    counts = []
    for size in (50, 100, 200):
        calls: list[None] = []
        processed(GROWING[growing](size), partial(calls.append, None))
        counts.append(len(calls))
    assert counts[2] - counts[1] > 1.5 * (counts[1] - counts[0]) > 10
    for call in range(0, counts[0], 10):
        with pytest.raises(StoppedError):
            processed(GROWING[growing](50), stop_at(call))
