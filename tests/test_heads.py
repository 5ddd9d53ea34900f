"""The torch heads: factored equals plain, gradients arrive, parameter counts are the paper's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from longcoref.config import ModelConfig, TrainConfig
from longcoref.features.candidates import candidates_of
from longcoref.features.speech import document_facts
from longcoref.memory import (
    Cells,
    LearnedMemory,
    MemoryPolicy,
    RuleMemory,
    TrackAllMemory,
    UnboundedMemory,
    WithRecall,
    oracle_actions,
)
from longcoref.nn.dropout import dropout
from longcoref.nn.heads import CLOSED, Heads
from longcoref.nn.losses import label_loss, link_loss, mention_loss, option_loss
from longcoref.nn.pairs import PairScores
from longcoref.nn.teacher import EVICT_COLUMN, IGNORE_COLUMN, unroll
from longcoref.spans import WordSpan

WIDTH = 8
ALL_FEATURES = ("count", "distance", "last_action", "genre", "sentences", "quote", "agreement", "match")
POLICIES = [UnboundedMemory(), TrackAllMemory(), LearnedMemory(3), RuleMemory(3)]
POLICIES += [WithRecall(LearnedMemory(1)), WithRecall(RuleMemory(2))]
WORDS = (
    "Mr. Hale",
    "he",
    "the old miller",
    "Anna",
    "she",
    "it",
    "the mill",
    "miller",
    "they",
    "“",
    "”",
    "said",
    "Anna Hale",
)


def heads(**changes: object) -> Heads:
    torch.manual_seed(0)
    settings = {"hidden": 16, "max_width": 4, "features": ALL_FEATURES, "genres": ("a", "b"), "feature_size": 3}
    model = Heads(ModelConfig(**{**settings, **changes}), WIDTH)
    return model.double().eval()


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[int], list[WordSpan]]:
    """Lengths of words in pieces, and sentences."""
    sentences, lengths = [], []
    for size in draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)):
        sentences.append(WordSpan(len(lengths), len(lengths) + size))
        lengths += draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    return lengths, sentences


def geometry(layout: tuple[list[int], list[WordSpan]], unit: str):
    lengths, sentences = layout
    end = np.cumsum(lengths)
    return candidates_of(end - lengths, end, sentences, max_width=4, unit=unit), sentences


@settings(max_examples=40)
@given(layouts(), st.sampled_from(["words", "pieces"]), st.integers(0, 99))
def test_factored_mention_scores_equal_the_plain_formula(layout, unit: str, seed: int) -> None:
    candidates, sentences = geometry(layout, unit)
    model = heads(unit=unit)
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(sum(layout[0]), WIDTH, dtype=torch.float64, generator=generator) * 5
    grid = model.mention_scores(vectors, candidates)
    seen = 0
    for sentence in sentences:
        for start in range(*sentence):
            for end in range(start + 1, sentence.end + 1):
                first, last = candidates.first[start], candidates.last[end - 1]
                width = end - start if unit == "words" else last - first + 1
                if width > 4:
                    continue
                inside = vectors[first : last + 1]
                head = model.attention(inside).softmax(0).T @ inside
                x = torch.cat([vectors[first], vectors[last], model.span_width_embedding.weight[width - 1], head[0]])
                plain = model.mention(x) + model.width_prior(model.width_prior_embedding.weight[width - 1])
                assert abs(grid[start, end - start - 1] - plain) < 1e-9
                spans = torch.tensor([[start, end]])
                assert torch.allclose(model.span_vectors(vectors, candidates, spans)[0], x, atol=1e-12)
                seen += 1
    assert seen == int((grid > CLOSED / 2).sum()) == int(candidates.mask.sum())


mention_words = st.lists(
    st.tuples(st.sampled_from(WORDS), st.one_of(st.none(), st.integers(0, 5))), min_size=1, max_size=30
)


def example(mentions, policy: MemoryPolicy, features=ALL_FEATURES):
    """Mentions as an own tiny document: every mention is followed by a full stop word."""
    words, spans, sentences = [], [], []
    for text, _ in mentions:
        parts = text.split()
        spans.append((len(words), len(words) + len(parts)))
        words += [*parts, "."]
        sentences.append(WordSpan(spans[-1][0], len(words)))
    entities = [entity for _, entity in mentions]
    sizes = {entity: entities.count(entity) for entity in entities if entity is not None}
    actions = oracle_actions(entities, sizes, policy)
    facts = document_facts(words, sentences, spans)
    index = np.arange(len(spans)) * 2
    return actions, facts, unroll(actions, facts, index, policy, features=features, genre=1)


@settings(max_examples=60)
@given(mention_words, st.sampled_from(POLICIES), st.sampled_from(["mean", "weighted"]))
def test_the_parallel_graph_equals_a_plain_walk(mentions, policy: MemoryPolicy, entity: str) -> None:
    """A slow twin: walks the actions, keeps every entity's mentions, and applies the unfactored formula."""
    actions, _, unrolled = example(mentions, policy)
    model = heads(entity=entity)
    x = torch.randn(len(mentions), model.span_width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    s_m = torch.randn(len(mentions), dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    scores = model.score(x, s_m, unrolled)

    def g(codes):
        return torch.cat([table.weight[code] for table, code in zip(model.feature_embeddings, codes, strict=True)])

    codes = {(i, c): k for k, (i, c) in enumerate(zip(unrolled.pair_mention, unrolled.pair_cell, strict=True))}
    choices = {int(mention): row for row, mention in enumerate(unrolled.option_mention)}

    def mean(members):
        weight = torch.ones(len(members), dtype=torch.float64)
        if entity == "weighted":
            weight = torch.nn.functional.softplus(model.weight(x[members]).squeeze(-1)) + 1e-3
        return (x[members] * weight[:, None]).sum(0) / weight.sum()

    def link(i, e, pair):
        return model.link(torch.cat([x[i], e, x[i] * e, g(pair)])) + s_m[i]

    memory, mentioned = Cells(archive={}), {}
    for i, action in enumerate(actions):
        cells = [mentioned[number] for number in memory.entities]
        means = [mean(members) for members in cells]
        for c, e in enumerate(means):
            assert abs(scores.links[i, c] - link(i, e, unrolled.pair_codes[codes[i, c]])) < 1e-9
        assert scores.links[i, -1] == 0
        assert int((scores.links[i] > CLOSED / 2).sum()) == len(cells) + 1
        if i in choices and unrolled.option_full[choices[i]]:
            row = scores.options[choices[i]]
            own = model.fertility(torch.cat([x[i], g(unrolled.self_codes[i])]))
            assert abs(row[IGNORE_COLUMN] + own) < 1e-9
            offered = (
                range(len(cells)) if policy.name == "learned" else [min(range(len(cells)), key=lambda c: cells[c][-1])]
            )
            for place, c in enumerate(offered):
                plain = model.fertility(torch.cat([means[c], g(unrolled.pair_codes[codes[i, c]])]))
                assert abs(row[EVICT_COLUMN + place] + plain) < 1e-9
        recalls = unrolled.recalls
        for pair in [] if recalls is None else np.flatnonzero(recalls.pair_mention == i):
            step, column = recalls.pair_step[pair], recalls.pair_column[pair]
            last = unrolled.members[recalls.pair_state[pair]]
            number = next(number for number in memory.archive if mentioned[number][-1] == last)
            plain = link(i, mean(mentioned[number]), recalls.pair_codes[pair])
            assert abs(scores.recalls[step, column] - plain) < 1e-9
            assert (recalls.target[step] == column) == (number == action.entity)
        memory.apply(action, i)
        if action.cell is not None:
            mentioned.setdefault(memory.entities[action.cell], []).append(i)


def test_float32_stays_within_a_ten_thousandth() -> None:
    mentions = [(WORDS[i % len(WORDS)], i % 7) for i in range(60)]
    _, _, unrolled = example(mentions, UnboundedMemory())
    model = heads()
    x = torch.randn(60, model.span_width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    s_m = torch.randn(60, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    exact = model.score(x, s_m, unrolled).links
    rough = model.float().score(x.float(), s_m.float(), unrolled).links
    assert torch.allclose(exact.float(), rough, rtol=1e-4, atol=1e-4)


def test_pair_gradients_are_the_numerical_ones() -> None:
    torch.manual_seed(0)

    def random(*shape):
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    inputs = (
        random(4, 5),
        random(3, 5),
        random(4, 6),
        random(3, 6),
        random(7, 2),
        random(6, 7),
        random(6),
    )
    mention, state = torch.tensor([0, 0, 1, 1, 2, 3, 3]), torch.tensor([0, 1, 0, 1, 2, 2, 1])
    assert torch.autograd.gradcheck(lambda *values: PairScores.apply(*values, mention, state, 0.0), inputs)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_dropout_drops_its_share_and_keeps_the_mean(rate: float) -> None:
    torch.manual_seed(0)
    values = torch.ones(1001, 301, dtype=torch.float64, requires_grad=True)
    dropped = dropout(values, rate, True)
    assert torch.isclose((dropped == 0).double().mean(), torch.tensor(rate, dtype=torch.float64), atol=0.005)
    assert torch.allclose(dropped[dropped > 0], torch.tensor(1 / (1 - rate), dtype=torch.float64))
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())
    assert dropout(values, rate, False) is values


@pytest.mark.parametrize("options", ["flat", "staged"])
@pytest.mark.parametrize("policy", [LearnedMemory(3), RuleMemory(3)])
def test_every_parameter_gets_a_gradient_on_a_document_that_fills_the_memory(
    policy: MemoryPolicy, options: str
) -> None:
    mentions = [
        (WORDS[(i * i) % len(WORDS)], None if i % 5 == 4 else (0, 1, 0, 2, 3, 0, 4, 5)[i % 8]) for i in range(40)
    ]
    _, _, unrolled = example(mentions, policy)
    model = heads(entity="weighted", kinds=("x", "y"), types=("p", "q"), options=options).train()
    candidates = candidates_of(np.arange(40), np.arange(1, 41), [WordSpan(0, 40)], max_width=4, unit="words")
    vectors = torch.randn(40, WIDTH, dtype=torch.float64)
    grid = model.mention_scores(vectors, candidates)
    spans = torch.tensor([[i, min(40, i + 1 + i % 4)] for i in range(40)])
    x = model.span_vectors(vectors, candidates, spans)
    scores = model.score(x, grid[spans[:, 0], spans[:, 1] - spans[:, 0] - 1], unrolled)
    train = TrainConfig(label_smoothing=0.1)
    loss = link_loss(scores, unrolled, train, torch.ones(len(mentions))) + option_loss(scores, unrolled, model.config)
    loss = loss + mention_loss(grid, torch.zeros_like(grid))
    loss = (
        loss
        + label_loss(model.kind_head(x), torch.arange(40) % 2)
        + label_loss(model.type_head(x), torch.arange(40) % 2)
    )
    loss.backward()
    gradients = {name: value.grad for name, value in model.named_parameters()}
    silent = [name for name, grad in gradients.items() if grad is None or not grad.abs().sum() > 1e-12]
    # A softmax over a span's pieces, and, staged, a choice between fertilities, do not see what all have in common.
    assert silent == ["attention.bias"] + ["fertility.output.bias"] * (options == "staged")


def test_the_link_loss_teaches_whom_to_recall() -> None:
    mentions = [(WORDS[0], i * 7 % 5) for i in range(40)]
    _, _, unrolled = example(mentions, WithRecall(LearnedMemory(2)))
    model = heads()
    centres = torch.randn(5, model.span_width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    x = centres[[entity for _, entity in mentions]]
    s_m = torch.ones(len(mentions), dtype=torch.float64)
    target = torch.from_numpy(unrolled.recalls.target)
    optimiser = torch.optim.Adam(model.link.parameters(), lr=0.01)
    right = []
    for _ in range(60):
        scores = model.score(x, s_m, unrolled)
        # Column -1 is none, in the scores as in the target.
        best = scores.recalls.argmax(1)
        right.append(int((torch.where(best == scores.recalls.shape[1] - 1, -1, best) == target).sum()))
        optimiser.zero_grad()
        link_loss(scores, unrolled, TrainConfig(), torch.ones(len(mentions))).backward()
        optimiser.step()
    assert unrolled.recalls.mentions.tolist() == sorted(set(unrolled.recalls.pair_mention.tolist()))
    assert int((target >= 0).sum()) > 10
    assert right[0] < len(target) / 2
    assert right[-1] == len(target)


@pytest.mark.parametrize(
    ("fertility", "genres", "max_width", "millions"),
    [(False, 0, 20, "37.36"), (False, 7, 30, "37.42"), (True, 0, 20, "46.83"), (True, 7, 30, "46.95")],
)
def test_parameter_counts_are_those_of_the_paper(fertility: bool, genres: int, max_width: int, millions: str) -> None:
    features = ("count", "distance", "last_action") + (("genre",) if genres else ())
    config = ModelConfig(
        hidden=3000, max_width=max_width, features=features, genres=tuple("abcdefg"[:genres]), fertility=fertility
    )
    with torch.device("meta"):
        model = Heads(config, 1024)
    assert f"{sum(value.numel() for value in model.parameters()) / 1e6:.2f}" == millions
