"""CoNLL F1 of a model with other windows: python scripts/measure_windows.py LITBANK 384:0 384:0.5 --model MODEL

LITBANK is a clone of lrec2020-coref. A setting is the number of pieces in a window, and the share of them that the next
window reads again. The dev part of the fold is scored, without post-processing.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from longcoref.book.revision import book_policy
from longcoref.evaluation import evaluate
from longcoref.formats import read_corpus
from longcoref.memory import chosen_policy
from longcoref.runtime.model import open_model


def main() -> None:
    """Prints a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("litbank")
    parser.add_argument("settings", nargs="+", metavar="WINDOW:OVERLAP")
    parser.add_argument("--model")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--memory", default="unbounded")
    parser.add_argument("--cells", type=int)
    options = parser.parse_args()
    model = open_model(options.model, threads=1)
    documents = list(read_corpus(options.litbank, format="litbank", fold=options.fold, part="dev"))
    policy = chosen_policy(model.config.memory, memory=options.memory, cells=options.cells)
    for setting in options.settings:
        window, _, overlap = setting.partition(":")
        windows = replace(model.config.encoder, window=int(window), overlap=float(overlap or 0))
        changed = replace(model, config=replace(model.config, encoder=windows))
        result = evaluate(documents, changed, policy, book=book_policy("none"))
        print(f"window {window:>4}, overlap {overlap or 0:>5}: {100 * result.scores.conll_f1:.2f}", flush=True)


if __name__ == "__main__":
    main()
