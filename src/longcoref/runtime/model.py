"""A model: its parts, the files of its directory, how they are written, and how they are opened without torch.

    model.toml          schema, name, the whole configuration, hashes of the files below, and facts about the model
    tokenizer.json      words to pieces
    encoder.onnx        pieces to vectors
    heads.safetensors   everything above the encoder
    CARD.md             a summary to read

The hashes tie the files together: a file that is damaged or belongs to another model is refused by name.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from longcoref.clusters import KINDS
from longcoref.config import Config, config_from, config_table, dump_toml
from longcoref.errors import ConfigError, InputError, ModelError, UsageError, quoted, shortened, unknown_name
from longcoref.files import atomic_folder
from longcoref.runtime.confidence import Calibration
from longcoref.runtime.encoder import OnnxEncoder, WindowEncoder
from longcoref.runtime.foreign import as_model_error
from longcoref.runtime.heads import Floats, Heads
from longcoref.runtime.pieces import Tokenizer
from longcoref.toml import tomllib

SCHEMA = "longcoref-model/1"
DEFAULT = "default"
SHIPPED = Path(__file__).parent.parent / "models"
"""The folder of the models that come with the package."""

_FILES = {"tokenizer": "tokenizer.json", "encoder": "encoder.onnx", "heads": "heads.safetensors"}
_NO_MODEL = (
    "this package comes without a model: train one (longcoref train), export it (longcoref export RUN DIR), "
    "and give its directory as the model"
)
_SECTIONS = tuple(item.name for item in fields(Config))


@dataclass(frozen=True, slots=True)
class Model:
    """Everything needed to read: configuration, tokenizer, encoder and heads.

    A model opened from a directory also has its name, a fingerprint of everything its answers depend on, and the
    contents of model.toml (training, scores, calibration). `style` is the kind of text that it expects, one of
    `model.genres`; a document that names one itself overrides it.
    """

    config: Config
    tokenizer: Tokenizer
    encoder: WindowEncoder
    heads: Heads
    name: str = ""
    fingerprint: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    style: str = ""

    def in_style(self, style: str | None) -> Model:
        """The same model for another style of text; None leaves it as it is."""
        styles, only = self.config.model.genres, self.config.data.style
        if style is None or (not styles and style == only):
            return self
        if not styles:
            only = f" ({only})" if only else ""
            raise UsageError(f"the model {self.name} was trained on one style of text{only}: leave out the style")
        if style not in styles:
            raise UsageError(unknown_name("style", style, styles))
        return replace(self, style=style, fingerprint=f"{self.fingerprint.partition('+')[0]}+{style}")

    def genre_number(self, genre: str | None) -> int:
        """The number of a document's genre; if the model does not know it, that of the model's style."""
        genres = self.config.model.genres
        return next((genres.index(name) for name in (genre, self.style) if name in genres), 0)

    @property
    def calibration(self) -> Calibration:
        """Turns the scores of this model into probabilities."""
        return Calibration.of(self.facts.get("calibration", {}))


def open_model(model: str | Path | None = None, *, threads: int | None = None) -> Model:
    """Opens a model directory, or a shipped model by its name; None is the default one.

    Several of them, separated by commas, read as one model with their mean scores. `threads` is how many windows are
    encoded at once; None takes all processors.
    """
    if isinstance(model, str) and "," in model and not os.path.isdir(model):
        return _ensemble([_open(name, threads) for name in model.split(",")])
    return _open(model, threads)


def _ensemble(members: Sequence[Model]) -> Model:
    from longcoref.runtime.ensemble import EnsembleEncoder, EnsembleHeads  # not at the top: few are opened

    first = members[0]
    for member in members[1:]:
        if _common(member) != _common(first):
            raise ModelError(
                f"{first.name} and {member.name} cannot read as one model: they must agree in tokenizer, windows and "
                "everything in [model] but hidden and dropout"
            )
    if first.config.model.entity != "mean":
        raise ModelError("models with weighted entity vectors cannot read as one model")
    encoder = EnsembleEncoder([member.encoder for member in members])
    heads = EnsembleHeads([member.heads for member in members])
    return replace(
        first,
        config=replace(first.config, model=heads.config),
        encoder=encoder,
        heads=heads,
        name=",".join(member.name for member in members),
        fingerprint=hashlib.sha256(" ".join(member.fingerprint for member in members).encode()).hexdigest(),
    )


def _common(model: Model) -> tuple[Any, ...]:
    """What the members of an ensemble must agree in."""
    windows = model.config.encoder.window, model.config.encoder.overlap
    return model.facts["files"]["tokenizer"], windows, replace(model.config.model, hidden=0, dropout=0.0)


def _open(model: str | Path | None, threads: int | None) -> Model:
    folder = find_model(model)
    table = read_facts(folder)
    where = str(folder / "model.toml")
    config = _read_config(table, where)
    hashes = table.get("files")
    if not isinstance(hashes, Mapping) or set(hashes) != set(_FILES):
        raise ModelError(f"{where}: [files] must have the hashes of {', '.join(_FILES)}")
    for key, name in _FILES.items():
        _check(folder / name, str(hashes[key]))
    tokenizer = Tokenizer.open(folder / "tokenizer.json")
    encoder = OnnxEncoder(folder / "encoder.onnx", threads=threads)
    encoder.check_vocabulary(tokenizer.largest_id)
    if config.encoder.window > encoder.max_pieces:
        raise ModelError(
            f"{where}: windows of {config.encoder.window} pieces, but the encoder reads {encoder.max_pieces}"
        )
    heads = Heads(_read_weights(folder / "heads.safetensors"), config.model, encoder.width)
    facts = {key: value for key, value in table.items() if key not in _SECTIONS}
    depends = [config_table(config.encoder), config_table(config.model), config_table(config.proposals), dict(hashes)]
    fingerprint = hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()
    opened = Model(config, tokenizer, encoder, heads, str(table.get("name", folder.name)), fingerprint, facts)
    try:
        opened.calibration  # noqa: B018 (reading it checks it)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from error
    return opened


def _read_config(table: Mapping[str, Any], where: str) -> Config:
    """The config in model.toml, with values that a model can have."""
    try:
        config = config_from({key: table[key] for key in _SECTIONS if key in table}, where)
    except ConfigError as error:
        raise ModelError(str(error)) from error
    sections = (config.encoder, config.model, config.proposals)
    numbers = [(item.name, getattr(section, item.name)) for section in sections for item in fields(section)]
    for name, value in numbers:
        if isinstance(value, float) and not math.isfinite(value):
            raise ModelError(f"{where}: {name}: expected a finite number, got {value}")
    positive = {
        "encoder.window": config.encoder.window,
        "model.hidden": config.model.hidden,
        "model.max_width": config.model.max_width,
        "model.feature_size": config.model.feature_size,
        "proposals.ratio": config.proposals.ratio,
        "memory.cells": config.memory.cells,
    }
    for name, value in positive.items():
        if value <= 0:
            raise ModelError(f"{where}: {name}: expected a number above 0, got {quoted(value)}")
    for kind in config.model.kinds:
        if kind not in KINDS:
            raise ModelError(f"{where}: model.kinds: {unknown_name('kind', kind, KINDS)}")
    return config


def _read_weights(path: Path) -> dict[str, Floats]:
    """The tensors of a safetensors file in float32; it may hold them in half precision."""
    with as_model_error(f"{path}: is not a safetensors file"), safe_open(path, framework="numpy") as tensors:
        names = list(tensors.keys())
        for name in names:
            stored = tensors.get_slice(name).get_dtype()
            if stored not in ("F16", "F32"):
                raise ModelError(f"{path}: weight {name} is stored as {stored}: expected F16 or F32")
        return {name: tensors.get_tensor(name).astype(np.float32, copy=False) for name in names}


def shipped_models() -> list[str]:
    """The names of the models that come with the package."""
    return sorted(file.parent.name for file in SHIPPED.glob("*/model.toml"))


def find_model(model: str | Path | None) -> Path:
    """The directory of a model: a path, or the name of a shipped one."""
    name = DEFAULT if model is None else str(model)
    shipped = shipped_models()
    # A folder with the name of a shipped model, such as modern/ with texts, is meant only if it holds a model.
    if name in shipped and (model is None or not os.path.exists(os.path.join(name, "model.toml"))):
        return SHIPPED / name
    if os.path.isdir(name):  # False for a name that no file system allows
        return Path(name)
    known = f"the models that come with this package are: {', '.join(shipped)}" if shipped else _NO_MODEL
    raise ModelError(f"no model {quoted(name)}: neither a directory nor the name of a shipped model; {known}")


def read_facts(folder: Path) -> dict[str, Any]:
    """The tables of a directory's model.toml."""
    path = folder / "model.toml"
    try:
        _refuse_special(path)
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror}); a model directory holds model.toml, "
            f"{', '.join(_FILES.values())}"
        ) from error
    except (ValueError, RecursionError) as error:  # of the TOML, its encoding, or a number in it
        raise ModelError(f"{path}: is not valid TOML: {shortened(str(error))}") from error
    if table.get("schema") != SCHEMA:
        raise ModelError(f"{path}: expected schema {SCHEMA!r}, got {quoted(table.get('schema'))}")
    return table


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _check(path: Path, expected: str) -> None:
    try:
        _refuse_special(path)
        found = _hash(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); the model directory is incomplete") from error
    if found != expected:
        raise ModelError(
            f"{path}: is damaged or belongs to another model: its SHA-256 is {found[:12]}…, model.toml has "
            f"{expected[:12]}…; copy the whole directory again"
        )


