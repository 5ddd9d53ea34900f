"""`longcoref convert` as a user calls it."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from format_examples import EXAMPLES, SPANS
from longcoref.cli import main
from longcoref.clusters import spans_of
from longcoref.formats import FORMATS, read_corpus


@pytest.fixture
def story(tmp_path: Path) -> Path:
    file = tmp_path / "story.conll"
    file.write_text(EXAMPLES["conll"], encoding="utf-8")
    return file


def run(*arguments: object) -> int:
    """The exit code of a call in this process."""
    with pytest.raises(SystemExit) as caught:
        main(["convert", *map(str, arguments)])
    return int(caught.value.code or 0)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "text"])
def test_every_format_to_every_other(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"tale{FORMATS[name].suffixes[0]}"
    source.write_text(EXAMPLES[name], encoding="utf-8")
    for other, format in FORMATS.items():
        target = tmp_path / "out" / f"tale{format.suffixes[0]}"
        target.parent.mkdir(exist_ok=True)
        assert run(source, target, "--to", other) == 0
        (document,) = read_corpus(target)
        assert spans_of(document.clusters or ()) == ([] if other == "text" else SPANS)


def test_the_suffix_tells_the_format_and_losses_are_said(
    story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(story, tmp_path / "story.jsonlines") == 0
    assert capsys.readouterr() == ("", "")
    assert run(story, tmp_path / "story.conllu") == 0
    assert capsys.readouterr().err == "longcoref: corefud cannot represent speakers: dropped\n"


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EXAMPLES["conll"].encode())))
    assert run("-", "-", "--to", "jsonlines") == 0
    assert capsys.readouterr().out.startswith('{"doc_key": "nw/tale/00/tale_0001_2", ')


def test_mistakes_have_one_line_and_exit_code_2(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in [
        (
            (story, "out.conll", "--to", "jsonline"),
            "unknown output format 'jsonline'; did you mean 'jsonlines'? (choose from",
        ),
        ((story, "out"), "out: unknown suffix; end the name in .conll, "),
        ((story, "-"), "-: unknown suffix"),
        ((story, "out.json", "--fold", "0", "--part", "dev"), "conll has no folds or parts"),
        ((story, "out.json", "--types-data", "."), "conll does not read types"),
    ]:
        assert run(*arguments) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"longcoref: {message}")
        assert error.count("\n") == 1


def test_a_damaged_file_has_exit_code_1_and_leaves_nothing(
    story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story.write_text(EXAMPLES["conll"] + EXAMPLES["conll"].replace("(1)", "(1"), encoding="utf-8")
    assert run(story, tmp_path / "out.jsonl") == 1
    assert capsys.readouterr().err.startswith(f"longcoref: {story}:")
    assert list(tmp_path.iterdir()) == [story]
    assert run(story, tmp_path / "missing" / "out.jsonl") == 1
    assert "cannot write here" in capsys.readouterr().err


def test_lenient_conversion_warns_in_one_line(story: Path, tmp_path: Path) -> None:
    story.write_text(EXAMPLES["conll"].replace("(1)", "(1"), encoding="utf-8")
    command = [sys.executable, "-m", "longcoref", "convert", "--lenient", str(story), str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == (f"longcoref: warning: {story}:10: (1 opens a mention that is never closed; ignored\n")
    assert len(list(read_corpus(tmp_path / "out.json"))) == 1


@pytest.mark.data
def test_a_part_of_litbank_with_types(data_root: Path, tmp_path: Path) -> None:
    options = ["--fold", 0, "--part", "dev", "--types-data", data_root / "litbank"]
    assert run(data_root / "lrec2020-coref", tmp_path / "dev.json", *options) == 0
    found = list(read_corpus(tmp_path / "dev.json"))
    assert found == list(read_corpus(data_root / "lrec2020-coref", fold=0, part="dev", types=data_root / "litbank"))
