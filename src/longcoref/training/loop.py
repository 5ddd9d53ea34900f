"""The training loop: mention proposal first, then proposal and clustering together.

A run is a folder: `config.toml`, `log.jsonl` (a line per step and per epoch), `last.safetensors` (to resume from),
`best.safetensors` (the weights that scored best on dev), `encoder.json` and `tokenizer.json`. The loop reports what it
does to a callback and prints nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from longcoref.config import Config, config_table, dump_toml
from longcoref.document import Document
from longcoref.errors import ConfigError
from longcoref.files import atomic_text
from longcoref.formats import read_extra
from longcoref.memory import memory_policy
from longcoref.nn.encoder import Encoder, parameter_groups
from longcoref.training import checkpoints
from longcoref.training.augmentation import Renamer, drop_pieces
from longcoref.training.cache import VectorCache
from longcoref.training.data import Example, add_endings, crop, prepare
from longcoref.training.inference import evaluate_torch
from longcoref.training.model import CorefModel
from longcoref.training.schedule import schedule, without_denormals
from longcoref.training.transfer import start_from

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of epochs with its own optimiser and schedule."""

    name: str
    epochs: int
    rate: float


class Trainer:
    """One run. `train()` goes through the phases; with `resume` it goes on from the last checkpoint."""

    def __init__(
        self,
        config: Config,
        folder: Path,
        train: Sequence[Document],
        dev: Sequence[Document],
        *,
        report: Report = lambda event: None,
        resume: bool = False,
    ) -> None:
        if not train:
            raise ConfigError("there is no document to train on")
        self.config, self.folder, self._listener = config, folder, report
        settings = config.train
        if settings.threads:
            torch.set_num_threads(settings.threads)
        torch.manual_seed(settings.seed)
        self._random = np.random.default_rng(settings.seed)
        encoder = Encoder.load(config.encoder.name, frozen=not settings.finetune, dropout=config.encoder.dropout)
        if settings.finetune and settings.learned_layers:
            encoder.freeze_below(settings.learned_layers)
        if settings.precision == "bfloat16":
            encoder.train_in_half()
        self.model = CorefModel(config, encoder)
        if settings.start is not None:
            start_from(self.model, settings.start)
        self._average = {name: value.detach().clone() for name, value in self._learned()}
        self._dev = dev
        self._extra = [(extra, read_extra(extra, "dev")) for extra in config.data.extra]
        overlap = settings.overlap if settings.finetune else None
        self._examples = [prepare(document, encoder.tokenizer, config, overlap) for document in train]
        self._pools = [(range(len(train)), config.data.documents)]  # examples of a corpus, and how many an epoch takes
        for extra, _ in self._extra:
            first = len(self._examples)
            further = read_extra(extra, "train")
            if extra.add_endings:
                further = [add_endings(document) for document in further]
            self._examples += [
                replace(prepare(document, encoder.tokenizer, config, overlap), known=extra.known)
                for document in further
            ]
            self._pools.append((range(first, len(self._examples)), extra.documents))
        self._renamer = Renamer(train)
        folder.mkdir(parents=True, exist_ok=True)
        self._source = encoder if settings.finetune else VectorCache(folder.parent / "vectors", encoder)
        self.phases = (
            Phase("mentions", settings.pretrain_epochs, settings.pretrain_rate),
            Phase("clusters", settings.epochs, settings.rate),
        )
        self._state: dict[str, Any] = {"phase": 0, "epoch": 0, "step": 0, "best": None, "since_best": 0}
        self._state["waiting"] = [[] for _ in self._pools]  # of each corpus, the examples still to come
        self._optimiser = self._new_optimiser(self.phases[0])
        if resume:
            self._resume()
        else:
            self._describe()

    def train(self) -> dict[str, Any]:
        """Runs to the end; returns the facts of the best epoch."""
        with without_denormals():
            self._run()
        return dict(self._state["best"] or {})

    def _run(self) -> None:
        while self._state["phase"] < len(self.phases):
            phase = self.phases[self._state["phase"]]
            while self._state["epoch"] < phase.epochs and self._state["since_best"] < self.config.train.patience:
                self._epoch(phase)
                self._state["epoch"] += 1
                if phase.name == "clusters":
                    self._evaluate()
                self._save()
            if phase.name == "clusters" and self._state["best"] is None:
                self._evaluate()  # without epochs, the run is what it started from
            self._state |= {"phase": self._state["phase"] + 1, "epoch": 0, "step": 0}
            if self._state["phase"] < len(self.phases):
                self._optimiser = self._new_optimiser(self.phases[self._state["phase"]])
            self._save()

    def _epoch(self, phase: Phase) -> None:
        self.model.train()
        started = time.perf_counter()
        order = self._order(phase)
        steps = phase.epochs * len(order)
        for place, number in enumerate(order):
            example = self._visit(self._examples[number])
            vectors = self._source.encode(example.pieces.ids, example.windows)
            losses = self._step(phase, example, vectors)
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.train.clip)
            factor = schedule(self._state["step"] / steps, self.config.train.warmup)
            for group in self._optimiser.param_groups:
                group["lr"] = group["peak"] * factor
            self._optimiser.step()
            self._optimiser.zero_grad(set_to_none=True)
            self._state["step"] += 1
            self._follow()
            self._report(
                "step",
                phase=phase.name,
                epoch=self._state["epoch"],
                step=self._state["step"],
                steps=steps,
                place=place + 1,
                documents=len(order),
                words=len(example.document.words),
                rate=phase.rate * factor,
                norm=float(norm),
                seconds=time.perf_counter() - started,
                **losses,
            )

    def _order(self, phase: Phase) -> list[int]:
        """The examples of one epoch, as many from each corpus as the config says, shuffled."""
        chosen: list[int] = []
        for (pool, count), waiting in zip(self._pools, self._state["waiting"], strict=True):
            taken = list(pool)
            if 0 < count < len(pool):
                if len(waiting) < count:
                    waiting += [i for i in self._random.permutation(pool).tolist() if i not in waiting]
                taken, waiting[:count] = waiting[:count], []
            chosen += [i for i in taken if phase.name != "mentions" or self._examples[i].known == "all"]
        return [chosen[place] for place in self._random.permutation(len(chosen))]

    def _visit(self, example: Example) -> Example:
        """The document as it is met this time: cut to a random stretch, renamed, with pieces dropped, as configured."""
        settings, tokenizer = self.config.train, self.model.encoder.tokenizer
        if settings.max_windows and len(example.windows) > settings.max_windows:
            first = int(self._random.integers(len(example.windows) - settings.max_windows + 1))
            example = crop(example, tokenizer, self.config, first=first, count=settings.max_windows)
        if settings.rename and self._random.random() < settings.rename:
            renamed = self._renamer(example.document, self._random)
            example = replace(prepare(renamed, tokenizer, self.config, settings.overlap), known=example.known)
        if settings.piece_dropout:
            ids = drop_pieces(example.pieces.ids, settings.piece_dropout, tokenizer.unknown, self._random)
            example = replace(example, pieces=replace(example.pieces, ids=ids))
        return example

    def _step(self, phase: Phase, example: Example, vectors: Tensor) -> dict[str, float]:
        settings = self.config.train
        if phase.name == "mentions":
            _, loss = self.model.mention_grid(example, vectors)
            loss.backward()  # type: ignore[no-untyped-call]
            return {"mention": loss.item()}
        cells = int(self._random.choice(settings.cells))
        policy = memory_policy(settings.policy, cells or None, recall=settings.recall)
        losses = self.model.losses(example, vectors, policy, self._random)
        losses.total(settings.mention_weight, settings.label_weight).backward()  # type: ignore[no-untyped-call]
        return {name: getattr(losses, name).item() for name in losses.__slots__} | {"cells": cells}

    def _new_optimiser(self, phase: Phase) -> torch.optim.Optimizer:
        settings = self.config.train
        heads = self.model.heads
        groups: list[dict[str, Any]] = [
            {"params": list(heads.parameters()), "lr": phase.rate, "weight_decay": settings.weight_decay}
        ]
        if settings.finetune:
            groups += parameter_groups(
                self.model.encoder,
                rate=settings.encoder_rate,
                decay=settings.layer_decay,
                weight_decay=settings.weight_decay,
            )
        for group in groups:
            group["peak"] = group["lr"]
        return torch.optim.AdamW(groups, eps=1e-6, fused=True)

    def _learned(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, value) for name, value in self.model.named_parameters() if value.requires_grad]

    def _follow(self) -> None:
        """Moves the average of the weights; early on it forgets faster, so that the start does not weigh on it."""
        decay = min(self.config.train.average, (1 + self._state["step"]) / (10 + self._state["step"]))
        with torch.no_grad():
            for name, value in self._learned():
                self._average[name].lerp_(value, 1 - decay)

    def _swap(self) -> None:
        """Exchanges the weights and their average."""
        with torch.no_grad():
            for name, value in self._learned():
                held = value.detach().clone()
                value.copy_(self._average[name])
                self._average[name].copy_(held)

    def _evaluate(self) -> None:
        settings = self.config.train
        self._swap()
        self.model.eval()
        policy = memory_policy(settings.dev_policy, settings.dev_cells or None, recall=settings.recall)
        started = time.perf_counter()
        result = evaluate_torch(self.model, self._dev, policy, self._source)
        scores = {name: value for name, value in result.as_json().items() if isinstance(value, float)}
        parts = [scores["conll_f1"]]
        for extra, documents in self._extra:
            if documents:
                further = evaluate_torch(self.model, documents, policy, self._source, extra.keep_singletons)
                parts.append(100 * further.scores.conll_f1)
        facts = {"epoch": self._state["epoch"], **scores, "conll_f1": sum(parts) / len(parts), "parts": parts}
        best = self._state["best"]
        if best is None or settings.keep == "last" or facts["conll_f1"] > best["conll_f1"]:
            self._state |= {"best": facts, "since_best": 0}
            checkpoints.save(self.folder / "best.safetensors", dict(self.model.state_dict()), facts)
        else:
            self._state["since_best"] += 1
        self._swap()
        self._report("epoch", seconds=time.perf_counter() - started, **facts)

    def _report(self, event: str, **facts: Any) -> None:
        line = {"event": event, **facts}
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
        self._listener(line)

    def _describe(self) -> None:
        """Writes down what the run is, so that it can be resumed and exported."""
        encoder = self.model.encoder
        for name, text in (
            ("config.toml", dump_toml(config_table(self.config))),
            ("encoder.json", encoder.config.to_json_string()),
            ("tokenizer.json", encoder.tokenizer.definition),
            ("log.jsonl", ""),
        ):
            with atomic_text(self.folder / name) as stream:
                stream.write(text)

    def _save(self) -> None:
        tensors = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"average/{name}": value for name, value in self._average.items()}
        optimiser = checkpoints.optimiser_tensors(self._optimiser, self.model)
        tensors |= {f"optimiser/{name}": value for name, value in optimiser.items()}
        tensors["random"] = torch.get_rng_state()
        facts = {
            "state": self._state,
            "random": checkpoints.random_facts(self._random),
            "log": (self.folder / "log.jsonl").stat().st_size,
        }
        checkpoints.save(self.folder / "last.safetensors", tensors, facts)

    def _resume(self) -> None:
        path = self.folder / "last.safetensors"
        if not path.exists():
            self._describe()
            return
        written = checkpoints.load(path)
        self._state |= written.facts["state"]
        self.model.load_state_dict(written.part("model"))
        self._average = written.part("average")
        phase = self.phases[min(self._state["phase"], len(self.phases) - 1)]
        self._optimiser = self._new_optimiser(phase)
        checkpoints.restore_optimiser(self._optimiser, self.model, written.part("optimiser"))
        torch.set_rng_state(written.tensors["random"])
        self._random.bit_generator.state = written.facts["random"]
        # What was logged after the checkpoint will happen again.
        with (self.folder / "log.jsonl").open("r+", encoding="utf-8") as stream:
            stream.truncate(written.facts["log"])
