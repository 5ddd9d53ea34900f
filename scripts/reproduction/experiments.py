"""The plan of a reproduction on one corpus: tasks, each with its own folder.

OUT/encoder/            an encoder trained on coreference in another corpus, and its training run
OUT/CORPUS/config.toml  the recipe as it is used
OUT/CORPUS/runs/        a run for each variant, fold and model; all share the vectors of frozen encoders
OUT/CORPUS/scores/      each model's responses on dev and test
OUT/CORPUS/facts/       counts, measurements and the other experiments
OUT/CORPUS/report/      the report and its figures
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from longcoref.config import Config, config_table, dump_toml, load_config
from longcoref.errors import ConfigError, UsageError, unknown_name
from longcoref.files import atomic_text
from longcoref.formats import find_data, read_part
from longcoref.plan import Task, longcoref_command
from reproduction.models import MemoryModel, memory_model

RECIPES = ("litbank", "ontogum", "ontonotes")
STAGES = ("models", "measures", "options", "encoder", "entity", "capacities", "length")
"""The paper's own models and their records; memory and time; validity and eviction decided jointly, as in the paper;
then the paper's open questions: fine-tuning, a learned entity update, one set of weights for all capacities, and
texts far longer than the training documents."""
FOLDS = 10
_PAPER_MODELS = ("umem", "lb-5", "lb-10", "lb-20", "rb-5", "rb-10", "rb-20")
DEFAULT_MODELS = {
    "litbank": _PAPER_MODELS,
    "ontogum": ("umem", "umem-star", "lb-20", "rb-20"),
    "ontonotes": (*_PAPER_MODELS, "umem-star", "lb-30", "rb-30"),
}
DEFAULT_STAGES = {"litbank": STAGES, "ontogum": ("models",), "ontonotes": ("models",)}


def stage_command(stage: str) -> tuple[str, ...]:
    """The command that runs one stage in a process of its own; its arguments follow as JSON."""
    return (sys.executable, str(Path(__file__).parent.parent / "reproduce_stage.py"), stage)


@dataclass(frozen=True, slots=True)
class Measures:
    """How memory and time are measured: the paper's hidden layer, on the longest documents, each in fresh processes."""

    hidden: int = 3000
    documents: int = 2
    repeat: int = 3
    joined: tuple[int, ...] = (1, 2, 5, 10)
    lengths: tuple[int, ...] = (5_000, 10_000, 20_000, 40_000)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One corpus, its recipe, and the stages to run."""

    corpus: str
    out: Path
    config: Config
    models: tuple[MemoryModel, ...]
    folds: tuple[int | None, ...]
    stages: tuple[str, ...]
    teacher: Config | None
    """How the encoder is trained on another corpus first; None if it needs no such training."""
    texts: Path | None
    """A folder of novels as plain text, or None."""
    measures: Measures

    @property
    def folder(self) -> Path:
        """The corpus's folder."""
        return self.out / self.corpus

    def plan(self) -> list[Task]:
        """All tasks in their order; writes the configs that they read."""
        keep_config(self.folder / "config.toml", self.config)
        planner = _Planner(self)
        stages = {
            "models": planner.add_models,
            "measures": planner.add_measures,
            "options": planner.add_options,
            "encoder": planner.add_encoders,
            "entity": planner.add_entity,
            "capacities": planner.add_capacities,
            "length": planner.add_length,
        }
        for name, add in stages.items():
            if name in self.stages:
                add()
        return list(planner.tasks.values())


def reproduction(
    corpus: str,
    out: Path,
    *,
    settings: Sequence[str] = (),
    data: Path | None = None,
    encoder: str | None = None,
    teach: str | None = None,
    folds: Sequence[int] = tuple(range(FOLDS)),
    models: Sequence[str] | None = None,
    stages: Sequence[str] | None = None,
    texts: Path | None = None,
    measures: Measures | None = None,
) -> Reproduction:
    """A reproduction, by default with our recipe and the paper's models.

    `teach` is the folder of OntoGUM, on which the encoder is trained first. None means `gum` in LONGCOREF_DATA, except
    for OntoNotes, whose encoder is already trained; "none" skips this training.
    """
    config = recipe(corpus, settings, data=data, encoder=encoder)
    chosen = DEFAULT_STAGES[corpus] if stages is None else tuple(stages)
    for name in chosen:
        if name not in STAGES:
            raise UsageError(unknown_name("stage", name, STAGES))
    place = teach or ("none" if corpus == "ontonotes" else "gum")
    teacher = (
        None if place == "none" else teacher_of(recipe("ontogum", settings, data=find_data(place), encoder=encoder))
    )
    return Reproduction(
        corpus=corpus,
        out=out,
        config=config,
        models=tuple(memory_model(name.strip()) for name in models or DEFAULT_MODELS[corpus]),
        folds=tuple(folds) if config.data.fold is not None else (None,),
        stages=chosen,
        teacher=teacher,
        texts=texts or _novels(),
        measures=measures or Measures(),
    )


