"""How a run goes: the learning rate up and down, and numbers too small to matter as zero."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def without_denormals() -> Iterator[None]:
    """Takes numbers near zero for zero, which processors are slow with; afterwards they are numbers again."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def schedule(done: float, warmup: float) -> float:
    """The share of the peak rate after that share of all steps: up linearly, then down linearly to 0."""
    if done < warmup:
        return done / warmup + 1e-3
    return max(0.0, (1 - done) / (1 - warmup)) if warmup < 1 else 1.0
