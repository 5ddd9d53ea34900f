"""Training documents that vary from visit to visit, so that names and single words are not learned by heart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.english.lexicon import FEMININE, MASCULINE
from longcoref.features.facts import is_title, mention_facts
from longcoref.runtime.pieces import Integers


class Renamer:
    """Gives the people of a document other names, drawn from those of all training documents.

    A name keeps its gender as far as the clusters' pronouns and titles tell it; within a document each name has one new
    name, and no two share one.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._pools: dict[int, list[str]] = {}
        seen: dict[str, Counter[int]] = defaultdict(Counter)
        for document in documents:
            for name, gender in _names(document).items():
                seen[name][gender] += 1
        for name in sorted(seen):
            self._pools.setdefault(seen[name].most_common(1)[0][0], []).append(name)

    def __call__(self, document: Document, random: np.random.Generator) -> Document:
        """The document with new names."""
        taken = {word.lower() for word in document.words}
        mapping: dict[str, str] = {}
        for name, gender in sorted(_names(document).items()):
            free = [other for other in self._pools.get(gender, ()) if other.lower() not in taken]
            if free:
                mapping[name] = free[int(random.integers(len(free)))]
                taken.add(mapping[name].lower())
        words = [mapping.get(word, word) for word in document.words]
        renamed = document_of_words(
            document.id,
            (words[start:end] for start, end in document.sentences),
            part=document.part,
            genre=document.genre,
            speakers=document.speakers,
        )
        return renamed.with_clusters(document.clusters)


def _names(document: Document) -> dict[str, int]:
    """The name words of the people of a document, with the gender bits of their clusters (0: unknown or both)."""
    names: dict[str, int] = {}
    for cluster in document.clusters or ():
        gender = _gender(document, cluster)
        for mention in cluster.mentions:
            if mention.kind == "PROP" and mention.type == "PER":
                for word in document.words[mention.span.start : mention.span.end]:
                    if word[:1].isupper() and word[1:].islower() and not is_title(word):
                        names[word] = gender if names.get(word, gender) == gender else 0
    return names


def _gender(document: Document, cluster: Cluster) -> int:
    def bits(mention: Mention) -> int:
        words = document.words[mention.span.start : mention.span.end]
        return mention_facts(words).gender & (MASCULINE | FEMININE)

    counts = Counter(bits(mention) for mention in cluster.mentions)
    del counts[0]
    return counts.most_common(1)[0][0] if counts else 0


def drop_pieces(ids: Integers, share: float, unknown: int, random: np.random.Generator) -> Integers:
    """The pieces with a random share of them made unknown."""
    return np.where(random.random(len(ids)) < share, np.int32(unknown), ids)
