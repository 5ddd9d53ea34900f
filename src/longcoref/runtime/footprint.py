"""What reading costs in bytes: how many cells a limit on memory allows, and whether a text fits under it.

A process takes what it has after opening the model, some for encoding, with recall what the archive has in memory, and
then so much for each cell. An output that is written while reading takes no more; one that is made of the whole result
takes so much for each character besides.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from longcoref.errors import UsageError
from longcoref.features.pairs import EntityArrays
from longcoref.runtime.archive import IN_MEMORY, NEAREST_AMONG
from longcoref.runtime.heads import Heads

STEPS_AT_ONCE = 1000
"""Decisions that are held at a time; each has up to two scores for every cell."""

_READING = 32_000_000  # sentences, pieces, vectors and scores of the windows that are being read
_ENCODING = 16_000_000  # one window inside the encoder; every thread has one
_WORDING = 3_000  # the words by which an entity is found again, in Python's objects
_DATABASE = 2_000_000  # what sqlite holds of the entities on disk
_PER_CHARACTER = 300  # of the example story: 85 for document and result, up to 126 for writing it, and some to spare
_STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The most memory that this process ever had."""
    if _STATUS.exists():  # unlike getrusage, this does not count what the parent had before it started us
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError as error:
        raise UsageError("this system does not say how much memory a process has: leave out --memory-limit") from error
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def bytes_per_cell(heads: Heads) -> int:
    """What one more cell costs while mentions are being decided."""
    hidden, span, features = heads.config.hidden, heads.span_width, len(heads.config.features)
    kept = 4 * (span + 2 * hidden + 1) + 8 * len(EntityArrays.__slots__)
    # The product with the mention, its projection, the layer with and without features, and what the activation copies.
    compared = 4 * (span + 7 * hidden + len(heads.link_table)) + 32 * features
    return kept + compared + 8 * STEPS_AT_ONCE + _WORDING


def bytes_of_archive(heads: Heads) -> int:
    """What evicted entities cost at most, except for the strings of those on disk."""
    vector = 4 * heads.span_width
    return IN_MEMORY * (vector + _WORDING) + NEAREST_AMONG * vector + _DATABASE


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in bytes, what is taken before the first cell, and what a cell takes."""

    limit: int
    fixed: int
    cell: int

    @classmethod
    def of(cls, limit: int, heads: Heads, *, threads: int, characters: int, recall: bool = False) -> Budget:
        """The budget of this process, its model opened, for texts of which so many characters are held at once."""
        fixed = peak_bytes() + _READING + threads * _ENCODING + _PER_CHARACTER * characters
        fixed += bytes_of_archive(heads) if recall else 0
        return cls(limit, fixed, bytes_per_cell(heads))

    def cells(self, wanted: int | None) -> int:
        """The cells to take: those that are wanted, or else as many as fit. Raises `UsageError` where they do not."""
        fitting = (self.limit - self.fixed) // self.cell
        if fitting < (wanted or 1):
            needed = self.fixed + (wanted or 1) * self.cell
            raise UsageError(
                f"this text with {wanted or 1} cells takes about {_megabytes(needed)}, the limit is "
                f"{_megabytes(self.limit)} ({_megabytes(self.fixed)} before the first cell, {self.cell:,} bytes a "
                "cell): allow more, take fewer cells or threads, or write --to jsonl, which does not hold the text"
            )
        return wanted or fitting

    def check(self) -> None:
        """Raises `UsageError` where the process has passed the limit after all."""
        if (peak := peak_bytes()) > self.limit:
            raise UsageError(
                f"the limit of {_megabytes(self.limit)} was passed: {_megabytes(peak)} are in use; allow more, take "
                "fewer cells or threads, or write --to jsonl, which does not hold the text"
            )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
