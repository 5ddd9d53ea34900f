"""Scores the kept predictions for LitBank's test documents: python scripts/score_predictions.py LITBANK

LITBANK is a clone of lrec2020-coref. The models that ship have seen all of LitBank, so their quality is shown by models
that the same recipe trained on the training part of a fold. What they predict for the test part is kept in
docs/predictions, as spans of words without the text: `litbank` for the default model, `litbank-modern` for the other.

    longcoref crossval configs/fiction-fold.toml --out runs/folds …     # as that file says
    python scripts/score_predictions.py LITBANK --collect runs/folds    # keeps the predictions of these folds
    python scripts/score_predictions.py LITBANK --kept litbank-modern
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document
from longcoref.files import atomic_text
from longcoref.formats import read_corpus
from longcoref.metrics.corpus import score_corpus
from longcoref.spans import WordSpan

PREDICTIONS = Path(__file__).parent.parent / "docs" / "predictions"
Spans = list[list[list[int]]]


def collect(folds: Path, memory: str) -> dict[str, dict[str, Spans]]:
    """The clusters of every test document by fold and document."""
    return {
        fold.name.removeprefix("fold-"): {
            document.id: [[list(span) for span in cluster.spans] for cluster in document.clusters or ()]
            for document in read_corpus(fold / f"test-{memory}" / "response.conll")
        }
        for fold in sorted(folds.glob("fold-*"))
        if (fold / f"test-{memory}" / "response.conll").exists()
    }


def predicted(key: Document, spans: Spans) -> Document:
    """The document with predicted instead of annotated clusters."""
    return key.with_clusters(tuple(Cluster(tuple(Mention(WordSpan(*span)) for span in cluster)) for cluster in spans))


def main() -> None:
    """Prints CoNLL F1 and its three parts for each fold and for all test documents together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("litbank", type=Path)
    parser.add_argument("--types-data", type=Path, help="a clone of litbank: also print the share of mentions found")
    parser.add_argument("--collect", type=Path, metavar="FOLDS", help="keep the predictions of a crossval folder")
    parser.add_argument("--memory", default="learned-20", help="with --collect: the memory, as in the folder's names")
    parser.add_argument("--kept", default="litbank", help="the predictions to score, or to keep with --collect")
    options = parser.parse_args()
    kept = PREDICTIONS / f"{options.kept}.json"
    if options.collect:
        with atomic_text(kept) as stream:
            json.dump(collect(options.collect, options.memory), stream, separators=(",", ":"))
            stream.write("\n")
    keys: list[Document] = []
    responses: list[Document] = []
    for fold, documents in json.loads(kept.read_text(encoding="utf-8")).items():
        own = list(
            read_corpus(options.litbank, format="litbank", fold=int(fold), part="test", types=options.types_data)
        )
        found = [predicted(key, documents[key.id]) for key in own]
        show(f"fold {fold}", own, found)
        keys += own
        responses += found
    show("together", keys, responses)


def show(name: str, keys: list[Document], responses: list[Document]) -> None:
    """One line of scores."""
    scores = score_corpus(keys, responses).total
    parts = (
        ("CoNLL", scores.conll_f1),
        ("MUC", scores.muc.f1),
        ("B³", scores.b_cubed.f1),
        ("CEAF-e", scores.ceaf_e.f1),
    )
    print(f"{name:9}{len(keys):3} documents", *(f"  {metric} {100 * value:.2f}" for metric, value in parts))
    if found := found_of(keys, responses):
        print("  found:", ", ".join(f"{kind} {share:.1f} %" for kind, share in found.items()))


def found_of(keys: Sequence[Document], responses: Sequence[Document]) -> dict[str, float]:
    """The percentages of the annotated mentions of each kind that are found with exact boundaries."""
    known, found = Counter[str](), Counter[str]()
    for key, response in zip(keys, responses, strict=True):
        spans = {span for cluster in response.clusters or () for span in cluster.spans}
        for mention in (mention for cluster in key.clusters or () for mention in cluster.mentions if mention.kind):
            known[mention.kind or ""] += 1
            found[mention.kind or ""] += mention.span in spans
    return {kind: 100 * found[kind] / count for kind, count in known.items()}


if __name__ == "__main__":
    main()
