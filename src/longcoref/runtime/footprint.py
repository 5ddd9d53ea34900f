"""The memory that reading needs, in bytes: how many cells fit under a limit, and whether a text does.

A process needs what it uses after opening the model, a fixed amount for encoding, the archive's share if there is one,
and an amount for each cell. An output that is written while reading needs no more than that; one that is made from the
whole result also needs an amount for each character.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from longcoref.errors import UsageError
from longcoref.features.pairs import EntityArrays
from longcoref.runtime.archive import IN_MEMORY, NEAREST_AMONG
from longcoref.runtime.heads import Heads

DECISIONS_AT_ONCE = 1000
"""Decisions held at a time; each has up to two scores for every cell."""

_READING = 32_000_000  # sentences, pieces, vectors and scores of the windows being read, and facts of recent mentions
_ENCODING = 16_000_000  # one window inside the encoder, for each thread
_WORDING = 3_000  # the words by which an entity is found again, as Python objects
_DATABASE = 2_000_000  # sqlite's cache of the entities on disk
_PER_CHARACTER = (
    300  # measured on the example story: 85 for document and result, up to 126 for writing it, and a margin
)
_STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The peak memory of this process so far."""
    if _STATUS.exists():  # unlike getrusage, it does not include the peak of the parent process
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError as error:
        raise UsageError("this system does not report the memory of a process: leave out --memory-limit") from error
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def bytes_per_cell(heads: Heads) -> int:
    """The memory that one more cell needs while mentions are being decided."""
    hidden, span, features = heads.config.hidden, heads.span_width, len(heads.config.features)
    kept = 4 * (span + 2 * hidden + 1) + 8 * (len(EntityArrays.__slots__) + features + 1)
    # The product with the mention, its projection, the layer with and without features, and the activation's copies.
    compared = 4 * (span + 7 * hidden) + 32 * features
    return kept + compared + 8 * DECISIONS_AT_ONCE + _WORDING


def bytes_of_archive(heads: Heads) -> int:
    """The most memory that evicted entities need."""
    vector, part = 4 * heads.span_width, 4 * heads.config.hidden
    return IN_MEMORY * (vector + part + _WORDING) + NEAREST_AMONG * vector + _DATABASE


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit in bytes, the memory needed before the first cell, and the memory of a cell."""

    limit: int
    fixed: int
    cell: int

    @classmethod
    def of(cls, limit: int, heads: Heads, *, threads: int, characters: int, recall: bool = False) -> Budget:
        """The budget of this process, which has opened its model, for texts of at most this many characters."""
        fixed = peak_bytes() + _READING + threads * _ENCODING
        fixed += bytes_of_archive(heads) if recall else 0
        return cls(limit, fixed, bytes_per_cell(heads)).holding(characters)

    def holding(self, characters: int) -> Budget:
        """The same budget if this many more characters of text are held in memory."""
        return replace(self, fixed=self.fixed + _PER_CHARACTER * characters)

    def needed(self, cells: int) -> int:
        """The memory that reading with this many cells needs."""
        return self.fixed + cells * self.cell

    def cells(self, wanted: int | None) -> int:
        """The number of cells to use: `wanted`, or else as many as fit. Raises `UsageError` if they do not fit."""
        fitting, count = (self.limit - self.fixed) // self.cell, wanted or 1
        if fitting < count:
            raise UsageError(
                f"this text needs about {_megabytes(self.needed(count))} with {count} cell{'s' * (count != 1)}, but "
                f"the limit is {_megabytes(self.limit)} ({_megabytes(self.fixed)} before the first cell, {self.cell:,} "
                "bytes per cell): raise it, use fewer cells or threads, or write --to jsonl, which does not keep the "
                "text"
            )
        return wanted or fitting

    def check(self) -> None:
        """Raises `UsageError` if the process has exceeded the limit after all."""
        if (peak := peak_bytes()) > self.limit:
            raise UsageError(
                f"reading exceeded the limit of {_megabytes(self.limit)} and uses {_megabytes(peak)}: raise it, use "
                "fewer cells or threads, or write --to jsonl, which does not keep the text"
            )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
