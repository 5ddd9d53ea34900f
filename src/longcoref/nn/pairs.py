"""Scores of mentions beside entity states, with the product W(x⊙e) as the only large work.

The first layer over [x; e; x⊙e; g] is a sum of four: the parts of x and e are projected once per mention and once per
state, and only W(x⊙e) and the small feature part are paid per pair. Pairs are worked off in chunks that
fit the processor's cache; what the backward pass needs again is kept (the hidden layer) or made again (x⊙e).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 512


class PairScores(torch.autograd.Function):
    """w · dropout(relu(px[i] + pe[s] + W(x[i]⊙e[s]) + F g)) for pairs (i, s), without the output bias."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        e: Tensor,
        px: Tensor,
        pe: Tensor,
        features: Tensor,
        product: Tensor,
        feature: Tensor,
        output: Tensor,
        mention: Tensor,
        state: Tensor,
        dropout: float,
    ) -> Tensor:
        """Shapes: x (mentions, span), e (states, span), px and pe the same with hidden, features (pairs, g)."""
        hidden = px.new_empty((len(mention), px.shape[1]))
        for start in range(0, len(mention), CHUNK):
            rows = slice(start, start + CHUNK)
            i, s = mention[rows], state[rows]
            chunk = torch.addmm(px[i], x[i].mul_(e[s]), product.t(), out=hidden[rows])
            chunk.add_(pe[s]).addmm_(features[rows], feature.t()).relu_()
            if dropout:
                chunk.mul_(torch.empty_like(chunk).bernoulli_(1 - dropout)).div_(1 - dropout)
        ctx.save_for_backward(x, e, features, product, feature, output, mention, state, hidden)
        ctx.dropout = dropout
        return hidden @ output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients in the order of the inputs."""
        x, e, features, product, feature, output, mention, state, hidden = ctx.saved_tensors
        dx, de = torch.zeros_like(x), torch.zeros_like(e)
        dpx, dpe = x.new_zeros((len(x), hidden.shape[1])), x.new_zeros((len(e), hidden.shape[1]))
        dproduct, dfeature = torch.zeros_like(product), torch.zeros_like(feature)
        dfeatures = torch.empty_like(features)
        scaled = output / (1 - ctx.dropout)
        for start in range(0, len(mention), CHUNK):
            rows = slice(start, start + CHUNK)
            i, s = mention[rows], state[rows]
            xi, es = x[i], e[s]
            # Where the hidden layer is not positive, relu or dropout has closed it.
            inner = torch.outer(gradient[rows], scaled).mul_(hidden[rows] > 0)
            dpx.index_add_(0, i, inner)
            dpe.index_add_(0, s, inner)
            dfeature.addmm_(inner.t(), features[rows])
            torch.mm(inner, feature, out=dfeatures[rows])
            dproduct.addmm_(inner.t(), xi * es)
            both = inner @ product
            dx.index_add_(0, i, es.mul_(both))
            de.index_add_(0, s, xi.mul_(both))
        doutput = hidden.t() @ gradient
        return dx, de, dpx, dpe, dfeatures, dproduct, dfeature, doutput, None, None, None
