"""Scores of pairs of a mention and an entity state, with the product W(x⊙e) as the only large operation.

The first layer over [x; e; x⊙e; g] is a sum: the parts of x and e are projected once per mention and once per state,
and only W[x⊙e; g] is computed per pair. Pairs are processed in chunks that fit the processor's cache; the backward
pass keeps the hidden layer and recomputes x⊙e.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from longcoref.nn.dropout import kept

CHUNK = 1024


class PairScores(torch.autograd.Function):
    """w · dropout(relu(px[i] + pe[s] + W[x[i]⊙e[s]; g])) for pairs (i, s), without the output bias.

    With x and e of width 0, only the features of a pair remain: this is how fertility is scored.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        e: Tensor,
        px: Tensor,
        pe: Tensor,
        features: Tensor,
        weight: Tensor,
        output: Tensor,
        mention: Tensor,
        state: Tensor,
        dropout: float,
    ) -> Tensor:
        """Shapes: x (mentions, span), e (states, span), px and pe the same with hidden, features (pairs, g)."""
        span = x.shape[1]
        hidden = px.new_empty((len(mention), px.shape[1]))
        inputs = x.new_empty((min(CHUNK, len(mention)), weight.shape[1]))
        for start in range(0, len(mention), CHUNK):
            rows = slice(start, start + CHUNK)
            i, s, chunk = mention[rows], state[rows], hidden[rows]
            z = inputs[: len(i)]
            torch.mul(x.index_select(0, i), e.index_select(0, s), out=z[:, :span])
            z[:, span:] = features[rows]
            torch.index_select(px, 0, i, out=chunk)
            chunk.add_(pe.index_select(0, s)).addmm_(z, weight.t()).relu_()
            if dropout:
                chunk.mul_(kept(chunk.shape, dropout))
        ctx.save_for_backward(x, e, features, weight, output, mention, state, hidden)
        ctx.dropout, ctx.tables = dropout, (len(px), len(pe))
        return (hidden @ output).div_(1 - dropout)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients in the order of the inputs."""
        x, e, features, weight, output, mention, state, hidden = ctx.saved_tensors
        span = x.shape[1]
        dx, de = torch.zeros_like(x), torch.zeros_like(e)
        dpx, dpe = (x.new_zeros((count, hidden.shape[1])) for count in ctx.tables)
        dweight, dfeatures = x.new_zeros(weight.shape), torch.empty_like(features)
        inputs = x.new_empty((min(CHUNK, len(mention)), weight.shape[1]))
        gradient = gradient / (1 - ctx.dropout)
        for start in range(0, len(mention), CHUNK):
            rows = slice(start, start + CHUNK)
            i, s = mention[rows], state[rows]
            xi, es, z = x.index_select(0, i), e.index_select(0, s), inputs[: len(i)]
            torch.mul(xi, es, out=z[:, :span])
            z[:, span:] = features[rows]
            # Where the hidden layer is not positive, relu or dropout has set it to zero.
            inner = torch.outer(gradient[rows], output).mul_(hidden[rows] > 0)
            dpx.index_add_(0, i, inner)
            dpe.index_add_(0, s, inner)
            dweight.addmm_(inner.t(), z)
            torch.mm(inner, weight, out=z)
            dfeatures[rows] = z[:, span:]
            dx.index_add_(0, i, es.mul_(z[:, :span]))
            de.index_add_(0, s, xi.mul_(z[:, :span]))
        doutput = hidden.t() @ gradient
        return dx, de, dpx, dpe, dfeatures, dweight, doutput, None, None, None