def _novels() -> Path | None:
    """LitBank's whole novels, if they are available."""
    try:
        return find_data("litbank") / "original"
    except ConfigError:
        return None


def recipe(name: str, settings: Sequence[str] = (), *, data: Path | None = None, encoder: str | None = None) -> Config:
    """One of our recipes, changed by settings; `data` is the corpus's own folder, or that of its parts."""
    config = _written(name, settings)
    if data is not None:
        parts = {part: getattr(config.data, part) for part in ("train", "dev", "test")}
        places: dict[str, Any] = {part: str(data / Path(place).name) for part, place in parts.items() if place}
        config = replace(config, data=replace(config.data, **(places or {"path": str(data)})))
    if encoder is not None:
        config = replace(config, encoder=replace(config.encoder, name=encoder))
    if "genre" in config.model.features and not config.model.genres:
        documents = (document for part in ("train", "dev", "test") for document in read_part(config.data, part))
        genres = tuple(sorted({document.genre for document in documents if document.genre is not None}))
        config = replace(config, model=replace(config.model, genres=genres))
    return config


def _written(name: str, settings: Sequence[str] = ()) -> Config:
    """A recipe as it is written."""
    if name not in RECIPES:
        raise UsageError(unknown_name("corpus", name, RECIPES))
    with as_file(files(__package__) / "recipes" / f"{name}.toml") as path:
        return load_config(path, settings)


def settings_of(name: str, config: Config) -> list[str]:
    """The settings that turn a recipe into a config, except the paths of its data."""
    written, used = _flat(_written(name)), _flat(config)
    taken = {key for key in used if key.startswith("data.")} | {"model.genres"}
    return [f"{key}={value}" for key, value in used.items() if key not in taken and value != written[key]]


def teacher_of(config: Config) -> Config:
    """The config for training an encoder with a recipe: fine-tuned, with U-MEM*, which tracks every mention.

    This memory never evicts, so the rule for evictions is left out.
    """
    model = memory_model("umem-star")
    train = replace(config.train, finetune=True, **{**model.training, "keep_invalid": config.train.keep_invalid})
    return replace(config, train=train, model=replace(config.model, fertility=False, options="flat"))


def keep_config(path: Path, config: Config) -> None:
    """Writes the config of a folder; fails if the folder has another one, whose runs would not be comparable."""
    if path.exists():
        before, now = (_flat(side) for side in (load_config(path), config))
        changed = [f"{key} = {before[key]!r}, not {now[key]!r}" for key in now if before[key] != now[key]]
        if changed:
            raise UsageError(f"{path} has {'; '.join(changed)}: give the same settings, or another --out")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_text(path) as stream:
        stream.write(dump_toml(config_table(config)))


def _flat(config: Config) -> dict[str, Any]:
    sections = asdict(config)
    return {f"{section}.{key}": value for section, table in sections.items() for key, value in table.items()}


