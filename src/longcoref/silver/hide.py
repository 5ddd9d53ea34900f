"""Hidden names: where a name is replaced by a pronoun or left out, somebody is known for certain.

A teacher's labels repeat its mistakes. Hiding names adds labels that it does not know. Wherever "Emma" was, "she" is
Emma; without the tag, the "I" of "I will," said Emma. is still Emma, and so is the "you" of a quotation that no longer
says to whom it is addressed. Only names whose grammatical case can be told from the words around them become pronouns,
and only where the same person is mentioned shortly before, so that the text stays one that somebody might have written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from longcoref.book.table import clear_gender
from longcoref.clusters import Cluster, Mention
from longcoref.document import Document, document_of_words
from longcoref.english.grammar import POSSESSIVES, PRONOUNS_OF, Case, case_of
from longcoref.features.facts import FIRST_PERSON, HE_OR_SHE, SECOND_PERSON, MentionFacts
from longcoref.features.speech import document_facts
from longcoref.spans import WordSpan
from longcoref.text.quotations import DOUBLE, SINGLE, find_quotations, paragraph_starts
from longcoref.text.tags import removable_tag, removable_vocative

_REACH = 3  # sentences back within which a person must have been mentioned for a pronoun to be natural
_NEAR = 150  # words back within which the person must have been mentioned whom a tag or vocative named
_OPENING = DOUBLE.opening | {DOUBLE.straight} | SINGLE.opening


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A hidden mention: the words that are removed with what stands there instead, and who is then known.

    The `known` mentions belong to the cluster of that number, with this probability. A mention of whose words nothing
    is left disappears.
    """

    cluster: int
    edits: tuple[tuple[WordSpan, str], ...]
    known: tuple[WordSpan, ...]
    score: float | None = 1.0
    is_pronoun: bool = False


def hide_names(document: Document, random: np.random.Generator, *, share: float, tags: bool = True) -> Document:
    """The document with a share of its later names of people hidden, and of what says who speaks or is addressed."""
    hidden = list(_choose(document, random, share, tags=tags))
    return _rewrite(document, hidden) if hidden else document


def _choose(document: Document, random: np.random.Generator, share: float, *, tags: bool) -> Iterator[_Hidden]:
    clusters = document.clusters or ()
    spans = sorted({span for cluster in clusters for span in cluster.spans})
    facts = dict(zip(spans, document_facts(document.words, document.sentences, spans), strict=True))
    nested = _nested(spans)
    starts = {sentence.start for sentence in document.sentences}
    speech = _Speech(document, {span: fact.facts for span, fact in facts.items()}) if tags else None
    for number, cluster in enumerate(clusters):
        if any(mention.type not in ("PER", None) for mention in cluster.mentions):
            continue
        pronouns = PRONOUNS_OF.get(_gender([facts[span].facts for span in cluster.spans]))
        named, last = False, WordSpan(-_NEAR, -_NEAR)
        for mention in sorted(cluster.mentions, key=lambda mention: mention.span):
            span = mention.span
            fact = facts[span]
            is_name = fact.facts.name is not None and not fact.facts.pronoun
            hidden = None
            if (
                span.start - last.end < _NEAR
                and (named or not is_name)
                and span not in nested
                and random.random() < share
            ):
                if speech is not None:
                    hidden = speech.without(span, number, 1.0 if is_name else mention.score)
                if hidden is None and is_name and pronouns and fact.sentence - facts[last].sentence <= _REACH:
                    hidden = _as_pronoun(document, span, number, pronouns, opens_sentence=span.start in starts)
            if hidden is not None:
                yield hidden
            named |= is_name
            last = span


