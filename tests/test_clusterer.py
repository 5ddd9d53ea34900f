"""The numpy runtime: the same scores as torch, forced along the same actions, for every memory policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from longcoref.config import ModelConfig, ProposalConfig
from longcoref.errors import ModelError, UsageError
from longcoref.features.facts import HE_OR_SHE
from longcoref.memory import ActionKind, LearnedMemory, MemoryPolicy, RuleMemory, UnboundedMemory
from longcoref.nn.heads import Heads as TorchHeads
from longcoref.runtime.clusterer import Clusterer
from longcoref.runtime.heads import CLOSED, END, END_BIAS, PRODUCT, REACHES, START, START_BIAS, Heads, expected_shapes
from longcoref.runtime.mentions import select
from longcoref.spans import WordSpan
from longcoref.training.gates import gated
from longcoref.training.low_rank import low_rank, product_moments
from test_heads import (
    ALL_FEATURES,
    POLICIES,
    WIDTH,
    WORDS,
    example,
    geometry,
    heads,
    layouts,
    mention_words,
)


def twin(model: TorchHeads) -> Heads:
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    return Heads(weights, model.config, WIDTH)


@settings(max_examples=40)
@given(layouts(), st.sampled_from(["words", "pieces"]), st.integers(0, 99))
def test_mention_scores_and_span_vectors_equal_those_of_torch(layout, unit: str, seed: int) -> None:
    candidates, sentences = geometry(layout, unit)
    model = heads(unit=unit)
    vectors = torch.randn(sum(layout[0]), WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 5
    grid = twin(model).mention_scores(vectors.numpy(), candidates)
    expected = model.mention_scores(vectors, candidates).detach().numpy()
    np.testing.assert_allclose(grid, expected, atol=1e-9)
    spans = select(grid, candidates, sentences, ProposalConfig(threshold=-1e8, ratio=9))
    assert len(spans) == candidates.mask.sum()
    x = twin(model).span_vectors(vectors.numpy(), candidates, spans)
    np.testing.assert_allclose(x, model.span_vectors(vectors, candidates, torch.from_numpy(spans)).detach(), atol=1e-9)


def test_mention_scores_do_not_depend_on_how_many_are_computed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, _ = geometry(([1, 2, 1, 1, 3, 1], [WordSpan(0, 4), WordSpan(4, 6)]), "pieces")
    model, vectors = twin(heads(unit="pieces")), np.random.default_rng(3).normal(size=(9, WIDTH))
    together = model.mention_scores(vectors, candidates)
    monkeypatch.setattr("longcoref.runtime.heads._STARTS_AT_ONCE", 2)
    np.testing.assert_allclose(model.mention_scores(vectors, candidates), together, atol=1e-12)


@settings(max_examples=40)
@given(layouts(), st.sampled_from(["words", "pieces"]), st.integers(0, 99))
def test_gates_close_candidates_where_no_mention_so_long_starts_or_none_ends(layout, unit: str, seed: int) -> None:
    candidates, _ = geometry(layout, unit)
    model, random = heads(unit=unit), np.random.default_rng(seed)
    vectors = random.normal(size=(sum(layout[0]), WIDTH))
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    start, end = random.normal(size=(2, WIDTH)), random.normal(size=(1, WIDTH))
    gates = {START: start, START_BIAS: random.normal(size=2), END: end, END_BIAS: random.normal(size=1)}
    grid = Heads({**weights, **gates}, model.config, WIDTH).mention_scores(vectors, candidates)
    one, several = (vectors[candidates.first] @ start.T + gates[START_BIAS] >= 0).T
    short = np.arange(grid.shape[1]) < REACHES[1] - 1
    ends = vectors[candidates.last] @ end[0] + gates[END_BIAS] >= 0
    last = np.arange(len(grid))[:, None] + np.arange(grid.shape[1])
    opened = one[:, None] & (several[:, None] | short) & ends[np.minimum(last, len(grid) - 1)]
    every = twin(model).mention_scores(vectors, candidates)
    np.testing.assert_allclose(grid, np.where(opened, every, CLOSED), atol=1e-9)


def test_the_gates_of_a_sample_are_open_for_all_its_mentions_and_closed_at_most_other_words() -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(2000, WIDTH)).astype(np.float32)
    starts = np.flatnonzero(vectors[:, 0] + vectors[:, 1] > 2)
    starts = starts[starts < 1990]
    mentions = np.stack([starts, starts + np.where(vectors[starts, 2] > 0, 6, 1)], axis=1)
    last = random.normal(size=(2000, WIDTH)).astype(np.float32)
    last[mentions[:, 1] - 1, 0] += 8
    fitted = gated({"other": vectors}, vectors, last, mentions)
    opened = (vectors @ fitted[START].T + fitted[START_BIAS] > -1e-5).T
    assert len(opened) == 2  # none is as long as the third
    for kept, reach in zip(opened, REACHES, strict=False):
        long = starts[mentions[:, 1] - mentions[:, 0] >= reach]
        assert kept[long].all()
        assert kept.mean() < 3 * len(long) / 2000
    ended = last @ fitted[END][0] + fitted[END_BIAS] > -1e-5
    assert ended[mentions[:, 1] - 1].all()
    assert ended.mean() < 3 * len(mentions) / 2000
    assert "other" in fitted
    assert gated({}, vectors, last, np.empty((0, 2), dtype=np.int64)) == {}


@settings(max_examples=60)
@given(mention_words, st.sampled_from(POLICIES), st.sampled_from(["mean", "weighted"]))
def test_the_forced_loop_gives_the_scores_of_the_parallel_teacher(mentions, policy: MemoryPolicy, entity: str) -> None:
    # Every mention is one proposal here; `example` numbers the proposals 0, 2, 4, so the twin is unrolled anew.
    from longcoref.nn.teacher import unroll

    actions, facts, _ = example(mentions, policy)
    unrolled = unroll(actions, facts, np.arange(len(facts)), policy, features=ALL_FEATURES, genre=1)
    model = heads(entity=entity).float()
    x = torch.randn(len(mentions), model.span_width, generator=torch.Generator().manual_seed(1))
    s_m = torch.randn(len(mentions), generator=torch.Generator().manual_seed(2))
    scores = model.score(x, s_m, unrolled)
    loop = Clusterer(twin(model), policy, genre=1)
    decisions = list(loop.cluster(x.numpy(), s_m.numpy(), facts, forced=actions))
    choices = {int(mention): row for row, mention in enumerate(unrolled.option_mention)}
    for i, decision in enumerate(decisions):
        known = len(decision.links)
        np.testing.assert_allclose(decision.links, scores.links[i, :known].detach(), rtol=1e-4, atol=1e-4)
        if i in choices:
            row = scores.options[choices[i]].detach().numpy()
            offered = (
                [0.0, row[1]] if not unrolled.option_full[choices[i]] else [*row[3:][row[3:] > -1e8], row[2], row[1]]
            )
            np.testing.assert_allclose(decision.options, offered, rtol=1e-4, atol=1e-4)
    assert [decision.action for decision in decisions] == actions
    recalls = unrolled.recalls
    if recalls is None:
        return
    for pair, (i, state) in enumerate(zip(recalls.pair_mention, recalls.pair_state, strict=True)):
        entity_of_state = decisions[unrolled.members[state]].entity
        score = dict(decisions[i].recalled).get(entity_of_state)
        if score is not None:  # the archive finds others by vector, and the teacher by age
            taught = scores.recalls[recalls.pair_step[pair], recalls.pair_column[pair]].item()
            assert score == pytest.approx(taught, rel=1e-4, abs=1e-4)


@settings(max_examples=60)
@given(mention_words, st.sampled_from(POLICIES), st.sampled_from(["flat", "staged"]), st.integers(0, 30))
def test_the_free_loop_obeys_its_policy_and_does_not_depend_on_how_it_is_fed(
    mentions, policy: MemoryPolicy, options: str, cut: int
) -> None:
    _, facts, _ = example(mentions, policy)
    model = twin(heads(options=options).float())
    random = np.random.default_rng(3)
    x = random.normal(size=(len(facts), model.span_width)).astype(np.float32)
    s_m = random.normal(size=len(facts)).astype(np.float32) * 2
    whole = list(Clusterer(model, policy).cluster(x, s_m, facts))
    parted = Clusterer(model, policy)
    halves = [list(parted.cluster(x[part], s_m[part], facts[part])) for part in (slice(0, cut), slice(cut, None))]
    assert [d.action for d in whole] == [d.action for half in halves for d in half]
    for decision, fact in zip(whole, facts, strict=True):
        rivals = [score for _, score in decision.rivals]
        assert rivals == sorted(rivals, reverse=True)
        assert bool(rivals) == (fact.facts.pronoun in HE_OR_SHE and len(decision.links) > 0)
        if decision.action.kind is ActionKind.LINK:
            assert decision.links.max() > 0
            assert not rivals or decision.rivals[0] == (decision.entity, decision.links.max())
        else:
            assert not len(decision.links) or decision.links.max() <= 0
        if (
            decision.action.kind in (ActionKind.NEW, ActionKind.EVICT)
            and policy.name != "track-all"
            and options == "staged"
        ):
            assert decision.mention_score > 0
        if options == "staged" and decision.offered and decision.offered.ignore and decision.mention_score > 0:
            chances = np.exp(decision.options[:-1]) / np.exp(decision.options[:-1]).sum()
            ignored = decision.action.kind is ActionKind.IGNORE
            assert ignored == (chances[-1] > 0.5) or chances[-1] == pytest.approx(0.5, abs=1e-4)
            assert ignored or decision.action.cell == decision.offered.evict[int(chances[:-1].argmax())]
    assert policy.capacity is None or len(parted.cells) <= policy.capacity


def test_a_model_without_fertility_refuses_a_bounded_memory() -> None:
    model = twin(heads(fertility=False))
    Clusterer(model, UnboundedMemory())
    for policy in (LearnedMemory(5), RuleMemory(5)):
        with pytest.raises(UsageError, match="trained without f_r"):
            Clusterer(model, policy)


def test_weights_of_another_model_are_refused() -> None:
    model = heads()
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    assert {name: value.shape for name, value in weights.items()} == expected_shapes(model.config, WIDTH)
    with pytest.raises(ModelError, match="shape"):
        Heads(
            weights,
            ModelConfig(hidden=17, max_width=4, features=ALL_FEATURES, genres=("a", "b"), feature_size=3),
            WIDTH,
        )
    del weights["link.output.bias"]
    with pytest.raises(ModelError, match=r"lack link\.output\.bias"):
        Heads(weights, model.config, WIDTH)


def test_memory_grows_without_bound_when_it_has_none() -> None:
    model = twin(heads(options="flat").float())
    count = 200
    facts = example([(WORDS[0], None)] * count, UnboundedMemory())[1]
    x = np.zeros((count, model.span_width), dtype=np.float32)
    loop = Clusterer(model, UnboundedMemory())
    actions = [d.action.kind for d in loop.cluster(x, np.full(count, -50.0, np.float32), facts)]
    assert set(actions) == {ActionKind.INVALID}
    model.link = replace(model.link, output=np.zeros_like(model.link.output), output_bias=0.0)
    decisions = list(Clusterer(model, UnboundedMemory()).cluster(x, np.full(count, 0.0, np.float32), facts))
    assert [d.entity for d in decisions if d.entity is not None] == list(range(count))


@settings(max_examples=30)
@given(mention_words, st.sampled_from(POLICIES), st.integers(1, 8))
def test_factored_products_score_like_the_matrix_they_multiply_to(mentions, policy: MemoryPolicy, rank: int) -> None:
    actions, facts, _ = example(mentions, policy)
    model = heads().float()
    random = np.random.default_rng(rank)
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    before, product, after = np.split(weights["link.hidden.weight"], [2 * model.span_width, 3 * model.span_width], 1)
    first = random.normal(size=(rank, model.span_width)).astype(np.float32)
    second = random.normal(size=(len(product), rank)).astype(np.float32)
    whole = {**weights, "link.hidden.weight": np.hstack([before, second @ first, after])}
    factored = {**weights, "link.hidden.weight": np.hstack([before, second, after]), PRODUCT: first}
    x = random.normal(size=(len(facts), model.span_width)).astype(np.float32)
    s_m = random.normal(size=len(facts)).astype(np.float32)
    loops = [Clusterer(Heads(table, model.config, WIDTH), policy, genre=1) for table in (whole, factored)]
    for one, other in zip(*(loop.cluster(x, s_m, facts, forced=actions) for loop in loops), strict=True):
        np.testing.assert_allclose(one.links, other.links, rtol=1e-3, atol=1e-3)
        assert dict(one.recalled) == pytest.approx(dict(other.recalled), rel=1e-3, abs=1e-3)


def test_a_matrix_of_low_rank_is_recovered_where_its_inputs_vary() -> None:
    generator = torch.Generator().manual_seed(5)
    x, e = (torch.randn(200, 30, generator=generator) for _ in range(2))
    weight = torch.randn(12, 30, generator=generator)
    pairs = (x[:, None] * e).reshape(-1, 30)
    errors = []
    for rank in (2, 6, 12):
        first, second = low_rank(weight, product_moments(x, e), rank)
        assert (first.shape, second.shape) == ((rank, 30), (12, rank))
        errors.append(float((pairs @ (second @ first - weight).T).square().mean()))
    assert errors[0] > errors[1] > errors[2] == pytest.approx(0, abs=1e-8)
    cut = torch.linalg.svd(weight)
    plain = (cut.U[:, :6] * cut.S[:6]) @ cut.Vh[:6]
    assert errors[1] <= float((pairs @ (plain - weight).T).square().mean())  # the best for any inputs is no better
