"""Scoring documents: which meets which, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from longcoref.cli.app import build_app
from longcoref.clusters import cluster_of
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError
from longcoref.metrics import score_documents
from longcoref.metrics.corpus import score_corpus

Spans = list[tuple[int, int]]


def document(id: str, *clusters: Spans, words: int = 9, part: int = 0) -> Document:
    return document_of_words(id, [["word"] * words], part=part, clusters=[cluster_of(spans) for spans in clusters])


KEY = [document("one", [(0, 1), (2, 3)], [(4, 5)]), document("two", [(0, 2), (3, 4), (5, 6)])]
RESPONSE = [document("two", [(0, 2), (3, 4)], [(5, 6)]), document("one", [(0, 1), (2, 3), (4, 5)])]


def test_documents_meet_by_id_whatever_their_order() -> None:
    scores = score_corpus(KEY, RESPONSE)
    pairs = [([[1, 2], [3]], [[1, 2, 3]]), ([[4, 5, 6]], [[4, 5], [6]])]
    assert scores.total == score_documents(pairs)
    assert list(scores.documents) == [("one", 0), ("two", 0)]
    assert scores.documents["one", 0] == score_documents(pairs[:1])


def test_parts_of_one_document_are_told_apart() -> None:
    key = [document("tale", [(0, 1), (1, 2)], part=0), document("tale", [(2, 3), (3, 4)], part=1)]
    assert score_corpus(key, key[::-1]).total.conll_f1 == 1


def test_dropping_singletons_reaches_the_metrics() -> None:
    assert score_corpus(KEY, KEY, keep_singletons=False).total.conll_f1 == 1
    response = [KEY[0], document("two", [(0, 2)])]
    assert score_corpus(KEY, response, keep_singletons=False).documents["two", 0].mentions.f1 == 0


def test_json_lists_documents_on_request() -> None:
    scores = score_corpus(KEY, RESPONSE)
    assert "documents" not in scores.as_json()
    listed = scores.as_json(per_document=True)["documents"]
    assert [(entry["id"], entry["part"]) for entry in listed] == [("one", 0), ("two", 0)]
    assert listed[0]["conll_f1"] == pytest.approx(100 * scores.documents["one", 0].conll_f1)


@pytest.mark.parametrize(
    ("key", "response", "message"),
    [
        (KEY, RESPONSE[:1], r"response lacks 1 of the key's 2 documents \(one part 0\)"),
        (KEY[:1], RESPONSE, r"key lacks 1 of the response's 2 documents \(two part 0\)"),
        (KEY, RESPONSE + RESPONSE[:1], "response has two part 0 twice"),
        (KEY[:1], [document("one", words=8)], "key has 9 words, the response 8"),
        (KEY[:1], [document_of_words("one", [["word"] * 9])], "no coreference annotation for one part 0"),
    ],
)
def test_documents_that_do_not_fit_are_an_error(key: list[Document], response: list[Document], message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_corpus(key, response)


def write_conll(path: Path, *tags: str) -> Path:
    """A CoNLL-2012 file of one sentence whose last column is given."""
    rows = [
        "\t".join(["bc/tale/00", "0", str(place), "word", "XX", "*", "-", "-", "-", "-", "*", tag])
        for place, tag in enumerate(tags)
    ]
    path.write_text("\n".join(["#begin document (bc/tale/00); part 000", *rows, "", "#end document", ""]))
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    key = write_conll(tmp_path / "key.conll", "(0)", "-", "(1", "1)|(0)", "(1)", "(2)")
    response = write_conll(tmp_path / "response.conll", "(4)", "-", "(7", "7)", "(7)", "(9)")
    return [str(key), str(response)]


def run(*arguments: str) -> str:
    return CliRunner().invoke(build_app(), ["score", *arguments], catch_exceptions=False).stdout


def test_the_command_prints_json_in_per_cent(files: list[str]) -> None:
    result = json.loads(run(*files, "--json"))
    # The key has {0, 3} {2-3, 4} {5}, the response {0} {2-3, 4} {5}.
    assert result["muc"] == pytest.approx({"precision": 100, "recall": 50, "f1": 200 / 3})
    assert result["mentions"] == pytest.approx({"precision": 100, "recall": 80, "f1": 800 / 9})
    assert result["ceaf_m"]["recall"] == pytest.approx(80)
    assert set(result) == {"conll_f1", "muc", "b_cubed", "ceaf_e", "ceaf_m", "lea", "blanc", "mentions"}


def test_the_command_drops_singletons_on_both_sides(files: list[str]) -> None:
    result = json.loads(run(*files, "--json", "--singletons", "drop"))
    assert result["mentions"] == pytest.approx({"precision": 100, "recall": 50, "f1": 200 / 3})


def test_the_command_prints_tables_for_people(files: list[str]) -> None:
    printed = run(*files, "--per-document", "--from", "conll")
    assert "CoNLL average" in printed
    assert "bc/tale/00" in printed
    assert "66.67" in printed


@pytest.mark.data
def test_litbank_against_itself_is_perfect(data_root: Path) -> None:
    data = str(data_root / "lrec2020-coref")
    result = json.loads(run(data, data, "--json"))
    assert result["conll_f1"] == pytest.approx(100)
    assert result["blanc"] == pytest.approx({"precision": 100, "recall": 100, "f1": 100})