class _Planner:
    """Builds the list of tasks stage by stage; a task that several stages need is in it once."""

    def __init__(self, reproduction: Reproduction) -> None:
        self.given, self.folder, self.fold = reproduction, reproduction.folder, reproduction.folds[0]
        self.config = self.folder / "config.toml"
        self.tasks: dict[str, Task] = {}
        self.encoder = reproduction.config.encoder.name
        if reproduction.teacher is not None:
            place = reproduction.out / "encoder"
            keep_config(place / "config.toml", reproduction.teacher)
            self.encoder = str(place / "model")
            self.stage("teach the encoder", place, "teach", config=place / "config.toml")
        self.start = tuple(self.tasks)

    def stage(self, name: str, folder: Path, stage: str, *after: str, **arguments: Any) -> None:
        """Adds a task that runs one of our stages."""
        values = json.dumps({"folder": folder, **arguments}, default=str)
        command = (*stage_command(stage), values)
        self.tasks.setdefault(name, Task(name, folder, command, after))

    def run(self, variant: str, fold: int | None, model: MemoryModel, settings: Sequence[str] = ()) -> tuple[str, Path]:
        """Adds the training of a model; returns the task's name and the run's folder."""
        label = _label(variant, fold, model.name)
        place = self.folder / "runs" / label
        changes = [*model.settings, f"encoder.name={self.encoder}", *settings]
        changes += [] if fold is None else [f"data.fold={fold}"]
        options = [option for change in changes for option in ("--set", change)]
        command = longcoref_command("train", self.config, "--run", place, "--resume", "--quiet", *options)
        name = f"train {label}"
        self.tasks.setdefault(name, Task(name, place, command, self.start))
        return name, place

    def score(
        self,
        variant: str,
        fold: int | None,
        model: MemoryModel,
        settings: Sequence[str] = (),
        *,
        trained: MemoryModel | None = None,
    ) -> None:
        """Adds the training of a model and its scores on dev and test; `trained` may be another model's weights."""
        name, run = self.run(variant, fold, trained or model, settings)
        label = _label(variant, fold, model.name)
        facts = {"variant": variant, "fold": fold, "model": model.name}
        self.stage(f"score {label}", self.folder / "scores" / label, "score", name, run=run, **facts)

    def fact(self, name: str, stage: str, *after: str, **arguments: Any) -> None:
        """Adds a stage that writes facts, under a name that is also its folder's."""
        self.stage(name, self.folder / "facts" / name, stage, *after, **arguments)

    def add_models(self) -> None:
        """The paper's models on all folds, the corpus's entities, and the models' sizes."""
        self.fact("entities", "entities", config=self.config)
        names = [model.name for model in self.given.models]
        self.fact("parameters", "parameters", *self.start, config=self.config, encoder=self.encoder, models=names)
        for fold in self.given.folds:
            for model in self.given.models:
                self.score("taught", fold, model)

    def add_measures(self) -> None:
        """Peak memory of training and of inference, and inference time, on the first fold."""
        given = self.given.measures
        for model in self.given.models:
            name, run = self.run("taught", self.fold, model)
            common = {"run": run, "model": model.name, "repeat": given.repeat}
            sizes = {"hidden": given.hidden, "documents": given.documents}
            self.fact(f"training-{model.name}", "training", name, **common, **sizes)
            self.fact(f"inference-{model.name}", "inference", name, **common)

    def add_options(self) -> None:
        """Validity and eviction decided jointly, as in the paper, on the first fold."""
        for model in self.given.models:
            if model.policy == "learned":
                self.score("taught", self.fold, model)
                self.score("flat", self.fold, model, ("model.options=flat",))

    def add_encoders(self) -> None:
        """The encoder frozen from the start, and fine-tuned on the fold itself, against the one trained elsewhere.

        An epoch of fine-tuning takes several times as long, so there are half as many.
        """
        named = f"encoder.name={self.given.config.encoder.name}"
        if self.given.teacher is not None:
            self.compare("frozen", named)
        epochs = max(1, self.given.config.train.epochs // 2)
        self.compare("finetuned", named, "train.finetune=true", f"train.epochs={epochs}", f"train.patience={epochs}")

    def add_entity(self) -> None:
        """A learned weighted mean of an entity's mentions, compared with the plain mean."""
        self.compare("weighted", "model.entity=weighted")

    def compare(self, variant: str, *settings: str) -> None:
        """Trains one model (LB-MEM 20 if it is among the models) in another way on the first fold."""
        model = next((model for model in self.given.models if model.name == "lb-20"), self.given.models[0])
        self.score("taught", self.fold, model)
        self.score(variant, self.fold, model, settings)

    def add_capacities(self) -> None:
        """One set of weights trained with all capacities, under each memory, on the first fold."""
        cells = sorted({model.cells or 0 for model in self.given.models})
        trained = MemoryModel("all", "learned", cells[-1] or None, tuple(cells))
        for model in self.given.models:
            self.score("shared", self.fold, model, trained=trained)

    def add_length(self) -> None:
        """Joined documents and novels, under U-MEM and the largest learned memory, on the first fold."""
        given = self.given.measures
        learned = sorted((m for m in self.given.models if m.policy == "learned"), key=lambda m: m.cells or 0)
        for model in (*(m for m in self.given.models if m.policy == "unbounded"), *learned[-1:]):
            name, run = self.run("taught", self.fold, model)
            common = {"run": run, "model": model.name}
            self.fact(f"joined-{model.name}", "joined", name, **common, counts=given.joined)
            if self.given.texts is not None:
                options = {"texts": self.given.texts, "lengths": given.lengths}
                self.fact(f"novels-{model.name}", "novels", name, **common, **options)


def _label(variant: str, fold: int | None, model: str) -> str:
    return f"{variant}-{model}" if fold is None else f"{variant}-fold{fold}-{model}"
