"""CoNLL F1 with moved scores: python scripts/measure_biases.py LITBANK FOLD-0 FOLD-1 FOLD-2 --biases=0:0,-0.4:0.4

LITBANK is a clone of lrec2020-coref, and each model has its fold; with --ontogum it is a clone of GUM, whose dev part
is scored without singletons. A setting is what is added to the scores of mentions and to those of links, as with
`longcoref export --mention-bias --link-bias`. The dev documents are read as by `resolve`, with the default memory and
post-processing. With --types-data, a clone of litbank, it also prints how many of the names and nouns are found.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from statistics import mean

from longcoref.evaluation import evaluate
from longcoref.formats import read_corpus
from longcoref.resolver import load
from score_predictions import found_of


def main() -> None:
    """Prints a line for each setting: the score of each model, and their mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--biases", default="0:0", metavar="MENTIONS:LINKS,...")
    parser.add_argument("--ontogum", action="store_true")
    parser.add_argument("--types-data")
    options = parser.parse_args()
    format = "ontogum" if options.ontogum else "litbank"
    folds = [
        list(
            read_corpus(
                options.corpus,
                format=format,
                fold=None if options.ontogum else fold,
                part="dev",
                types=options.types_data,
            )
        )
        for fold in range(len(options.models))
    ]
    for setting in options.biases.split(","):
        mention, link = map(float, setting.split(":"))
        scores, found, kinds = [], [], []
        for path, documents in zip(options.models, folds, strict=True):
            resolver = load(path, threads=1)
            heads = resolver.model.heads
            heads._mention = replace(heads._mention, output_bias=heads._mention.output_bias + mention)
            heads.link = replace(heads.link, output_bias=heads.link.output_bias + link)
            result = evaluate(
                documents, resolver.model, resolver.policy, book=resolver.book, keep_singletons=not options.ontogum
            )
            scores.append(100 * result.scores.conll_f1)
            found.append(result.as_json()["mentions"])
            kinds.append(found_of(documents, result.responses))
        mentions = ", ".join(f"{name} {mean(one[name] for one in found):.1f}" for name in ("precision", "recall"))
        each = " ".join(f"{score:.2f}" for score in scores)
        shown = "".join(f", {kind} {mean(one[kind] for one in kinds):.1f}" for kind in kinds[0])
        print(f"{setting:>9}: {each}, mean {mean(scores):.2f}; mentions: {mentions}{shown}", flush=True)


if __name__ == "__main__":
    main()
