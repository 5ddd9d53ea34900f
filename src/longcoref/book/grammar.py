"""What grammar says about entities: an adverb is nobody, and nobody is what they possess."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise

from longcoref.book.choice import likeliest
from longcoref.book.numbers import MOVED
from longcoref.book.table import Row, Table
from longcoref.cancellation import cancellable
from longcoref.document import Document
from longcoref.english.lexicon import ADJECTIVES_IN_LY, ONESELF, POSSESSIVE_DETERMINERS, POSSESSIVE_ENDINGS
from longcoref.mention import MentionRecord


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
