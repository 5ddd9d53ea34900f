"""Where jobs run: in processes of this machine, or in actors of a Ray cluster.

Both hold the model once per worker and give each worker one job at a time, so that no more texts are in memory than are
being read. A worker that dies is replaced, and its job is reported as lost.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from longcoref.corpus.tables import Row
from longcoref.corpus.work import Job, Settings, Worker
from longcoref.errors import InputError, optional_module, quoted, shortened

Outcome = list[Row] | None
"""The manifest of a job's shard; None if the worker died."""


_FAILED_STARTS = 4


class Executor(Protocol):
    """Some workers that take jobs; `count` says how many."""

    count: int

    @property
    def idle(self) -> int:
        """The number of workers that have nothing to do."""

    def submit(self, job: Job) -> None:
        """Gives a job to an idle worker."""

    def finished(self, timeout: float) -> list[tuple[str, Outcome]]:
        """The names of jobs that have ended, with their outcomes; waits for one, but not longer than `timeout`."""

    def close(self) -> None:
        """Ends all workers."""


@dataclass
class _Starts:
    """Counts workers that died before they were ready, since the last one that was not."""

    count: int = 0

    def failed(self, job: str | None, reason: str) -> None:
        """Notes that a worker died; raises `InputError` if this happens again and again before any is ready."""
        self.count += job is None
        if self.count >= _FAILED_STARTS:
            raise InputError(f"{self.count} workers in a row died before they were ready: {reason}")


def processes(count: int, settings: Settings, location: str) -> Executor:
    """Processes of this machine."""
    return _Processes(count, settings, location)


def ray_actors(count: int | None, settings: Settings, location: str, address: str) -> Executor:
    """Actors of a Ray cluster: `local` starts one on this machine, any other address is that of a running cluster.

    Without a number, there is one for each processor of the cluster.
    """
    return _RayActors(count, settings, location, address)


class _Processes:
    """Processes of this machine; they end when this one does, however it ends."""

    def __init__(self, count: int, settings: Settings, location: str) -> None:
        self.count, self._arguments, self._starts = count, (settings, location), _Starts()
        self._idle: list[Connection] = []
        self._busy: dict[Connection, str | None] = {}  # None: the model is still being opened
        self._processes: dict[Connection, BaseProcess] = {}
        for _ in range(count):
            self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked child would share the encoder's threads
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, *self._arguments), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process
        self._busy[ours] = None

    @property
    def idle(self) -> int:
        return len(self._idle)

    def submit(self, job: Job) -> None:
        connection = self._idle.pop()
        self._busy[connection] = job.name
        with suppress(OSError):  # the worker has died; `finished` will notice
            connection.send(job)

    def finished(self, timeout: float) -> list[tuple[str, Outcome]]:
        ended: list[tuple[str, Outcome]] = []
        for connection in wait(list(self._busy), timeout):
            assert isinstance(connection, Connection)
            name = self._busy.pop(connection)
            try:
                outcome = connection.recv()
            except (EOFError, OSError):
                process = self._processes.pop(connection)
                process.join()
                connection.close()
                self._starts.failed(name, f"code {process.exitcode}")
                if name is not None:
                    ended.append((name, None))
                self._start()
                continue
            if isinstance(outcome, Exception):
                raise outcome
            self._idle.append(connection)
            if name is None:
                self._starts.count = 0
            else:
                ended.append((name, outcome))
        return ended

    def close(self) -> None:
        for connection, process in self._processes.items():
            process.kill()  # a shard is written completely or not at all
            process.join()
            connection.close()


def _serve(connection: Connection, settings: Settings, location: str) -> None:
    """The main function of a worker process: sends None when it is ready, then an outcome for each job."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        worker, outcome = Worker(settings, location), None
        while job := _exchanged(connection, outcome):
            outcome = worker.work(job)
    except KeyboardInterrupt:
        pass
    except Exception as error:
        _exchanged(connection, error)


def _exchanged(connection: Connection, outcome: Outcome | Exception) -> Job | None:
    """Sends an outcome and waits for the next job; None if the parent has ended or is no longer interested."""
    try:
        connection.send(outcome)
        job: Job = connection.recv()
    except (EOFError, OSError):
        return None
    return job


def _end_with_parent() -> None:
    """Ends this process when its parent has ended: the parent's lock is gone, and another run may start."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


class _RayActors:
    """Actors of a Ray cluster; Ray ends them when the driver ends."""

    def __init__(self, count: int | None, settings: Settings, location: str, address: str) -> None:
        self._ray: Any = optional_module("ray", extra="ray", needed_for="--ray")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if address == "local":
            options |= {"address": "local", "num_cpus": count, "include_dashboard": False}
        else:
            options["address"] = address
        try:
            self._ray.init(**options)
        except Exception as error:  # Ray raises many kinds, some of them plain exceptions
            what = "cannot start Ray here" if address == "local" else f"cannot use the Ray cluster {quoted(address)}"
            raise InputError(f"{what}: {shortened(str(error))}") from error
        self._actor = self._ray.remote(num_cpus=1, max_restarts=0)(Worker)
        self._arguments, self._starts = (settings, location), _Starts()
        self._idle: list[Any] = []
        self._busy: dict[Any, tuple[Any, str | None]] = {}
        self.count = count or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        for _ in range(self.count):
            self._start()

    def _start(self) -> None:
        actor = self._actor.remote(*self._arguments)
        self._busy[actor.ready.remote()] = actor, None

    @property
    def idle(self) -> int:
        return len(self._idle)

    def submit(self, job: Job) -> None:
        actor = self._idle.pop()
        self._busy[actor.work.remote(job)] = actor, job.name

    def finished(self, timeout: float) -> list[tuple[str, Outcome]]:
        ended: list[tuple[str, Outcome]] = []
        ready, _ = self._ray.wait(list(self._busy), timeout=timeout)
        for reference in ready:
            actor, name = self._busy.pop(reference)
            try:
                outcome = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                raise error.as_instanceof_cause() from None
            except self._ray.exceptions.RayError as error:
                self._starts.failed(name, str(error))
                if name is not None:
                    ended.append((name, None))
                self._start()
                continue
            self._idle.append(actor)
            if name is None:
                self._starts.count = 0
            else:
                ended.append((name, outcome))
        return ended

    def close(self) -> None:
        self._ray.shutdown()
