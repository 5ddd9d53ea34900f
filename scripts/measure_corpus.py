"""What `longcoref corpus` promises, measured on real novels.

    python scripts/measure_corpus.py NOVELS kill --documents 10                # killed twice and resumed, and unkilled
    python scripts/measure_corpus.py NOVELS speed --documents 16 --words 25000 # 1 and 2 processes, Ray with 2 workers
    python scripts/measure_corpus.py NOVELS short --short 10000 --long 100000  # short texts, and one long text

NOVELS is a folder of .txt files. `--documents` and `--words` take that many of them, and that many words of each; by
default everything is read. A process reads about a million words in a quarter of an hour; `kill` reads everything
twice, `speed` three times. With short openings, a smaller `--shard-size` keeps a shard per document. `kill` adds an
empty file and one that is not UTF-8. What was measured is printed as Markdown, with the peak memory of a process. For
`speed` and `short` the machine should be quiet.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

SEED = 1


def openings(novels: Path, documents: int | None, words: int | None) -> Iterator[tuple[str, str]]:
    """The name and the first words of some novels, with their spaces and line breaks."""
    for path in sorted(novels.glob("*.txt"))[:documents]:
        text = path.read_text(encoding="utf-8")
        ends = [match.end() for match in re.finditer(r"\S+", text)]
        yield path.name, text if words is None or len(ends) <= words else text[: ends[words - 1]]


def command(texts: Path, out: Path, *options: str) -> list[str]:
    """The command line of a corpus run."""
    return [sys.executable, "-m", "longcoref", "corpus", str(texts), "-o", str(out), "--json", "--quiet", *options]


def run(texts: Path, out: Path, *options: str) -> dict[str, Any]:
    """The summary of a corpus run, with its words per second; the start of the workers counts."""
    done = subprocess.run(command(texts, out, *options), stdout=subprocess.PIPE, check=False)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary | {"rate": summary["words"] / summary["seconds"]}


def show(*rows: Sequence[object]) -> None:
    """Prints a table in Markdown; the first row is its header."""
    for number, row in enumerate(rows):
        cells = (f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell) for cell in row)
        print(f"| {' | '.join(cells)} |", flush=True)
        if number == 0:
            print("|---" * len(row) + "|")
    print(flush=True)


def tables(out: Path) -> dict[str, str]:
    """The hashes of all tables."""
    paths = out.glob("shards/*/*.parquet")
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def shards_in(out: Path) -> int:
    """The number of complete shards."""
    return sum(1 for _ in out.glob("shards/[!.]*/manifest.jsonl"))


def kill(texts: Path, scratch: Path, *options: str) -> None:
    """A run that is killed when a third and two thirds of its shards are there, and an unkilled one."""
    (texts / "empty.txt").touch()
    (texts / "not-utf-8.txt").write_bytes(b"A first line.\nThen \xff\xfe.\n")
    whole = run(texts, scratch / "whole", *options)
    expected, shards = tables(scratch / "whole"), shards_in(scratch / "whole")
    out, kills = scratch / "killed", []
    for share in (1 / 3, 2 / 3):
        process = subprocess.Popen(command(texts, out, *options), stdout=subprocess.DEVNULL)
        while shards_in(out) < share * shards:
            time.sleep(0.2)
            if process.poll() is not None:
                break
        process.send_signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            raise SystemExit("the run ended before it was killed: take more or longer documents")
        kills.append(shards_in(out))
    resumed = run(texts, out, *options)
    show(
        ("kill -9", ""),
        ("documents, two of them bad", whole["documents"]),
        ("words", whole["words"]),
        ("shards", shards),
        ("complete shards at each kill", ", ".join(map(str, kills))),
        ("documents that the last run did not read again", resumed["skipped"]),
        ("tables equal to those of the unkilled run", tables(out) == expected),
        *(("reported as failed", row["error"].removeprefix(f"{texts}/")) for row in resumed["failures"]),
        ("peak of a process, MB", max(whole["peak_megabytes"], resumed["peak_megabytes"])),
        ("seconds of the unkilled run", round(whole["seconds"])),
    )


def best_of(kinds: Mapping[str, tuple[Path, Sequence[str]]], scratch: Path, repeat: int) -> dict[str, dict[str, Any]]:
    """The fastest run of each kind, which is given by its texts and options; the kinds alternate."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    for number in range(repeat):
        for kind, (texts, options) in kinds.items():
            found[kind].append(run(texts, scratch / f"{kind} {number}", *options))
    return {kind: max(summaries, key=lambda summary: summary["rate"]) for kind, summaries in found.items()}


