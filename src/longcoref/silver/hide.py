"""Hidden names: a name that is replaced by a pronoun is a pronoun whose antecedent is known for certain.

A teacher's labels repeat its mistakes. Hiding names adds labels that it does not know: wherever "Emma" was, "she"
is Emma. Only names whose grammatical case can be told from the words around them are hidden, and only where an
earlier mention of the same person is near, so that the sentence stays one that somebody might have written.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from longcoref.book.table import clear_gender
from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.english.grammar import POSSESSIVES, PRONOUNS_OF, Case, case_of
from longcoref.features.facts import HE_OR_SHE, MentionFacts
from longcoref.features.speech import document_facts
from longcoref.spans import WordSpan

_REACH = 3  # sentences back within which the person must have been mentioned


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A name to be replaced: the words to remove, and the pronoun to insert."""

    words: WordSpan
    mention: WordSpan
    pronoun: str


def hide_names(document: Document, random: np.random.Generator, *, share: float) -> Document:
    """The document with a share of its later names of people replaced by the matching pronoun."""
    hidden = _choose(document, random, share)
    return _rewrite(document, hidden) if hidden else document


def _choose(document: Document, random: np.random.Generator, share: float) -> list[_Hidden]:
    clusters = document.clusters or ()
    spans = sorted({span for cluster in clusters for span in cluster.spans})
    facts = dict(zip(spans, document_facts(document.words, document.sentences, spans), strict=True))
    nested = _nested(spans)
    starts = {sentence.start for sentence in document.sentences}
    hidden = []
    for cluster in clusters:
        pronouns = PRONOUNS_OF.get(_gender([facts[span].facts for span in cluster.spans]))
        if pronouns is None or any(mention.type not in ("PER", None) for mention in cluster.mentions):
            continue
        named, last = False, -_REACH - 1
        for span in sorted(cluster.spans):
            fact = facts[span]
            is_name = fact.facts.name is not None and not fact.facts.pronoun
            near = fact.sentence - last <= _REACH
            last = fact.sentence
            if is_name and named and near and span not in nested and random.random() < share:
                case = case_of(document.words, span, opens_sentence=span.start in starts)
                if case is not None:
                    end = span.end + (case is Case.POSSESSIVE and document.words[span.end - 1] not in POSSESSIVES)
                    hidden.append(_Hidden(WordSpan(span.start, end), span, pronouns[case.value]))
            named |= is_name
    return sorted(hidden, key=lambda item: item.words)


def _nested(spans: list[WordSpan]) -> set[WordSpan]:
    """The spans that contain another one, and those that share their first or last word with a longer one.

    A pronoun cannot stand for "Emma and her father", and "my friend Emma" does not become "my friend she".
    """
    starts, ends = Counter(span.start for span in spans), Counter(span.end for span in spans)
    inner = {span.start for span in spans}
    return {
        span
        for span in spans
        if starts[span.start] > 1
        or ends[span.end] > 1
        or any(place in inner for place in range(span.start + 1, span.end))
    }


def _gender(facts: list[MentionFacts]) -> int:
    """MASCULINE or FEMININE where the pronouns and titles of an entity agree, else 0."""
    counts: Counter[int] = Counter()
    for fact in facts:
        if fact.pronoun in HE_OR_SHE or (fact.name is not None and fact.name.gender):
            counts[fact.gender if fact.pronoun else fact.name.gender if fact.name else 0] += 1 if fact.pronoun else 3
    return clear_gender(counts)


def _rewrite(document: Document, hidden: list[_Hidden]) -> Document:
    places: list[int] = []  # where each old word is now
    words: list[str] = []
    waiting = {item.words.start: item for item in hidden}
    pronouns = {item.mention: item for item in hidden}
    skip = 0
    starts = {sentence.start for sentence in document.sentences}
    for index, word in enumerate(document.words):
        if item := waiting.get(index):
            words.append(item.pronoun.capitalize() if index in starts else item.pronoun)
            skip = item.words.end - item.words.start
        elif not skip:
            words.append(word)
        places.append(len(words) - 1)
        skip = max(0, skip - 1)

    def moved(mention: Mention) -> Mention:
        start, end = mention.span
        place = WordSpan(places[start], places[end - 1] + 1)
        if mention.span not in pronouns:
            return replace(mention, span=place)
        return replace(mention, span=place, kind=mention.kind and "PRON", score=1.0)

    sentences = [words[places[start] : places[end - 1] + 1] for start, end in document.sentences]
    rewritten = document_of_words(document.id, sentences, part=document.part, genre=document.genre)
    clusters = tuple(
        Cluster(tuple(sorted(map(moved, cluster.mentions), key=lambda m: m.span)), cluster.id)
        for cluster in document.clusters or ()
    )
    return replace(rewritten, clusters=clusters)
