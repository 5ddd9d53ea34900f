"""The short modern cases and their scorer, with fake resolvers. What a model scores is measured, not tested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.errors import InputError
from measure_cases import (
    CASES,
    KINDS,
    Case,
    Clusters,
    answers_of,
    count,
    count_by_category,
    count_by_kind,
    failures,
    measure,
    parse_markup,
    read_cases,
)

ALL = read_cases(CASES)


def gold(case: Case) -> list[list[tuple[int, int]]]:
    clusters: dict[str, list[tuple[int, int]]] = {}
    for mention in case.mentions:
        clusters.setdefault(mention.entity, []).append((mention.start, mention.end))
    return list(clusters.values())


def one_entity(case: Case) -> Clusters:
    return [[(mention.start, mention.end) for mention in case.mentions]]


def all_alone(case: Case) -> Clusters:
    return [[(mention.start, mention.end)] for mention in case.mentions]


def judged(marked: str, *clusters: Iterable[str]) -> list[bool]:
    """Whether each anaphor is right, given predicted clusters of texts that each occur once."""
    text, mentions = parse_markup(marked)
    spans = [[(text.index(part), text.index(part) + len(part)) for part in cluster] for cluster in clusters]
    return [answer.right for answer in answers_of(Case("x", "x", text, mentions), spans)]


def test_there_are_200_cases_in_even_categories() -> None:
    assert len(ALL) == len({case.id for case in ALL}) == len({case.text for case in ALL}) == 200
    categories = Counter(case.category for case in ALL)
    assert len(categories) == 11
    assert min(categories.values()) >= 10
    assert all(case.id.rpartition("-")[0] == case.category for case in ALL)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_a_case_can_be_answered(case: Case) -> None:
    assert len({mention.entity for mention in case.mentions}) > 1, "one entity alone is no choice"
    for entity in {answer.anaphor.entity for answer in answers_of(case, [])}:
        kinds = [mention.kind for mention in case.mentions if mention.entity == entity]
        assert kinds[0] in {"name", "noun", "I", "you"}, f"{entity} begins with a pronoun that has no antecedent"
        assert {"name", "noun"} & set(kinds), f"{entity} is never named or described"


def test_every_kind_is_asked() -> None:
    asked = count_by_kind(measure(ALL, lambda _: []))
    assert set(asked) == set(KINDS)
    assert min(counted.anaphors for counted in asked.values()) >= 20


def test_a_perfect_resolver_gets_everything() -> None:
    answers = measure(ALL, {case.text: gold(case) for case in ALL}.__getitem__)
    assert count(answers).accuracy == 100
    assert {counted.accuracy for counted in count_by_category(answers).values()} == {100}
    assert count(answers).texts_right == count(answers).texts == 200
    assert list(failures(answers)) == []


def test_a_resolver_that_links_everything_gets_little() -> None:
    answers = measure(ALL, {case.text: one_entity(case) for case in ALL}.__getitem__)
    assert count(answers).accuracy < 15
    assert count(answers).texts_right == 0


@pytest.mark.parametrize("fake", [all_alone, lambda _: []])
def test_a_resolver_that_links_nothing_gets_nothing(fake: Callable[[Case], Clusters]) -> None:
    answers = measure(ALL, {case.text: fake(case) for case in ALL}.__getitem__)
    assert count(answers).right == 0
    assert sum("should be" in line for line in failures(answers)) == len(answers)


@given(st.sampled_from(ALL), st.data())
def test_an_anaphor_is_right_with_its_own_entity_only(case: Case, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(case.mentions), max_size=len(case.mentions)))
    places = list(zip(case.mentions, labels, strict=True))
    clusters = [[(m.start, m.end) for m, label in places if label == number] for number in range(4)]
    for answer in answers_of(case, clusters):
        index = case.mentions.index(answer.anaphor)
        entities = {m.entity for m, label in places[:index] if label == labels[index]}
        assert answer.right == (entities == {answer.anaphor.entity})


@pytest.mark.parametrize("ending", ["", "'s", "’s"])
def test_a_possessive_ending_may_be_in_or_out(ending: str) -> None:
    for marked in (f"[Ida|1] fed [Ida Roth|1]{ending} cat.", f"[Ida|1] fed [Ida Roth{ending}|1] cat."):
        assert judged(marked, ["Ida", "Ida Roth"]) == [True]
        assert judged(marked, ["Ida", f"Ida Roth{ending}"]) == [True]
        assert judged(marked, ["Ida", f"Ida Roth{ending} cat"]) == [False]


def test_other_spans_do_not_match() -> None:
    assert judged("[Amir|1] met [the old friend|2]. [he|2] left.", ["old friend", "he"]) == [False]


def test_a_wrong_mention_that_comes_later_is_its_own_error() -> None:
    marked = "[Ana|1] said [she|1] saw [Bo|2] before [him|2]."
    assert judged(marked, ["Ana", "she", "Bo", "him"]) == [True, False]


def test_the_outer_of_two_mentions_comes_first() -> None:
    text, mentions = parse_markup("[Bo|2] met [[his|2] sister|3].")
    assert text == "Bo met his sister."
    assert [(mention.text, mention.entity) for mention in mentions] == [("Bo", "2"), ("his sister", "3"), ("his", "2")]


def test_markup_is_all_that_is_removed() -> None:
    source = CASES.read_text(encoding="utf-8")
    plain = re.sub(r"\[|\|\d+\]", "", source)
    for case in ALL:
        assert f"\n{case.id} {case.category}\n{case.text}\n" in plain
        assert all(case.text[mention.start : mention.end] == mention.text for mention in case.mentions)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a-1 he\n[Bo|1 left.\n", 1),
        ("# comment\n\na-1 he\n[Bo left.\n", 3),
        ("a-1 he\nBo|1] left.\n", 1),
        ("a-1 he\n[|1] left.\n", 1),
        ("a-1 he\nBo] left.\n", 1),
        ("a-1 he\n\nBo left.\n", 1),
        ("a-1\n[Bo|1] left.\n", 1),
    ],
)
def test_a_malformed_case_is_an_error_with_its_line(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_cases(path)
    assert error.value.line == line
