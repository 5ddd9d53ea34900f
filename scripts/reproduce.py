"""Reproduces the paper's tables and figures: trains and scores what is missing, and writes a report.

    python scripts/reproduce.py litbank --out reproduction

Needs a clone of the repository with `longcoref[train,plots]` installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from longcoref.cli import main
from longcoref.cli.options import numbers_of
from longcoref.cli.progress import show_tasks
from longcoref.errors import LongcorefError
from longcoref.plan import run_plan
from reproduction.experiments import Measures, reproduction
from reproduction.report import write_report

app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def reproduce(
    corpus: Annotated[str, typer.Argument(help="litbank, ontogum or ontonotes.")],
    out: Annotated[Path, typer.Option(help="Folder for encoder, runs, records and report.", show_default=False)],
    data: Annotated[
        Path | None, typer.Option(help="The corpus. Default: the folder of its name in LONGCOREF_DATA.")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="The encoder. Default: the recipe's.")] = None,
    teach: Annotated[
        str | None,
        typer.Option(help="The folder of OntoGUM, on which the encoder is trained first; none skips this."),
    ] = None,
    folds: Annotated[str, typer.Option(help="LitBank's folds, such as 0-9 or 0,3.")] = "0-9",
    models: Annotated[str | None, typer.Option(help="Such as umem,umem-star,lb-5,rb-20. Default: the paper's.")] = None,
    stages: Annotated[
        str | None, typer.Option(help="Some of models,measures,options,encoder,entity,capacities,length. Default: all.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of every model. Default: the recipe's.", min=1)] = None,
    texts: Annotated[
        Path | None, typer.Option(help="Folder of novels as .txt. Default: litbank/original in LONGCOREF_DATA.")
    ] = None,
    hidden: Annotated[int, typer.Option(help="Hidden layer when training memory is measured.", min=1)] = 3000,
    lengths: Annotated[str, typer.Option(help="Numbers of words of the novels to read.")] = "5000,10000,20000,40000",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change one key of the recipe: --set train.seed=3.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Tasks to run at once.", min=1)] = 1,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing; write the report from existing records.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Reproduce the paper: run what is missing, and write a report with its figures next to ours.

    To continue an interrupted reproduction, run the same command again. The report is OUT/CORPUS/report/report.html
    and report.md.

    Examples:
      python scripts/reproduce.py litbank --out reproduction --folds 0-2
      python scripts/reproduce.py ontogum --out reproduction
      python scripts/reproduce.py litbank --out reproduction --report-only
      python scripts/reproduce.py ontonotes --data ontonotes --out reproduction

    """
    changes = [*(settings or []), *([] if epochs is None else [f"train.epochs={epochs}", f"train.patience={epochs}"])]
    wanted = reproduction(
        corpus,
        out,
        settings=changes,
        data=data,
        encoder=encoder,
        teach=teach,
        folds=numbers_of(folds),
        models=None if models is None else models.split(","),
        stages=None if stages is None else stages.split(","),
        texts=texts,
        measures=Measures(hidden=hidden, lengths=tuple(numbers_of(lengths))),
    )
    console = Console(stderr=True, quiet=quiet)
    tasks = wanted.plan()
    try:
        missing = [] if report_only else run_plan(tasks, jobs=jobs, report=show_tasks(console))
    finally:  # whatever stopped the plan, report what is finished
        for path in write_report(wanted.folder):
            console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    if missing:
        raise LongcorefError(f"{len(missing)} of {len(tasks)} tasks are not done, first {missing[0].name}")


if __name__ == "__main__":
    main(app=app)
