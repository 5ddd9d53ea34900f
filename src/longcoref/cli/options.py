"""What several commands check alike."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from longcoref.errors import UsageError

RecallOption = Annotated[
    bool, typer.Option("--recall/--no-recall", help="Archive who is evicted, so that they can come back.")
]
NamesOption = Annotated[
    bool, typer.Option("--names/--no-names", help="Tell persons apart by the names of the whole text.")
]
SpeechOption = Annotated[
    bool, typer.Option("--speech/--no-speech", help="Find who speaks, and whom I and you are in a quotation.")
]

_WITHOUT_CAPACITY = ("unbounded", "track-all")


def capacity_of(memory: str, cells: int | None, default: int) -> int | None:
    """The capacity that `--memory` and `--cells` ask for together; None is no bound."""
    if memory not in _WITHOUT_CAPACITY:
        return default if cells is None else cells
    if cells is not None:
        raise UsageError(f"the memory {memory!r} has no capacity: leave out --cells, or take --memory learned")
    return None


def numbers_of(text: str) -> list[int]:
    """Numbers written as `0-2`, `0,3` or both."""
    numbers: list[int] = []
    for item in text.split(","):
        first, dash, last = item.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"expected numbers such as 0-2 or 0,3,5, got {text!r}")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def bytes_of(text: str) -> int:
    """A size such as 500MB, 1.5 GB or 2GiB, in bytes."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", text.strip(), flags=re.IGNORECASE)
    if found is None:
        raise UsageError(f"expected a size such as 500MB or 1.5GB, got {text!r}")
    power = ["", "k", "m", "g", "t"].index(found[2].lower())
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)
