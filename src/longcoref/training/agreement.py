"""Does the runtime decide as the torch model would? Decision by decision, on real documents.

The runtime reads a document; torch then scores the same history in parallel (its own encoder, its own heads) and is
asked at each mention what it would have done. Rounding may turn a decision only where the best two scores all but tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from longcoref.document import Document
from longcoref.features.speech import document_facts
from longcoref.memory import ActionKind, MemoryPolicy, Options
from longcoref.memory.decision import Decision
from longcoref.memory.second_step import UNOPPOSED, SecondStep, second_step
from longcoref.nn.heads import CLOSED, Scores
from longcoref.nn.teacher import EVICT_COLUMN, IGNORE_COLUMN, INVALID_COLUMN, NEW_COLUMN, Unrolled, unroll
from longcoref.runtime.mentions import select
from longcoref.runtime.model import Model
from longcoref.runtime.reading import read_document
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
            grid = model.heads.mention_scores(vectors, example.candidates)
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
        decisions = [mention.decided for mention in mentions_read]
        for agrees, lead in verdicts(scores, unrolled, decisions, second_step(model.config.model.options)):
            mentions += 1
            differing += not agrees
            beyond += not agrees and lead > NEAR
    return Agreement(mentions, proposed, differing, beyond)


def verdicts(
    scores: Scores, unrolled: Unrolled, decisions: Sequence[Decision], rule: SecondStep
) -> Iterator[tuple[bool, float]]:
    """For each mention: would torch have decided the same, and by how much does its best score lead?"""
    rows = {int(mention): row for row, mention in enumerate(unrolled.option_mention)}
    for i, (decision, links) in enumerate(zip(decisions, scores.links.numpy(), strict=True)):
        action = decision.action
        second, best = np.sort(links)[-2:] if len(links) > 1 else (CLOSED, 0.0)
        chosen, lead = int(links.argmax()), float(best - second)
        linked = action.kind is ActionKind.LINK
        if linked or chosen < len(links) - 1:
            yield linked and action.cell == chosen, lead
        elif i in rows and decision.offered is not None:
            options, mention_score = decision.offered, float(scores.valid[rows[i]])
            found = scores.options[rows[i]].numpy()[_columns(options)]
            same = rule.choose(options, found, mention_score) == action
            yield same, min(lead, rule.lead(options, found, mention_score))
        else:
            yield True, UNOPPOSED  # only one action was legal


def _columns(options: Options) -> list[int]:
    """The teacher's columns of the options, in the order of `options.actions()`."""
    columns = [] if options.new is None else [NEW_COLUMN]
    columns += range(EVICT_COLUMN, EVICT_COLUMN + len(options.evict))
    return columns + [IGNORE_COLUMN] * options.ignore + [INVALID_COLUMN] * options.invalid
