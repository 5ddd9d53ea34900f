"""Tables that several features share, and projections of mentions, equal their plain formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from longcoref.runtime.model import open_model
from longcoref.runtime.packed import PackedWeights
from longcoref.runtime.tables import Layout, add_rows


@given(st.lists(st.integers(1, 70), max_size=8), st.integers(0, 99))
def test_shared_tables_add_what_each_feature_adds(codes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [random.normal(size=(count, 4)) for count in codes]
    chosen = random.integers(0, np.array(codes, dtype=np.int64)[:, None], size=(len(codes), 5))
    plain = sum((part[row] for part, row in zip(parts, chosen, strict=True)), np.zeros((5, 4)))
    layout, added = Layout(codes), np.zeros((5, 4))
    rows = layout.rows(chosen)
    add_rows(added, layout.stacked(parts, 4), rows)
    assert np.allclose(added, plain)
    assert len(rows) <= len(codes)


def test_features_with_few_codes_share_a_table() -> None:
    assert len(Layout([10, 10, 5, 10, 4, 5, 7, 35, 70]).rows(np.zeros((9, 1), dtype=np.int64))) == 4


def test_mentions_of_one_piece_are_projected_like_all_others(tiny_model: Path) -> None:
    heads = open_model(tiny_model, threads=1).heads
    random = np.random.default_rng(1)
    x = random.normal(size=(6, heads.span_width)).astype(np.float32)
    x[::2, : heads.width] = x[::2, heads.width : 2 * heads.width] = x[::2, -heads.width :]
    as_mention, as_entity, as_candidate = heads.projections(x).swapaxes(0, 1)
    assert heads.fertility is not None
    assert np.allclose(as_mention, x @ heads.link.parts[0] + heads.link.bias, atol=1e-5)
    assert np.allclose(as_entity, x @ heads.link.parts[1], atol=1e-5)
    assert np.allclose(as_candidate, x @ heads.fertility.parts[0] + heads.fertility.bias, atol=1e-5)


@settings(max_examples=30)
@given(st.integers(0, 40), st.integers(1, 40), st.integers(1, 40), st.sampled_from(["float32", "float64"]))
def test_packed_weights_multiply_like_plain_ones(rows: int, inputs: int, outputs: int, kind: str) -> None:
    random = np.random.default_rng(rows)
    x, first, second = (
        random.normal(size=size).astype(kind) for size in ((rows, inputs), (outputs, inputs), (1, inputs))
    )
    product = PackedWeights(first, second).times(x)
    assert product.dtype == x.dtype
    plain = np.concatenate([x @ first.T, x @ second.T], axis=1)
    np.testing.assert_allclose(product, plain, atol=1e-4 if kind == "float32" else 1e-12)
    np.testing.assert_array_equal(PackedWeights(np.asfortranarray(first), second).times(x), product)
