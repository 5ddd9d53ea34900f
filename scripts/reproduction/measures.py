"""Memory and time, measured in fresh processes: of training, of inference, and over texts that grow.

A stage starts a process for each measurement and keeps each answer in a file of its own, so that an interrupted
stage resumes with the missing measurements.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longcoref.benchmark import join_texts
from longcoref.clusters import Cluster
from longcoref.config import Config, ProposalConfig
from longcoref.document import Document
from longcoref.formats import read_part
from longcoref.memory import ActionKind
from longcoref.mention import MentionRecord
from longcoref.nn.encoder import Encoder
from longcoref.runtime.footprint import peak_bytes
from longcoref.runtime.reading import read_document
from longcoref.runtime.stream import TextStream
from longcoref.spans import CharSpan, WordSpan
from longcoref.training.data import Example, prepare
from longcoref.training.inference import evaluate_torch, runtime_model
from longcoref.training.model import CorefModel, Proposals
from longcoref.training.runs import load_run
from reproduction.experiments import stage_command
from reproduction.models import memory_model
from reproduction.stages import vectors_of, write_json

_KEEP_INVALID = 0.2  # the share of invalid mentions with which the paper measures memory
_FED = 20_000  # characters of a novel that are fed at a time
_PEAK_OF_PROCESS = Path("/proc/self/clear_refs")


def _begin() -> int:
    """The memory of this process now; the peak is reset, if the system allows it."""
    if _PEAK_OF_PROCESS.exists():
        _PEAK_OF_PROCESS.write_text("5")
    return peak_bytes()


def _each(stage: str, folder: str, arguments: Iterable[tuple[object, Mapping[str, Any]]]) -> None:
    """Runs each measurement that has no answer yet in a fresh process."""
    for name, values in arguments:
        answer = Path(folder) / f"{name}.json"
        if not answer.exists():
            subprocess.run([*stage_command(stage), json.dumps({"answer": str(answer), **values})], check=True)


def training(*, folder: str, run: str, model: str, repeat: int, hidden: int, documents: int) -> None:
    """Peak memory of training in the paper's setting: whole documents, a fifth of the invalid mentions."""
    values = {"run": run, "model": model, "hidden": hidden, "documents": documents}
    _each("training-once", folder, ((number, values) for number in range(repeat)))


class _Measured(CorefModel):
    """A model of another size that is trained on the mentions that a trained one proposed."""

    def __init__(self, config: Config, encoder: Encoder, proposals: Mapping[str, Proposals]) -> None:
        super().__init__(config, encoder)
        self._proposals = proposals

    def propose(self, example: Example, grid: Tensor, random: np.random.Generator) -> Proposals:
        return self._proposals[example.document.id]


