"""Writes the annotated documents that teach the general model: python scripts/prepare_general.py CORPORA OUT

CORPORA holds clones of lrec2020-coref, litbank and gum. OUT gets

- litbank-common.jsonl: the LitBank documents that are in no dev or test part of the folds (--folds, 0-2), which may
  therefore teach models for all of them;
- ontogum-train.jsonl: the training documents of OntoGUM whose texts are under CC BY or CC BY-SA;
- ontogum-dev.jsonl: all its dev documents.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from longcoref.cli.options import numbers_of
from longcoref.formats import read_corpus, write_corpus

FREE_GENRES = frozenset(("academic", "bio", "court", "interview", "news", "voyage"))


def main() -> None:
    """Reads the corpora and writes three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--folds", default="0-2")
    options = parser.parse_args()
    litbank, gum = options.corpora / "lrec2020-coref", options.corpora / "gum"
    held_out = {
        document.id
        for fold in numbers_of(options.folds)
        for part in ("dev", "test")
        for document in read_corpus(litbank, format="litbank", fold=fold, part=part)
    }
    annotated = read_corpus(litbank, format="litbank", types=options.corpora / "litbank")
    modern = read_corpus(gum, format="ontogum", part="train")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, documents in (
        ("litbank-common", [document for document in annotated if document.id not in held_out]),
        ("ontogum-train", [document for document in modern if document.genre in FREE_GENRES]),
        ("ontogum-dev", list(read_corpus(gum, format="ontogum", part="dev"))),
    ):
        write_corpus(documents, options.out / f"{name}.jsonl", format="jsonl")
        print(f"{name}: {len(documents)} documents, {sum(len(document.words) for document in documents):,} words")


if __name__ == "__main__":
    main()
