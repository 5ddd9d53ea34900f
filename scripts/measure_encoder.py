"""Size, accuracy and speed of the encoder's formats, as ratios within one run: the tables of docs/encoder.md.

    python scripts/measure_encoder.py RUN --data lrec2020-coref [--bytes] [--clusters]

RUN is the folder of a training run, or an encoder's directory, package or hub name. Formats are written to a temporary
folder and timed in turn, round after round; the best round of each window counts, and processor time on one thread, so
that other work on the machine disturbs little. Errors are those of a piece's vector relative to its length, and
cosines those with it. `--bytes` shows, for each matrix, the error if its inputs alone have one byte. `--clusters`
scores the clusters of the dev documents, against gold ones and against those of `compact`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from longcoref.clusters import spans_of
from longcoref.evaluation import evaluate
from longcoref.formats.corpus import read_corpus
from longcoref.memory import LearnedMemory
from longcoref.metrics import score_documents
from longcoref.nn.encoder import Encoder
from longcoref.nn.export_encoder import WEIGHTS, export_encoder
from longcoref.nn.layers import INPUT_BYTES, Sample
from longcoref.runtime.encoder import OnnxEncoder, Vectors
from longcoref.runtime.windows import Window, split
from longcoref.training.inference import runtime_model
from longcoref.training.runs import load_run

CELLS = 20


def main() -> None:
    """Measures and prints the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", metavar="RUN")
    parser.add_argument("--data", type=Path, required=True, help="a clone of lrec2020-coref")
    parser.add_argument("--pieces", type=int, default=382, help="pieces of a window")
    parser.add_argument("--overlap", type=float, default=0.0, help="share of a window that the next one reads again")
    parser.add_argument("--windows", type=int, default=12, help="windows to measure on, from dev documents of fold 0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bytes", action="store_true", help="also measure what the second byte of inputs does")
    parser.add_argument("--clusters", action="store_true", help="also score clusters; needs a training run")
    options = parser.parse_args()
    torch.set_num_threads(1)
    run = Path(options.encoder, "best.safetensors").exists()
    model = load_run(Path(options.encoder))[0] if run else None
    encoder = model.encoder if model else Encoder.load(options.encoder)

    def texts(part: str, documents: int, windows: int) -> Sample:
        found = []
        for document in islice(read_corpus(options.data, fold=0, part=part), documents):
            pieces = encoder.tokenizer(document.words)
            cut = split(pieces.lengths, document.sentences, max_pieces=options.pieces, overlap=options.overlap)
            found.append((pieces.ids, cut[:windows]))
        return found

    sample, test = texts("train", 8, 3), texts("dev", max(1, options.windows // 3), 3)
    with tempfile.TemporaryDirectory() as folder:
        paths = {weights: Path(folder, weights) for weights in WEIGHTS}
        for weights, path in paths.items():
            export_encoder(encoder, path, weights=weights, sample=sample)
        opened = {}
        for weights, path in paths.items():
            ways = {"int8 in bytes": True, "int8 in float": False} if weights == "int8" else {weights: None}
            for name, in_bytes in ways.items():
                start = time.process_time()
                opened[name] = OnnxEncoder(path, threads=1, in_bytes=in_bytes)
                opening = time.process_time() - start
                print(f"{name:14}  {path.stat().st_size / 1e6:.1f} MB, opened in {1e3 * opening:.0f} ms")
        with torch.inference_mode():
            expected = np.concatenate([encoder.encode(*text).numpy() for text in test])
        paces = timed(opened, test, options.rounds)
        print(f"\n{len(expected)} vectors, windows of {options.pieces} pieces, overlap {options.overlap}")
        for name, encoded in vectors_of(opened, test).items():
            pace = f"{paces[name]:.0f} µs per piece read, {paces['compact'] / paces[name]:.2f} x compact"
            print(f"{name:14}  {pace}, {distance(encoded, expected)}")
        if options.bytes:
            show_bytes(encoder, sample, test, Path(folder))
        if options.clusters and model is not None:
            show_clusters(runtime_model(model), opened, list(read_corpus(options.data, fold=0, part="dev")))


def vectors_of(opened: dict[str, OnnxEncoder], texts: Sample) -> dict[str, Vectors]:
    """The vectors of all texts, in each format."""
    return {name: np.concatenate([encoder.encode(*text) for text in texts]) for name, encoder in opened.items()}


def timed(opened: dict[str, OnnxEncoder], texts: Sample, rounds: int) -> dict[str, float]:
    """Microseconds for each piece that is read, marks not counted."""
    runs: list[tuple[Any, Window]] = [(ids, window) for ids, windows in texts for window in windows]
    best = {name: np.full(len(runs), np.inf) for name in opened}
    for _ in range(rounds):
        for index, (ids, window) in enumerate(runs):
            for name, encoder in opened.items():
                start = time.process_time()
                encoder.encode(ids, [window])
                best[name][index] = min(best[name][index], time.process_time() - start)
    pieces = sum(window.end - window.start for _, window in runs)
    return {name: 1e6 * float(seconds.sum()) / pieces for name, seconds in best.items()}


def distance(found: Vectors, expected: Vectors) -> str:
    """Errors and cosines of vectors."""
    lengths = np.linalg.norm(expected, axis=1)
    errors = 100 * np.linalg.norm(found - expected, axis=1) / lengths
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / lengths
    shown = f"error {errors.mean():.2f} %, 99th percentile {np.quantile(errors, 0.99):.2f} %"
    return f"{shown}; cosine {cosines.mean():.5f}, least {cosines.min():.5f}"


def show_bytes(encoder: Encoder, sample: Sample, texts: Sample, folder: Path) -> None:
    """Prints how far vectors move if the inputs of one matrix have one byte, and all others two."""
    print("\none byte for the inputs of a matrix, against float products with the same weights")
    for name in ("", *INPUT_BYTES):
        counts = {matrix: 1 if matrix == name else 2 for matrix in INPUT_BYTES}
        export_encoder(encoder, folder / "bytes", weights="int8", sample=sample, input_bytes=counts)
        ways = {way: OnnxEncoder(folder / "bytes", threads=1, in_bytes=way == "bytes") for way in ("bytes", "floats")}
        found = vectors_of(ways, texts)
        print(f"{name or 'none':16}  {distance(found['bytes'], found['floats'])}")


def show_clusters(model: Any, opened: dict[str, OnnxEncoder], documents: Sequence[Any]) -> None:
    """Prints the scores of the clusters of each format."""
    print(f"\n{len(documents)} documents, {CELLS} cells, memory alone: CoNLL F1, and that against compact")
    keep = model.config.data.keep_singletons
    reference: list[Any] = []
    for name in ("compact", "int8 in bytes", "int8 in float"):
        found = evaluate(documents, replace(model, encoder=opened[name]), LearnedMemory(CELLS), keep_singletons=keep)
        clusters = [spans_of(document.clusters or ()) for document in found.responses]
        reference = reference or clusters
        alike = score_documents(zip(reference, clusters, strict=True), keep_singletons=keep)
        print(f"{name:14}  {100 * found.scores.conll_f1:.2f}  {100 * alike.conll_f1:.2f}", flush=True)


if __name__ == "__main__":
    main()
