"""Every error that longcoref raises on purpose.

    LongcorefError
    ├── UsageError          an option or name that does not exist or does not fit (exit code 2)
    ├── InputError          a file or text that cannot be read as asked; says file:line
    ├── DocumentError       words, offsets, sentences or mentions that contradict each other
    ├── ConfigError         a configuration with an unknown key or an impossible value
    ├── ModelError          a model directory or state file that is missing, damaged or of another kind
    └── MissingExtraError   an optional dependency that is not installed; says which extra brings it

A message says what was expected, what came, where, and what to do. `RepairWarning` is the one warning: a file
that was read as lenient and had to be mended.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


class LongcorefError(Exception):
    """Root of the tree: catch this to catch everything that longcoref raises on purpose."""


class UsageError(LongcorefError):
    """An option or name that does not exist or does not fit."""


class InputError(LongcorefError):
    """A file or text that cannot be read as asked. `line` counts from 1; None where no line is to blame."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class DocumentError(LongcorefError):
    """Words, offsets, sentences or mentions that contradict each other."""


class ConfigError(LongcorefError):
    """A configuration with an unknown key or an impossible value."""


class ModelError(LongcorefError):
    """A model directory or state file that is missing, damaged or of another kind."""


class MissingExtraError(LongcorefError):
    """An optional dependency that is not installed."""


class RepairWarning(UserWarning):
    """Something in a file was mended because the caller asked for lenient reading; says file:line and what."""


def unknown_name(what: str, name: str, choices: Iterable[str]) -> str:
    """A message for a name that does not exist: the choices, the nearest one first."""
    known = sorted(choices)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {name!r}{hint} (choose from {', '.join(known)})"


def optional_module(name: str, *, extra: str, needed_for: str) -> ModuleType:
    """Imports an optional dependency, or says which extra of longcoref brings it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingExtraError(
            f"{needed_for} needs {package}, which is not installed: pip install 'longcoref[{extra}]'"
        ) from error
