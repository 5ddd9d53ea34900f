"""Finished runs: their weights, and the model directory that is made of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers

from longcoref.calibration import fit_calibration
from longcoref.config import Config, load_config
from longcoref.document import Document
from longcoref.errors import ModelError
from longcoref.memory import UnboundedMemory, memory_policy
from longcoref.nn.encoder import Encoder
from longcoref.nn.export_encoder import export_encoder
from longcoref.runtime.heads import Floats
from longcoref.runtime.model import write_model
from longcoref.runtime.pieces import Tokenizer
from longcoref.runtime.reading import read_document
from longcoref.training import checkpoints
from longcoref.training.data import Example, prepare
from longcoref.training.gates import gated
from longcoref.training.inference import TorchVectors, evaluate_torch, runtime_model
from longcoref.training.low_rank import narrowed
from longcoref.training.model import CorefModel, numpy_weights

SAMPLE_WINDOWS = 3  # of each document that shows an 8-bit encoder what it will read


def load_run(folder: Path) -> tuple[CorefModel, dict[str, Any]]:
    """The model that scored best on dev in a run, and the facts of its epoch."""
    best = folder / "best.safetensors"
    if not best.exists():
        raise ModelError(f"{folder} holds no finished epoch: expected best.safetensors, written by longcoref train")
    written = checkpoints.load(best)
    config = load_config(folder / "config.toml")
    model = CorefModel(config, _encoder(folder, config))
    model.load_state_dict(written.tensors)
    return model.eval(), written.facts


def _encoder(folder: Path, config: Config) -> Encoder:
    """The encoder's shape, with random weights: the run brings its own."""
    table = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    shape = transformers.AutoConfig.for_model(table.pop("model_type"), **table)
    network = transformers.AutoModel.from_config(shape)
    if getattr(network, "pooler", None) is not None:
        network.pooler = None
    return Encoder(network, Tokenizer.open(folder / "tokenizer.json"), frozen=not config.train.finetune)


def torch_encoder(folder: Path, *, threads: int | None = None) -> TorchVectors:
    """The encoder of a run in torch float32, to be timed beside the one that ships."""
    if threads:
        torch.set_num_threads(threads)
    return TorchVectors(load_run(folder)[0].encoder)


def export_run(
    folder: Path,
    target: Path,
    *,
    weights: str = "float32",
    rank: int = 0,
    gate: bool = False,
    mention_bias: float = 0.0,
    link_bias: float = 0.0,
    sample: Sequence[Document] = (),
    dev: Sequence[Document] = (),
    calibration: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> None:
    """Writes the runtime's model directory from a run. `weights` is how the encoder is stored.

    With `rank` above 0, the products of mentions and entities are computed with two matrices of this rank. With `gate`,
    mentions are proposed only at words whose linear scores say that one so long may start there, unless the best spans
    of a whole document are proposed. These, and an int8 encoder, are fitted to a `sample` of documents of the kind that
    will be read. `mention_bias` and `link_bias` are added to all scores of mentions and links before all of this.
    Probabilities are calibrated on `dev`, with the memory that the model has by default, or have the `calibration` of
    another model.
    """
    model, epoch = load_run(folder)
    with torch.no_grad():
        model.heads.mention.output.bias.add_(mention_bias)
        model.heads.link.output.bias.add_(link_bias)
    tokenizer = model.encoder.tokenizer
    examples = [prepare(document, tokenizer, model.config) for document in sample]
    windows = [(example.pieces.ids, example.windows[:SAMPLE_WINDOWS]) for example in examples]
    memory = model.config.memory
    facts: dict[str, Any] = {"scores": {f"dev_{key}": value for key, value in epoch.items()}}
    if calibration is not None:
        facts["calibration"] = dict(calibration)
    elif dev:
        judged = evaluate_torch(model, dev, memory_policy(memory.policy, memory.cells)).judged
        facts["calibration"] = {**asdict(fit_calibration(judged)), "decisions": len(judged)}
    heads = numpy_weights(model.heads.state_dict())
    if rank:
        heads = narrowed(heads, *_vectors(model, sample), rank)
    if gate and model.config.proposals.rule == "threshold" and examples:
        heads = gated(heads, *_words(model, examples))
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        path = Path(scratch) / "encoder.onnx"
        export_encoder(model.encoder, path, weights=weights, sample=windows)
        write_model(
            target,
            config=model.config,
            tokenizer_definition=tokenizer.definition,
            encoder_onnx_path=path,
            heads=heads,
            facts=facts,
            name=name,
            half=weights != "float32",
        )


def _vectors(model: CorefModel, sample: Sequence[Document]) -> tuple[Floats, Floats]:
    """The vectors of the mentions that a model proposes in some documents, and of the entities it finds."""
    runtime, memory = runtime_model(model), model.config.memory
    mentions, entities = [], []
    for document in sample:
        block = read_document(document, runtime, memory_policy(memory.policy, memory.cells))
        rows: dict[int, list[int]] = {}
        for row, mention in enumerate(block.mentions):
            if mention.entity is not None:
                rows.setdefault(mention.entity, []).append(row)
        mentions.append(block.x)
        entities += [block.x[members].mean(0) for members in rows.values()]
    return np.concatenate(mentions), np.array(entities)


def _words(model: CorefModel, examples: Sequence[Example]) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """The vectors of the first and last pieces of the words of some documents, and the mentions found in them."""
    runtime = runtime_model(model)
    first, last, mentions, before = [], [], [], 0
    for example in examples:
        vectors = runtime.encoder.encode(example.pieces.ids, example.windows)
        first.append(vectors[example.pieces.first])
        last.append(vectors[example.pieces.end - 1])
        block = read_document(example.document, runtime, UnboundedMemory())
        mentions += [
            (before + mention.words.start, before + mention.words.end)
            for mention in block.mentions
            if mention.entity is not None
        ]
        before += len(example.document.words)
    return np.concatenate(first), np.concatenate(last), np.array(mentions, dtype=np.int64).reshape(-1, 2)
