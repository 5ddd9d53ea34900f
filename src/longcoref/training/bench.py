"""How close a training step comes to the work that cannot be avoided: ratios of times taken in one run.

The clustering part of a step (oracle, teacher, scores, losses, backward) is compared with its one unavoidable
product, W(x⊙e) forward and backward, and with two loops over mentions that give the same scores: a factored one and the
plain formula. A whole fine-tuning step is compared with the encoder's own forward and backward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from longcoref.benchmark import fastest
from longcoref.document import Document
from longcoref.memory import MemoryPolicy, oracle_actions
from longcoref.nn.heads import Heads
from longcoref.nn.losses import link_loss, option_loss
from longcoref.nn.teacher import Unrolled, unroll
from longcoref.training.data import Example, prepare
from longcoref.training.model import CorefModel, Proposals


@dataclass(frozen=True, slots=True)
class TrainingBench:
    """Seconds, summed over the documents; each the fastest of the repetitions."""

    documents: int
    mentions: int
    pairs: int
    clustering: float
    product: float
    factored_loop: float
    plain_loop: float
    encoder: float
    step: float

    def __add__(self, other: TrainingBench) -> TrainingBench:
        """Both together: the ratios of what a run does under several memories in turn."""
        return TrainingBench(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def as_json(self) -> dict[str, Any]:
        """The times and their ratios."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "clustering_to_product": self.clustering / self.product,
            "factored_loop_to_clustering": self.factored_loop / self.clustering,
            "plain_loop_to_clustering": self.plain_loop / self.clustering,
            "step_to_encoder": self.step / self.encoder,
        }


def bench_training(
    model: CorefModel, documents: Sequence[Document], policy: MemoryPolicy, *, repeat: int = 3, threads: int = 1
) -> TrainingBench:
    """Times the parts of a training step on documents, with the weights and dropout of `model`."""
    torch.set_num_threads(threads)
    model.train()
    config = model.config
    totals = dict.fromkeys(("clustering", "product", "factored_loop", "plain_loop", "encoder", "step"), 0.0)
    mentions = pairs = 0
    for document in documents:
        example = prepare(document, model.encoder.tokenizer, config, config.train.overlap)
        with torch.no_grad():
            vectors = model.encoder.encode(example.pieces.ids, example.windows)
            grid = model.heads.mention_scores(vectors, example.candidates, example.genre)
        proposals = model.propose(example, grid, np.random.default_rng(0))
        part = _Part(model, example, vectors, grid, proposals, policy)
        mentions, pairs = mentions + len(proposals.index), pairs + len(part.unrolled.pair_mention)
        timed: dict[str, Callable[[], None]] = {
            "clustering": part.clustering,
            "product": part.product,
            "factored_loop": lambda part=part: part.loop(factored_scores),  # type: ignore[misc]
            "plain_loop": lambda part=part: part.loop(plain_scores),  # type: ignore[misc]
            "encoder": part.encoder,
            "step": part.step,
        }
        for name, work in timed.items():
            totals[name] += fastest(work, repeat)
    return TrainingBench(len(documents), mentions, pairs, **totals)


