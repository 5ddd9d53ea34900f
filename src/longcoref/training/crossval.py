"""Cross-validation: the same recipe on several folds, each stage in a process of its own, and all test parts together.

A recipe is one config, or several of which each goes on from the one before. A fold is a folder: a run for each config,
the exported model, and for each part and memory the key and the response as CoNLL files, from which everything that
is reported is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from longcoref.config import load_config
from longcoref.errors import ConfigError, InputError
from longcoref.formats import find_data, read_corpus
from longcoref.metrics import Scores
from longcoref.metrics.corpus import score_corpus
from longcoref.plan import Task, longcoref_command

PARTS = ("dev", "test")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is done on each fold: configs in turn, settings laid over all of them, the memory that is scored."""

    configs: tuple[Path, ...]
    settings: tuple[str, ...]
    policy: str
    cells: int | None

    @property
    def memory(self) -> str:
        """The memory as part of a file name."""
        return self.policy if self.cells is None else f"{self.policy}-{self.cells}"


def fold_tasks(recipe: Recipe, fold: int, folder: Path) -> list[Task]:
    """What is to be done for one fold, in order."""
    tasks: list[Task] = []

    def add(name: str, place: Path, *command: object) -> None:
        after = (tasks[-1].name,) if tasks else ()
        tasks.append(Task(f"fold {fold}: {name}", place, longcoref_command(*command), after))

    start: Path | None = None
    for path in recipe.configs:
        config = load_config(path, recipe.settings)
        if not config.data.path:
            raise ConfigError(f"{path}: cross-validation needs a corpus with folds in data.path")
        run = folder / path.stem
        changes = [*recipe.settings, f"data.fold={fold}", *([] if start is None else [f"train.start={start}"])]
        options = [option for change in changes for option in ("--set", change)]
        add(f"train {path.stem}", run, "train", path, "--run", run, "--resume", *options)
        start = run
    model = folder / "export" / "model"
    add("export", model.parent, "export", start, model)
    cells = () if recipe.cells is None else ("--cells", recipe.cells)
    for part in PARTS:
        place = folder / f"{part}-{recipe.memory}"
        where = ("--data", find_data(config.data.path), "--fold", fold, "--part", part)
        kept = ("--conll-out", place, "--records", place / "records.jsonl")
        command = ("evaluate", "--model", model, *where, "--memory", recipe.policy, *cells, *kept)
        add(f"evaluate {part}", place, *command)
    return tasks


@dataclass(frozen=True, slots=True)
class FoldScores:
    """A finished fold: its scores on both parts, and what it took."""

    fold: int
    scores: dict[str, Scores]
    seconds: float


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """All finished folds, and their test documents scored together as one corpus."""

    folds: Sequence[FoldScores]
    together: Scores
    documents: int

    def as_json(self) -> dict[str, Any]:
        """Scores in per cent; mean and spread (standard deviation) over folds, and the time of a fold."""
        tests = [100 * fold.scores["test"].conll_f1 for fold in self.folds]
        return {
            "folds": [
                {
                    "fold": fold.fold,
                    "seconds": fold.seconds,
                    **{part: scores.as_json() for part, scores in fold.scores.items()},
                }
                for fold in self.folds
            ],
            "test": {**self.together.as_json(), "documents": self.documents},
            "mean": mean(tests),
            "spread": stdev(tests) if len(tests) > 1 else 0.0,
            "seconds_per_fold": mean(fold.seconds for fold in self.folds),
        }


def collect(recipe: Recipe, folds: Sequence[int], out: Path) -> CrossValidation:
    """The scores of the folds that are finished."""
    finished: list[FoldScores] = []
    keys, responses = [], []
    for fold in folds:
        folder = out / f"fold-{fold}"
        tasks = fold_tasks(recipe, fold, folder)
        if not all(task.done for task in tasks):
            continue
        scores = {}
        for part in PARTS:
            place = folder / f"{part}-{recipe.memory}"
            key, response = (list(read_corpus(place / f"{side}.conll")) for side in ("key", "response"))
            scores[part] = score_corpus(key, response).total
            if part == "test":
                keys += key
                responses += response
        finished.append(FoldScores(fold, scores, sum(task.seconds for task in tasks)))
    if not finished:
        raise InputError("no fold is finished yet", out)
    return CrossValidation(finished, score_corpus(keys, responses).total, len(keys))
