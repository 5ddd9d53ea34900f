"""What `longcoref corpus` promises, measured on real novels.

    python scripts/measure_corpus.py NOVELS kill                    # killed twice and resumed, against an unkilled run
    python scripts/measure_corpus.py NOVELS speed                   # 1 and 2 processes, Ray with 2 workers, in one run
    python scripts/measure_corpus.py NOVELS short --short 10000     # short texts against one long text

NOVELS is a folder of .txt files. `--documents` and `--words` take that many of them, and that many words of each; by
default everything is read, which takes about 20 minutes per million words and process. With short openings, a smaller
`--shard-size` keeps a shard per document. `kill` adds an empty file and one that is not UTF-8, and prints the peak
memory of a process. For `speed` and `short` the machine should be quiet.
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
from collections.abc import Iterator
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
    """The summary of a corpus run."""
    done = subprocess.run(command(texts, out, *options), stdout=subprocess.PIPE, check=False)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary | {"words_per_second": summary["words"] / summary["seconds"]}


def tables(out: Path) -> dict[str, str]:
    """The hashes of all tables."""
    paths = out.glob("shards/*/*.parquet")
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def shards_in(out: Path) -> int:
    """The number of complete shards."""
    return sum(1 for _ in out.glob("shards/[!.]*/manifest.jsonl"))


def kill(texts: Path, scratch: Path, processes: int, shard_size: str) -> dict[str, Any]:
    """A run that is killed when a third and two thirds of its shards are there, and an unkilled one."""
    (texts / "empty.txt").touch()
    (texts / "not-utf-8.txt").write_bytes(b"A first line.\nThen \xff\xfe.\n")
    options = ("--processes", str(processes), "--shard-size", shard_size)
    whole = run(texts, scratch / "whole", *options)
    expected, shards = tables(scratch / "whole"), shards_in(scratch / "whole")
    out, kills = scratch / "killed", []
    for share in (1 / 3, 2 / 3):
        process = subprocess.Popen(command(texts, out, *options), stdout=subprocess.DEVNULL)
        while shards_in(out) < share * shards:
            time.sleep(0.2)
            if process.poll() is not None:
                raise SystemExit("the run ended before it was killed: take more or longer documents")
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills.append(shards_in(out))
    resumed = run(texts, out, *options)
    return {
        "documents": whole["documents"],
        "words": whole["words"],
        "shards": shards,
        "shards_when_killed": kills,
        "skipped_by_the_last_run": resumed["skipped"],
        "tables_equal": tables(out) == expected,
        "failures": [row["error"].removeprefix(f"{texts}/") for row in resumed["failures"]],
        "peak_megabytes_per_process": max(whole["peak_megabytes"], resumed["peak_megabytes"]),
    }


def speed(texts: Path, scratch: Path, repeat: int, shard_size: str) -> dict[str, Any]:
    """Words per second of one process, of two, and of Ray with two workers; the runs alternate, and the best counts."""
    kinds = {
        "one_process": ("--processes", "1"),
        "two_processes": ("--processes", "2"),
        "ray_with_two": ("--ray", "local", "--processes", "2"),
    }
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(repeat):
        for kind, options in kinds.items():
            rates[kind].append(
                run(texts, scratch / f"{kind}{number}", "--shard-size", shard_size, *options)["words_per_second"]
            )
    same = [tables(scratch / f"{kind}0") for kind in kinds]
    best = {kind: max(found) for kind, found in rates.items()}
    return {
        **{kind: round(rate) for kind, rate in best.items()},
        "two_to_one": round(best["two_processes"] / best["one_process"], 2),
        "ray_to_two": round(best["ray_with_two"] / best["two_processes"], 2),
        "tables_equal": same[0] == same[1] == same[2],
    }


def short(novels: Path, scratch: Path, count: int, repeat: int) -> dict[str, Any]:
    """Words per second of one process over texts of 50 to 200 words, and over the same words as one text."""
    generator = random.Random(SEED)
    lengths = [generator.randint(50, 200) for _ in range(count)]
    words: list[str] = []
    for path in sorted(novels.glob("*.txt")):
        words += re.findall(r"\S+\s*", path.read_text(encoding="utf-8"))
        if len(words) >= sum(lengths):
            break
    long, lines, start = scratch / "long.txt", scratch / "short.jsonl", 0
    long.write_text("".join(words[: sum(lengths)]), encoding="utf-8")
    with lines.open("w", encoding="utf-8") as stream:
        for number, length in enumerate(lengths):
            record = {"id": f"text{number}", "text": "".join(words[start : start + length])}
            stream.write(json.dumps(record) + "\n")
            start += length
    rates: dict[str, list[float]] = {"long": [], "short": []}
    for number in range(repeat):
        for name, path in (("long", long), ("short", lines)):
            rates[name].append(run(path, scratch / f"{name}{number}", "--processes", "1")["words_per_second"])
    best = {name: max(found) for name, found in rates.items()}
    facts = {"texts": count, "words": sum(lengths), **{name: round(rate) for name, rate in best.items()}}
    return facts | {"short_to_long": round(best["short"] / best["long"], 2)}


def main() -> None:
    """Reads the options and prints what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", type=Path)
    parser.add_argument("parts", nargs="+", choices=("kill", "speed", "short"))
    parser.add_argument("--documents", type=int)
    parser.add_argument("--words", type=int)
    parser.add_argument("--short", type=int, default=10_000, help="number of short texts")
    parser.add_argument("--processes", type=int, default=2, help="processes of the runs that are killed")
    parser.add_argument("--shard-size", default="500kB")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch, texts = Path(folder), Path(folder) / "texts"
        texts.mkdir()
        for name, text in openings(options.novels, options.documents, options.words):
            (texts / name).write_text(text, encoding="utf-8")
        for part in options.parts:
            if part == "kill":
                found = kill(texts, scratch, options.processes, options.shard_size)
            elif part == "speed":
                found = speed(texts, scratch, options.repeat, options.shard_size)
            else:
                found = short(options.novels, scratch, options.short, options.repeat)
            print(json.dumps({part: found}), flush=True)


if __name__ == "__main__":
    main()