class _Part:
    """One document's step, cut into the pieces of work that are timed."""

    def __init__(
        self,
        model: CorefModel,
        example: Example,
        vectors: Tensor,
        grid: Tensor,
        proposals: Proposals,
        policy: MemoryPolicy,
    ) -> None:
        self.model, self.example, self.policy, self.proposals = model, example, policy, proposals
        with torch.no_grad():
            self.x = model.heads.span_vectors(vectors, example.candidates, torch.from_numpy(proposals.spans))
        self.s_m = grid[tuple(torch.from_numpy(proposals.fields()))]
        self.unrolled = self.unroll()
        e = model.heads.states(self.x, self.unrolled).detach()
        rows, states = torch.from_numpy(self.unrolled.pair_mention), torch.from_numpy(self.unrolled.pair_state)
        self.pairs = (self.x[rows] * e[states]).requires_grad_()
        width = model.heads.span_width
        self.weight = model.heads.link.hidden.weight[:, 2 * width : 3 * width].detach().clone().requires_grad_()

    def unroll(self) -> Unrolled:
        actions = oracle_actions(self.proposals.entities, self.example.sizes, self.policy)
        facts = self.example.facts(self.proposals.spans)
        features = self.model.config.model.features
        return unroll(actions, facts, self.proposals.index, self.policy, features=features, genre=self.example.genre)

    def clustering(self) -> None:
        x, s_m = self.x.detach().requires_grad_(), self.s_m.detach().requires_grad_()
        unrolled = self.unroll()
        scores = self.model.heads.score(x, s_m, unrolled)
        config = self.model.config
        loss = link_loss(scores, unrolled, config.train, torch.ones(len(x)))
        loss = loss + option_loss(scores, unrolled, config.model)
        loss.backward()  # type: ignore[no-untyped-call]
        self.model.zero_grad(set_to_none=True)

    def product(self) -> None:
        result = functional.linear(self.pairs, self.weight)
        result.backward(torch.ones_like(result))  # type: ignore[no-untyped-call]
        self.pairs.grad = self.weight.grad = None

    def loop(self, score: Callable[[Heads, Tensor, Tensor, Unrolled], Tensor]) -> None:
        x, s_m = self.x.detach().requires_grad_(), self.s_m.detach().requires_grad_()
        score(self.model.heads, x, s_m, self.unrolled).sum().backward()  # type: ignore[no-untyped-call]
        self.model.zero_grad(set_to_none=True)

    def encoder(self) -> None:
        vectors = self.model.encoder.encode(self.example.pieces.ids, self.example.windows)
        vectors.sum().backward()  # type: ignore[no-untyped-call]
        self.model.zero_grad(set_to_none=True)

    def step(self) -> None:
        vectors = self.model.encoder.encode(self.example.pieces.ids, self.example.windows)
        train = self.model.config.train
        losses = self.model.losses(self.example, vectors, self.policy, np.random.default_rng(0))
        losses.total(train.mention_weight, train.label_weight).backward()  # type: ignore[no-untyped-call]
        self.model.zero_grad(set_to_none=True)


def factored_scores(heads: Heads, x: Tensor, s_m: Tensor, unrolled: Unrolled) -> Tensor:
    """The link scores of all pairs, mention by mention, with factored first layers."""
    e = heads.states(x, unrolled)
    features = heads.features(torch.from_numpy(unrolled.pair_codes))
    s = heads.span_width
    part_x, part_e, product, feature = heads.link.hidden.weight.split_with_sizes([s, s, s, features.shape[1]], 1)
    px, pe = functional.linear(x, part_x, heads.link.hidden.bias), functional.linear(e, part_e)
    found = []
    for i, rows, states in _mentions(unrolled):
        pairs = functional.linear(x[i] * e[states], product) + functional.linear(features[rows], feature)
        found.append(heads.link.finish(px[i] + pe[states] + pairs) + s_m[i])
    return torch.cat(found)


def plain_scores(heads: Heads, x: Tensor, s_m: Tensor, unrolled: Unrolled) -> Tensor:
    """The link scores of all pairs, mention by mention, by the paper's formula as it stands."""
    e = heads.states(x, unrolled)
    features = heads.features(torch.from_numpy(unrolled.pair_codes))
    found = []
    for i, rows, states in _mentions(unrolled):
        entities = e[states]
        mention = x[i].expand_as(entities)
        found.append(heads.link(torch.cat([mention, entities, mention * entities, features[rows]], 1)) + s_m[i])
    return torch.cat(found)


def _mentions(unrolled: Unrolled) -> list[tuple[int, slice, Tensor]]:
    """Every mention that meets an entity: its number, its rows among the pairs, and the states it meets."""
    edges = np.searchsorted(unrolled.pair_mention, np.arange(unrolled.mentions + 1))
    state = torch.from_numpy(unrolled.pair_state)
    spans = ((i, slice(int(edges[i]), int(edges[i + 1]))) for i in range(unrolled.mentions) if edges[i] < edges[i + 1])
    return [(i, rows, state[rows]) for i, rows in spans]
