"""Memory along one very long text that `longcoref resolve --to jsonl` streams.

    python scripts/measure_memory.py NOVELS --words 3000000 -o memory.csv --plots docs

NOVELS is a folder of .txt files, which are joined. The text goes in as a file and the mentions come out through a pipe;
for every `--every` words there is a row with the memory of the process: its peak so far (VmHWM) and what it uses at the
moment (VmRSS). One run gives the whole curve. At the end, some rows are printed as Markdown, and the last peak is
compared with that at `--against` words. Needs Linux.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longcoref.analysis.plots import draw_lines
from longcoref.benchmark import join_texts


def memory_of(process: int) -> dict[str, float]:
    """The peak and the present memory of a process, in megabytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return {name: int(fields[key].split()[0]) / 1000 for name, key in (("peak", "VmHWM"), ("resident", "VmRSS"))}


def rows_along(text: Path, characters_per_word: float, every: int, model: str | None) -> Iterator[dict[str, Any]]:
    """A row for every `every` words of a text."""
    command = [sys.executable, "-m", "longcoref", "resolve", str(text), "--to", "jsonl", "--threads", "1", "--quiet"]
    command += [] if model is None else ["--model", model]
    began, mentions, next_row = time.perf_counter(), 0, every
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith(b'{"mention"'):
                continue
            mentions += 1
            words = json.loads(line)["mention"]["end"] / characters_per_word
            if words >= next_row:
                seconds = round(time.perf_counter() - began, 1)
                yield {"words": next_row, "seconds": seconds, "mentions": mentions, **memory_of(process.pid)}
                next_row += every
    if process.returncode:
        raise SystemExit(f"longcoref resolve failed with exit code {process.returncode}")


def main() -> None:
    """Reads the options, and writes a row at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", type=Path)
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--every", type=int, default=20_000)
    parser.add_argument("--against", type=int, default=100_000, help="words after which memory should not grow")
    parser.add_argument("--model")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--plots", type=Path, help="folder for the curve")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, options.out.open("w", newline="", encoding="utf-8") as stream:
        path = Path(scratch) / "text.txt"
        text = join_texts(options.novels, options.words + options.every)  # a mention must follow the last row
        path.write_text(text, encoding="utf-8")
        characters_per_word = len(text) / len(text.split())
        del text
        writer = csv.DictWriter(stream, ("words", "seconds", "mentions", "peak", "resident"), lineterminator="\n")
        writer.writeheader()
        rows = []
        for row in rows_along(path, characters_per_word, options.every, options.model):
            if row["words"] <= options.words:
                writer.writerow(row)
                stream.flush()
                rows.append(row)
    early = next((row for row in rows if row["words"] >= options.against), None)
    if early is None:
        raise SystemExit(f"the text has no row at {options.against:,} words: give more --words, or a smaller --against")
    last, peak = rows[-1], max(row["peak"] for row in rows)
    print("| words | peak, MB | in use, MB | mentions |\n|---|---|---|---|")
    for row in rows:
        if row is last or row["words"] in (options.against * factor for factor in (1, 3, 10, 30)):
            print(f"| {row['words']:,} | {row['peak']:.0f} | {row['resident']:.0f} | {row['mentions']:,} |")
    print(
        f"peak {early['peak']:.0f} MB at {early['words']:,} words, {peak:.0f} MB at {last['words']:,} words: "
        f"{peak - early['peak']:.0f} MB more; {last['words'] / last['seconds']:.0f} words per second"
    )
    if options.plots is not None:
        words = [row["words"] / 1e6 for row in rows]
        series = {name: (words, [row[name] for row in rows]) for name in ("peak", "resident")}
        draw_lines(
            series,
            options.plots / "memory_along_a_text",
            title="Memory of resolve --to jsonl along one text",
            horizontal="million words read",
            vertical="memory of the process, MB",
        )


if __name__ == "__main__":
    main()
