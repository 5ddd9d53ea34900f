"""Writes the outputs in docs/guide.md anew: runs its commands and puts what they print below them.

    python scripts/write_guide.py

In a block `console`, every line that begins with `$ ` is run; of a pipeline, longcoref runs here and the rest in the
shell. A block `python` is run, and what it prints becomes the plain block behind it. All of it shares one model and one
reading of each text, so the whole guide takes little longer than reading the story once.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import longcoref.resolver
from longcoref.cli import main
from longcoref.document import Document
from longcoref.resolver import Resolver
from longcoref.runtime.model import open_model
from longcoref.runtime.stream import Step

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guide.md"
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n```\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


@contextmanager
def one_reading() -> Iterator[None]:
    """Every model is opened once, and every text read once under each memory."""
    steps = Resolver.steps
    kept: dict[Any, list[Step]] = {}

    def remembered(self: Resolver, document: Document, **options: Any) -> Iterator[Step]:
        key = (document.text, document.words, self.policy, str(options))
        if key not in kept:
            kept[key] = list(steps(self, document, **options))
        return iter(kept[key])

    with patch.object(longcoref.resolver, "open_model", cache(open_model)), patch.object(Resolver, "steps", remembered):
        yield


@contextmanager
def _workplace() -> Iterator[None]:
    """A folder of its own, with the examples, for what the commands write."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        (Path(folder) / "out").mkdir()
        os.chdir(folder)
        os.environ["COLUMNS"] = "100"
        try:
            yield
        finally:
            os.chdir(before)


def _run(command: str) -> str:
    """What a command prints."""
    first, bar, rest = command.partition(" | ")
    if not first.startswith("longcoref "):
        return _shell(command, "")
    printed = io.StringIO()
    call, _, meant_to_fail = first.partition(" 2>")
    with redirect_stdout(printed), redirect_stderr(printed if meant_to_fail else sys.stderr):
        try:
            main(shlex.split(call)[1:])
        except SystemExit as exit:
            if exit.code and not meant_to_fail:
                raise RuntimeError(f"{command} ended with exit code {exit.code}") from exit
    return _shell(rest, printed.getvalue()) if bar else printed.getvalue()


def _shell(command: str, given: str) -> str:
    run = subprocess.run(["bash", "-c", command], input=given, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return run.stdout


def written(page: str) -> str:
    """The page with all outputs made anew."""
    names: dict[str, Any] = {}

    def replaced(found: re.Match[str]) -> str:
        language, code = found[1], found[2]
        if language == "console":
            commands = [line for line in code.splitlines() if line.startswith("$ ")]
            outputs = (f"{command}\n{_run(command[2:])}" for command in commands)
            return "```console\n" + _trimmed("".join(outputs)) + "```\n"
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, str(GUIDE), "exec"), names)
        return f"```python\n{code}```\n\n```\n{_trimmed(printed.getvalue())}```\n"

    with one_reading(), _workplace():
        return _BLOCK.sub(replaced, page)


def _trimmed(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


if __name__ == "__main__":
    GUIDE.write_text(written(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
