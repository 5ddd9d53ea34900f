"""A simulation of corpus runs with many workers: the scheduler is the real one, the workers and the clock are not.

    python scripts/simulate_corpus.py NOVELS --books 100000 --workers 1000

NOVELS are folders of .txt files, whose lengths are drawn from. A worker reads `--speed` words per second, give or take
`--spread` (machines differ), takes `--start` seconds to open the model, and dies `--deaths` times in 1,000 hours, which
loses its job. "Ideal" is the time if all workers were busy until the end and none died.
"""

from __future__ import annotations

import argparse
import heapq
import io
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longcoref.corpus.engine import SHARD_BYTES, plan, schedule
from longcoref.corpus.sources import Entry
from longcoref.corpus.work import Job

BYTES_PER_WORD = 5.6


class Nothing:
    """A container whose documents are empty: only their lengths count here."""

    def documents(self) -> list[Any]:
        """No documents."""
        return []

    def open(self, key: object) -> io.BytesIO:
        """No bytes."""
        return io.BytesIO()


class Workers:
    """Workers of different speed that may die, on a clock that moves from event to event."""

    def __init__(
        self,
        count: int,
        entries: Sequence[Entry],
        generator: random.Random,
        *,
        speed: float,
        spread: float,
        start: float,
        deaths: float,
    ) -> None:
        self.count, self._random, self._start, self._rate = count, generator, start, deaths / 1000 / 3600
        self._sizes = {entry.id: entry.size for entry in entries}
        self._speeds = [speed * math.exp(generator.gauss(0, spread)) for _ in range(count)]
        self._idle: list[int] = []
        self._events: list[tuple[float, int, str | None, bool]] = [
            (start, worker, None, False) for worker in range(count)
        ]
        self.clock = self.busy = self.lost = 0.0
        self.died = 0

    @property
    def total_speed(self) -> float:
        """Words per second of all workers together."""
        return sum(self._speeds)

    @property
    def idle(self) -> int:
        """The number of idle workers."""
        return len(self._idle)

    def submit(self, job: Job) -> None:
        """Plans when the job will end, or its worker die."""
        worker = self._idle.pop()
        seconds = sum(self._sizes[item.id] for item in job.items) / BYTES_PER_WORD / self._speeds[worker]
        death = self._random.expovariate(self._rate) if self._rate else math.inf
        heapq.heappush(self._events, (self.clock + min(seconds, death), worker, job.name, death < seconds))
        self.lost += death if death < seconds else 0

    def finished(self, timeout: float) -> list[tuple[str, list[dict[str, Any]] | None]]:
        """Moves the clock to the next event."""
        self.clock, worker, name, died = heapq.heappop(self._events)
        if died:
            self.died += 1
            heapq.heappush(self._events, (self.clock + self._start, worker, None, False))
        else:
            self._idle.append(worker)
        return [] if name is None else [(name, None if died else [])]

    def close(self) -> None:
        """Nothing to end."""


def simulate(lengths: Sequence[int], options: argparse.Namespace) -> dict[str, Any]:
    """One simulated run over books with lengths that are drawn from these."""
    generator = random.Random(options.seed)
    container = Nothing()
    entries = [
        Entry(str(number), str(number), "", round(generator.choice(lengths) * BYTES_PER_WORD), container, number)
        for number in range(options.books)
    ]
    tasks = plan(entries, (), shard_bytes=options.shard_bytes)
    workers = Workers(
        options.workers,
        entries,
        generator,
        speed=options.speed,
        spread=options.spread,
        start=options.start,
        deaths=options.deaths,
    )
    given_up = sum(rows is None for _, rows in schedule(tasks, workers))
    words = sum(entry.size for entry in entries) / BYTES_PER_WORD
    ideal = words / workers.total_speed
    return {
        "books": options.books,
        "shards": len(tasks),
        "workers": options.workers,
        "words": round(words),
        "hours": round(workers.clock / 3600, 2),
        "ideal_hours": round(ideal / 3600, 2),
        "overhead": round(workers.clock / ideal - 1, 4),
        "deaths": workers.died,
        "lost_hours": round(workers.lost / 3600, 2),
        "given_up": given_up,
    }


def main() -> None:
    """Reads the options and prints a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", type=Path, nargs="+")
    parser.add_argument("--books", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--speed", type=float, default=1000, help="words per second of a worker")
    parser.add_argument("--spread", type=float, default=0.1, help="standard deviation of its logarithm")
    parser.add_argument("--start", type=float, default=10, help="seconds before a new worker is ready")
    parser.add_argument("--deaths", type=float, default=50, help="deaths of a worker in 1,000 hours")
    parser.add_argument("--shard-bytes", type=int, default=SHARD_BYTES)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    files = [path for folder in options.novels for path in sorted(folder.glob("*.txt"))]
    lengths = [len(path.read_text(encoding="utf-8").split()) for path in files]
    print(
        json.dumps({"lengths": len(lengths), "mean_words": sum(lengths) // len(lengths), **simulate(lengths, options)})
    )


if __name__ == "__main__":
    main()
