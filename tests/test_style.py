"""A model that was trained on several styles of text reads each of them in its own way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import longcoref
from longcoref.document import document_of_words
from longcoref.errors import ModelError, UsageError
from longcoref.runtime.model import open_model
from model import write_tiny_model

TEXT = "Ann saw the old mill. She met him. Ruth liked the barn. Carl saw the inns. He met her. " * 4


@pytest.fixture(scope="module")
def styled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "styled", genres=("fiction", "modern"))


def test_the_first_style_is_the_default_and_styles_differ(styled: Path) -> None:
    default, fiction, modern = (longcoref.load(styled, style=style, threads=1) for style in (None, "fiction", "modern"))
    assert default(TEXT).clusters == fiction(TEXT).clusters
    assert modern(TEXT).clusters != fiction(TEXT).clusters
    assert default.with_settings(style="modern")(TEXT).clusters == modern(TEXT).clusters


def test_a_document_that_names_its_style_is_read_in_it(styled: Path) -> None:
    resolver = longcoref.load(styled, threads=1)
    sentences = [["Ann", "saw", "the", "old", "mill", "."], ["She", "met", "him", "."]] * 6
    own = resolver.document(document_of_words("", sentences, genre="modern"))
    assert own.clusters == resolver.with_settings(style="modern").words(sentences).clusters
    other = resolver.document(document_of_words("", sentences, genre="news"))
    assert other.clusters == resolver.words(sentences).clusters


def test_other_processes_and_pieces_of_text_have_the_same_style(styled: Path) -> None:
    resolver = longcoref.load(styled, style="modern", threads=1)
    whole = resolver(TEXT)
    (result,) = resolver.pipe([TEXT], processes=2)
    assert isinstance(result, longcoref.Result)
    assert result.clusters == whole.clusters
    reading = resolver.open()
    reading.feed(TEXT[:100])
    reading.feed(TEXT[100:])
    assert reading.finish().clusters == whole.clusters


def test_a_saved_text_is_continued_in_its_style_only(styled: Path, tmp_path: Path) -> None:
    modern = longcoref.load(styled, style="modern", threads=1)
    reading = modern.open()
    reading.feed(TEXT[:150])
    reading.save(tmp_path / "state")
    modern.resume(tmp_path / "state")
    with pytest.raises(ModelError, match="model"):
        modern.with_settings(style="fiction").resume(tmp_path / "state")


def test_unknown_styles_are_refused(styled: Path, tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'modern'"):
        longcoref.load(styled, style="modem")
    with pytest.raises(UsageError, match="one style of text"):
        longcoref.load(tiny_model, style="modern")


def test_the_only_style_of_a_model_may_be_named(tiny_model: Path) -> None:
    model = open_model(tiny_model, threads=1)
    only = replace(model, config=replace(model.config, data=replace(model.config.data, style="modern")))
    assert only.in_style("modern") is only
    with pytest.raises(UsageError, match=r"one style of text \(modern\)"):
        only.in_style("fiction")
