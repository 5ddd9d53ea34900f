"""Learns the weights of the speaker and addressee cues on LitBank's annotated quotations, and on hidden names.

    python -m longcoref.book.fit --data CORPORA --weights speakers.json    learn on fold 0 train, write, score dev
    python -m longcoref.book.fit --data CORPORA --part test                score the shipped weights

CORPORA holds clones of lrec2020-coref and litbank. Quotations, mentions and entities are the annotated ones. Where the
whole novel is available, its text shows the paragraphs, as it does when a text is resolved. With `--hidden FOLDER`, the
weights of addressees are also learned on those that `scripts/measure_hidden.py --learn` has hidden in novels, among the
mentions that the model found there. Annotated addressees are few: only a "you" shows them. Annotated speakers are not,
and hidden ones teach nothing about speakers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longcoref.book.choice import Candidate, learned_weights
from longcoref.book.conversation import Turns
from longcoref.book.dialogue import Dialogue, Voices
from longcoref.book.hidden import Asked
from longcoref.book.revision import EVERYTHING, passes
from longcoref.book.speakers import (
    ADDRESSEE_CUES,
    SPEAKER_CUES,
    addressee_candidates,
    attribute,
    attribute_quotations,
    speaker_candidates,
    voices_in,
)
from longcoref.book.table import Row, Table
from longcoref.document import Document
from longcoref.features.facts import FIRST_PERSON, SECOND_PERSON
from longcoref.formats import read_corpus
from longcoref.mention import MentionRecord
from longcoref.spans import CharSpan, WordSpan
from longcoref.text.quotations import Quotation, find_quotations

Floats = npt.NDArray[np.float64]
Weights = Mapping[str, Mapping[str, float]]
Asking = tuple[list[Candidate], int | None]
"""The candidates of a question, and the answer."""
CUES = {"speaker": SPEAKER_CUES, "addressee": ADDRESSEE_CUES}
_STEPS, _RATE, _MOMENTUM, _DECAY = 400, 0.5, 0.9, 0.002


@dataclass(frozen=True, slots=True)
class Annotated:
    """A document with its annotated quotations and mentions of people.

    The quotations have their annotated speaker, and as addressee the one entity that "you" in them refers to.
    """

    document: Document
    quotations: Sequence[Quotation]
    table: Table

    def gold(self, task: str) -> list[int | None]:
        """The annotated speakers or addressees."""
        return [getattr(quotation, task) for quotation in self.quotations]


def read_annotated(data: Path, part: str, *, fold: int = 0) -> list[Annotated]:
    """The documents of a part of LitBank with their quotations."""
    documents = read_corpus(data / "lrec2020-coref", fold=fold, part=part, types=data / "litbank")
    return [annotated(with_paragraphs(document, data), data) for document in documents]


def with_paragraphs(document: Document, data: Path) -> Document:
    """The document with the text of its novel, if that is available: the same words, with their paragraphs."""
    path = data / "litbank" / "original" / f"{document.id.removesuffix('_brat')}.txt"
    if not path.is_file():
        return document
    text = path.read_text(encoding="utf-8")
    offsets, position = [], 0
    for word in document.words:
        position = text.index(word, position)
        offsets.append(CharSpan(position, position + len(word)))
        position += len(word)
    return replace(document, text=text[:position], offsets=tuple(offsets))


def annotated(document: Document, data: Path) -> Annotated:
    """A document with the quotations of its `.ann` files."""

    def span(cells: Sequence[str]) -> WordSpan:
        first, start, last, end = map(int, cells)
        return WordSpan(document.sentences[first].start + start, document.sentences[last].start + end + 1)

    entity_of = {place: number for number, cluster in enumerate(document.clusters or ()) for place in cluster.spans}
    coreference = list(_lines(data / "litbank" / "coref" / "tsv" / f"{document.id}.ann"))
    spans = {line[1]: span(line[2:6]) for line in coreference if line[0] == "MENTION"}
    labels = {
        line[2]: entity_of[spans[line[1]]]
        for line in coreference
        if line[0] == "COREF" and spans.get(line[1]) in entity_of
    }
    quotes: dict[str, WordSpan] = {}
    speakers: dict[str, int | None] = {}
    for line in _lines(data / "litbank" / "quotations" / "tsv" / f"{document.id}.ann"):
        if line[0] == "QUOTE":
            quotes[line[1]] = span(line[2:6])
        else:
            speakers[line[1]] = labels.get(line[2])
    found = {quotation.words: quotation for quotation in find_quotations(document)}
    quotations = [
        replace(found.get(quotes[key], Quotation.of(document, quotes[key])), speaker=speakers.get(key))
        for key in sorted(quotes, key=quotes.__getitem__)
    ]
    table = Table.of(document, _people(document))
    table.put_quotations(quotations)
    return Annotated(document, _with_addressees(quotations, table), table)


def _lines(path: Path) -> Iterator[list[str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield line.split("\t")


def _people(document: Document) -> list[MentionRecord]:
    """The annotated mentions of people, in text order."""
    found = sorted(
        (mention.span, number, mention.kind or "NOM", mention.type)
        for number, cluster in enumerate(document.clusters or ())
        for mention in cluster.mentions
        if mention.type in ("PER", None)
    )
    return [
        MentionRecord.of(document, span, kind=kind, type=type, entity=number, score=1.0)
        for span, number, kind, type in found
    ]


def _with_addressees(quotations: Sequence[Quotation], table: Table) -> list[Quotation]:
    """The quotations with the entity that "you" in them refers to, if it is always the same."""
    found: list[set[int]] = [set() for _ in quotations]
    for row in table.rows:
        if row.facts.pronoun == SECOND_PERSON and row.quotation is not None:
            found[row.quotation].add(row.entity)
    return [
        replace(quotation, addressee=next(iter(entities)) if len(entities) == 1 else None)
        for quotation, entities in zip(quotations, found, strict=True)
    ]


def learn(corpus: Sequence[Annotated], asked: Sequence[Asked] = ()) -> dict[str, dict[str, float]]:
    """The weights that make the annotated speakers and addressees likely, and the addressees hidden in other texts.

    The candidates of a hidden addressee depend on who speaks; that is decided by the weights of the annotation.
    """
    known = {task: [question for item in corpus for question in _questions(item, task)] for task in CUES}
    weights = {task: _fitted(questions, CUES[task]) for task, questions in known.items()}
    hidden = [question for item in asked for question in _hidden(item, weights)]
    return weights | {"addressee": _fitted([*known["addressee"], *hidden], CUES["addressee"])}


def _fitted(questions: Sequence[Asking], cues: Sequence[str]) -> dict[str, float]:
    """The weights of these cues."""
    examples = []
    for candidates, gold in questions:
        right = np.array([candidate.entity == gold for candidate in candidates])
        if right.any():
            rows = [[candidate.cues.get(cue, 0.0) for cue in cues] for candidate in candidates]
            examples.append((np.array(rows), np.array([candidate.chance for candidate in candidates]), right))
    return dict(zip(cues, _descend(examples, len(cues)).round(3).tolist(), strict=True))


def _questions(item: Annotated, task: str) -> Iterator[Asking]:
    """The candidates of each quotation with the annotated answer; all answers before it are known."""
    dialogue = Dialogue(item.document, item.quotations, _silent(item))
    spoken, addressed = item.gold("speaker"), item.gold("addressee")
    voices, turns = Voices(dialogue, spoken), Turns()
    for number in range(len(item.quotations)):
        if task == "addressee":
            yield addressee_candidates(dialogue, number, voices, addressed), addressed[number]
            continue
        turns = Turns() if dialogue.opens_conversation(number) else turns
        if not dialogue.goes_on(number):  # the rest of a quotation has the speaker of its beginning
            yield speaker_candidates(dialogue, number, turns), spoken[number]
        turns = turns.then(spoken[number])


def _silent(item: Annotated) -> list[Row]:
    """The annotated mentions without those that give the answer away: "I" and "you" in quotations."""
    answers = (FIRST_PERSON, SECOND_PERSON)
    return [row for row in item.table.rows if row.quotation is None or row.facts.pronoun not in answers]


def _hidden(item: Asked, weights: Weights) -> Iterator[Asking]:
    """The candidates of each hidden addressee with the answer, where somebody is called by the name."""
    table = Table.of(item.document, item.mentions)
    for step in passes(EVERYTHING):
        if step is attribute_quotations:
            break
        step(table)
    rows = voices_in(table)
    quotations = attribute(table.document, table.quotations, rows, weights)
    holders = item.holders([row.entity for row in table.rows])
    dialogue = Dialogue(table.document, quotations, rows)
    spoken, addressed = ([getattr(quotation, task) for quotation in quotations] for task in CUES)
    voices = Voices(dialogue, spoken)
    asked = {question.start: question.name for question in item.questions if question.kind == "addressee"}
    for number, quotation in enumerate(quotations):
        addressee = holders.get(asked.get(quotation.start, ""))
        if addressee is not None:
            yield addressee_candidates(dialogue, number, voices, addressed), addressee


def _descend(examples: Sequence[tuple[Floats, Floats, npt.NDArray[np.bool_]]], count: int) -> Floats:
    """Gradient descent with momentum and weight decay on the likelihood of the right candidates."""
    sizes = np.array([len(right) for _, _, right in examples])
    if not examples:
        return np.zeros(count)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    features, chances, right = (np.concatenate(parts) for parts in zip(*examples, strict=True))
    weights, speed = np.zeros(count), np.zeros(count)
    for _ in range(_STEPS):
        scores = features @ weights
        scores = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)) * chances
        wanted = np.where(right, scores, 0)
        wanted /= np.repeat(np.add.reduceat(wanted, starts), sizes)
        found = scores / np.repeat(np.add.reduceat(scores, starts), sizes)
        slope = _DECAY * weights + features.T @ (found - wanted) / len(sizes)
        speed = _MOMENTUM * speed - _RATE * slope
        weights += speed
    return weights


def accuracy(corpus: Sequence[Annotated], weights: Weights | None = None) -> dict[str, tuple[int, int]]:
    """For speakers and addressees, how many were found and how many are annotated."""
    right, total = dict.fromkeys(CUES, 0), dict.fromkeys(CUES, 0)
    for item in corpus:
        found = attribute(item.document, item.quotations, _silent(item), weights or learned_weights())
        for quotation, annotation in zip(found, item.quotations, strict=True):
            for task in CUES:
                gold = getattr(annotation, task)
                total[task] += gold is not None
                right[task] += gold is not None and getattr(quotation, task) == gold
    return {task: (right[task], total[task]) for task in CUES}


def main(arguments: Sequence[str] | None = None) -> None:
    """Learns and scores weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with clones of lrec2020-coref and litbank")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--part", default="dev", help="part to score")
    parser.add_argument("--weights", type=Path, help="learn on the train part, and write the weights to this file")
    parser.add_argument("--hidden", type=Path, help="folder of texts with hidden names, to learn on as well")
    options = parser.parse_args(arguments)
    weights = learned_weights()
    if options.weights is not None:
        train = read_annotated(options.data, "train", fold=options.fold)
        paths = [] if options.hidden is None else sorted(options.hidden.glob("*.json"))
        weights = learn(train, [Asked.of_file(path, recall=True) for path in paths])
        novels = f", names hidden in {len(paths)} parts of novels" if paths else ""
        table = {"trained_on": f"LitBank fold {options.fold} train{novels}", **weights}
        options.weights.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    for task, (right, total) in accuracy(
        read_annotated(options.data, options.part, fold=options.fold), weights
    ).items():
        sys.stdout.write(f"{options.part} {task}: {right} of {total}, {100 * right / max(total, 1):.1f} %\n")


if __name__ == "__main__":
    main()
