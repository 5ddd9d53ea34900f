"""Regenerates the outputs in README.md, the guide and other pages of docs/ by running their commands.

    python scripts/write_guide.py

In a `console` block, each line that starts with `$ ` is run and followed by its output: `longcoref` runs in this
process, the rest of a pipeline in the shell. A `python` block is run, and its output becomes the plain block after it.
Encoding is by far the slowest part of reading, so vectors are cached: all pages take little longer than reading the
story once.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from longcoref.cli import main
from longcoref.runtime.encoder import OnnxEncoder, Vectors
from longcoref.runtime.pieces import Integers
from longcoref.runtime.windows import Window

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/guide.md", "docs/page.md", "docs/coming-from.md")
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n```\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


@contextmanager
def encoding_once() -> Iterator[None]:
    """Makes every encoder reuse the vectors of windows that were encoded before.

    Encoders multiply in floats, so that the pages are the same whatever the processor can do.
    """
    encode = OnnxEncoder.encode
    known: dict[tuple[str, bytes, tuple[Window, ...]], Vectors] = {}

    def cached(self: OnnxEncoder, ids: Integers, windows: Sequence[Window]) -> Vectors:
        key = (str(self.path), ids.tobytes(), tuple(windows))
        if key not in known:
            known[key] = encode(self, ids, windows)
        return known[key]

    in_floats = patch("longcoref.runtime.encoder.multiplies_bytes", lambda: False)
    with patch.object(OnnxEncoder, "encode", cached), in_floats:
        yield


@contextmanager
def _workplace() -> Iterator[None]:
    """Changes to a temporary folder with the examples and a folder `out`."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, COLUMNS="100"):
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        (Path(folder) / "out").mkdir()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(command: str) -> str:
    """The output of a command."""
    first, pipe, rest = command.partition(" | ")
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
    return _shell(rest, printed.getvalue()) if pipe else printed.getvalue()


def _shell(command: str, given: str) -> str:
    run = subprocess.run(["bash", "-c", command], input=given, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return run.stdout


def regenerated(page: str) -> str:
    """The text of a page with the output of every block regenerated."""
    names: dict[str, Any] = {}

    def replaced(found: re.Match[str]) -> str:
        language, code = found[1], found[2]
        if language == "console":
            commands = [line for line in code.splitlines() if line.startswith("$ ")]
            outputs = (f"{command}\n{_run(command[2:])}" for command in commands)
            return "```console\n" + _trimmed("".join(outputs)) + "```\n"
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "<page>", "exec"), names)
        output = f"\n```\n{_trimmed(printed.getvalue())}```\n" if printed.getvalue() else ""
        return f"```python\n{code}```\n{output}"

    with _workplace():
        return _BLOCK.sub(replaced, page)


def _trimmed(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.rstrip().splitlines())


if __name__ == "__main__":
    with encoding_once():
        for name in PAGES:
            path = ROOT / name
            path.write_text(regenerated(path.read_text(encoding="utf-8")), encoding="utf-8")
