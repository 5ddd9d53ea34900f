"""Scores a model on GAP rows: python scripts/measure_gap.py gap-validation.tsv [--model M] [--style S]"""

from __future__ import annotations

import argparse

from longcoref import load
from longcoref.silver.gap import read_gap, score_gap

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows")
    parser.add_argument("--model")
    parser.add_argument("--style")
    options = parser.parse_args()
    scores = score_gap(load(options.model, style=options.style, threads=1), read_gap(options.rows))
    print(
        f"F1 {scores.overall:.1f}, masculine {scores.masculine:.1f}, feminine {scores.feminine:.1f}, "
        f"feminine / masculine {scores.bias:.2f}"
    )
