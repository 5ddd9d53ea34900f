"""A linear classifier of the types of mentions, fitted to their vectors when everything else is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

Floats = npt.NDArray[np.floating[Any]]
_STEPS, _DECAY = 150, 1e-3
_BALANCE = 0.3  # a mention counts less the more mentions of its type there are, by this power


def fit_types(x: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """The weights, (types, span), and biases of the classifier of mention vectors whose types are likely `shares`.

    A mention counts the more, the surer its type is; mentions without shares do not count.
    """
    known = shares.any(1)
    vectors, wanted = (torch.from_numpy(np.asarray(table[known], np.float32)) for table in (x, shares))
    sure = wanted.amax(1).square()
    mass = (wanted * sure[:, None]).sum(0)
    counts = sure * (wanted @ (mass / mass.max()).clamp(min=1e-6).pow(-_BALANCE))
    mean, deviation = vectors.mean(0), vectors.std(0) + 1e-3
    scaled = (vectors - mean) / deviation
    layer = nn.Linear(vectors.shape[1], wanted.shape[1])
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=_STEPS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        surprise = -(wanted * torch.log_softmax(layer(scaled), 1)).sum(1)
        total = (surprise * counts).sum() / counts.sum() + _DECAY * layer.weight.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    weights = (layer.weight / deviation).detach()
    return weights.numpy(), (layer.bias.detach() - weights @ mean).numpy()
