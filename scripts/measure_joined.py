"""Does a cast come back? Documents joined as A + B + the rest of A, and who of A is recognised after B.

    python scripts/measure_joined.py CORPORA --part dev

CORPORA holds a clone of lrec2020-coref. Each document of the part is cut in half at a sentence, and the next document
stands between its halves. An entity of A with mentions in both halves returns; it was evicted if it is not in memory
when the second half begins. It is recognised if most of its mentions there join the entity that most of its mentions in
the first half are in.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.formats import read_corpus
from longcoref.memory import memory_policy
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.model import Model, open_model
from longcoref.runtime.reading import Block, Reader
from longcoref.spans import WordSpan

CELLS = (10, 20)


@dataclass(frozen=True)
class Joined:
    """A joined document with A's clusters, and where its second half begins."""

    document: Document
    end_of_first: int
    second: int


def join(first: Document, between: Document) -> Joined:
    """A cut in half, with B in between."""
    half = next(n for n, (start, _) in enumerate(first.sentences) if start >= len(first.words) // 2)
    cut, shift = first.sentences[half].start, len(between.words)
    lines = [
        *(first.words[slice(*span)] for span in first.sentences[:half]),
        *(between.words[slice(*span)] for span in between.sentences),
        *(first.words[slice(*span)] for span in first.sentences[half:]),
    ]
    clusters = [
        Cluster(
            tuple(
                Mention(WordSpan(*(place + shift * (span.start >= cut) for place in span))) for span in cluster.spans
            ),
            cluster.id,
        )
        for cluster in first.clusters or ()
    ]
    return Joined(document_of_words(first.id, lines, clusters=clusters), cut, cut + shift)


def returns(
    joined: Joined, blocks: list[Block], model: Model, cells: int, *, recall: bool
) -> Iterator[tuple[bool, bool]]:
    """Of each returning entity, whether it was evicted and whether it was recognised."""
    clusterer = Clusterer(model.heads, memory_policy("learned", cells, recall=recall))
    given: dict[WordSpan, int] = {}
    held: set[int] = set()
    for block in blocks:
        decisions = clusterer.cluster(block.x, block.scores, block.facts)
        for mention, decision in zip(block.mentions, decisions, strict=True):
            if decision.entity is not None:
                given[mention.words] = decision.entity
            if mention.words.start < joined.second:
                held = set(clusterer.cells.entities)
    for cluster in joined.document.clusters or ():
        before = Counter(given[span] for span in cluster.spans if span in given and span.start < joined.end_of_first)
        after = Counter(given[span] for span in cluster.spans if span in given and span.start >= joined.second)
        if before and after:
            entity = before.most_common(1)[0][0]
            yield entity not in held, after.most_common(1)[0][0] == entity


def main() -> None:
    """Prints a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--part", default="dev")
    parser.add_argument("--model", help="model directory; the shipped one if not given")
    options = parser.parse_args()
    model = open_model(options.model, threads=1)
    documents = list(read_corpus(options.corpora / "lrec2020-coref", fold=0, part=options.part))
    found: dict[tuple[int, bool], list[tuple[bool, bool]]] = {}
    for number, document in enumerate(documents):
        joined = join(document, documents[(number + 1) % len(documents)])
        blocks = list(
            Reader(model, memory_policy("learned", 1)).read(
                joined.document.read(), text=joined.document.text, last=True
            )
        )
        for cells in CELLS:
            for recall in (False, True):
                found.setdefault((cells, recall), []).extend(returns(joined, blocks, model, cells, recall=recall))
    print("| cells | recall | returning | evicted | recognised of the evicted |\n|---:|---|---:|---:|---:|")
    for (cells, recall), pairs in found.items():
        evicted = [recognised for gone, recognised in pairs if gone]
        share = 100 * sum(evicted) / max(len(evicted), 1)
        print(f"| {cells} | {'on' if recall else 'off'} | {len(pairs)} | {len(evicted)} | {share:.1f} % |")


if __name__ == "__main__":
    main()
