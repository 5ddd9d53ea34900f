"""A corpus run: find the documents, skip those that are done, give the others to workers, the largest first.

What is done is known from the manifests of the shards. Documents are grouped into shards by their order and size alone,
and a shard is named after its documents, so a run that was killed and resumed writes the same shards as one that was
not, and a job that is repeated replaces its own shard.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from longcoref.corpus.executors import Executor, ray_actors
from longcoref.corpus.executors import processes as worker_processes
from longcoref.corpus.sources import Entry, find_documents
from longcoref.corpus.store import MANIFEST, Store, open_store
from longcoref.corpus.tables import SCHEMAS, Row, without
from longcoref.corpus.work import Item, Job, Settings, failed_row, manifest_of, shard_name, write_shard
from longcoref.errors import InputError, LongcorefError, UsageError
from longcoref.render.outputs import chosen_formats
from longcoref.runtime.processor import processors

SHARD_BYTES = 500_000
"""The most text in a shard of several documents, unless the caller says so; a longer document is a shard of its own."""
_LEAST_BYTES = 20_000  # of text in a shard, which takes longer to read than to open a model and to write the tables
_SHARDS = 100  # of a smaller corpus, so that all processes are busy to the end
_ATTEMPTS = 2  # of a job whose worker dies
_REMOVED = "removed"  # the status of a document while its rows are being removed from the tables
_PAUSE = 1.0  # seconds without news after which progress is shown and the lock renewed


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; `size` and `all_size` count bytes of text, without what earlier runs have done."""

    documents: int
    all_documents: int
    failed: int
    words: int
    size: int
    all_size: int
    seconds: float

    @property
    def words_per_second(self) -> float:
        """The speed since the start of the run."""
        return self.words / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """An estimate of the remaining time, None before the first document is done."""
        return self.seconds * (self.all_size - self.size) / self.size if self.size else None


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a run: `documents` in the corpus, of which `skipped` were done before."""

    documents: int
    skipped: int
    words: int
    seconds: float
    workers: int
    peak_megabytes: int
    failures: tuple[Row, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Task:
    """Documents that will be one shard."""

    entries: tuple[Entry, ...]

    @property
    def size(self) -> int:
        """Bytes of text."""
        return sum(entry.size for entry in self.entries)

    @property
    def name(self) -> str:
        """The name of the shard: a hash of its documents."""
        return shard_name((entry.id, entry.hash) for entry in self.entries)

    def job(self) -> Job:
        """The documents with their content, as it is now."""
        return Job(self.name, tuple(_item(entry) for entry in self.entries))


def _item(entry: Entry) -> Item:
    try:
        return Item(entry.id, entry.source, entry.read())
    except LongcorefError as error:
        return Item(entry.id, entry.source, error)


def run(
    inputs: Sequence[str | Path] | str | Path,
    out: str | Path,
    *,
    to: Sequence[str] = (),
    model: str | None = None,
    memory: str | None = None,
    cells: int | None = None,
    recall: bool | None = None,
    post_processing: str = "all",
    style: str | None = None,
    encoding: str | None = None,
    keep_all: bool = False,
    processes: int | None = None,
    ray: str | None = None,
    memory_limit: int | None = None,
    strict: bool = False,
    id_column: str = "id",
    text_column: str = "text",
    shard_bytes: int | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Summary:
    """Resolves all documents of a corpus into Parquet tables in the folder (or at the URL) `out`.

    `inputs` are files, folders, patterns, archives, JSON lines or Parquet files. What `out` already holds is not done
    again, unless the document, the model or an option has changed. A document that fails is recorded, and the run goes
    on; with `strict` it stops there. `processes` is the number of workers: by default one for each processor, or fewer
    if memory is short. `ray` is "local" or the address of a Ray cluster. `memory_limit` bounds each process, in bytes.
    `to` names further output formats, with a file per document. `encoding` and `keep_all` are those of
    `longcoref.extraction.TextFile`. `shard_bytes` is the most text in a shard of several documents: by default a
    hundredth of the corpus, from 20 to 500 kB. `report` is called with the progress.
    """
    settings = Settings(
        model=model,
        memory=memory,
        cells=cells,
        recall=recall,
        post_processing=post_processing,
        style=style,
        encoding=encoding,
        keep_all=keep_all,
        formats=tuple(chosen_formats(",".join(to), "")) if to else (),
        memory_limit=memory_limit,
    )
    resolver = settings.resolver()
    stamp, budget, capacity = settings.stamp(resolver), settings.budget(resolver), resolver.policy.capacity or 0
    del resolver
    names = [inputs] if isinstance(inputs, str | Path) else inputs
    entries = find_documents(names, id_column=id_column, text_column=text_column, largest=memory_limit)
    store = open_store(out)
    with store.locked() as renew:
        store.clean()
        done = remove_stale(store, entries, stamp)
        tasks = plan(entries, done, shard_bytes=usual_shard_bytes(entries) if shard_bytes is None else shard_bytes)
        followed = _Followed(report, documents=len(entries) - len(done), size=sum(task.size for task in tasks))

        def idle() -> None:
            renew()
            followed.show()

        if not tasks:
            return followed.summary(len(entries), len(done), 0)
        if ray is None:
            needs = (min(budget.holding(task.size).needed(capacity), budget.limit) for task in tasks)
            count = processes or fitting(needs, processors=processors(), available=_available_bytes())
            executor = worker_processes(min(count, len(tasks)), settings, store.location)
        else:
            executor = ray_actors(processes, settings, store.location, ray)
        with closing(executor):
            for task, rows in schedule(tasks, executor, idle=idle, split=lambda task: _discard(store, task)):
                if any(row["status"] == "done" for row in rows or ()) and not store.has(task.name):
                    raise UsageError(f"{store.location}: workers write elsewhere: give a place that all of them share")
                followed.add(task, rows or _given_up(store, task, stamp))
                if strict and followed.failures:
                    raise InputError(followed.failures[0]["error"])
        return followed.summary(len(entries), len(done), executor.count)


def usual_shard_bytes(entries: Iterable[Entry]) -> int:
    """The most text in a shard of several documents, which depends on the documents alone, not on who reads them."""
    return min(max(sum(entry.size for entry in entries) // _SHARDS, _LEAST_BYTES), SHARD_BYTES)


def plan(entries: Sequence[Entry], done: Iterable[str], *, shard_bytes: int) -> list[Task]:
    """The tasks that are left. Which documents belong together does not depend on what is done."""
    if shard_bytes < 1:
        raise UsageError(f"a shard needs at least 1 byte of text, got {shard_bytes}")
    groups: list[list[Entry]] = [[]]
    size = 0
    for entry in entries:
        if groups[-1] and size + entry.size > shard_bytes:
            groups.append([])
            size = 0
        groups[-1].append(entry)
        size += entry.size
    finished = set(done)
    left = (tuple(entry for entry in group if entry.id not in finished) for group in groups)
    return [Task(group) for group in left if group]


def remove_stale(store: Store, entries: Iterable[Entry], stamp: Mapping[str, Any]) -> set[str]:
    """Removes the documents that have to be read again from the shards; returns the ids of the others.

    Documents that are not among the entries stay. The manifest says first what is about to be removed, so that the next
    run continues if this one is killed, even if it has the options that the documents were read with.
    """
    wanted = {entry.id: {"hash": entry.hash, "status": "done", **stamp} for entry in entries}
    seen: set[str] = set()
    for shard in store.shards():
        rows = [json.loads(line) for line in store.read(shard, MANIFEST).splitlines()]
        stale = set()
        for row in rows:
            expected = wanted.get(row["document"], {})
            is_other = any(row[key] != value for key, value in expected.items())
            if is_other or row["document"] in seen or row["status"] == _REMOVED:
                stale.add(row["document"])
        kept = [row for row in rows if row["document"] not in stale]
        seen |= {row["document"] for row in kept}
        if not kept:
            store.delete_shard(shard)
        elif stale:
            marked = [row | {"status": _REMOVED} if row["document"] in stale else row for row in rows]
            store.write_shard(shard, {MANIFEST: manifest_of(marked)})
            tables = {
                f"{table}.parquet": without(table, store.read(shard, f"{table}.parquet"), stale) for table in SCHEMAS
            }
            store.write_shard(shard, tables | {MANIFEST: manifest_of(kept)})
    return seen & set(wanted)


def _discard(store: Store, task: Task) -> None:
    """Removes the shard of a task whose worker has written it, but died before it could say so."""
    if store.has(task.name):
        store.delete_shard(task.name)


def schedule(
    tasks: Iterable[Task],
    executor: Executor,
    *,
    idle: Callable[[], object] = lambda: None,
    split: Callable[[Task], object] = lambda task: None,
) -> Iterator[tuple[Task, list[Row] | None]]:
    """Runs tasks, the largest first; yields each with its manifest, or None if it kills its worker every time.

    A task whose worker dies is repeated. If that worker dies too, its documents are read one by one, after a call of
    `split`. `idle` is called from time to time.
    """
    waiting = sorted(tasks, key=lambda task: task.size)
    running: dict[str, Task] = {}
    deaths: Counter[str] = Counter()
    while waiting or running:
        while waiting and executor.idle:
            task = waiting.pop()
            running[task.name] = task
            executor.submit(task.job())
        for name, rows in executor.finished(_PAUSE):
            task = running.pop(name)
            if rows is not None:
                yield task, rows
                continue
            deaths[name] += 1
            if deaths[name] < _ATTEMPTS:
                waiting.append(task)
            elif len(task.entries) > 1:
                split(task)
                waiting += [Task((entry,)) for entry in task.entries]
            else:
                yield task, None
        idle()


def _given_up(store: Store, task: Task, stamp: dict[str, Any]) -> list[Row]:
    """Writes the shard of a document that kills its worker."""
    (item,) = task.job().items
    reason = "the process that read this document was killed, probably because it ran out of memory"
    rows = [failed_row(item, InputError(reason, item.source), stamp)]
    write_shard(store, task.name, {table: [] for table in SCHEMAS}, rows)
    return rows


def fitting(needs: Iterable[int], *, processors: int, available: int | None) -> int:
    """The number of processes: one for each processor, as long as the largest documents fit into memory together."""
    if available is None:
        return processors
    together = accumulate(sorted(needs, reverse=True)[:processors])
    return max(1, sum(need <= available for need in together))


def _available_bytes() -> int | None:
    """The memory that new processes can use, None if the system does not say."""
    found = []
    for path, key in ((Path("/proc/meminfo"), "MemAvailable:"), (Path("/sys/fs/cgroup/memory.max"), "")):
        with suppress(OSError, ValueError, StopIteration):  # not Linux, or no limit
            line = next(line for line in path.read_text(encoding="ascii").splitlines() if line.startswith(key))
            found.append(int(line.removeprefix(key).split()[0]) * (1024 if key else 1))
    return min(found, default=None)


class _Followed:
    """Counts what is done, for the progress and the summary."""

    def __init__(self, report: Callable[[Progress], None], *, documents: int, size: int) -> None:
        self._report, self._all_documents, self._all_size = report, documents, size
        self._began = time.perf_counter()
        self._documents = self._words = self._size = self._peak = 0
        self.failures: list[Row] = []

    def add(self, task: Task, rows: Sequence[Row]) -> None:
        self._documents += len(rows)
        self._size += task.size
        self._words += sum(row["words"] for row in rows)
        self._peak = max([self._peak, *(row["peak_megabytes"] or 0 for row in rows)])
        self.failures += [row for row in rows if row["status"] == "failed"]

    def show(self) -> None:
        seconds = time.perf_counter() - self._began
        counts = self._documents, self._all_documents, len(self.failures), self._words, self._size, self._all_size
        self._report(Progress(*counts, seconds))

    def summary(self, documents: int, skipped: int, workers: int) -> Summary:
        seconds = time.perf_counter() - self._began
        return Summary(documents, skipped, self._words, seconds, workers, self._peak, tuple(self.failures))
