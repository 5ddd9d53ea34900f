"""What grammar says about entities: an adverb is nobody, nobody is what they possess, and a predicate opens none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from longcoref.book.choice import likeliest
from longcoref.book.numbers import MOVED, SAME_CONVERSATION
from longcoref.book.table import Row, Table
from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.english.lexicon import (
    ADJECTIVES_IN_LY,
    AROUND_COPULAS,
    COPULAS,
    ONESELF,
    POSSESSIVE_DETERMINERS,
    POSSESSIVE_ENDINGS,
)
from longcoref.features.facts import THIRD_PERSON
from longcoref.mention import MentionRecord

_BEFORE_PREDICATES = COPULAS | AROUND_COPULAS


def without_adverbs(mentions: Iterable[MentionRecord]) -> Iterator[MentionRecord]:
    """The mentions, of which people who are an adverb ("said Ann gaily") are rejected."""
    for mention in mentions:
        text, is_person = mention.text, mention.type in ("PER", None)
        is_adverb = text.endswith("ly") and text.isalpha() and text.islower() and text not in ADJECTIVES_IN_LY
        yield replace(mention, entity=None) if is_person and is_adverb else mention


def possessions(document: Document, rows: Iterable[Row]) -> Iterator[tuple[Row, Row]]:
    """Each possessor with what they possess ("her" and "her aunt"), the shorter ones of a chain first.

    Both begin with the same word. "her heart" and "his Majesty" are the possessors themselves.
    """
    for _, together in cancellable(groupby(rows, key=lambda row: row.words.start)):  # they are in text order
        for owner, owned in pairwise(sorted(together, key=lambda row: row.words.end)):
            if owned.mention.kind != "PRON" and _owns(document.words, owner, owned):
                yield owner, owned


def _owns(words: tuple[str, ...], owner: Row, owned: Row) -> bool:
    start, end = owner.words
    if words[end - 1] not in POSSESSIVE_ENDINGS and words[end] in POSSESSIVE_ENDINGS:
        end += 1
    is_possessive = words[end - 1] in POSSESSIVE_ENDINGS or (
        end - start == 1 and words[start].lower() in POSSESSIVE_DETERMINERS
    )
    return is_possessive and owned.words.end > end and owned.facts.head not in ONESELF


def separate_possessors(table: Table) -> None:
    """Makes two entities of a possessor and what they possess.

    The less certain of the two moves: a "his" or "her" to the next likely person, and "her aunt" to whom this person's
    aunt is elsewhere, or else to an entity of its own.
    """
    pairs = list(possessions(table.document, table.rows))
    known: defaultdict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    for owner, owned in pairs:
        if owner.entity != owned.entity:
            known[owner.entity, owned.facts.head][owned.entity] += 1
    new = table.new_entity()
    for owner, owned in pairs:
        if owner.entity != owned.entity:
            continue
        others = {entity: share for entity, share in owner.shares.items() if entity != owner.entity}
        person = likeliest(others)
        if person is not None and owner.score < owned.score:
            owner.move(person, others[person] / sum(others.values()))
            continue
        elsewhere = known[owner.entity, owned.facts.head].most_common(1)
        owned.move(elsewhere[0][0] if elsewhere else new, MOVED)
        new += not elsewhere


def predicates(words: Sequence[str], rows: Iterable[Row]) -> Iterator[tuple[Row, Row]]:
    """Each subject with what it is said to be: "Ann" and "a sailor" in "Ann (born 1850) had once been a sailor".

    What "I", "you", "it", "this" and "there" are said to be may be somebody who is introduced so.
    """
    subjects: dict[int, Row] = {}  # by the word after them
    for row in cancellable(rows):
        if not row.facts.pronoun and row.name is None:
            verb = row.words.start
            while verb and words[verb - 1].lower() in _BEFORE_PREDICATES:
                verb -= 1
            end = _before_parenthesis(words, verb)
            if end in subjects and not COPULAS.isdisjoint(map(str.lower, words[verb : row.words.start])):
                yield subjects[end], row
        if not row.facts.pronoun or row.facts.pronoun in THIRD_PERSON:
            subjects[row.words.end] = row


def _before_parenthesis(words: Sequence[str], end: int) -> int:
    """Where the parenthesis begins that ends before this word; the word itself if there is none."""
    opening = end
    if end and words[end - 1] == ")":
        while opening and words[opening] != "(" and end - opening < SAME_CONVERSATION:
            opening -= 1
    return opening if words[opening] == "(" else end


def join_predicates(table: Table) -> None:
    """Gives the subject what the reader linked to a predicate: in "Ann was a sailor. She sang.", "she" is Ann.

    Nobody refers to a predicate: of 137 with "a" or "an" in annotated fiction, 131 are mentioned once.
    """
    opened: dict[int, Row] = {}
    for row in table.rows:
        opened.setdefault(row.entity, row)
    subjects: dict[int, Row] = {}
    for subject, predicate in predicates(table.document.words, table.rows):
        if opened[predicate.entity] is predicate:
            subjects[predicate.entity] = subject
    if not subjects:
        return
    for row in cancellable(table.rows):
        row.rivals = tuple(
            (subjects[entity].entity if entity in subjects else entity, score) for entity, score in row.rivals
        )
        subject = subjects.get(row.entity, row)
        if opened[row.entity] is not row and _agree(row.facts.gender, subject.facts.gender):
            row.move(subject.entity, MOVED)


def _agree(one: int, other: int) -> bool:
    """Whether two sets of genders have one in common, or one of them is unknown."""
    return not one or not other or bool(one & other)
