"""The model directory: written whole, checked when opened, every damage named."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import longcoref
from longcoref.config import Config
from longcoref.errors import InputError, ModelError
from longcoref.runtime.model import find_model, open_model, shipped_models, write_model
from longcoref.runtime.onnx_file import has_external_data
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


def set_line(folder: Path, key: str, line: str) -> None:
    """Replaces the line of a key in model.toml."""
    path = folder / "model.toml"
    text, count = re.subn(rf"(?m)^{key} = .*$", line, path.read_text(encoding="utf-8"))
    assert count == 1
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ratio", "inf"),
        ("ratio", "nan"),
        ("ratio", "-0.5"),
        ("threshold", "nan"),
        ("kinds", '["PROP", "NOM", "PRNO"]'),
        ("window", "0"),
        ("max_width", "-1"),
        ("temperature", "0"),
        ("temperature", "nan"),
        ("temperature", '"warm"'),
        ("temperature", "true"),
        ("temperature", "1.0\nlink = 3"),
        ("temperature", "1.0\nnew = [1.0, inf]"),
        ("temperature", "1.0\nlink = [1.0, 2.0, 3.0]"),
    ],
)
def test_impossible_settings_are_refused(copy: Path, key: str, value: str) -> None:
    set_line(copy, key, f"{key} = {value}")
    with pytest.raises(ModelError, match=r"model\.toml: .*(expected|unknown)"):
        open_model(copy)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(copy: Path, number: float) -> None:
    heads = tiny_heads(tiny_config())
    heads["link.hidden.weight"][3, 4] = number
    rewrite(copy, heads=heads)
    with pytest.raises(ModelError, match=r"link\.hidden\.weight has values that are not finite"):
        open_model(copy)


def sign(folder: Path) -> None:
    """Gives model.toml the hashes of the files as they are now, as an attacker would."""
    for key, name in (("tokenizer", "tokenizer.json"), ("encoder", "encoder.onnx"), ("heads", "heads.safetensors")):
        set_line(folder, key, f'{key} = "{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"')


@pytest.mark.parametrize("stored", ["F8_E4M3", "F8_E5M2", "F4", "BF16", "I64", "X"])
def test_weights_of_another_type_are_refused(copy: Path, stored: str) -> None:
    bits = {"F4": 4, "BF16": 16, "I64": 64}.get(stored, 8)
    header = json.dumps({"weight": {"dtype": stored, "shape": [8], "data_offsets": [0, bits]}}).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(bits)
    (copy / "heads.safetensors").write_bytes(content)
    sign(copy)
    with pytest.raises(ModelError, match=r"heads\.safetensors: (weight weight is stored as|is not a safetensors file)"):
        open_model(copy)


BROKEN_TOKENIZERS = {
    "a panic when it is opened": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
    "a panic when it is used": {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[X]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [],
            "special_tokens": {},
        }
    },
    "no place for the text": {
        "post_processor": {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}
    },
}


@pytest.mark.parametrize("name", BROKEN_TOKENIZERS)
def test_a_broken_tokenizer_is_refused(copy: Path, name: str) -> None:
    path = copy / "tokenizer.json"
    table = json.loads(path.read_text(encoding="utf-8")) | BROKEN_TOKENIZERS[name]
    path.write_text(json.dumps(table), encoding="utf-8")
    sign(copy)
    with pytest.raises(ModelError, match=r"tokenizer\.json: is not the tokenizer\.json of a model"):
        open_model(copy)


def test_a_tokenizer_with_more_pieces_than_the_encoder_is_refused(copy: Path) -> None:
    path = copy / "tokenizer.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["model"]["vocab"]["zebra"] = 5000
    path.write_text(json.dumps(table), encoding="utf-8")
    sign(copy)
    with pytest.raises(ModelError, match=r"encoder\.onnx: cannot encode piece 5000"):
        open_model(copy)


@pytest.mark.parametrize("name", ["model.toml", "tokenizer.json", "encoder.onnx", "heads.safetensors"])
def test_a_fifo_is_refused_and_not_waited_for(copy: Path, name: str) -> None:
    (copy / name).unlink()
    os.mkfifo(copy / name)
    with pytest.raises(ModelError, match="is not a regular file"):
        open_model(copy)


def test_an_encoder_with_weights_in_other_files_is_refused(copy: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = copy / "encoder.onnx"
    model = onnx.load(path)
    assert not has_external_data(path)
    onnx.save_model(model, path, save_as_external_data=True, location="more.bin", size_threshold=0)
    assert has_external_data(path)
    sign(copy)
    with pytest.raises(ModelError, match=r"encoder\.onnx: keeps weights in other files"):
        open_model(copy)


def test_an_encoder_that_gives_no_numbers_is_refused(copy: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = copy / "encoder.onnx"
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.ndim == 2:
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.full_like(values, np.nan), tensor.name))
    onnx.save_model(model, path)
    sign(copy)
    with pytest.raises(ModelError, match="not finite"):
        open_model(copy)


@given(content=st.binary(max_size=60), cut=st.integers(0, 400))
def test_any_bytes_are_an_onnx_file_or_an_error(tiny_model: Path, content: bytes, cut: int) -> None:
    whole = (tiny_model / "encoder.onnx").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "encoder.onnx"
        path.write_bytes(whole[:cut] + content)
        with contextlib.suppress(ModelError):
            has_external_data(path)


@pytest.mark.parametrize("name", ["m" * 5000, "a\0b", "m/" * 3000])
def test_an_impossible_model_name_is_refused_briefly(name: str) -> None:
    with pytest.raises(ModelError, match="no model") as caught:
        open_model(name)
    assert len(str(caught.value)) < 400


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
    with pytest.raises(InputError, match="not a model directory"):
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


def test_a_folder_is_preferred_to_a_shipped_model_only_if_it_holds_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path
) -> None:
    monkeypatch.setattr("longcoref.runtime.model.SHIPPED", tmp_path / "shipped")
    shutil.copytree(tiny_model, tmp_path / "shipped" / "modern")
    (tmp_path / "modern").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_model("modern") == tmp_path / "shipped" / "modern"
    shutil.copytree(tiny_model, tmp_path / "modern", dirs_exist_ok=True)
    assert find_model("modern") == Path("modern")


def test_both_shipped_models_know_who_called_whom() -> None:
    text = "Alice called Bob because she needed his help."
    for name in shipped_models():
        found = longcoref.load(name)(text).get_clusters()
        assert found == [["Alice", "she"], ["Bob", "his"]], name
