"""The matrix that f_c multiplies x⊙e by, as two narrow ones: most of the time of clustering is spent on this product.

The factors keep the product for the pairs that occur, not for arbitrary ones: x⊙e varies in few directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longcoref.runtime.heads import PRODUCT

Floats = npt.NDArray[np.floating[Any]]


def product_moments(x: Tensor, e: Tensor) -> Tensor:
    """E[zzᵀ] for z = x⊙e, (span, span), if the mentions x, (mentions, span), and the entities e are independent."""
    x, e = x.double(), e.double()
    return (x.T @ x / len(x)) * (e.T @ e / len(e))


def low_rank(weight: Tensor, moments: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Matrices (rank, inputs) and (outputs, rank) whose product is nearest to `weight`, (outputs, inputs).

    Nearest means the smallest mean square error of the output, for inputs z whose E[zzᵀ] is `moments`.
    """
    damped = moments.double() + torch.eye(len(moments), dtype=torch.double) * (1e-3 * moments.diagonal().mean())
    root = torch.linalg.cholesky(damped)
    left, sizes, right = torch.linalg.svd(weight.double() @ root, full_matrices=False)
    sizes = sizes[:rank].sqrt()
    first = torch.linalg.solve_triangular(root, sizes[:, None] * right[:rank], upper=False, left=False)
    return first.to(weight.dtype), (left[:, :rank] * sizes).to(weight.dtype)


def narrowed(heads: Mapping[str, Floats], x: Floats, e: Floats, rank: int) -> dict[str, Floats]:
    """The weights of the heads with the products of f_c factored, for mentions and entities like `x` and `e`.

    They are unchanged if two factors of this rank would be no smaller than the matrix, or if there are no entities.
    """
    name, span = "link.hidden.weight", x.shape[1]
    before, weight, after = np.split(heads[name], [2 * span, 3 * span], axis=1)
    if rank * sum(weight.shape) >= weight.size or not len(e):
        return dict(heads)
    moments = product_moments(torch.from_numpy(x), torch.from_numpy(e))
    first, second = low_rank(torch.from_numpy(weight), moments, rank)
    return {**heads, PRODUCT: first.numpy(), name: np.concatenate([before, second.numpy(), after], axis=1)}
