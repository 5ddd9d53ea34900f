"""Time and memory of longcoref and of fastcoref with an encoder of the same size, on one thread each.

    python scripts/measure_peers.py NOVELS --peer-python fast/bin/python --encoder ENCODER -o peers.csv --plots docs

fastcoref needs other versions of torch and transformers than longcoref[train], so it has an environment of its own,
whose interpreter is `--peer-python`. Its head gets random weights on top of ENCODER, the directory of a Hugging Face
encoder: the time does not depend on the weights. Every reading is a fresh process that reads a short text first; the
two take turns, and the fastest of `--rounds` counts. NOVELS is a folder of .txt files, which are joined.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from longcoref.analysis.plots import draw_lines
from longcoref.benchmark import join_texts

_MEASURE = """
import json, resource, sys, time
text = open(sys.argv[1], encoding="utf-8").read()
read(text[:2000])
began = time.perf_counter()
read(text)
seconds = time.perf_counter() - began
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000]))
"""
_OURS = """
import sys, longcoref
read = longcoref.load(sys.argv[2] or None, threads=1)
"""
_PEER = """
import logging, sys, spacy, torch
from fastcoref import FCoref
torch.set_num_threads(1)
logging.disable(logging.CRITICAL)
model = FCoref(sys.argv[2], device="cpu", nlp=spacy.blank("en"), enable_progress_bar=False)
read = lambda text: model.predict([text])[0].get_clusters()
"""
_HEAD = {"max_span_length": 30, "top_lambda": 0.25, "ffnn_size": 1024, "dropout_prob": 0.3, "max_segment_len": 512}
"""The published settings of fastcoref's head."""


def peer_model(encoder: Path, folder: Path) -> Path:
    """A model of fastcoref on top of an encoder, with a head that has no weights yet."""
    shutil.copytree(encoder, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"coref_head": _HEAD}), encoding="utf-8")
    return folder


def measure(python: str, program: str, text: Path, model: str) -> tuple[float, float]:
    """Seconds and megabytes of one reading in a fresh process."""
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **alone, "HF_HUB_OFFLINE": "1"}
    command = [python, "-c", program + _MEASURE, str(text), model]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{python} failed:\n{done.stderr[-2000:]}")
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes


def main() -> None:
    """Measures every length, prints a table, and writes it and the plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("novels", type=Path)
    parser.add_argument("--peer-python", required=True, help="interpreter of the environment with fastcoref and spaCy")
    parser.add_argument("--encoder", type=Path, required=True, help="directory of the encoder below fastcoref's head")
    parser.add_argument("--model", default="", help="model of longcoref; the shipped one by default")
    parser.add_argument("--lengths", type=int, nargs="+", default=[250, 1000, 2000, 4000, 8000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--plots", type=Path, help="folder for the two figures")
    options = parser.parse_args()
    rows: list[dict[str, float]] = []
    print("| words | longcoref | fastcoref | ratio | memory of longcoref | of fastcoref |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        peer = str(peer_model(options.encoder, Path(scratch) / "peer"))
        for words in options.lengths:
            text = Path(scratch) / "text.txt"
            text.write_text(join_texts(options.novels, words), encoding="utf-8")
            turns = [
                (measure(sys.executable, _OURS, text, options.model), measure(options.peer_python, _PEER, text, peer))
                for _ in range(options.rounds)
            ]
            (ours, our_memory), (theirs, their_memory) = (
                (min(seconds for seconds, _ in turn), max(memory for _, memory in turn))
                for turn in zip(*turns, strict=True)
            )
            rows.append(
                {
                    "words": words,
                    "longcoref_seconds": round(ours, 3),
                    "fastcoref_seconds": round(theirs, 3),
                    "ratio": round(theirs / ours, 2),
                    "longcoref_megabytes": round(our_memory),
                    "fastcoref_megabytes": round(their_memory),
                }
            )
            cells = f"{words:,} | {ours:.2f} s | {theirs:.2f} s | {theirs / ours:.1f} ×"
            print(f"| {cells} | {our_memory:.0f} MB | {their_memory:.0f} MB |", flush=True)
    if options.out is not None:
        with options.out.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if options.plots is not None:
        for measure_name, vertical in (("seconds", "seconds"), ("megabytes", "peak memory, MB")):
            names = ("longcoref", "fastcoref")
            lengths = [row["words"] for row in rows]
            draw_lines(
                {name: (lengths, [row[f"{name}_{measure_name}"] for row in rows]) for name in names},
                options.plots / f"peers_{measure_name}",
                title="One text on one thread",
                horizontal="words",
                vertical=vertical,
                marked=True,
            )


if __name__ == "__main__":
    main()
