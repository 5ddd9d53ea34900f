"""The stages of a reproduction; each function runs in its own process and writes its results to a file.

Arguments come from JSON, so paths are strings and tuples are lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from longcoref.analysis.entities import analyze_entities
from longcoref.clusters import without_singletons
from longcoref.config import ModelConfig, load_config
from longcoref.document import Document
from longcoref.files import atomic_text
from longcoref.formats import read_part, write_corpus
from longcoref.nn.encoder import Encoder
from longcoref.nn.heads import Heads
from longcoref.training.cache import VectorCache
from longcoref.training.inference import evaluate_torch
from longcoref.training.loop import Trainer
from longcoref.training.model import CorefModel
from longcoref.training.runs import load_run
from reproduction.models import memory_model

PARTS = ("dev", "test")
PAPER_HIDDEN, PAPER_WIDTH = 3000, 1024


def write_json(path: Path, value: object) -> None:
    """Writes a value atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_text(path) as stream:
        json.dump(value, stream, ensure_ascii=False, indent=1)


def vectors_of(run: Path, model: CorefModel) -> Encoder | VectorCache:
    """The source of a run's vectors: the cache that all runs share, or its fine-tuned encoder."""
    return VectorCache(run.parent / "vectors", model.encoder) if model.encoder.frozen else model.encoder


def teach(*, folder: str, config: str) -> None:
    """Fine-tunes an encoder on coreference, and saves it as a directory that can be used as an encoder."""
    loaded, place = load_config(config), Path(folder)
    parts = (read_part(loaded.data, part) for part in ("train", "dev"))
    Trainer(loaded, place / "run", *parts, resume=True).train()
    load_run(place / "run")[0].encoder.save(place / "model")


def score(*, folder: str, run: str, variant: str, fold: int | None, model: str) -> None:
    """Reads dev and test under a model's memory: records, scores, and key and response of each document."""
    loaded, facts = load_run(Path(run))
    source, place, memory = vectors_of(Path(run), loaded), Path(folder), memory_model(model).memory
    scores: dict[str, Any] = {}
    for part in PARTS:
        documents = read_part(loaded.config.data, part)
        result = evaluate_torch(loaded, documents, memory, source)
        scores[part] = result.as_json()
        with atomic_text(place / f"{part}.records.jsonl") as stream:
            for record, document in zip(result.records, documents, strict=True):
                stream.write(json.dumps({**record.as_json(), "genre": document.genre}, ensure_ascii=False) + "\n")
        write_corpus(documents, place / f"{part}.key.jsonl", format="jsonl")
        write_corpus(result.responses, place / f"{part}.response.jsonl", format="jsonl")
    kept = loaded.config.data.keep_singletons
    write_json(
        place / "scores.json",
        {"variant": variant, "fold": fold, "model": model, "best": facts, "keep_singletons": kept, **scores},
    )


def entities(*, folder: str, config: str) -> None:
    """Counts the entities of all documents, as they are scored."""
    data = load_config(config).data
    documents = [document for part in ("train", "dev", "test") for document in read_part(data, part)]
    if not data.keep_singletons:
        documents = [_without_singletons(document) for document in documents]
    counted = analyze_entities(documents).documents
    write_json(Path(folder) / "entities.json", [asdict(document) for document in counted])


def _without_singletons(document: Document) -> Document:
    return document.with_clusters(without_singletons(document.clusters or ()))


def parameters(*, folder: str, config: str, encoder: str, models: Sequence[str]) -> None:
    """Counts the trained parameters above the encoder, in our size and in the paper's."""
    loaded = load_config(config).model
    width = Encoder.load(encoder).width
    rows = {}
    for name in models:
        own = replace(loaded, fertility=memory_model(name).policy in ("learned", "rule"))
        rows[name] = {
            "ours": _count(own, width),
            "paper_size": _count(replace(own, hidden=PAPER_HIDDEN), PAPER_WIDTH),
        }
    write_json(Path(folder) / "parameters.json", rows)


def _count(model: ModelConfig, width: int) -> int:
    with torch.device("meta"):  # shapes without memory
        return sum(value.numel() for value in Heads(model, width).parameters())


STAGES: dict[str, Callable[..., None]] = {
    "teach": teach,
    "score": score,
    "entities": entities,
    "parameters": parameters,
}
