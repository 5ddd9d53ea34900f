"""The model directory: written whole, checked when opened, every damage named."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import longcoref
from longcoref.config import Config
from longcoref.errors import InputError, ModelError
from longcoref.runtime.model import find_model, open_model, shipped_models, write_model
from model import tiny_config, tiny_heads, write_tiny_model

TEXT = "Ann saw the old mill. She left it, and Tom met her. " * 4


@pytest.fixture
def copy(tiny_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model, tmp_path / "copy"))


def rewrite(folder: Path, **changes: object) -> None:
    """Writes the model in `folder` again, from its own files."""
    config = tiny_config()
    settings = {
        "config": config,
        "tokenizer_definition": (folder / "tokenizer.json").read_text(encoding="utf-8"),
        "encoder_onnx_path": folder / "encoder.onnx",
        "heads": tiny_heads(config),
        "facts": {},
    }
    write_model(folder, **{**settings, **changes})  # type: ignore[arg-type]


def test_a_model_is_opened_as_it_was_written(tiny_model: Path) -> None:
    model = open_model(tiny_model)
    assert model.config == tiny_config()
    assert model.name == "tiny"
    assert model.facts["calibration"] == {"temperature": 1.5}
    assert model.fingerprint == open_model(tiny_model).fingerprint
    assert sorted(file.name for file in tiny_model.iterdir()) == [
        "CARD.md",
        "encoder.onnx",
        "heads.safetensors",
        "model.toml",
        "tokenizer.json",
    ]


@pytest.mark.parametrize("name", ["model.toml", "tokenizer.json", "encoder.onnx", "heads.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "cut", "foreign", "empty", "folder"])
def test_a_damaged_file_is_named(copy: Path, name: str, damage: str) -> None:
    path = copy / name
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "missing":
        # A cut in the middle of a line, so that what is left of model.toml cannot pass for a whole one.
        path.write_bytes(
            {"cut": whole[: len(whole) // 2] + b"=", "foreign": b"RIFF" + whole[::-1], "empty": b""}[damage]
        )
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        open_model(copy)


def test_weights_that_do_not_fit_the_config_are_refused(copy: Path) -> None:
    rewrite(copy, heads={name: value[:1] for name, value in tiny_heads(tiny_config()).items()})
    with pytest.raises(ModelError, match="has shape"):
        open_model(copy)


def test_windows_that_the_encoder_cannot_read_are_refused(copy: Path) -> None:
    config = tiny_config()
    rewrite(copy, config=Config(encoder=type(config.encoder)(window=100_000), model=config.model))
    with pytest.raises(ModelError, match="windows of 100000 pieces"):
        open_model(copy)


def test_half_precision_heads_answer_nearly_the_same(tiny_model: Path, tmp_path: Path) -> None:
    half = write_tiny_model(tmp_path / "half", half=True)
    assert (half / "heads.safetensors").stat().st_size < 0.6 * (tiny_model / "heads.safetensors").stat().st_size
    pairs = [
        [m.decided.mention_score for m in longcoref.load(folder, threads=1).mentions(longcoref.text.tokenize(TEXT))]
        for folder in (tiny_model, half)
    ]
    np.testing.assert_allclose(*pairs, rtol=0.05, atol=0.1)


def test_writing_replaces_a_model_and_nothing_else(copy: Path, tmp_path: Path) -> None:
    before = open_model(copy).fingerprint
    rewrite(copy, heads=tiny_heads(tiny_config(), seed=9), name="second")
    after = open_model(copy)
    assert (after.name, after.fingerprint == before) == ("second", False)
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]
    with pytest.raises(ModelError, match="may not be called train"):
        rewrite(copy, facts={"train": {}})
    (copy / "model.toml").unlink()
    with pytest.raises(InputError, match="no model directory"):
        rewrite(copy)


def test_a_failed_write_leaves_nothing(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        rewrite(copy, facts={"scores": {"bad": object()}})
    open_model(copy)
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_an_unknown_model_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> None:
    monkeypatch.setattr("longcoref.runtime.model.SHIPPED", tmp_path)
    with pytest.raises(ModelError, match=r"no model 'default'.*longcoref export"):
        longcoref.load()
    shutil.copytree(tiny_model, tmp_path / "default")
    assert shipped_models() == ["default"]
    assert find_model(None) == tmp_path / "default"
    with pytest.raises(ModelError, match=r"no model 'defualt'.*are: default"):
        open_model("defualt")
