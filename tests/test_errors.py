"""Error analysis: the counts one would write down by hand, and corrections that turn the response into the key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from longcoref.analysis.errors import ErrorType, analyze_errors, apply_corrections, document_errors, entities
from longcoref.analysis.examples import example_record
from longcoref.cli.app import build_app
from longcoref.clusters import cluster_of
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError
from longcoref.formats import write_corpus

TEXT = "Ann met Tom at the old mill by the river . She told him that it was cold . The miller saw them ."
WORDS = TEXT.split()
ANN, TOM, MILL, RIVER = (0, 1), (2, 3), (4, 10), (8, 10)
SHE, HIM, IT, MILLER, THEM = (11, 12), (13, 14), (15, 16), (19, 21), (22, 23)
OLD_MILL, MET = (4, 7), (1, 2)


def document(*clusters: list[tuple[int, int]]) -> Document:
    sentences = (WORDS[:11], WORDS[11:19], WORDS[19:])
    return document_of_words("tale", sentences, clusters=[cluster_of(spans) for spans in clusters])


KEY = document([ANN, SHE], [TOM, HIM], [MILL, IT], [RIVER])
CASES: list[tuple[str, Document, dict[str, int]]] = [
    ("nothing is wrong", document([TOM, HIM], [ANN, SHE], [IT, MILL], [RIVER]), {}),
    ("two entities as one", document([ANN, SHE, TOM, HIM], [MILL, IT], [RIVER]), {"conflated entities": 1}),
    ("three entities as one", document([ANN, SHE, TOM, HIM, MILL, IT], [RIVER]), {"conflated entities": 2}),
    ("one entity as two", document([ANN], [SHE], [TOM, HIM], [MILL, IT], [RIVER]), {"divided entity": 1}),
    (
        "a pronoun with the wrong person",
        document([ANN, SHE, HIM], [TOM], [MILL, IT], [RIVER]),
        {"conflated entities": 1, "divided entity": 1},
    ),
    ("no mention", document([ANN, SHE, MET], [TOM, HIM], [MILL, IT], [RIVER]), {"extra mention": 1}),
    (
        "two that are none",
        document([ANN, SHE, MET, THEM], [TOM, HIM], [MILL, IT], [RIVER]),
        {"extra mention": 2},
    ),
    ("no entity", document([ANN, SHE], [TOM, HIM], [MILL, IT], [RIVER], [MILLER, THEM]), {"extra entity": 1}),
    ("a pronoun was not found", document([ANN], [TOM, HIM], [MILL, IT], [RIVER]), {"missing mention": 1}),
    ("an entity was not found", document([ANN, SHE], [MILL, IT], [RIVER]), {"missing entity": 1}),
    ("nothing was found", document(), {"missing entity": 4}),
    ("too few words", document([ANN, SHE], [TOM, HIM], [OLD_MILL, IT], [RIVER]), {"span error": 1}),
    (
        "too few words in the wrong entity",
        document([ANN, SHE, OLD_MILL], [TOM, HIM], [IT], [RIVER]),
        {"span error": 1, "conflated entities": 1, "divided entity": 1},
    ),
    (
        "another head is another mention",
        document([ANN, SHE], [TOM, HIM], [(5, 6), IT], [RIVER]),
        {"extra mention": 1, "missing mention": 1},
    ),
]


@pytest.mark.parametrize(("response", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_counts_are_those_one_would_write_down(response: Document, expected: dict[str, int]) -> None:
    counts = analyze_errors([KEY], [response]).counts
    assert {name: count for name, count in counts.items() if count} == expected
    assert list(counts) == [kind.value for kind in ErrorType]


def test_without_singletons_they_are_no_errors() -> None:
    response = document([ANN, SHE], [TOM, HIM], [MILL, IT], [MILLER])
    kept, dropped = (analyze_errors([KEY], [response], keep_singletons=keep).counts for keep in (True, False))
    assert (kept["missing entity"], kept["extra entity"]) == (1, 1)
    assert set(dropped.values()) == {0}


def test_clusters_that_share_a_span_are_one() -> None:
    response = document([ANN, SHE], [SHE, TOM], [HIM], [MILL, IT], [RIVER])
    counts = analyze_errors([KEY], [response]).counts
    assert {name: count for name, count in counts.items() if count} == {"conflated entities": 1, "divided entity": 1}


def test_what_stays_is_the_largest_part() -> None:
    (conflated,) = document_errors(document([ANN], [TOM, HIM]), document([ANN, TOM, HIM]))
    assert conflated.spans == (ANN,)
    assert conflated.other == (TOM, HIM)


def clusterings() -> st.SearchStrategy[list[list[tuple[int, int]]]]:
    spans = st.tuples(st.integers(0, len(WORDS) - 1), st.integers(1, 6)).map(
        lambda pair: (pair[0], min(pair[0] + pair[1], len(WORDS)))
    )
    labelled = st.dictionaries(spans, st.integers(0, 4), max_size=14)

    def grouped(labels: dict[tuple[int, int], int]) -> list[list[tuple[int, int]]]:
        groups: dict[int, list[tuple[int, int]]] = {}
        for span, label in labels.items():
            groups.setdefault(label, []).append(span)
        return list(groups.values())

    return labelled.map(grouped)


@given(clusterings(), clusterings(), st.booleans())
def test_the_corrections_turn_the_response_into_the_key(
    gold: list[list[tuple[int, int]]], system: list[list[tuple[int, int]]], keep: bool
) -> None:
    key, response = document(*gold), document(*system)
    errors = document_errors(key, response, keep_singletons=keep)
    corrections = [correction for error in errors for correction in error.corrections]
    start, goal = (entities(each.clusters or (), keep_singletons=keep) for each in (response, key))
    assert apply_corrections(start, corrections) == set(goal)
    assert (not errors) == (set(start) == set(goal))


@given(clusterings())
def test_a_response_that_is_the_key_has_no_error(gold: list[list[tuple[int, int]]]) -> None:
    assert document_errors(document(*gold), document(*reversed(gold))) == []


@given(clusterings(), clusterings())
def test_examples_stand_where_they_are_said_to(
    gold: list[list[tuple[int, int]]], system: list[list[tuple[int, int]]]
) -> None:
    found = analyze_errors([document(*gold)], [document(*system)])
    record = example_record(found.worst(10))
    texts = {" ".join(WORDS[start:end]) for clusters in (gold, system) for spans in clusters for start, end in spans}
    for cluster in record["clusters"]:
        for mention in cluster["mentions"]:
            assert record["text"][mention["start"] : mention["end"]].replace("\n", " ") in texts


def test_the_worst_of_each_kind_come_in_turn() -> None:
    found = analyze_errors([KEY], [document([ANN, SHE, TOM], [HIM], [MILLER, THEM], [MET])])
    assert [error.type.value for _, error in found.worst(4)] == [
        "conflated entities",
        "divided entity",
        "extra entity",
        "missing entity",
    ]
    assert len(found.worst(100)) == sum(found.counts.values())
    assert [len(error.spans) for _, error in found.worst(100) if error.type is ErrorType.EXTRA_ENTITY] == [2, 1]


def run(*arguments: object) -> str:
    return CliRunner().invoke(build_app(), list(map(str, arguments)), catch_exceptions=False).stdout


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "key.conll", tmp_path / "response.conll"
    for path, side in zip(paths, (KEY, CASES[1][1]), strict=True):
        write_corpus([side], path)
    return paths


def test_the_command_counts_and_shows(sides: tuple[Path, Path], tmp_path: Path) -> None:
    printed = run("analyze", "errors", *sides, "--html", tmp_path / "errors.html")
    assert "CE conflated entities" in printed
    values: dict[str, Any] = json.loads(run("analyze", "errors", *sides, "--json"))
    assert values["errors"]["conflated entities"] == values["per_document"][0]["errors"]["conflated entities"] == 1
    page = (tmp_path / "errors.html").read_text(encoding="utf-8")
    assert "1 conflated entities: the other entity" in page
    assert "Conflated entities in tale: these are two" in page


def test_documents_that_do_not_match_are_refused(sides: tuple[Path, Path]) -> None:
    other = document_of_words("note", [["Ann", "left", "."]], clusters=[])
    with pytest.raises(InputError, match="lacks 1"):
        analyze_errors([KEY], [other])
