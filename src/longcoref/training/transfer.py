"""What a run starts from: the weights of finished runs, or of models that were exported from runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional

from longcoref.config import ModelConfig, load_config
from longcoref.errors import ConfigError
from longcoref.nn.import_encoder import imported_weights
from longcoref.runtime.heads import GATES, PRODUCT
from longcoref.runtime.model import find_model, open_model
from longcoref.training import checkpoints
from longcoref.training.model import CorefModel

_UP, _DOWN = "intermediate.dense.weight", "output.dense.weight"  # of the neurons of a layer


def start_from(model: CorefModel, sources: str) -> None:
    """Gives a model the weights of a run, of a model directory or of a shipped model, or the mean of several.

    Several sources are separated by commas; of a run, the best weights are taken. The model may have further features
    after those of a source, types that a source lacks, and a genre's share of mention scoring: they start at zero. The
    scorer of noun phrases serves training only, and either may have one. Models that were exported have the neurons of
    a layer in orders of their own, so those of the first source are sought in the others before the mean is taken.
    """
    first, *others = (_widened(source, model) for source in sources.split(","))
    found = [first, *(_aligned(other, first) for other in others)]
    try:
        model.load_state_dict({name: torch.stack([one[name] for one in found]).mean(0) for name in found[0]})
    except (KeyError, RuntimeError) as error:
        raise ConfigError(f"train.start: the weights of {sources} belong to other models: {error}") from error


def _widened(source: str, model: CorefModel) -> dict[str, Tensor]:
    """The weights of a source, with zeros for what the features and types of `model` have more."""
    if (folder := Path(source)).joinpath("config.toml").is_file():
        tensors = checkpoints.load(folder / "best.safetensors").tensors
        config = load_config(folder / "config.toml").model
    else:
        tensors, config = _exported(source, model)
    own, known, wanted = model.state_dict(), config.features, model.config.model.features
    tensors = _typed(tensors, config.types, model)
    if wanted[: len(known)] == known:
        new = {f"heads.feature_embeddings.{number}.weight" for number in range(len(known), len(wanted))}
        own_only = ("heads.mention_genre.weight", "phrases.weight", "phrases.bias", *new)
        tensors = {name: own[name] for name in own_only if name in own} | tensors
        for name in ("heads.link.hidden.weight", "heads.fertility.hidden.weight"):
            if name in tensors and name in own:
                missing = own[name].shape[1] - tensors[name].shape[1]
                tensors[name] = functional.pad(tensors[name], (0, max(0, missing)))
    return {name: tensor for name, tensor in tensors.items() if name in own or not name.startswith("phrases.")}


def _aligned(tensors: dict[str, Tensor], first: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same weights with the neurons of each feed-forward layer in the order of the most similar ones in `first`."""
    aligned = dict(tensors)
    for name in tensors:
        if not name.endswith(_UP) or name not in first:
            continue
        up, down = name.removesuffix("weight"), name.removesuffix(_UP) + _DOWN
        own, wanted = (functional.normalize(torch.cat([one[name], one[down].T], 1), dim=1) for one in (tensors, first))
        order = torch.from_numpy(linear_sum_assignment((wanted @ own.T).numpy(), maximize=True)[1])
        aligned |= {name: tensors[name][order], f"{up}bias": tensors[f"{up}bias"][order], down: tensors[down][:, order]}
    return aligned


def _typed(tensors: dict[str, Tensor], known: Sequence[str], model: CorefModel) -> dict[str, Tensor]:
    """The weights with a classifier of the types of `model`: the rows of those that are known, zeros for the others."""
    typed = dict(tensors)
    for name, own in model.state_dict().items():
        if name.startswith("heads.type_head."):
            nothing = torch.zeros_like(own[0])
            typed[name] = torch.stack(
                [tensors[name][known.index(one)] if one in known else nothing for one in model.config.model.types]
            )
    return typed


def _exported(source: str, model: CorefModel) -> tuple[dict[str, Tensor], ModelConfig]:
    """The weights of a model directory, as a run has them, and the config that they were made with.

    Rounded matrices stay as they are, factored products are multiplied out, and gates are dropped: they are made again
    when the run is exported.
    """
    opened = open_model(source, threads=1)
    weights = {name: torch.from_numpy(value) for name, value in opened.heads.weights.items()}
    if (product := weights.pop(PRODUCT, None)) is not None:
        span, link = product.shape[1], weights["link.hidden.weight"]
        before, factor, after = link.split_with_sizes(
            [2 * span, len(product), link.shape[1] - 2 * span - len(product)], 1
        )
        weights["link.hidden.weight"] = torch.cat([before, factor @ product, after], 1)
    tensors = {f"heads.{name}": value for name, value in weights.items() if name not in GATES}
    encoder = imported_weights(find_model(source) / "encoder.onnx", model.encoder)
    return tensors | {f"encoder.model.{name}": value for name, value in encoder.items()}, opened.config.model