def training_once(*, answer: str, run: str, model: str, hidden: int, documents: int) -> None:
    """One step on each of the longest documents; memory is the peak minus the memory before the first step."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    trained, _ = load_run(Path(run))
    config, encoder, memory = trained.config, trained.encoder, memory_model(model).memory
    source = vectors_of(Path(run), trained)
    longest = sorted(read_part(config.data, "train"), key=lambda document: -len(document.words))[:documents]
    train = replace(config.train, keep_invalid=_KEEP_INVALID, max_windows=0)
    trained.config = config = replace(config, train=train)
    examples = [prepare(document, encoder.tokenizer, config) for document in longest]
    random = np.random.default_rng(0)
    vectors, proposals = [], {}
    with torch.no_grad():
        for example in examples:
            vectors.append(source.encode(example.pieces.ids, example.windows))
            grid = trained.heads.mention_scores(vectors[-1], example.candidates)
            proposals[example.document.id] = trained.propose(example, grid, random)
    measured = _Measured(replace(config, model=replace(config.model, hidden=hidden)), encoder, proposals)
    del trained
    optimiser = torch.optim.AdamW(measured.heads.parameters(), fused=True)
    measured.train()
    before, started = _begin(), time.perf_counter()
    for example, encoded in zip(examples, vectors, strict=True):
        losses = measured.losses(example, encoded, memory, random)
        losses.total(train.mention_weight, train.label_weight).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    facts = {"hidden": hidden, "documents": documents, "words": [len(document.words) for document in longest]}
    seconds, peak = time.perf_counter() - started, peak_bytes()
    write_json(Path(answer), {**facts, "seconds": seconds, "megabytes": (peak - before) / 1e6})


def inference(*, folder: str, run: str, model: str, repeat: int) -> None:
    """Time of reading the test documents, encoder included, and the peak memory of the process."""
    _each("inference-once", folder, ((number, {"run": run, "model": model}) for number in range(repeat)))


def inference_once(*, answer: str, run: str, model: str) -> None:
    """Reads each test document once, on one thread."""
    torch.set_num_threads(1)
    loaded, _ = load_run(Path(run))
    reading, memory = runtime_model(loaded), memory_model(model).memory
    documents = read_part(loaded.config.data, "test")
    _begin()
    started = time.perf_counter()
    for document in documents:
        read_document(document, reading, memory)
    seconds = time.perf_counter() - started
    facts = {"documents": len(documents), "words": sum(len(document.words) for document in documents)}
    write_json(Path(answer), {**facts, "seconds": seconds, "megabytes": peak_bytes() / 1e6})


def joined(*, folder: str, run: str, model: str, counts: Sequence[int]) -> None:
    """The test documents, joined in groups of different sizes; documents share no entities."""
    _each("joined-once", folder, ((count, {"run": run, "model": model, "count": count}) for count in counts))


def joined_once(*, answer: str, run: str, model: str, count: int) -> None:
    """Reads and scores the test documents, joined in groups of this size."""
    torch.set_num_threads(1)
    loaded, _ = load_run(Path(run))
    remaining = iter(read_part(loaded.config.data, "test"))
    groups = []
    while group := list(islice(remaining, count)):
        groups.append(join_documents(group))
    _begin()
    started = time.perf_counter()
    result = evaluate_torch(loaded, groups, memory_model(model).memory)
    seconds, records = time.perf_counter() - started, result.records
    facts = {
        "joined": count,
        "texts": len(groups),
        "words": sum(record.words for record in records) / len(groups),
        "conll_f1": 100 * result.scores.conll_f1,
        "max_entities": max(record.most_in_memory for record in records),
        "ignored_per_document": sum(record.decisions["ignore"] for record in records) / len(groups),
    }
    write_json(Path(answer), {**facts, "seconds": seconds / len(groups), "megabytes": peak_bytes() / 1e6})


def join_documents(documents: Sequence[Document]) -> Document:
    """One document of several, one after the other, each with its own entities."""
    texts: list[str] = []
    words: list[str] = []
    offsets: list[CharSpan] = []
    sentences: list[WordSpan] = []
    clusters: list[Cluster] = []
    characters = 0
    for document in documents:
        place = len(words)
        texts.append(document.text)
        words += document.words
        offsets += [CharSpan(start + characters, end + characters) for start, end in document.offsets]
        sentences += [WordSpan(start + place, end + place) for start, end in document.sentences]
        for cluster in document.clusters or ():
            moved = (
                replace(mention, span=WordSpan(mention.span.start + place, mention.span.end + place))
                for mention in cluster.mentions
            )
            clusters.append(Cluster(tuple(moved)))
        characters += len(document.text) + 1
    return Document(
        id=documents[0].id,
        text="\n".join(texts),
        words=tuple(words),
        offsets=tuple(offsets),
        sentences=tuple(sentences),
        part=documents[0].part,
        genre=documents[0].genre,
        clusters=tuple(clusters),
    )


def novels(*, folder: str, run: str, model: str, texts: str, lengths: Sequence[int]) -> None:
    """Novels of growing length, read as streams."""
    values = {"run": run, "model": model, "texts": texts}
    _each("novels-once", folder, ((words, {**values, "words": words}) for words in lengths))


def novels_once(*, answer: str, run: str, model: str, texts: str, words: int) -> None:
    """Reads a text of this many words; proposals are decided by a threshold, because a stream has no best ones yet."""
    torch.set_num_threads(1)
    loaded, _ = load_run(Path(run))
    ratio = loaded.config.proposals.ratio
    loaded.config = replace(loaded.config, proposals=ProposalConfig(rule="threshold", ratio=ratio))
    stream = TextStream(runtime_model(loaded), memory_model(model).memory)
    text = join_texts(Path(texts), words)
    counts = dict.fromkeys(ActionKind, 0)
    _begin()
    started = time.perf_counter()
    for mention in _mentions(stream, text):
        counts[mention.decided.action.kind] += 1
    facts = {
        "words": words,
        "max_entities": counts[ActionKind.NEW],
        "ignored": counts[ActionKind.IGNORE],
        "decisions": {kind.value: count for kind, count in counts.items()},
    }
    seconds = time.perf_counter() - started
    write_json(Path(answer), {**facts, "seconds": seconds, "megabytes": peak_bytes() / 1e6})


def _mentions(stream: TextStream, text: str) -> Iterator[MentionRecord]:
    for start in range(0, len(text), _FED):
        yield from stream.feed(text[start : start + _FED])
    yield from stream.finish()


MEASURES: dict[str, Callable[..., None]] = {
    "training": training,
    "training-once": training_once,
    "inference": inference,
    "inference-once": inference_once,
    "joined": joined,
    "joined-once": joined_once,
    "novels": novels,
    "novels-once": novels_once,
}
