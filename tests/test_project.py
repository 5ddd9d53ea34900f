"""The pages say what is so: commands, versions, files, and the example with its printed output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import longcoref
from longcoref.cli import main
from longcoref.cli.app import build_app
from longcoref.formats import read_corpus

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = Path(longcoref.__file__).parent


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints."""
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    printed = capsys.readouterr()
    assert done.value.code in (0, None), printed.err
    return printed.out


def commands(group: Any, above: str = "longcoref") -> Iterator[str]:
    """The full names of all commands."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{above} {name}")
        else:
            yield above if name == getattr(group, "default", None) else f"{above} {name}"


def blocks(page: str, language: str = "") -> list[str]:
    """The code blocks of a page that are in this language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


COMMANDS = sorted(commands(typer.main.get_command(build_app())))


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
)
def test_the_commands_of_a_page_exist(page: str) -> None:
    for block in blocks((ROOT / page).read_text(encoding="utf-8")):
        for line in re.findall(r"^(?:\$ )?(longcoref [a-z].*)", block, flags=re.MULTILINE):
            assert any(f"{line} ".startswith(f"{command} ") for command in COMMANDS), line


@pytest.mark.parametrize("command", sorted({" ".join(command.split()[:2]) for command in COMMANDS}))
def test_the_readme_knows_the_command(command: str) -> None:
    assert f"\n{command} " in README, f"README.md does not say what {command} is for"


@pytest.mark.parametrize("page", ["README.md", "docs/design.md"])
def test_the_map_has_every_folder_and_module(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    places = [path for path in PACKAGE.iterdir() if not path.name.startswith("_") and path.name != "py.typed"]
    names = {f"{path.name}/" if path.is_dir() else path.name for path in places}
    assert "memory/" in names
    assert {name for name in names if name not in text} == set()


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_there_is_one_version() -> None:
    for name, pattern in (("pyproject.toml", r'^version = "(.+)"'), ("CITATION.cff", r"^version: (.+)")):
        found = re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert found == [longcoref.__version__], name


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    place = re.compile(r"(?<![\w.~])/(?:work|root|home|opt|mnt|Users)/\w|file:/{3}|index-url[ =]")
    folders = ("src", "tests", "docs", "examples", "configs", "scripts", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    files += [path for path in ROOT.iterdir() if path.name == "Makefile" or path.suffix in {".md", ".toml", ".cff"}]
    texts = {".py", ".md", ".toml", ".cff", ".txt", ".conll", ".html", ".json", ""}
    checked = [path for path in files if path.is_file() and path.suffix in texts]
    assert ROOT / "Makefile" in checked
    for path in checked:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            assert not place.search(line), f"{path}:{number}: {line}"


def test_the_story_is_read_letter_by_letter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = (ROOT / "examples" / "story.txt").read_text(encoding="utf-8")
    run(capsys, "convert", str(ROOT / "examples" / "story.txt"), str(tmp_path / "story.json"))
    (document,) = read_corpus(tmp_path / "story.json")
    assert document.text == story
    assert 2000 <= len(story.split()) <= 3000
    opening = next(read_corpus(ROOT / "examples" / "opening.conll"))
    assert "".join(story.split()).startswith("".join(opening.words))


def test_the_examples_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(ROOT / "examples" / name) for name in ("opening.conll", "opening-response.conll")]
    assert json.loads(run(capsys, "score", *files, "--json"))["conll_f1"] == pytest.approx(76.92, abs=0.005)


def test_make_run_prints_the_cast_that_the_readme_shows() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\t\$\(BIN\)/(longcoref .*--to cast.*)$", makefile, flags=re.MULTILINE)
    assert f"\n$ {command}\n" in README  # test_guide.py compares what it prints
