"""Checkpoints without pickles: tensors as safetensors, the rest as JSON, both under one atomic name.

A checkpoint holds all that the rest of a run depends on (weights, averages, optimiser, schedule, random sources), so a
killed run that is resumed ends with the same weights as one that was not killed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from longcoref.errors import ModelError
from longcoref.files import atomic_path


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Tensors by name, and facts that JSON can hold."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]

    def part(self, prefix: str) -> dict[str, Tensor]:
        """The tensors whose name begins with the prefix and a slash, without it."""
        return {name[len(prefix) + 1 :]: value for name, value in self.tensors.items() if name.startswith(f"{prefix}/")}


def save(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Writes a checkpoint that is there whole or not at all."""
    with atomic_path(path) as temporary:
        whole = {name: value.detach().clone().contiguous() for name, value in tensors.items()}
        save_file(whole, temporary, metadata={"facts": json.dumps(facts)})


def load(path: Path) -> Checkpoint:
    """Reads a checkpoint."""
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})["facts"])
            return Checkpoint({name: file.get_tensor(name) for name in file.keys()}, facts)  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: is not a checkpoint of longcoref ({error})") from error


def optimiser_tensors(optimiser: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """The optimiser's memory of every parameter, by the parameter's name."""
    names = {id(value): name for name, value in model.named_parameters()}
    return {
        f"{names[id(parameter)]}/{key}": torch.as_tensor(value)
        for parameter, state in optimiser.state.items()
        for key, value in state.items()
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """The inverse of `optimiser_tensors`."""
    parameters = dict(model.named_parameters())
    for name, value in tensors.items():
        parameter, _, key = name.rpartition("/")
        optimiser.state[parameters[parameter]][key] = value


def random_facts(generator: np.random.Generator) -> dict[str, Any]:
    """The state of a numpy generator, as JSON can hold it."""
    return dict(generator.bit_generator.state)