def _refuse_special(path: Path) -> None:
    """Refuses a FIFO, which would block, and a device, which may have no end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ModelError(f"{path}: is not a regular file")


def write_model(
    folder: str | Path,
    *,
    config: Config,
    tokenizer_definition: str,
    encoder_onnx_path: str | Path,
    heads: Mapping[str, Floats],
    facts: Mapping[str, Any],
    name: str | None = None,
    card: str | None = None,
    half: bool = False,
) -> None:
    """Writes a model directory atomically; an existing model directory is replaced.

    `facts` are further tables of model.toml: labels, training, scores, calibration. `half` stores the heads in float16.
    """
    target = Path(folder)
    if target.exists() and not (target / "model.toml").is_file() and (not target.is_dir() or any(target.iterdir())):
        raise InputError("exists and is not a model directory; give another name", target)
    taken = sorted(set(facts) & {*_SECTIONS, "files", "schema", "name"})
    if taken:
        raise ModelError(f"facts may not be called {', '.join(taken)}: these are names of model.toml")
    with atomic_folder(target) as new:
        (new / "tokenizer.json").write_text(tokenizer_definition, encoding="utf-8", newline="\n")
        shutil.copyfile(encoder_onnx_path, new / "encoder.onnx")
        kind = np.float16 if half else np.float32
        weights = {key: np.ascontiguousarray(value, dtype=kind) for key, value in heads.items()}
        (new / "heads.safetensors").write_bytes(save(weights))  # `save_file` would make it unreadable for others
        table = {"schema": SCHEMA, "name": name or target.name, **config_table(config)}
        table |= {"files": {key: _hash(new / file) for key, file in _FILES.items()}, **facts}
        (new / "model.toml").write_text(dump_toml(table), encoding="utf-8", newline="\n")
        (new / "CARD.md").write_text(card or _card(table), encoding="utf-8", newline="\n")


def _card(table: Mapping[str, Any]) -> str:
    """The training and scores of model.toml as Markdown."""
    lines = [f"# {table['name']}", "", "A longcoref model: coreference in English text. `model.toml` has all details."]
    for section in ("training", "scores", "calibration"):
        if section in table:
            lines += ["", f"## {section.capitalize()}", ""]
            lines += [f"- {key.replace('_', ' ')}: {value}" for key, value in table[section].items()]
    return "\n".join(lines) + "\n"
