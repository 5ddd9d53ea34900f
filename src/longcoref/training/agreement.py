"""Does the runtime decide as the torch model would? Decision by decision, on real documents.

The runtime reads a document; torch then scores the same history in parallel (its own encoder, its own heads) and is
asked at each mention what it would have done. Rounding may turn a decision only where the best two scores all but tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from longcoref.config import ModelConfig
from longcoref.document import Document
from longcoref.features.facts import document_facts
from longcoref.memory import Action, ActionKind, MemoryPolicy
from longcoref.memory.actions import IGNORE, INVALID
from longcoref.nn.heads import CLOSED, Scores
from longcoref.nn.teacher import EVICT_COLUMN, IGNORE_COLUMN, INVALID_COLUMN, NEW_COLUMN, Unrolled, unroll
from longcoref.runtime.mentions import select
from longcoref.runtime.reading import Model, read_document
from longcoref.training.data import prepare
from longcoref.training.model import CorefModel, Proposals

NEAR = 1e-3


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many decisions were compared, how many differ, and how many of those are not near ties."""

    mentions: int
    proposed_differently: int
    """Spans that only one of the two proposed."""
    decided_differently: int
    beyond_ties: int
    """Different decisions where the best two scores in torch lie further apart than `NEAR`."""


def compare(model: CorefModel, runtime: Model, documents: Iterable[Document], policy: MemoryPolicy) -> Agreement:
    """Counts where the runtime and the torch model part ways."""
    mentions = proposed = differing = beyond = 0
    for document in documents:
        mentions_read = read_document(document, runtime, policy).mentions
        found = [mention.words for mention in mentions_read]
        example = prepare(document, model.encoder.tokenizer, model.config)
        with torch.no_grad():
            vectors = model.encoder.encode(example.pieces.ids, example.windows)
            grid = model.heads.mention_scores(vectors, example.candidates, example.genre)
            own = select(grid.numpy(), example.candidates, document.sentences, model.config.proposals)
            proposed += len({(span.start, span.end) for span in found} ^ set(map(tuple, own.tolist())))
            spans = np.array(found, dtype=np.int64).reshape(-1, 2)
            index = np.arange(len(spans))
            places = Proposals(spans, [None] * len(spans), index).fields()
            actions = [mention.decided.action for mention in mentions_read]
            facts = document_facts(document.words, document.sentences, found)
            features = model.config.model.features
            unrolled = unroll(actions, facts, index, policy, features=features, genre=example.genre)
            x = model.heads.span_vectors(vectors, example.candidates, torch.from_numpy(spans))
            scores = model.heads.score(x, grid[tuple(torch.from_numpy(places))], unrolled)
        for agrees, lead in verdicts(scores, unrolled, actions, model.config.model):
            mentions += 1
            differing += not agrees
            beyond += not agrees and lead > NEAR
    return Agreement(mentions, proposed, differing, beyond)


def verdicts(
    scores: Scores, unrolled: Unrolled, actions: Sequence[Action], config: ModelConfig
) -> Iterator[tuple[bool, float]]:
    """For each mention: would torch have done the same, and by how much does its best score lead?"""
    rows = {int(mention): row for row, mention in enumerate(unrolled.option_mention)}
    evictions: dict[int, list[int]] = {}
    for option, pair in zip(unrolled.evict_option.tolist(), unrolled.evict_pair.tolist(), strict=True):
        evictions.setdefault(option, []).append(int(unrolled.pair_cell[pair]))
    for i, (action, links) in enumerate(zip(actions, scores.links.numpy(), strict=True)):
        second, best = np.sort(links)[-2:] if len(links) > 1 else (CLOSED, 0.0)
        chosen = int(links.argmax())
        linked = action.kind is ActionKind.LINK
        if linked or chosen < len(links) - 1:
            yield linked and action.cell == chosen, float(best - second)
        elif i in rows:
            found, lead = _second_step(scores, rows[i], evictions.get(rows[i], []), config)
            same = found.kind is action.kind and (action.kind is ActionKind.NEW or found.cell == action.cell)
            yield same, min(lead, float(best - second))
        else:
            yield True, abs(CLOSED)  # only one action was legal


def _second_step(scores: Scores, option: int, evictions: Sequence[int], config: ModelConfig) -> tuple[Action, float]:
    """The best option and its lead; which free cell a NEW takes is not for the scores to say, so it is cell 0."""
    row = scores.options[option].numpy()
    going = [(float(row[EVICT_COLUMN + k]), Action(ActionKind.EVICT, cell)) for k, cell in enumerate(evictions)]
    ignored, invalid = (float(row[IGNORE_COLUMN]), IGNORE), (float(row[INVALID_COLUMN]), INVALID)
    if config.options == "staged" and going:
        valid = float(scores.valid[option])
        if valid <= 0:
            return invalid[1], -valid
        worth = float(np.logaddexp.reduce(row[EVICT_COLUMN:])) - ignored[0]
        best, lead = (ignored[1], -worth) if worth < 0 else _first(going)
        return best, min(lead, valid, abs(worth))
    new = (float(row[NEW_COLUMN]), Action(ActionKind.NEW, 0))
    return _first([each for each in (new, *going, ignored, invalid) if each[0] > CLOSED / 2])


def _first(offered: Sequence[tuple[float, Action]]) -> tuple[Action, float]:
    """The option with the highest score, and by how much it leads."""
    best, *others = sorted(offered, key=lambda item: -item[0])
    return best[1], best[0] - others[0][0] if others else abs(CLOSED)
