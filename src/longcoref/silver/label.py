"""Labelling unlabelled text with a teacher: whole stretches are read, then cut into training documents.

A stretch is several documents long, so that the teacher knows more of the story than the student will see. Each text
becomes one file, written when it is complete: a run that was interrupted continues with the texts that are missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from longcoref.document import Document
from longcoref.formats import read_corpus, write_corpus
from longcoref.resolver import Resolver
from longcoref.silver.hide import hide_names
from longcoref.spans import WordSpan


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """How text becomes silver documents; lengths are in words."""

    words: int = 10_000
    """The most words to take from one text, in stretches spread over it."""
    stretch: int = 10_000
    """Words that the teacher reads at once."""
    document: int = 2_000
    """The approximate number of words of a silver document."""
    hide: float = 0.6
    """The share of the eligible names that are hidden."""
    tags: bool = True
    """Whether words that say who speaks or who is addressed are hidden, too."""
    seed: int = 0
    kinds: bool = True
    """Whether the teacher's kinds and types are kept; a teacher that never learned them has none to give."""


def label_text(resolver: Resolver, text: Document, settings: LabelSettings) -> Iterator[Document]:
    """The silver documents of one text."""
    seed = int.from_bytes(hashlib.blake2b(text.id.encode(), digest_size=4).digest(), "big")
    random = np.random.default_rng([settings.seed, seed])
    number = 0
    for stretch in _stretches(text, settings):
        found = resolver.document(stretch).document
        assert found is not None
        for part in _cut(found, settings.document):
            document = hide_names(part, random, share=settings.hide, tags=settings.tags)
            yield replace(document if settings.kinds else _bare(document), id=f"{text.id}-{number}")
            number += 1


def label_file(resolver: Resolver, path: Path, target: Path, settings: LabelSettings) -> None:
    """Labels a text file; `target` appears when it is complete. A text without words gives no documents."""
    (text,) = read_corpus(path, format="text")
    write_corpus(label_text(resolver, text, settings), target, format="jsonl")


def _stretches(document: Document, settings: LabelSettings) -> Iterator[Document]:
    """Stretches of whole sentences at even distances, as many as the words asked for allow."""
    total = len(document.words)
    if not total:
        return
    count = max(1, min(settings.words, total) // settings.stretch)
    ends = [end for _, end in document.sentences]
    for number in range(count):
        begin = int(np.searchsorted(ends, number * total // count, side="left"))
        first = document.sentences[begin].start
        last = int(np.searchsorted(ends, min(first + min(settings.stretch, settings.words), total), side="left"))
        yield document.crop(WordSpan(first, ends[min(last, len(ends) - 1)]))


def _cut(document: Document, length: int) -> Iterator[Document]:
    """A document as parts of about the same length, cut between sentences."""
    parts = max(1, round(len(document.words) / length))
    begin = 0
    goals = list(accumulate([len(document.words) / parts] * parts))
    for _, end in document.sentences:
        if end >= goals[0] - 1e-6 or end == len(document.words):
            yield document.crop(WordSpan(begin, end))
            begin = end
            while goals and goals[0] <= end + 1e-6:
                goals.pop(0)
            if not goals:
                return


def _bare(document: Document) -> Document:
    clusters = tuple(
        replace(cluster, mentions=tuple(replace(m, kind=None, type=None) for m in cluster.mentions))
        for cluster in document.clusters or ()
    )
    return document.with_clusters(clusters)
