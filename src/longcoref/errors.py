"""The errors that longcoref raises.

    LongcorefError
    ├── UsageError          an option or name that does not exist or is not allowed here (exit code 2)
    ├── InputError          a file that cannot be read or written; says file:line
    ├── DocumentError       words, offsets, sentences or mentions that contradict each other
    ├── ConfigError         a configuration with an unknown key or an invalid value
    ├── ModelError          a model directory or state file that is missing, damaged or incompatible
    └── MissingExtraError   an optional dependency that is not installed; says which extra provides it

A message says what was expected, what was found, where, and what to do. What it repeats of a file or of an argument
goes through `quoted` or `shortened`, which bound its length. `RepairWarning` is the only warning: lenient reading has
repaired a file.
"""

from __future__ import annotations

import difflib
import importlib
import reprlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

_LONGEST = 60  # characters of an input that a message repeats


class LongcorefError(Exception):
    """The base class: catch it to catch every error that longcoref raises."""


class UsageError(LongcorefError):
    """An option or name that does not exist or is not allowed here."""


class InputError(LongcorefError):
    """A file that cannot be read or written. `line` counts from 1; None if the error is not about one line."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)


class DocumentError(LongcorefError):
    """Words, offsets, sentences or mentions that contradict each other."""


class ConfigError(LongcorefError):
    """A configuration with an unknown key or an invalid value."""


class ModelError(LongcorefError):
    """A model directory or state file that is missing, damaged or incompatible."""


class MissingExtraError(LongcorefError):
    """An optional dependency that is not installed."""


class RepairWarning(UserWarning):
    """Lenient reading has repaired something in a file; says file:line and what."""


class _Quoted(reprlib.Repr):
    """Values of JSON, spelled as JSON spells them and cut where they are long or deeply nested."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxdict, self.maxstring = 3, 4, 2, _LONGEST

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if abs(x) < 10**18 else "a number of more than 18 digits"  # Python limits what it will spell out

    def repr_bool(self, x: bool, level: int) -> str:
        return "true" if x else "false"

    def repr_NoneType(self, x: None, level: int) -> str:  # noqa: N802
        return "null"


def shortened(text: str) -> str:
    """A name from an input as a message may repeat it: never long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def quoted(value: object) -> str:
    """A value from an input as a message may repeat it: in quotes, and never long."""
    if isinstance(value, str):
        return repr(shortened(value))
    return shortened(_Quoted().repr(value))


def unknown_name(what: str, name: str, choices: Iterable[str]) -> str:
    """A message for a name that does not exist: lists the choices and suggests the nearest one."""
    known = sorted(choices)
    near = difflib.get_close_matches(name[:_LONGEST], known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {quoted(name)}{hint} (choose from {', '.join(known)})"


def optional_module(name: str, *, extra: str, needed_for: str) -> ModuleType:
    """Imports an optional dependency, or says which extra of longcoref provides it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingExtraError(
            f"{needed_for} needs {package}, which is not installed: pip install 'longcoref[{extra}]'"
        ) from error
