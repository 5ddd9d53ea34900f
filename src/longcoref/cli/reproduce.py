"""`longcoref reproduce`: the paper's tables and figures again, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from longcoref.cli.options import numbers_of
from longcoref.cli.progress import show_tasks
from longcoref.errors import LongcorefError


def reproduce(
    corpus: Annotated[str, typer.Argument(help="litbank, ontogum or ontonotes.")],
    out: Annotated[Path, typer.Option(help="Folder for encoder, runs, records and report.", show_default=False)],
    data: Annotated[
        Path | None, typer.Option(help="The corpus; sought in LONGCOREF_DATA under its own name if not given.")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="Another encoder than the recipe's.")] = None,
    teach: Annotated[
        str | None,
        typer.Option(help="OntoGUM, on which the encoder is taught coreference first; none if it has been taught."),
    ] = None,
    folds: Annotated[str, typer.Option(help="LitBank's folds, such as 0-9 or 0,3.")] = "0-9",
    models: Annotated[
        str | None, typer.Option(help="Such as umem,umem-star,lb-5,rb-20; the paper's if not given.")
    ] = None,
    stages: Annotated[
        str | None, typer.Option(help="Of models,measures,options,encoder,entity,capacities,length; all if not given.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of every model; the recipe's if not given.", min=1)] = None,
    texts: Annotated[
        Path | None, typer.Option(help="Folder of novels as .txt; litbank/original in LONGCOREF_DATA if not given.")
    ] = None,
    hidden: Annotated[int, typer.Option(help="Hidden layer where training memory is measured.", min=1)] = 3000,
    lengths: Annotated[str, typer.Option(help="Words of the novels that are read.")] = "5000,10000,20000,40000",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change one key of the recipe: --set train.seed=3.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Tasks that are worked on at once.", min=1)] = 1,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing: write the report from what is there.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell what is being done.")] = False,
) -> None:
    """Reproduce the paper: run what is missing, and write a report with its figures and ours side by side.

    A killed reproduction is started again with the same command. The report is OUT/CORPUS/report/report.html and .md.

    Examples:
      longcoref reproduce litbank --out reproduction --folds 0-2
      longcoref reproduce ontogum --out reproduction
      longcoref reproduce litbank --out reproduction --report-only
      longcoref reproduce ontonotes --data ontonotes --out reproduction

    """
    from longcoref.plan import run_plan
    from longcoref.reproduction.experiments import Measures, reproduction
    from longcoref.reproduction.report import write_report

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
    finally:  # what there is by then is worth a report, whatever stopped the plan
        for path in write_report(wanted.folder):
            console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    if missing:
        raise LongcorefError(f"{len(missing)} of {len(tasks)} tasks are not done, first {missing[0].name}")
