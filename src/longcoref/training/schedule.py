"""How the learning rate goes up and down over a run."""

from __future__ import annotations


def schedule(done: float, warmup: float) -> float:
    """The share of the peak rate after that share of all steps: up linearly, then down linearly to 0."""
    if done < warmup:
        return done / warmup + 1e-3
    return max(0.0, (1 - done) / (1 - warmup)) if warmup < 1 else 1.0
