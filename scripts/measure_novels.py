"""Scores whole novels with recall, names and speech switched on one by one and together.

    python scripts/measure_novels.py PDNC --scorer novel_score.py --cache FOLDER > table.md

PDNC holds the folders of the Project Dialogism Novel Corpus (novel_text.txt, quotation_info.csv); the scorer is a file
with its `gold_mentions` and `score`. A novel is encoded once and its proposals are cached in half precision; each row
of the table then clusters the same proposals. The corpus is for measuring only.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from longcoref.book.naming import NameChooser
from longcoref.book.revision import NOTHING, BookPolicy, revise
from longcoref.document import Document
from longcoref.features.speech import APART, PlacedFacts, document_facts
from longcoref.memory import memory_policy
from longcoref.mention import MentionRecord
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.confidence import confidences
from longcoref.runtime.mentions import mention_labels
from longcoref.runtime.model import Model, open_model
from longcoref.runtime.reading import read_document
from longcoref.spans import WordSpan
from longcoref.text import tokenize

_AT_ONCE = 2000  # mentions that the memory is given at a time
GROUPS = {
    "in no part of LitBank": ("TheSignOfTheFour",),
    "opening in dev": ("Emma", "DaisyMiller"),
    "opening in train": ("TheInvisibleMan", "TheAwakening", "AnneOfGreenGables"),
}
COLUMNS = {"muc": "MUC", "b3_p": "B³ P", "b3_r": "B³ R", "ceafe": "CEAF-e", "conll": "CoNLL"}


@dataclass(frozen=True)
class Setting:
    """A row of the table."""

    name: str
    recall: bool = False
    book: BookPolicy = NOTHING


SETTINGS = (
    Setting("the memory alone"),
    Setting("recall", recall=True),
    Setting("names", book=BookPolicy(speech=False)),
    Setting("speech", book=BookPolicy(names=False)),
    Setting("names and speech", book=BookPolicy()),
    Setting("all: recall, names, speech", recall=True, book=BookPolicy()),
)


@dataclass(frozen=True)
class Proposals:
    """The proposed mentions of a novel."""

    document: Document
    spans: np.ndarray
    x: np.ndarray
    scores: np.ndarray
    facts: list[PlacedFacts]


def read_proposals(document: Document, model: Model) -> Proposals:
    """Reads a document."""
    block = read_document(document, model, memory_policy("learned", 1))
    spans = np.array([mention.words for mention in block.mentions], np.int64)
    return Proposals(document, spans, block.x, block.scores, list(block.facts))


def proposals_of(folder: Path, model: Model, cache: Path) -> Proposals:
    """Reads a novel, or takes what an earlier run has read."""
    text = (folder / "novel_text.txt").open(encoding="utf-8", newline="").read()
    document = tokenize(text, id=folder.name)
    path = cache / f"{folder.name}-{model.fingerprint[:12]}.npz"
    if not path.is_file():
        read = read_proposals(document, model)
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(path, spans=read.spans, x=read.x.astype(np.float16), scores=read.scores)
    with np.load(path) as kept:
        spans, x, scores = kept["spans"], kept["x"], kept["scores"]
    facts = document_facts(document.words, document.sentences, [tuple(span) for span in spans.tolist()])
    return Proposals(document, spans, x, scores, facts)


def clustered(proposals: Proposals, model: Model, cells: int, *, recall: bool, passes: int = 1) -> list[MentionRecord]:
    """The mentions that a memory puts into clusters, the last time that it sees them if there are several passes.

    A further pass begins with the memory and the archive of the one before, as if the text were read again.
    """
    clusterer = Clusterer(model.heads, memory_policy("learned", cells, recall=recall))
    found: list[MentionRecord] = []
    for number in range(passes):
        found = list(_clustered_again(proposals, model, clusterer, number))
    return found


def _clustered_again(proposals: Proposals, model: Model, clusterer: Clusterer, number: int) -> Iterator[MentionRecord]:
    """The mentions that a clusterer puts into clusters after it has seen them so many times before."""
    for start in range(0, len(proposals.spans), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        x, facts = proposals.x[part].astype(np.float32), _repeated(proposals, part, number)
        labels = mention_labels(model, x, [placed.facts for placed in facts])
        for row, decision in enumerate(clusterer.cluster(x, proposals.scores[part], facts)):
            if decision.entity is not None:
                record = MentionRecord.of(
                    proposals.document,
                    WordSpan(*proposals.spans[start + row].tolist()),
                    kind=labels[row][0],
                    type=labels[row][1],
                    entity=decision.entity,
                    score=confidences([decision], model.calibration)[0],
                )
                yield replace(record, rivals=decision.rivals)


def _repeated(proposals: Proposals, part: slice, number: int) -> list[PlacedFacts]:
    """The facts of some mentions in a text that was read so many times before."""
    last = proposals.facts[-1]
    sentences, turns = number * (last.sentence + 1), number * (last.turn + APART)
    return [
        replace(placed, sentence=placed.sentence + sentences, turn=placed.turn + turns)
        for placed in proposals.facts[part]
    ]


def scored(
    scorer: ModuleType, folder: Path, document: Document, found: list[MentionRecord], setting: Setting
) -> tuple[dict[str, float], list[tuple[str, int]]]:
    """The scores of a novel and its five largest clusters by name."""
    clusters: dict[int, list[tuple[int, int]]] = {}
    names: dict[int, NameChooser] = {}
    for mention in revise(document, found, setting.book).mentions:
        if mention.entity is not None:
            clusters.setdefault(mention.entity, []).append((mention.start, mention.end))
            names.setdefault(mention.entity, NameChooser()).add(mention.text, mention.kind)
    largest = sorted(clusters, key=lambda entity: -len(clusters[entity]))[:5]
    scores: dict[str, float] = scorer.score(scorer.gold_mentions(folder)[1], list(clusters.values()))
    return scores, [(names[entity].best(), len(clusters[entity])) for entity in largest]


def rows_of(
    scorer: ModuleType, folder: Path, model: Model, cache: Path, cells: int
) -> Iterator[tuple[Setting, dict[str, float], list[tuple[str, int]]]]:
    """Every setting on one novel."""
    proposals = proposals_of(folder, model, cache)
    memories: dict[bool, list[MentionRecord]] = {}
    for setting in SETTINGS:
        if setting.recall not in memories:
            memories[setting.recall] = clustered(proposals, model, cells, recall=setting.recall)
        yield setting, *scored(scorer, folder, proposals.document, memories[setting.recall], setting)
        print(folder.name, setting.name, file=sys.stderr)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _line(name: str, scores: list[dict[str, float]]) -> str:
    means = (np.mean([score[column] for score in scores]) for column in COLUMNS)
    return f"| {name} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |"


def main() -> None:
    """Prints the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--scorer", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="folder for the proposals of each novel")
    parser.add_argument("--model", help="model directory; the shipped one if not given")
    parser.add_argument("--cells", type=int, default=20)
    options = parser.parse_args()
    scorer, model = _load(options.scorer), open_model(options.model, threads=1)
    table: dict[str, dict[str, dict[str, float]]] = {setting.name: {} for setting in SETTINGS}
    casts: dict[str, dict[str, Any]] = {}
    novels = [name for group in GROUPS.values() for name in group]
    for novel in novels:
        rows = rows_of(scorer, options.corpus / novel, model, options.cache, options.cells)
        for setting, scores, largest in rows:
            table[setting.name][novel] = scores
            casts.setdefault(novel, {})[setting.name] = largest
    head = f"| {' | '.join(['', *COLUMNS.values()])} |\n|---{'|---:' * len(COLUMNS)}|"
    print(f"Mean of the six novels, {options.cells} cells:\n\n{head}")
    for setting in SETTINGS:
        print(_line(setting.name, list(table[setting.name].values())))
    for group, members in GROUPS.items():
        print(f"\n{', '.join(members)} ({group}):\n\n{head}")
        for setting in SETTINGS:
            print(_line(setting.name, [table[setting.name][novel] for novel in members]))
    first, last = SETTINGS[0].name, SETTINGS[-1].name
    print(f"\n{head.replace('| |', '| novel |', 1)}")
    for novel in novels:
        for name in (first, last):
            print(_line(f"{novel}, {name}", [table[name][novel]]))
    print("\nThe five largest clusters by name, with their mentions:\n")
    for novel in novels:
        for name in (first, last):
            print(f"- {novel}, {name}: " + ", ".join(f"{who} {count}" for who, count in casts[novel][name]))


if __name__ == "__main__":
    main()