def _as_pronoun(
    document: Document, span: WordSpan, cluster: int, pronouns: Sequence[str], *, opens_sentence: bool
) -> _Hidden | None:
    case = case_of(document.words, span, opens_sentence=opens_sentence)
    if case is None:
        return None
    end = span.end + (case is Case.POSSESSIVE and document.words[span.end - 1] not in POSSESSIVES)
    pronoun = pronouns[case.value].capitalize() if opens_sentence else pronouns[case.value]
    return _Hidden(cluster, ((WordSpan(span.start, end), pronoun),), (span,), is_pronoun=True)


class _Speech:
    """The quotations of a document, and the mentions in them that are known once the speaker or addressee is."""

    def __init__(self, document: Document, facts: Mapping[WordSpan, MentionFacts]) -> None:
        self.words = document.words
        self.paragraphs = paragraph_starts(document)
        self.quotations = [
            quotation
            for quotation in find_quotations(document)
            if _OPENING.isdisjoint(self.words[quotation.words.start + 1 : quotation.words.end - 1])
        ]
        self.ending = {quotation.words.end: number for number, quotation in enumerate(self.quotations)}
        self.starting = [quotation.words.start for quotation in self.quotations]
        self.facts = facts
        self.ends = {span.end for span, fact in facts.items() if not fact.pronoun}
        self.taken = set[WordSpan]()

    def without(self, mention: WordSpan, cluster: int, score: float | None) -> _Hidden | None:
        """The text without a mention that is a vocative or says who speaks."""
        number = bisect_right(self.starting, mention.start) - 1
        quotation = self.quotations[number] if number >= 0 else None
        if quotation is not None and mention.end < quotation.words.end:
            removal, pronoun = removable_vocative(self.words, mention, quotation), SECOND_PERSON
            if removal is not None and removal.words.start in self.ends:  # "my aunt, Ann," and "Tom, Ann, and Jim"
                removal = None
        else:
            removal = removable_tag(self.words, mention, self.quotations, self.ending, self.paragraphs)
            pronoun = FIRST_PERSON
        if removal is None:
            return None
        known = tuple(
            span
            for span, facts in self.facts.items()
            if facts.pronoun == pronoun
            and any(one.words.start <= span.start < one.words.end for one in removal.quotations)
        )
        if not known or not self.taken.isdisjoint(known):
            return None
        self.taken.update(known)
        edits = [(removal.words, "")]
        if removal.comma is not None:
            edits.append((WordSpan(removal.comma, removal.comma + 1), "."))
        return _Hidden(cluster, tuple(edits), known, score)


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


def _rewrite(document: Document, hidden: Sequence[_Hidden]) -> Document:
    new = {words: word for item in hidden for words, word in item.edits}
    removed = {index for words in new for index in range(*words)}
    inserted = {words.start: word for words, word in new.items() if word}
    words: list[str] = []
    places: list[int] = []  # how many words there are now before each old one
    for index, word in enumerate(document.words):
        places.append(len(words))
        if index in inserted:
            words.append(inserted[index])
        elif index not in removed:
            words.append(word)
    places.append(len(words))
    hidden_in = {span: item for item in hidden for span in item.known}
    clusters = document.clusters or ()
    members: list[list[Mention]] = [[] for _ in clusters]
    for number, cluster in enumerate(clusters):
        for mention in cluster.mentions:
            place = WordSpan(places[mention.span.start], places[mention.span.end])
            if place.start == place.end:
                continue
            item = hidden_in.get(mention.span)
            if item is None:
                members[number].append(replace(mention, span=place))
            else:
                kind = mention.kind and "PRON" if item.is_pronoun else mention.kind
                members[item.cluster].append(replace(mention, span=place, kind=kind, score=item.score))
    sentences = [words[places[start] : places[end]] for start, end in document.sentences]
    rewritten = document_of_words(document.id, sentences, part=document.part, genre=document.genre)
    return rewritten.with_clusters(
        Cluster(tuple(sorted(mentions, key=lambda mention: mention.span)), cluster.id)
        for mentions, cluster in zip(members, clusters, strict=True)
        if mentions
    )
