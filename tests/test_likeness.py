"""The warning about texts that are not English prose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import longcoref
from longcoref.cli import main
from longcoref.result import Result
from longcoref.text import tokenize
from longcoref.text.likeness import warning_about

FOREIGN = Path(__file__).parent / "foreign"
STORY = Path(__file__).parent.parent / "examples" / "story.txt"


@pytest.mark.parametrize("path", sorted(FOREIGN.glob("*.txt")), ids=lambda path: path.stem)
def test_other_languages_code_and_tables_get_a_warning(path: Path) -> None:
    expected = "a table or code" if path.stem in ("code", "table") else "not look like English"
    assert expected in str(warning_about(tokenize(path.read_text(encoding="utf-8")).words))


@given(start=st.integers(0, 20_000), length=st.integers(1, 5000))
def test_a_story_gets_none_wherever_it_is_cut(start: int, length: int) -> None:
    assert warning_about(tokenize(STORY.read_text(encoding="utf-8")[start : start + length]).words) is None


def test_prose_without_ends_of_sentences_gets_a_warning() -> None:
    assert "ends of sentences" in str(warning_about(["the", "old", "man", "and", "his", "dog"] * 60))


@given(words=st.lists(st.text(min_size=1)))
def test_any_words_may_be_asked_about(words: list[str]) -> None:
    warning = warning_about(words)
    assert warning is None or "\n" not in warning


def test_the_result_the_command_and_the_json_have_the_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    german = (FOREIGN / "german.txt").read_text(encoding="utf-8")
    result = longcoref.load(threads=1)(german)
    assert result.warning == Result.from_json(result.to_json()).warning == result.as_json()["warning"]
    assert longcoref.load(threads=1)("Ann saw the mill. She left it.").warning is None
    for format in ("json", "jsonl"):
        with pytest.raises(SystemExit):
            main(["resolve", str(FOREIGN / "german.txt"), "-o", str(tmp_path / f"out.{format}")])
        said = capsys.readouterr().err
        assert said == f"longcoref: german: {result.warning}\n"
