"""Measures how often "I" and "you" in quotations are resolved correctly, and how often a quotation gets its speaker.

    python scripts/measure_speech.py --data CORPORA --fold 0 --part dev
    python scripts/measure_speech.py --data CORPORA --numbers    with each number chosen by hand halved, doubled
    python scripts/measure_speech.py --data CORPORA --narrator   with the narrator's "I" as evidence of who a cluster is

CORPORA holds clones of lrec2020-coref and litbank. Where the whole novel is available, its text shows the paragraphs,
as it does when a text is resolved. The questions are the annotated "I" (me, my, …) and "you" in annotated quotations,
and the annotated speakers; they are answered by the reader and post-processing on plain text. A cluster is taken to be
the entity that most of its names, nouns and other pronouns are annotated as; the cluster of a narrator without a name
is nobody, or who a single wrong name says, unless `--narrator` counts "I" and "you" outside quotations as well. A
mention or quotation that was not found counts as wrong.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from longcoref.book.fit import Annotated, accuracy, read_annotated
from longcoref.book.revision import revise
from longcoref.clusters import spans_of
from longcoref.features.facts import FIRST_PERSON, SECOND_PERSON
from longcoref.mention import MentionRecord
from longcoref.metrics import score_documents
from longcoref.runtime.model import Model, open_model
from longcoref.spans import WordSpan
from measure_hidden import BOTH, changed_numbers
from measure_novels import SETTINGS, Setting, clustered, read_proposals

ASKED = {FIRST_PERSON: "I", SECOND_PERSON: "you"}
Clusters = list[tuple[WordSpan, ...]]
Memories = dict[bool, list[MentionRecord]]


@dataclass
class Row:
    """The results of one setting: clusters to be scored, and the right and all answers of each kind."""

    pairs: list[tuple[Clusters, Clusters]] = field(default_factory=list)
    right: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)

    def answer(self, kind: str, found: int | None, gold: int) -> None:
        """Counts one answer."""
        self.asked[kind] += 1
        self.right[kind] += found == gold

    def share(self, kind: str) -> str:
        """Per cent that were right."""
        return f"{100 * self.right[kind] / max(self.asked[kind], 1):.1f} %"


def ask(row: Row, annotated: Annotated, found: list[MentionRecord], setting: Setting, *, narrator: bool) -> None:
    """Adds the results of a setting on one document to its row."""
    questions = [one for one in annotated.table.rows if one.facts.pronoun in ASKED and one.quotation is not None]
    asked = {question.words for question in questions}
    gold = spans_of(annotated.document.clusters or ())
    entity_of = {span: number for number, spans in enumerate(gold) for span in spans}
    revision = revise(annotated.document, found, setting.book)
    clusters: dict[int, list[WordSpan]] = {}
    meant: dict[int, Counter[int]] = {}
    for mention in revision.mentions:
        if mention.entity is not None:
            clusters.setdefault(mention.entity, []).append(mention.words)
            is_evidence = mention.facts.pronoun not in ASKED or (narrator and mention.words not in asked)
            if is_evidence and mention.words in entity_of:
                meant.setdefault(mention.entity, Counter())[entity_of[mention.words]] += 1
    entity_in = {cluster: counts.most_common(1)[0][0] for cluster, counts in meant.items()}
    cluster_of = {span: cluster for cluster, spans in clusters.items() for span in spans}
    row.pairs.append((gold, [tuple(spans) for spans in clusters.values()]))
    for person in questions:
        cluster = cluster_of.get(person.words, -1)
        row.answer(ASKED[person.facts.pronoun], entity_in.get(cluster), person.entity)
    for quotation in annotated.quotations:
        if quotation.speaker is not None:
            said = [one.speaker for one in revision.quotations if _covers(one.words, quotation.words.start)]
            found_speaker = entity_in.get(said[0]) if said and said[0] is not None else None
            row.answer("speaker", found_speaker, quotation.speaker)


def _covers(span: WordSpan, word: int) -> bool:
    return span.start <= word < span.end


def read(corpus: list[Annotated], model: Model, cells: int) -> list[Memories]:
    """What the memory finds in each document, without and with recall."""
    found = []
    for annotated in corpus:
        proposals = read_proposals(annotated.document, model)
        found.append({recall: clustered(proposals, model, cells, recall=recall) for recall in (False, True)})
    return found


def line(
    corpus: list[Annotated], found: list[Memories], setting: Setting, name: str, *, narrator: bool = False
) -> tuple[Row, str]:
    """The results of a setting on all documents, and their line of the table."""
    row = Row()
    for annotated, memories in zip(corpus, found, strict=True):
        ask(row, annotated, memories[setting.recall], setting, narrator=narrator)
    score = 100 * score_documents(row.pairs).conll_f1
    return row, f"| {name} | {score:.1f} | {row.share('I')} | {row.share('you')} | {row.share('speaker')} |"


def main() -> None:
    """Prints a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--part", default="dev")
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--model", help="model directory; the shipped one if not given")
    parser.add_argument("--numbers", action="store_true", help="change the numbers that were chosen by hand")
    parser.add_argument("--narrator", action="store_true", help='let "I" and "you" outside quotations name clusters')
    options = parser.parse_args()
    corpus = read_annotated(options.data, options.part, fold=options.fold)
    found = read(corpus, open_model(options.model, threads=1), options.cells)
    print(f'| {options.part}, {options.cells} cells | CoNLL | "I" in quotations | "you" in quotations | speaker |')
    print("|---|---:|---:|---:|---:|")
    for setting in SETTINGS:
        row, text = line(corpus, found, setting, setting.name, narrator=options.narrator)
        print(text)
    for name, value, changed in changed_numbers() if options.numbers else ():
        print(line(corpus, found, BOTH, f"{name} {changed:g} for {value:g}", narrator=options.narrator)[1])
    asked = row.asked
    print(f'\n{asked["I"]} "I", {asked["you"]} "you", {asked["speaker"]} quotations with a speaker.')
    for task, (right, total) in accuracy(corpus).items():
        share = 100 * right / max(total, 1)
        print(f"With the annotated mentions and quotations, {task}: {right} of {total}, {share:.1f} %.")


if __name__ == "__main__":
    main()
