"""`longcoref crossval`: cross-validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from longcoref.cli.options import (
    CellsOption,
    FoldsOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    QuietOption,
    SetOption,
    numbers_of,
)
from longcoref.cli.progress import show_tasks
from longcoref.config import load_config
from longcoref.errors import LongcorefError
from longcoref.memory import chosen_policy

if TYPE_CHECKING:
    from longcoref.training.crossval import CrossValidation

ALL_FOLDS = 10


def crossval(
    configs: Annotated[
        list[Path], typer.Argument(help="One or more configurations; each continues from the one before.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the folds to.", show_default=False)],
    folds: FoldsOption = "0-9",
    memory: MemoryOption = None,
    cells: CellsOption = None,
    settings: SetOption = None,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train and score a model on each fold, and score all test documents together.

    Run the same command again to continue after an interruption: finished tasks are not repeated.

    Examples:
      longcoref crossval configs/litbank-small.toml --out runs/crossval
      longcoref crossval configs/litbank-small.toml configs/litbank-anneal.toml --out runs/crossval --folds 0-2

    """
    from longcoref.plan import run_plan
    from longcoref.training.crossval import Recipe, collect, fold_tasks

    console = Console(stderr=True, quiet=quiet)
    own = load_config(configs[-1], settings or []).memory  # what the exported model will use
    policy = chosen_policy(own, memory=memory, cells=cells)
    recipe = Recipe(tuple(configs), tuple(settings or ()), policy.name, policy.capacity)
    wanted = numbers_of(folds)
    tasks = [task for fold in wanted for task in fold_tasks(recipe, fold, out / f"fold-{fold}")]
    missing = run_plan(tasks, jobs=jobs, report=show_tasks(console))
    found = collect(recipe, wanted, out)
    if as_json:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False, indent=2))
    else:
        _show(found)
    if missing:
        raise LongcorefError(f"{len(missing)} of {len(tasks)} tasks are unfinished, the first is {missing[0].name}")


def _show(found: CrossValidation) -> None:
    facts = found.as_json()
    table = Table("fold", box=box.SIMPLE)
    for heading in ("dev", "test", "MUC", "B³", "CEAF-e", "hours"):
        table.add_column(heading, justify="right")

    def cells(scores: dict[str, Any]) -> list[str]:
        values = (scores["conll_f1"], *(scores[metric]["f1"] for metric in ("muc", "b_cubed", "ceaf_e")))
        return [f"{value:.2f}" for value in values]

    for fold in facts["folds"]:
        table.add_row(
            str(fold["fold"]), f"{fold['dev']['conll_f1']:.2f}", *cells(fold["test"]), f"{fold['seconds'] / 3600:.2f}"
        )
    table.add_section()
    table.add_row(f"{facts['test']['documents']} documents", "", *cells(facts["test"]), "")
    console = Console()
    console.print(table)
    console.print(f"test CoNLL F1 over folds: mean {facts['mean']:.2f}, standard deviation {facts['spread']:.2f}")
    hours = facts["seconds_per_fold"] / 3600
    console.print(f"a fold takes {hours:.2f} hours, all {ALL_FOLDS} take {ALL_FOLDS * hours:.1f}")
