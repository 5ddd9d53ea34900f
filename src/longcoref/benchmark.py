"""Measurements of the runtime: times as ratios within one run, and peak memory of fresh processes.

The texts are the user's, such as whole novels, joined until they are long enough.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longcoref.errors import InputError
from longcoref.formats import read_corpus
from longcoref.memory import LearnedMemory, MemoryPolicy, UnboundedMemory, chosen_policy, memory_policy
from longcoref.resolver import Resolver
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.encoder import WindowEncoder
from longcoref.runtime.footprint import peak_bytes
from longcoref.runtime.heads import Floats
from longcoref.runtime.model import Model, open_model
from longcoref.runtime.pieces import Integers
from longcoref.runtime.reading import Reader
from longcoref.runtime.windows import Window
from longcoref.text import tokenize

_FIRST_RESULT = "import longcoref; longcoref.load({model!r})('Anna lost her hat. She found it again.')"


def join_texts(folder: Path, words: int) -> str:
    """The first words of the text files of a folder, joined in the order of their names."""
    parts: list[str] = []
    wanted = words
    for path in sorted(folder.glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for line in lines:
            if wanted <= 0:
                return "".join(parts)
            parts.append(line)
            wanted -= len(line.split())
        parts.append("\n\n")
    if wanted > 0:
        raise InputError(f"holds {words - wanted} words of text in .txt files, but {words} were asked for", folder)
    return "".join(parts)


@dataclass
class _Recorder:
    """An encoder that records its calls, so that they can be repeated alone."""

    encoder: WindowEncoder
    calls: list[tuple[Integers, Sequence[Window]]]

    def encode(self, ids: Integers, windows: Sequence[Window]) -> Floats:
        self.calls.append((ids, windows))
        return self.encoder.encode(ids, windows)


def fastest(work: Callable[[], object], repeat: int) -> float:
    """The seconds of the fastest run."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def bench_speed(
    resolver: Resolver, text: str, *, repeat: int = 3, others: dict[str, WindowEncoder] | None = None
) -> dict[str, Any]:
    """Reading end to end, compared with the encoder alone on the same windows, and with `others`."""
    recorder = _Recorder(resolver.model.encoder, [])
    recording = Resolver(replace(resolver.model, encoder=recorder), resolver.policy)
    result = recording(text)
    calls = list(recorder.calls)

    def encode(encoder: WindowEncoder) -> None:
        for ids, windows in calls:
            encoder.encode(ids, windows)

    words = len(tokenize(text).words)
    alone = fastest(lambda: encode(resolver.model.encoder), repeat)
    whole = fastest(lambda: resolver(text), repeat)
    facts: dict[str, Any] = {
        "words": words,
        "windows": sum(len(windows) for _, windows in calls),
        "mentions": sum(len(cluster.mentions) for cluster in result.clusters),
        "end_to_end_seconds": whole,
        "encoder_seconds": alone,
        "end_to_end_to_encoder": whole / alone,
        "words_per_second": words / whole,
    }
    for name, encoder in (others or {}).items():
        seconds = fastest(lambda encoder=encoder: encode(encoder), repeat)  # type: ignore[misc]
        facts |= {f"{name}_seconds": seconds, f"{name}_to_end_to_end": seconds / whole}
    return facts


def bench_cells(model: Model, text: str, cells: Iterable[int], *, repeat: int = 3) -> list[dict[str, Any]]:
    """Clustering alone, in milliseconds per mention, for memories of several capacities; 0 is unbounded."""
    document = tokenize(text)
    blocks = list(Reader(model, chosen_policy(model.config.memory)).read(document.read(), text=text, last=True))
    mentions = sum(len(block.mentions) for block in blocks)

    def cluster(policy: MemoryPolicy) -> None:
        loop = Clusterer(model.heads, policy)
        for block in blocks:
            for _ in loop.cluster(block.x, block.scores, block.facts):
                pass

    rows = []
    for count in cells:
        policy = LearnedMemory(count) if count else UnboundedMemory()
        seconds = fastest(lambda policy=policy: cluster(policy), repeat)  # type: ignore[misc]
        rows.append({"cells": count, "mentions": mentions, "milliseconds_per_mention": 1000 * seconds / mentions})
    return rows


