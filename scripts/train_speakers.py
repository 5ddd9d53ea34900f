"""Learns the weights of the speaker cues on LitBank's quotations, and says how often the speaker is found.

    python scripts/train_speakers.py --data CORPORA            learns on fold 0 train, scores dev, writes the weights
    python scripts/train_speakers.py --data CORPORA --part test --keep    scores the weights that are there

CORPORA holds clones of lrec2020-coref and litbank. Quotations, mentions and entities are the annotated ones; where the
whole novel is at hand, the paragraphs are those of its text, as they are when a text is resolved.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import longcoref
from longcoref.book import speakers
from longcoref.book.speakers import PersonMention
from longcoref.document import Document
from longcoref.features.facts import SECOND_PERSON, document_facts
from longcoref.formats import read_corpus
from longcoref.spans import CharSpan, WordSpan
from longcoref.text.quotations import Quotation, find_quotations

WEIGHTS = Path(longcoref.__file__).parent / "models" / "speakers.json"


def with_paragraphs(document: Document, folder: Path) -> Document:
    """The document with the text of its novel, where that is at hand: the same words, with their paragraphs."""
    path = folder / "litbank" / "original" / f"{document.id.removesuffix('_brat')}.txt"
    if not path.is_file():
        return document
    text = path.read_text(encoding="utf-8")
    offsets, position = [], 0
    for word in document.words:
        position = text.index(word, position)
        offsets.append(CharSpan(position, position + len(word)))
        position += len(word)
    return replace(document, text=text[:position], offsets=tuple(offsets))


def annotated(document: Document, folder: Path) -> tuple[list[Quotation], list[int | None], list[PersonMention]]:
    """The annotated quotations of a document, the entity that speaks each, and the mentions of persons."""
    entity_of = {span: number for number, cluster in enumerate(document.clusters or ()) for span in cluster.spans}

    def span(cells: list[str]) -> WordSpan:
        first, start, last, end = map(int, cells)
        return WordSpan(document.sentences[first].start + start, document.sentences[last].start + end + 1)

    spans: dict[str, WordSpan] = {}
    labels: dict[str, int] = {}
    lines = list(_lines(folder / "litbank" / "coref" / "tsv" / f"{document.id}.ann"))
    for line in lines:
        if line[0] == "MENTION":
            spans[line[1]] = span(line[2:6])
    for line in lines:
        if line[0] == "COREF" and spans.get(line[1]) in entity_of:
            labels[line[2]] = entity_of[spans[line[1]]]
    quotes: dict[str, WordSpan] = {}
    speaker: dict[str, int | None] = {}
    for line in _lines(folder / "litbank" / "quotations" / "tsv" / f"{document.id}.ann"):
        if line[0] == "QUOTE":
            quotes[line[1]] = span(line[2:6])
        else:
            speaker[line[1]] = labels.get(line[2])
    ordered = sorted(quotes, key=quotes.__getitem__)
    persons = [
        (mention.span, number)
        for number, cluster in enumerate(document.clusters or ())
        for mention in cluster.mentions
        if mention.type in ("PER", None)
    ]
    persons.sort()
    facts = document_facts(document.words, document.sentences, [place for place, _ in persons])
    mentions = [
        PersonMention(place, number, placed.facts) for (place, number), placed in zip(persons, facts, strict=True)
    ]
    found = {quotation.span: quotation for quotation in find_quotations(document)}
    quotations = [found.get(quotes[key], Quotation(quotes[key])) for key in ordered]
    return quotations, [speaker.get(key) for key in ordered], mentions


def _lines(path: Path) -> Iterator[list[str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield line.split("\t")


Annotated = tuple[Document, list[Quotation], list[int | None], list[PersonMention], list[int | None]]


def addressees(quotations: list[Quotation], mentions: list[PersonMention]) -> list[int | None]:
    """Whom "you" in each quotation refers to; None where there is no "you", or more than one."""
    found: list[set[int]] = [set() for _ in quotations]
    for mention in mentions:
        if mention.facts.pronoun == SECOND_PERSON:
            for number, quotation in enumerate(quotations):
                if quotation.span.start <= mention.span.start < quotation.span.end:
                    found[number].add(mention.entity)
    return [entities.pop() if len(entities) == 1 else None for entities in found]


def read_annotated(data: Path, part: str, *, fold: int = 0) -> list[Annotated]:
    """The documents of a part with their annotated quotations, speakers, mentions of persons and addressees."""
    documents = read_corpus(data / "lrec2020-coref", fold=fold, part=part, types=data / "litbank")
    whole = (with_paragraphs(document, data) for document in documents)
    read = [(document, *annotated(document, data)) for document in whole]
    return [(*item, addressees(item[1], item[3])) for item in read]


def learn(corpus: list[Annotated], task: str) -> dict[str, float]:
    """Weights that make the annotated entities likely: gradient descent with momentum and a little decay."""
    cues = speakers.SPEAKER_CUES if task == "speaker" else speakers.ADDRESSEE_CUES
    examples = []
    for document, quotations, spoken, mentions, addressed in corpus:
        page = speakers._Page(document, quotations, mentions)
        for number, gold in enumerate(spoken if task == "speaker" else addressed):
            if task == "speaker":
                entities, rows, _ = speakers.speaker_candidates(page, number, spoken)
            else:
                entities, rows, _ = speakers.addressee_candidates(page, number, spoken, addressed)
            right = np.array([entity == gold for entity in entities])
            if right.any():
                examples.append((np.array([[cue in row for cue in cues] for row in rows], dtype=float), right))
    weights, speed = np.zeros(len(cues)), np.zeros(len(cues))
    for _ in range(400):
        slope = 0.002 * weights
        for features, right in examples:
            scores = features @ weights
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            wanted = np.where(right, chances, 0) / chances[right].sum()
            slope += features.T @ (chances - wanted) / len(examples)
        speed = 0.9 * speed - 0.5 * slope
        weights += speed
    return dict(zip(cues, weights.round(3).tolist(), strict=True))


def accuracy(corpus: list[Annotated]) -> dict[str, str]:
    """How many quotations got their speaker, and how many of those with a "you" their addressee."""
    right, total = dict.fromkeys(("speaker", "addressee"), 0), dict.fromkeys(("speaker", "addressee"), 0)
    for document, quotations, spoken, mentions, addressed in corpus:
        silent = [mention for mention in mentions if mention.facts.pronoun != SECOND_PERSON]
        for turn, speaker, addressee in zip(
            speakers.attribute(document, quotations, silent), spoken, addressed, strict=True
        ):
            for task, gold in (("speaker", speaker), ("addressee", addressee)):
                total[task] += gold is not None
                right[task] += gold is not None and getattr(turn, task) == gold
    return {task: f"{right[task]} of {total[task]}, {100 * right[task] / max(total[task], 1):.1f} %" for task in total}


def main() -> None:
    """Learns and scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", default="dev")
    parser.add_argument("--keep", action="store_true", help="learn nothing")
    options = parser.parse_args()

    if not options.keep:
        train = read_annotated(options.data, "train")
        table = {"trained_on": "LitBank fold 0 train"} | {task: learn(train, task) for task in ("speaker", "addressee")}
        WEIGHTS.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    for part in ("train", options.part) if not options.keep else (options.part,):
        print(part, json.dumps(accuracy(read_annotated(options.data, part))))


if __name__ == "__main__":
    main()