def speed(texts: Path, scratch: Path, repeat: int, *options: str) -> None:
    """Words per second of one process, of two, and of Ray with two workers."""
    kinds = {
        "one process": (texts, ["--processes", "1", *options]),
        "two processes": (texts, ["--processes", "2", *options]),
        "Ray with two workers": (texts, ["--ray", "local", "--processes", "2", *options]),
    }
    best = best_of(kinds, scratch, repeat)
    one, two = (best[kind]["rate"] for kind in ("one process", "two processes"))
    expected = tables(scratch / "one process 0")
    show(
        ("", "words", "words per second", "of one process", "of two", "peak of a process, MB", "tables equal"),
        *(
            (
                *(kind, facts["words"], round(facts["rate"])),
                *(f"{facts['rate'] / one:.2f}", f"{facts['rate'] / two:.2f}", facts["peak_megabytes"]),
                tables(scratch / f"{kind} 0") == expected,
            )
            for kind, facts in best.items()
        ),
    )


def short(novels: Path, scratch: Path, count: int, long_words: int, repeat: int, *options: str) -> None:
    """Words per second of one process over texts of 50 to 200 words, and over one long text."""
    generator = random.Random(SEED)
    lengths = [generator.randint(50, 200) for _ in range(count)]
    words: list[str] = []
    for path in sorted(novels.glob("*.txt")):
        words += re.findall(r"\S+\s*", path.read_text(encoding="utf-8"))
        if len(words) >= max(sum(lengths), long_words):
            break
    long, lines, start = scratch / "long.txt", scratch / "short.jsonl", 0
    long.write_text("".join(words[:long_words]), encoding="utf-8")
    with lines.open("w", encoding="utf-8") as stream:
        for number, length in enumerate(lengths):
            record = {"id": f"text{number}", "text": "".join(words[start : start + length])}
            stream.write(json.dumps(record) + "\n")
            start += length
    alone = ["--processes", "1", *options]
    best = best_of({"one long text": (long, alone), "texts of 50 to 200 words": (lines, alone)}, scratch, repeat)
    show(
        ("", "texts", "words", "words per second", "of one long text", "peak of the process, MB"),
        *(
            (
                *(kind, facts["documents"], facts["words"], round(facts["rate"])),
                *(f"{facts['rate'] / best['one long text']['rate']:.2f}", facts["peak_megabytes"]),
            )
            for kind, facts in best.items()
        ),
    )


def main() -> None:
    """Reads the options and prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", type=Path)
    parser.add_argument("parts", nargs="+", choices=("kill", "speed", "short"))
    parser.add_argument("--documents", type=int)
    parser.add_argument("--words", type=int)
    parser.add_argument("--short", type=int, default=10_000, help="number of short texts")
    parser.add_argument("--long", type=int, default=100_000, help="words of the long text")
    parser.add_argument("--processes", default="2", help="processes of the runs that are killed")
    parser.add_argument("--shard-size")
    parser.add_argument("--model")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch, texts = Path(folder), Path(folder) / "texts"
        texts.mkdir()
        for name, text in openings(options.novels, options.documents, options.words):
            (texts / name).write_text(text, encoding="utf-8")
        more = [] if options.shard_size is None else ["--shard-size", options.shard_size]
        more += [] if options.model is None else ["--model", options.model]
        if "short" in options.parts:
            short(options.novels, scratch, options.short, options.long, options.repeat, *more)
        if "speed" in options.parts:
            speed(texts, scratch, options.repeat, *more)
        if "kill" in options.parts:
            kill(texts, scratch, "--processes", options.processes, *more)


if __name__ == "__main__":
    main()