def bench_growth(
    folder: Path,
    lengths: Iterable[int],
    *,
    model: str | None,
    memory: str,
    cells: int | None,
    to: str = "jsonl",
    threads: int | None = None,
) -> list[dict[str, Any]]:
    """Seconds and peak memory of `longcoref resolve … --to FORMAT` over texts of growing length."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for words in lengths:
            text, output = Path(scratch) / "text.txt", Path(scratch) / f"out.{to}"
            text.write_text(join_texts(folder, words), encoding="utf-8")
            command = [sys.executable, "-m", "longcoref", "resolve", str(text), "-o", str(output), "--quiet"]
            command += ["--to", to, "--memory", memory, *(["--cells", str(cells)] if cells else [])]
            command += [*(["--model", model] if model else []), *(["--threads", str(threads)] if threads else [])]
            seconds, peak = _measure(command)
            rows.append(
                {
                    "words": words,
                    "memory": memory,
                    "cells": cells,
                    "seconds": seconds,
                    "words_per_second": words / seconds,
                    "peak_megabytes": peak,
                    "output_megabytes": output.stat().st_size / 1e6,
                }
            )
    return rows


def growth_of_memory(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By how much the longest text of each memory in the rows of `bench_growth` needs more than the shortest."""
    summary = []
    for memory in dict.fromkeys(row["memory"] for row in rows):
        found = sorted((row for row in rows if row["memory"] == memory), key=lambda row: row["words"])
        words = found[-1]["words"] - found[0]["words"]
        more = found[-1]["peak_megabytes"] - found[0]["peak_megabytes"]
        if words:
            facts = {"memory": memory, "from_words": found[0]["words"], "to_words": found[-1]["words"]}
            summary.append({**facts, "more_megabytes": more, "bytes_per_word": 1e6 * more / words})
    return summary


def bench_recall(
    path: Path, *, model: str | None, cells: int | None, every: int = 10_000
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Clustering and memory along one long text, with recall off and on: a row for every `step` words, and a summary.

    Each of the two is a separate process. The summary compares the last third of the text with the first.
    """
    rows, summary = [], []
    for recall in (False, True):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            found = process.submit(_along, path, model, cells, recall, every).result()
        third = -(-len(found) // 3)
        facts: dict[str, Any] = {"recall": found[-1]["recall"], "words": found[-1]["words"]}
        for name in ("milliseconds_per_mention", "peak_megabytes"):
            first, last = (sum(row[name] for row in part) for part in (found[:third], found[-third:]))
            facts[f"{name}_last_to_first_third"] = last / first
        rows += found
        summary.append(facts)
    return rows, summary


def _along(path: Path, model: str | None, cells: int | None, recall: bool, every: int) -> list[dict[str, Any]]:
    """Rows along a text: time of clustering alone, peak memory of the process, entities in the archive."""
    opened = open_model(model, threads=1)
    (document,) = read_corpus(path, format="text")
    loop = Clusterer(opened.heads, memory_policy("learned", cells, recall=recall))
    rows: list[dict[str, Any]] = []
    mentions, seconds, end = 0, 0.0, len(document.words)
    for block in Reader(opened, LearnedMemory(1)).read(document.read(), text=document.text, last=True):
        started = time.process_time()  # not wall time: other processes on the machine do not count
        for _ in loop.cluster(block.x, block.scores, block.facts):
            mentions += 1
        seconds += time.process_time() - started
        if mentions and (block.end >= every * (len(rows) + 1) or block.end == end):
            rows.append(
                {
                    "recall": "on" if recall else "off",
                    "words": block.end,
                    "mentions": mentions,
                    "milliseconds_per_mention": 1000 * seconds / mentions,
                    "peak_megabytes": peak_bytes() / 1e6,
                    "archived": len(loop.cells.archive or ()),
                }
            )
            mentions, seconds = 0, 0.0
    if not rows:
        raise InputError("holds no mentions to cluster", path)
    return rows


def bench_load(model: str | None, *, repeat: int = 3) -> dict[str, float]:
    """Seconds of a fresh process: importing longcoref, and from the import to the first result."""
    programs = {"import": "import longcoref", "first_result": _FIRST_RESULT.format(model=model), "python": "pass"}
    seconds = {
        name: min(_measure([sys.executable, "-c", program])[0] for _ in range(repeat))
        for name, program in programs.items()
    }
    return {f"{name}_seconds": value for name, value in seconds.items()}


def _measure(command: Sequence[str]) -> tuple[float, float]:
    """The seconds that a command takes, and its peak resident memory in megabytes."""
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    scale = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kilobytes elsewhere
    return seconds, usage.ru_maxrss / scale
