"""What all commands share: examples that can be typed, completion, exit codes, facts for a bug report."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

import pytest
import typer.main
from typer.models import OptionInfo

from longcoref.cli import main
from longcoref.cli.app import build_app
from longcoref.cli.options import bytes_of
from longcoref.errors import InputError, UsageError

APP: Any = typer.main.get_command(build_app())


def commands(group: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))
        else:
            yield above if name == getattr(group, "default", None) else (*above, name), command


COMMANDS = dict(commands(APP))


def examples(help: str) -> list[str]:
    """The lines below `Examples:`."""
    _, _, below = help.partition("Examples:\n")
    return [line.strip() for line in below.strip().splitlines() if line.strip()]


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_the_examples_of_the_help_can_be_typed(name: tuple[str, ...]) -> None:
    shown = examples(COMMANDS[name].help or "")
    assert shown, f"longcoref {' '.join(name)} --help has no examples"
    called = []
    for line in shown:
        words = shlex.split(line.partition("longcoref ")[2].partition(" | ")[0], comments=True)
        called.append(max((other for other in COMMANDS if tuple(words[: len(other)]) == other), key=len))
        COMMANDS[called[-1]].make_context("", words[len(called[-1]) :])  # raises where an option does not exist
    assert len(called) == len(shown)
    assert name in called


def options() -> Iterator[tuple[str, str, tuple[str, ...], Any]]:
    """The command, parameter, spellings and type of every option."""
    apps = [("", build_app())]
    apps += [(f"{group.name} ", group.typer_instance) for group in apps[0][1].registered_groups]
    for above, app in apps:
        for command in app.registered_commands:
            name = f"{above}{command.name or command.callback.__name__}"
            for parameter, hint in get_type_hints(command.callback, include_extras=True).items():
                for info in getattr(hint, "__metadata__", ()):
                    if isinstance(info, OptionInfo):
                        spellings = info.param_decls or (f"--{parameter.replace('_', '-')}",)
                        yield name, parameter, tuple(spellings), hint.__origin__


def test_an_option_has_the_same_type_in_every_command() -> None:
    types: dict[str, dict[str, set[type]]] = {}
    for command, _, spellings, hint in options():
        alternatives = {hint, *get_args(hint)} - {None, NoneType, UnionType, hint if get_args(hint) else None}
        plain = {str if found is Path else found for found in alternatives}  # `-o -` is no path
        for spelling in spellings:
            types.setdefault(spelling, {})[command] = plain
    assert {name: found for name, found in types.items() if len(set(map(str, found.values()))) > 1} == {}


def test_a_parameter_has_the_same_spelling_in_every_command() -> None:
    spellings: dict[str, set[tuple[str, ...]]] = {}
    for _, parameter, spelled, _ in options():
        spellings.setdefault(parameter, set()).add(spelled)
    assert {parameter: found for parameter, found in spellings.items() if len(found) > 1} == {}
    assert {"source_format", "types_data", "singletons", "out"} <= set(spellings)


def completed(line: str) -> set[str]:
    """What the shell offers when tab is pressed at the end of a line."""
    words = line.split(" ")
    environment = {
        "_LONGCOREF_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    program = "import sys; sys.argv[0] = 'longcoref'; from longcoref.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return set(run.stdout.split())


def test_the_shell_completes_commands_and_formats() -> None:
    assert "resolve" in completed("longcoref res")
    assert {"tsv", "text", "tokens"} <= completed("longcoref resolve x.txt --to t")


@pytest.mark.parametrize(
    ("error", "code"), [(InputError("x"), 1), (UsageError("x"), 2), (OSError(28, "No space left on device"), 1)]
)
def test_errors_become_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("longcoref.cli.app.build_app", lambda: fail)
    with pytest.raises(SystemExit) as exit:
        main(["resolve"])
    assert exit.value.code == code
    printed = capsys.readouterr().err
    assert printed.startswith("longcoref: ")
    assert printed.count("\n") == 1
    with pytest.raises(type(error)):
        main(["resolve", "--debug"])


@pytest.mark.parametrize(
    ("text", "count"),
    [("1GB", 10**9), ("1.5 gb", 1_500_000_000), ("512MiB", 512 * 2**20), ("800m", 8 * 10**8), ("42", 42), ("7B", 7)],
)
def test_sizes(text: str, count: int) -> None:
    assert bytes_of(text) == count


@pytest.mark.parametrize("text", ["", "GB", "1XB", "-1GB", "1,5GB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="expected a size such as 500MB"):
        bytes_of(text)


def test_info_has_what_a_bug_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["info", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert {"longcoref", "python", "numpy", "onnxruntime", "system", "processor", "processors"} <= set(facts["program"])
    assert {"name", "fingerprint", "threads"} <= set(facts["model"])
