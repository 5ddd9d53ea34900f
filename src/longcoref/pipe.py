"""Many texts in several processes: results keep their order, and a text that fails affects no other."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from longcoref.errors import InputError, UsageError
from longcoref.result import Result

Resolve = Callable[[str], Result]


def outcome(resolve: Resolve, text: str) -> Result | Exception:
    """The result of a text, or the error that it caused."""
    try:
        return resolve(text)
    except Exception as error:  # whatever it is, it must not affect the other texts
        return error


def outcomes(
    texts: Iterable[str], opened: Callable[[], Resolve], *, batch_size: int, processes: int
) -> Iterator[Result | Exception]:
    """The outcomes of texts in their order. Each process calls `opened` once and takes `batch_size` texts at a time."""
    if batch_size < 1 or processes < 1:
        raise UsageError(f"batch_size and processes must be at least 1, got {batch_size} and {processes}")
    if processes == 1:
        resolve = opened()
        yield from (outcome(resolve, text) for text in texts)
        return
    remaining = iter(texts)
    waiting: deque[tuple[list[str], Future[list[Result | Exception]]]] = deque()
    pool = _pool(processes, opened)
    try:
        while True:
            # Stay a little ahead, so that no process waits, without taking in all of an endless input.
            while len(waiting) < 2 * processes and (batch := list(islice(remaining, batch_size))):
                waiting.append((batch, _submitted(pool, batch)))
            if not waiting:
                return
            batch, future = waiting.popleft()
            try:
                found = future.result()
            except BrokenProcessPool:
                # A process died, and everything in progress with it. Reading one by one shows which text it was.
                pool.shutdown()
                found = [_outcome_alone(text, opened) for text in batch]
                pool = _pool(processes, opened)
                waiting = deque(
                    (batch, done if done.done() and not done.exception() else _submitted(pool, batch))
                    for batch, done in waiting
                )
            yield from found
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(processes: int, opened: Callable[[], Resolve]) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # a forked child would share the encoder's threads
    return ProcessPoolExecutor(processes, mp_context=context, initializer=_open_in_worker, initargs=(opened,))


def _outcome_alone(text: str, opened: Callable[[], Resolve]) -> Result | Exception:
    """The outcome of a text in a process of its own, which it may kill."""
    with _pool(1, opened) as pool:
        pool.submit(int).result()  # if a process cannot even start, the text is not at fault
        try:
            return _submitted(pool, [text]).result()[0]
        except BrokenProcessPool:
            return InputError(
                "the process that read this text was killed, probably because it ran out of memory: use fewer "
                "processes, or split the text"
            )


_resolve: Resolve  # of a worker process


def _open_in_worker(opened: Callable[[], Resolve]) -> None:
    global _resolve
    _resolve = opened()


def _outcomes_in_worker(texts: list[Any]) -> list[Result | Exception]:
    return [outcome(_resolve, text) for text in texts]


def _submitted(pool: ProcessPoolExecutor, texts: list[str]) -> Future[list[Result | Exception]]:
    """The future outcomes of some texts; if the pool is already broken, asking for them raises."""
    try:
        return pool.submit(_outcomes_in_worker, texts)
    except BrokenProcessPool as error:
        future: Future[list[Result | Exception]] = Future()
        future.set_exception(error)
        return future
