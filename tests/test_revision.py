"""Laws of post-processing over little documents that are generated."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.book.revision import EVERYTHING, NOTHING, BookPolicy, revise
from longcoref.document import Document
from longcoref.mention import MentionRecord
from longcoref.spans import WordSpan
from longcoref.text import tokenize

NAMES = ("Tom", "Tom Moss", "Mr. Moss", "Miss Ann Hallow", "Ann", "Mrs. Hallow", "Captain Crake", "Saltby")
NOUNS = ("the old man", "my dear", "a girl", "sir")
PRONOUNS = ("he", "she", "his", "her", "I", "me", "you")
KINDS = {**dict.fromkeys(NAMES, "PROP"), **dict.fromkeys(NOUNS, "NOM"), **dict.fromkeys(PRONOUNS, "PRON")}
SENTENCES = (
    "{} saw {}.",
    '"Come, {}," said {}.',
    '{} said: "{} is here."',
    '"{} told {} so," {} cried.',
    '"Hush!"',
    "\n\n",
    '"And {} went on.\n\n"{} came back."',
)


@dataclass(frozen=True)
class Case:
    """A document and the mentions that a reader found in it."""

    document: Document
    mentions: list[MentionRecord]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    pieces: list[str] = []
    kinds: list[str] = []
    for sentence in draw(st.lists(st.sampled_from(SENTENCES), max_size=12)):
        texts = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=3, max_size=3))[: sentence.count("{}")]
        pieces.append(sentence.format(*(f"<{text}>" for text in texts)))
        kinds += [KINDS[text] for text in texts]
    document, spans = without_brackets(" ".join(pieces))
    mentions = []
    entities: list[int] = []
    for span, kind in zip(spans, kinds, strict=True):
        # A new entity has the next number, as the reader gives it; now and then a mention is rejected.
        known = st.sampled_from(entities) if entities else st.nothing()
        entity = draw(st.one_of(known, st.just(len(set(entities))), st.just(None)))
        entities += [] if entity is None else [entity]
        rivals: list[tuple[int, float]] = []
        if kind == "PRON" and entities:
            rivals = draw(st.lists(st.tuples(st.sampled_from(entities), st.floats(-3, 3)), max_size=4))
        type = draw(st.sampled_from(["PER", "PER", "PER", "GPE"]))
        mention = MentionRecord.of(document, span, kind=kind, type=type, entity=entity, score=0.123)
        mentions.append(replace(mention, rivals=tuple(rivals)))
    return Case(document, mentions)


def without_brackets(text: str) -> tuple[Document, list[WordSpan]]:
    """The document without the brackets around mentions, and the spans that they enclose."""
    starts, ends, plain = [], [], ""
    for letter in text:
        if letter in "<>":
            (starts if letter == "<" else ends).append(len(plain))
        else:
            plain += letter
    document = tokenize(plain)
    first = {offset.start: index for index, offset in enumerate(document.offsets)}
    last = {offset.end: index + 1 for index, offset in enumerate(document.offsets)}
    return document, [WordSpan(first[start], last[end]) for start, end in zip(starts, ends, strict=True)]


POLICIES = st.builds(BookPolicy, names=st.booleans(), speech=st.booleans())


@given(cases())
def test_switched_off_it_is_the_identity(case: Case) -> None:
    revision = revise(case.document, case.mentions, NOTHING)
    assert revision.mentions == tuple(case.mentions)
    assert (revision.quotations, revision.narrator) == ((), None)


@given(cases(), POLICIES)
def test_only_entities_and_their_scores_change(case: Case, policy: BookPolicy) -> None:
    revision = revise(case.document, case.mentions, policy)
    for before, after in zip(case.mentions, revision.mentions, strict=True):
        assert (before.entity is None) == (after.entity is None)
        assert replace(after, entity=before.entity, score=before.score, revised_from=None) == before
        assert 0 <= after.score <= 1
    if policy.active:
        found = [mention.entity for mention in revision.mentions if mention.entity is not None]
        assert list(dict.fromkeys(found)) == list(range(len(set(found))))
    assert policy.speech or not revision.quotations


@given(cases(), POLICIES, st.randoms(use_true_random=False))
def test_numbering_entities_differently_changes_nothing(case: Case, policy: BookPolicy, random: Any) -> None:
    known = sorted({mention.entity for mention in case.mentions if mention.entity is not None})
    number: dict[int | None, int | None] = {None: None}
    number.update(zip(known, random.sample(range(100), len(known)), strict=True))
    renumbered = [
        replace(
            mention,
            entity=number[mention.entity],
            rivals=tuple((number[entity], score) for entity, score in mention.rivals),
        )
        for mention in case.mentions
    ]
    if policy.active:
        before, after = (revise(case.document, mentions, policy) for mentions in (case.mentions, renumbered))
        assert [(m.entity, m.score) for m in before.mentions] == [(m.entity, m.score) for m in after.mentions]
        assert (before.quotations, before.narrator) == (after.quotations, after.narrator)


@given(cases(), POLICIES, POLICIES)
def test_revising_twice_equals_revising_once(case: Case, first: BookPolicy, policy: BookPolicy) -> None:
    once = revise(case.document, case.mentions, policy)
    assert revise(case.document, once.mentions, policy) == once
    if policy.active:  # whatever an earlier revision made of the mentions
        assert revise(case.document, revise(case.document, case.mentions, first).mentions, policy) == once


@given(cases(), POLICIES)
def test_a_mention_has_the_probability_of_the_entity_it_is_moved_to(case: Case, policy: BookPolicy) -> None:
    """Where two mentions of one entity end up in two, at least one of them was moved."""
    revision = revise(case.document, case.mentions, policy)
    homes: dict[int, set[int | None]] = {}
    for before, after in zip(case.mentions, revision.mentions, strict=True):
        if before.entity is not None and after.score == before.score:
            homes.setdefault(before.entity, set()).add(after.entity)
    assert all(len(home) == 1 for home in homes.values())


@given(cases(), POLICIES)
def test_nobody_addresses_themselves(case: Case, policy: BookPolicy) -> None:
    for quotation in revise(case.document, case.mentions, policy).quotations:
        assert quotation.speaker is None or quotation.speaker != quotation.addressee


# ---- every pass is linear in the text -------------------------------------------------------------------------------


def mention(document: Document, span: WordSpan, *, pronoun: bool, entity: int) -> MentionRecord:
    kind = "PRON" if pronoun else "PROP"
    return MentionRecord.of(document, span, kind=kind, type="PER", entity=entity, score=0.5)


def names(count: int, name: Callable[[str], str], *, one: bool = False) -> Case:
    """Sentences about people with different names, all of one entity or each of their own, and a pronoun each."""
    words = [
        f"X{chr(97 + number // 676)}{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}" for number in range(count)
    ]
    document, spans = without_brackets(" ".join(f"<{name(word)}> came home. <He> sat." for word in words))
    mentions = [
        mention(document, span, pronoun=number % 2 > 0, entity=0 if one else number // 2)
        for number, span in enumerate(spans)
    ]
    return Case(document, mentions)


def dialogue(count: int, turn: str) -> Case:
    """The same turn again and again, and one person with a name at the start."""
    document, spans = without_brackets("<Tom Moss> sat down. " + turn * count)
    mentions = [mention(document, span, pronoun=number > 0, entity=number % 2) for number, span in enumerate(spans)]
    return Case(document, mentions)


GROWING: dict[str, Callable[[int], Case]] = {
    "one given name": lambda count: names(count, lambda word: f"John {word}"),
    "one given name in one entity": lambda count: names(count, lambda word: f"John {word}", one=True),
    "one family name": lambda count: names(count, lambda word: f"{word} Moss"),
    "one initial": lambda count: names(count, lambda word: f"J. {word}"),
    "middle names": lambda count: names(count, lambda word: f"John {word} Moss"),
    "names alone": lambda count: names(count, lambda word: word, one=True),
    "titles": lambda count: names(count, lambda word: f"Mr. {word}", one=True),
    "marks": lambda count: dialogue(count, '" '),
    "dialogue without names": lambda count: dialogue(count, '"Yes, it is."\n\n'),
    "one voice": lambda count: dialogue(count, '"Yes," <he> said. "It is." '),
    "paragraphs of one speech": lambda count: dialogue(count, '"Yes, <you> do.\n\n'),
}


def work(case: Case) -> int:
    """How many lines of Python run in a revision: a measure of time that is the same on every machine."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        revise(case.document, case.mentions, EVERYTHING)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("growing", sorted(GROWING))
def test_the_work_is_linear_in_the_text(growing: str) -> None:
    make = GROWING[growing]
    work(make(10))  # what is loaded once
    small, large = work(make(100)), work(make(400))
    assert large <= 4**1.2 * small
