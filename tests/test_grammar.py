"""Grammar in post-processing: adverbs are nobody, possessors are not what they possess, predicates open no entity."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.book.grammar import possessions
from longcoref.book.revision import BOOK_POLICIES, NOTHING, revise
from longcoref.book.table import Row, Table
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text import tokenize

DOCUMENT = tokenize("Emma's father met his wife's aunt. Her husband and my friend, Tom's uncle, knew your heart.")
SPANS = {
    "Emma": (0, 1),
    "Emma 's father": (0, 3),
    "his": (4, 5),
    "his wife": (4, 6),
    "his wife 's aunt": (4, 8),
    "Her": (9, 10),
    "Her husband": (9, 11),
    "my": (12, 13),
    "my friend": (12, 14),
    "Tom 's": (15, 17),
    "Tom 's uncle": (15, 18),
    "your": (20, 21),
    "your heart": (20, 22),
}
POSSESSED = {
    ("Emma", "Emma 's father"),
    ("his", "his wife"),
    ("his wife", "his wife 's aunt"),
    ("Her", "Her husband"),
    ("my", "my friend"),
    ("Tom 's", "Tom 's uncle"),
}


def mention(text: str, entity: int, score: float) -> MentionRecord:
    span = SPANS[text]
    assert " ".join(DOCUMENT.words[slice(*span)]) == text
    kind = "PRON" if text in ("his", "Her", "my", "your") else "PROP" if text in ("Emma", "Tom 's") else "NOM"
    return MentionRecord.of(DOCUMENT, WordSpan(*span), kind=kind, type="PER", entity=entity, score=score)


def test_possessors_come_with_what_they_possess() -> None:
    table = Table.of(DOCUMENT, [mention(text, 0, 0.5) for text in SPANS])
    found = {tuple(" ".join(DOCUMENT.words[slice(*row.words)]) for row in pair) for pair in pairs(table.rows)}
    assert found == POSSESSED


def pairs(rows: list[Row]) -> list[tuple[Row, Row]]:
    return list(possessions(DOCUMENT, rows))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.1, 1.0)), min_size=len(SPANS), max_size=len(SPANS)),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
    st.sampled_from([name for name, policy in BOOK_POLICIES.items() if policy.active]),
)
def test_nobody_is_what_they_possess(read: list[tuple[int, float]], links: list[float], policy: str) -> None:
    mentions = [mention(text, *one) for text, one in zip(SPANS, read, strict=True)]
    mentions = [replace(one, rivals=tuple(enumerate(links))) if one.text in ("his", "Her") else one for one in mentions]
    revised = revise(DOCUMENT, mentions, BOOK_POLICIES[policy]).mentions
    table = Table.of(DOCUMENT, [replace(one, revised_from=None) for one in revised])
    assert all(owner.entity != owned.entity for owner, owned in pairs(table.rows))


def test_what_somebody_possesses_is_what_it_is_elsewhere() -> None:
    document = tokenize("Her aunt sang. Her aunt slept. Her aunt woke.")
    places = [(start, start + length) for start in (0, 4, 8) for length in (1, 2)]
    entities = (0, 1, 0, 1, 0, 0)
    mentions = [
        MentionRecord.of(
            document,
            WordSpan(*place),
            kind="NOM" if place[1] - place[0] > 1 else "PRON",
            type="PER",
            entity=entity,
            score=0.5,
        )
        for place, entity in zip(places, entities, strict=True)
    ]
    assert [one.entity for one in revise(document, mentions).mentions] == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(("text", "kept"), [("gaily", False), ("Emily", True), ("family", True), ("the bully", True)])
def test_an_adverb_is_nobody(text: str, *, kept: bool) -> None:
    document = tokenize(f'"Go," said Ann {text}.')
    span = WordSpan(6, 6 + len(text.split()))
    read = MentionRecord.of(document, span, kind="PROP", type="PER", entity=0, score=0.9)
    assert (revise(document, [read]).mentions[0].entity is not None) is kept
    assert revise(document, [read], NOTHING).mentions == (read,)


@pytest.mark.parametrize(
    ("text", "spans", "joined"),
    [
        ("Ann was a sailor. She sang.", [(0, 1), (2, 4), (5, 6)], True),
        ("Ann (born 1850) had once been a sailor. She sang.", [(0, 1), (8, 10), (11, 12)], True),
        ("Acme is a company. It sells paint.", [(0, 1), (2, 4), (5, 6)], True),
        ("Ann was a sailor. He sang.", [(0, 1), (2, 4), (5, 6)], False),
        ("Ann saw a sailor. She sang.", [(0, 1), (2, 4), (5, 6)], False),
        ("Ann was not a sailor. She sang.", [(0, 1), (3, 5), (6, 7)], False),
        ("It was a sailor. She sang.", [(0, 1), (2, 4), (5, 6)], False),
        ("I was a sailor. He sang.", [(0, 1), (2, 4), (5, 6)], False),
    ],
)
def test_who_follows_a_predicate_is_its_subject(text: str, spans: list[tuple[int, int]], *, joined: bool) -> None:
    document = tokenize(text)
    first = "PRON" if text[:2] in ("It", "I ") else "PROP"
    mentions = [
        MentionRecord.of(document, WordSpan(*span), kind=kind, type="PER", entity=entity, score=0.9)
        for span, kind, entity in zip(spans, (first, "NOM", "PRON"), (0, 1, 1), strict=True)
    ]
    mentions[2] = replace(mentions[2], rivals=((1, 2.0), (0, 1.0)))
    subject, predicate, follower = revise(document, mentions, BOOK_POLICIES["names"]).mentions
    assert subject.entity != predicate.entity
    assert follower.entity == (subject if joined else predicate).entity
