"""Several models that read as one: their scores are averaged before anything is decided.

There is one clustering pass. The vectors of the members stand side by side, and so do the hidden layers of their link
and fertility scores, so that each member sees its own vectors only and the last layer takes the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from longcoref.features.candidates import Candidates
from longcoref.runtime.encoder import Vectors, WindowEncoder
from longcoref.runtime.heads import Floats, Heads, Integers, Layer
from longcoref.runtime.pieces import Integers as Pieces
from longcoref.runtime.windows import Window


class EnsembleEncoder:
    """Encoders whose vectors stand side by side."""

    def __init__(self, members: Sequence[WindowEncoder]) -> None:
        self._members = members

    def encode(self, ids: Pieces, windows: Sequence[Window]) -> Vectors:
        """Vectors of the pieces that the windows keep, (pieces, sum of widths), in text order."""
        return np.concatenate([member.encode(ids, windows) for member in self._members], axis=1)


class EnsembleHeads(Heads):
    """Heads whose scores are the means of the scores of their members."""

    def __init__(self, members: Sequence[Heads]) -> None:
        first = members[0]
        self.config = replace(first.config, hidden=sum(member.config.hidden for member in members))
        self.width = sum(member.width for member in members)
        self.span_width = sum(member.span_width for member in members)
        self.layout = first.layout
        self.link = _side_by_side([member.link for member in members], 2)
        self.link_table = np.concatenate([member.link_table for member in members], axis=1)
        fertility = [member.fertility for member in members if member.fertility]
        self.fertility = _side_by_side(fertility, 1) if fertility else None
        self.fertility_table = np.concatenate([member.fertility_table for member in members], axis=1)
        self._members = members
        self._vectors = np.cumsum([member.width for member in members])[:-1]
        self._spans = np.cumsum([member.span_width for member in members])[:-1]

    def mention_scores(self, vectors: Floats, candidates: Candidates, genre: int = 0) -> Floats:
        """The mean s_m of every candidate."""
        parts = zip(self._members, np.split(vectors, self._vectors, axis=1), strict=True)
        return np.asarray(np.mean([member.mention_scores(part, candidates, genre) for member, part in parts], axis=0))

    def span_vectors(self, vectors: Floats, candidates: Candidates, spans: Integers) -> Floats:
        """The vectors of the members side by side."""
        parts = zip(self._members, np.split(vectors, self._vectors, axis=1), strict=True)
        return np.concatenate([member.span_vectors(part, candidates, spans) for member, part in parts], axis=1)

    def projections(self, x: Floats) -> Floats:
        """The projections of the members side by side."""
        parts = zip(self._members, np.split(x, self._spans, axis=1), strict=True)
        return np.concatenate([member.projections(part) for member, part in parts], axis=-1)

    def products(self, pairs: Floats) -> Floats:
        """What the products of the members add to their hidden layers, side by side."""
        parts = zip(self._members, np.split(pairs, self._spans, axis=-1), strict=True)
        return np.concatenate([member.products(np.ascontiguousarray(part)) for member, part in parts], axis=-1)

    def labels(self, head: str, x: Floats) -> Floats:
        """The mean logits of the kinds or types."""
        parts = zip(self._members, np.split(x, self._spans, axis=1), strict=True)
        return np.asarray(np.mean([member.labels(head, part) for member, part in parts], axis=0))


def _side_by_side(layers: Sequence[Layer], vectors: int) -> Layer:
    """A layer over the inputs of all layers, whose score is the mean of theirs. Its first parts multiply vectors."""
    parts = tuple(_diagonal([layer.parts[part] for layer in layers]) for part in range(vectors))
    return Layer(
        parts,
        np.concatenate([layer.bias for layer in layers]),
        np.concatenate([layer.output for layer in layers]) / np.float32(len(layers)),
        float(np.mean([layer.output_bias for layer in layers])),
    )


def _diagonal(blocks: Sequence[Floats]) -> npt.NDArray[np.float32]:
    rows, columns = np.sum([block.shape for block in blocks], axis=0)
    matrix = np.zeros((rows, columns), np.float32)
    row = column = 0
    for block in blocks:
        height, width = block.shape
        matrix[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return matrix
