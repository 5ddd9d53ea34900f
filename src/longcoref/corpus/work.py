"""What a worker does: reads the documents of a job, and writes them as one shard."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import longcoref
from longcoref.corpus.store import MANIFEST, file_name, open_store
from longcoref.corpus.tables import SCHEMAS, Row, parquet_of, rows_of
from longcoref.errors import InputError, LongcorefError
from longcoref.extraction import EXTRACTED_SUFFIX, read_text
from longcoref.mention import MentionRecord
from longcoref.render.outputs import OUTPUTS, resolve_for
from longcoref.resolver import Resolver, load
from longcoref.runtime.footprint import Budget, peak_bytes
from longcoref.text import tokenize

_CHECK_EVERY = 64  # mentions between two checks of the memory limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How documents are read and what is written; `memory_limit` is that of a process, in bytes."""

    model: str | None = None
    memory: str | None = None
    cells: int | None = None
    recall: bool | None = None
    post_processing: str = "all"
    style: str | None = None
    encoding: str | None = None
    keep_all: bool = False
    formats: tuple[str, ...] = ()
    memory_limit: int | None = None

    def resolver(self) -> Resolver:
        """The resolver of a process, with one thread."""
        return load(
            self.model,
            memory=self.memory,
            cells=self.cells,
            recall=self.recall,
            post_processing=self.post_processing,
            style=self.style,
            threads=1,
        )

    def stamp(self, resolver: Resolver) -> dict[str, Any]:
        """Everything that the result for a document depends on, apart from its text."""
        options = {
            "version": longcoref.__version__,
            "memory": resolver.policy.name,
            "cells": resolver.policy.capacity,
            "recall": resolver.policy.recalls,
            "post_processing": asdict(resolver.book),
            "encoding": self.encoding,
            "keep_all": self.keep_all,
            "to": sorted(self.formats),
        }
        return {"model": resolver.model.fingerprint, "options": options}

    def budget(self, resolver: Resolver) -> Budget:
        """The memory of this process, which has just opened the model, before the first text."""
        parquet_of("documents", [])  # loads pyarrow, which takes as much memory as a small model
        limit = self.memory_limit or 2**63
        return Budget.of(limit, resolver.model.heads, threads=1, characters=0, recall=resolver.policy.recalls)


@dataclass(frozen=True, slots=True)
class Item:
    """A document of a job: its bytes, or why it could not be read."""

    id: str
    source: str
    content: bytes | LongcorefError


@dataclass(frozen=True, slots=True)
class Job:
    """Documents that become the shard of this name."""

    name: str
    items: tuple[Item, ...]


class Worker:
    """Holds an open model and works on one job at a time."""

    def __init__(self, settings: Settings, location: str) -> None:
        self._settings = settings
        self._resolver, self._store = settings.resolver(), open_store(location)
        self._budget = settings.budget(self._resolver)
        self._outputs = {name: OUTPUTS[name] for name in settings.formats}
        self._stamp = settings.stamp(self._resolver)

    def ready(self) -> None:
        """Returns once the model is open."""

    def work(self, job: Job) -> list[Row]:
        """Reads all documents of a job and writes their shard; returns the rows of its manifest.

        A document that fails gets a row with the error. Those rows are a shard of their own, named as if the job had no
        other documents: if the documents fail again in the next run, the same shards are there as before. What is
        raised here is about the store.
        """
        manifest: list[Row] = []
        failed: list[Row] = []
        tables: dict[str, list[Row]] = {table: [] for table in SCHEMAS}
        for item in job.items:
            began = time.perf_counter()
            if peak_bytes() > self._budget.limit:  # because of another document
                _forget_peak()
            try:
                rows, files = self._read(item)
            except Exception as error:  # whatever it is, it must not affect the other documents
                failed.append(failed_row(item, error, self._stamp) | {"seconds": _since(began)})
                continue
            for name, content in files.items():
                self._store.write_file(name, content)
            for table, found in rows.items():
                tables[table] += found
            (about,) = rows["documents"]
            done = {"status": "done", "words": about["words"], "seconds": _since(began)}
            manifest.append({**_row(item, self._stamp), **done, "peak_megabytes": peak_bytes() // 10**6})
        if failed:
            name = shard_name((row["document"], row["hash"]) for row in failed)
            write_shard(self._store, name, {table: [] for table in SCHEMAS}, failed)
        if manifest:
            write_shard(self._store, job.name, tables, manifest)
        return manifest + failed

    def _read(self, item: Item) -> tuple[dict[str, list[Row]], dict[str, bytes]]:
        """The rows of a document for every table, and its files: its text, if it had to be extracted, and outputs."""
        if isinstance(item.content, LongcorefError):
            raise item.content
        settings = self._settings
        found = read_text(item.content, name=item.source, encoding=settings.encoding, keep_all=settings.keep_all)
        budget = self._budget.holding(len(found.text))
        budget.cells(self._resolver.policy.capacity)
        document = tokenize(found.text, id=item.id)
        if not document.words:
            raise InputError("contains no text", item.source)
        mentions = _watched(self._resolver.mentions(document), budget)
        resolved = resolve_for(self._outputs.values(), self._resolver, document, mentions)
        assert resolved.result is not None
        files = {} if found.is_own else {file_name(item.id, EXTRACTED_SUFFIX): found.text.encode()}
        for output in self._outputs.values():
            stream = io.StringIO()
            output.write([resolved], stream)
            files[file_name(item.id, output.suffix)] = stream.getvalue().encode()
        return rows_of(resolved.result, source=item.source, hash=_hash(item)), files


def shard_name(documents: Iterable[tuple[str, str]]) -> str:
    """The name of the shard of these documents, which are given with their hashes."""
    return hashlib.sha256(json.dumps(list(documents)).encode()).hexdigest()[:16]


def write_shard(store: Any, name: str, tables: dict[str, list[Row]], manifest: Iterable[Row]) -> None:
    """Writes the tables and the manifest of a shard."""
    files = {f"{table}.parquet": parquet_of(table, rows) for table, rows in tables.items()}
    store.write_shard(name, files | {MANIFEST: manifest_of(manifest)})


def manifest_of(rows: Iterable[Row]) -> bytes:
    """The lines of a manifest."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def failed_row(item: Item, error: Exception, stamp: dict[str, Any]) -> Row:
    """The row of a manifest for a document that could not be read."""
    message = str(error) if isinstance(error, LongcorefError) else f"{type(error).__name__}: {error}"
    if not message.startswith(f"{item.source}:"):
        message = f"{item.source}: {message}"
    return {**_row(item, stamp), "status": "failed", "error": message, "line": getattr(error, "line", None)}


def _row(item: Item, stamp: dict[str, Any]) -> Row:
    blank = {"status": "", "error": None, "line": None, "words": 0, "seconds": 0.0, "peak_megabytes": None}
    return {"document": item.id, "source": item.source, "hash": _hash(item), **stamp, **blank}


def _hash(item: Item) -> str:
    return "" if isinstance(item.content, LongcorefError) else hashlib.sha256(item.content).hexdigest()


def _forget_peak() -> None:
    """Measures the peak memory of this process from now on. Only Linux can do this."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 3)


def _watched(mentions: Iterable[MentionRecord], budget: Budget) -> Iterator[MentionRecord]:
    for number, mention in enumerate(mentions):
        if number % _CHECK_EVERY == 0:
            budget.check()
        yield mention
