"""Entity spread and active entities: by hand, by definition, and on LitBank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from longcoref.analysis.entities import active_entities, analyze_entities, count_entities, spread
from longcoref.analysis.plots import draw_entities
from longcoref.cli.app import build_app
from longcoref.clusters import cluster_of
from longcoref.document import Document, document_of_words
from longcoref.errors import InputError
from longcoref.spans import WordSpan


def document(words: int, *clusters: list[tuple[int, int]], id: str = "tale") -> Document:
    return document_of_words(id, [["word"] * words], clusters=[cluster_of(spans) for spans in clusters])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    words = draw(st.integers(1, 12))
    span = st.integers(0, words - 1).flatmap(lambda start: st.tuples(st.just(start), st.integers(start + 1, words)))
    return document(words, *draw(st.lists(st.lists(span, min_size=1, max_size=4), max_size=6)))


TALE = document(10, [(0, 2), (5, 6)], [(1, 2)], [(2, 3), (3, 4), (9, 10)])


def test_the_spread_reaches_from_the_first_to_the_last_mention() -> None:
    assert spread(cluster_of([(3, 5), (1, 2), (2, 9)])) == WordSpan(1, 9)


def test_the_active_entities_of_a_tale() -> None:
    assert active_entities(TALE) == [1, 2, 2, 2, 2, 2, 1, 1, 1, 1]


def test_the_counts_of_a_tale() -> None:
    counts = count_entities(TALE)
    assert (counts.words, counts.mentions, counts.total_entities, counts.singletons) == (10, 6, 3, 1)
    assert counts.max_active_entities == 2
    assert counts.mean_active_entities == 1.5
    assert counts.spreads == (0.6, 0.8)  # the singleton is left out


@given(documents())
def test_active_entities_are_those_whose_spread_covers_the_word(document: Document) -> None:
    spreads = [spread(cluster) for cluster in document.clusters or ()]
    plain = [sum(start <= word < end for start, end in spreads) for word in range(len(document.words))]
    assert active_entities(document) == plain


@given(st.lists(documents(), max_size=4))
def test_a_corpus_takes_the_maximum_over_its_documents(documents: list[Document]) -> None:
    result = analyze_entities(documents)
    each = [count_entities(document) for document in documents]
    assert result.max_active_entities == max([counts.max_active_entities for counts in each], default=0)
    assert result.max_active_entities <= result.max_total_entities
    values = result.as_json()
    assert values["entities"] == sum(counts.total_entities for counts in each)
    assert len(values["per_document"]) == values["documents"] == len(documents)
    json.dumps(values, allow_nan=False)


def test_a_document_without_annotation_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"letter part 0 .*annotat"):
        analyze_entities([document_of_words("letter", [["Dear", "friend"]])])


@pytest.mark.parametrize("documents", [[TALE, document(4, [(0, 1)], [(1, 2)], id="note")], [], [document(3)]])
def test_the_two_figures_are_drawn_the_same_each_time(tmp_path: Path, documents: list[Document]) -> None:
    entities = analyze_entities(documents)
    first, second = draw_entities(entities, tmp_path / "new" / "one"), draw_entities(entities, tmp_path / "two")
    names = ["max_active_entities.png", "max_active_entities.svg", "entity_spread.png", "entity_spread.svg"]
    assert [path.name for path in first] == names
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == sorted(names)
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.read_bytes().startswith(b"\x89PNG" if one.suffix == ".png" else b"<?xml")


def test_a_folder_for_figures_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="taken"):
        draw_entities(analyze_entities([TALE]), tmp_path / "taken")


STORY = """\
{"doc_key": "story", "sentences": [["Ada", "saw", "her", "dog", "."], ["It", "ran", "."]], \
"clusters": [[[0, 0], [2, 2]], [[2, 3], [5, 5]]], "speakers": [["", "", "", "", ""], ["", "", ""]]}
"""


def test_the_command_prints_tables_or_json_and_draws(tmp_path: Path) -> None:
    data = tmp_path / "story.jsonlines"
    data.write_text(STORY, encoding="utf-8")
    arguments = ["analyze", "entities", "--data", str(data)]
    printed = CliRunner().invoke(
        build_app(), [*arguments, "--plots", str(tmp_path / "figures")], catch_exceptions=False
    )
    assert "most entities active at once" in printed.stdout
    assert len(list((tmp_path / "figures").iterdir())) == 4
    values = json.loads(CliRunner().invoke(build_app(), [*arguments, "--json"], catch_exceptions=False).stdout)
    assert (values["max_total_entities"], values["max_active_entities"]) == (2, 2)
    assert values["per_document"][0]["id"] == "story"


@pytest.mark.data
def test_litbank_has_the_papers_numbers(data_root: Path) -> None:
    arguments = ["analyze", "entities", "--data", str(data_root / "lrec2020-coref"), "--json"]
    values = json.loads(CliRunner().invoke(build_app(), arguments, catch_exceptions=False).stdout)
    assert (values["max_total_entities"], values["max_active_entities"]) == (199, 18)
    assert (values["documents"], values["mentions"], values["entities"]) == (100, 29_103, 7_927)
