"""A tiny model directory with random weights, for tests of running."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from longcoref.config import Config, EncoderConfig, ModelConfig, ProposalConfig
from longcoref.runtime.heads import expected_shapes
from longcoref.runtime.model import write_model
from tiny import write_tiny_encoder

WIDTH = 32
FEATURES = ("count", "distance", "last_action", "sentences", "quote", "agreement", "match")


def tiny_config(genres: tuple[str, ...] = (), **proposals: Any) -> Config:
    return Config(
        encoder=EncoderConfig(name="tiny", window=24),
        model=ModelConfig(
            hidden=24,
            max_width=5,
            features=FEATURES,
            feature_size=4,
            genres=genres,
            genre_mentions=bool(genres),
            kinds=("PROP", "NOM", "PRON"),
            types=("PER", "LOC"),
        ),
        proposals=ProposalConfig(**{"threshold": -4.0, "ratio": 0.6, **proposals}),
    )


def tiny_heads(config: Config, seed: int = 2) -> dict[str, np.ndarray]:
    """Random weights, scaled so that every action occurs."""
    random = np.random.default_rng(seed)
    weights = {
        name: (random.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in expected_shapes(config.model, WIDTH).items()
    }
    weights["mention.output.weight"] *= 10
    weights["mention.output.bias"] -= 13
    weights["link.output.weight"] *= 15
    weights["link.output.bias"] += 6
    weights["fertility.output.weight"] *= 10
    return weights


def write_tiny_model(folder: Path, *, seed: int = 2, half: bool = False, **proposals: Any) -> Path:
    from longcoref.nn.encoder import Encoder
    from longcoref.nn.export_encoder import export_encoder

    encoder = Encoder.load(write_tiny_encoder(folder.parent / f"{folder.name}-encoder"))
    onnx = folder.parent / f"{folder.name}.onnx"
    export_encoder(encoder, onnx)
    config = tiny_config(**proposals)
    write_model(
        folder,
        config=config,
        tokenizer_definition=encoder.tokenizer.definition,
        encoder_onnx_path=onnx,
        heads=tiny_heads(config, seed),
        facts={"calibration": {"temperature": 1.5}},
        half=half,
    )
    return folder
