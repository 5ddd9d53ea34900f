"""`longcoref bench`: measurements, as ratios of times taken in one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

app = typer.Typer(help="Measure speed and memory, as ratios in one run.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure speed and memory, as ratios in one run."""


@app.command()
def training(
    run: Annotated[Path, typer.Argument(help="Folder of a training run; its weights are used.", show_default=False)],
    documents: Annotated[int, typer.Option(help="How many dev documents to time.")] = 4,
    memory: Annotated[str, typer.Option(help="unbounded, learned or rule.")] = "unbounded",
    cells: Annotated[int, typer.Option(help="Capacity of a learned or rule memory.")] = 20,
    repeat: Annotated[int, typer.Option(help="Each time is the fastest of so many.")] = 3,
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare a training step with the work that it cannot avoid.

    Examples:
      longcoref bench training runs/litbank-small
      longcoref bench training runs/litbank-small --memory learned --cells 5 --json

    """
    from longcoref.memory import memory_policy
    from longcoref.training.bench import bench_training
    from longcoref.training.data import read_part
    from longcoref.training.runs import load_run

    model, _ = load_run(run)
    chosen = read_part(model.config.data, "dev")[:documents]
    found = bench_training(model, chosen, memory_policy(memory, cells), repeat=repeat, threads=threads)
    show(found.as_json(), as_json=as_json)


def show(facts: dict[str, Any], *, as_json: bool) -> None:
    """Prints measurements for programs or for people."""
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    table = Table("measurement", box=box.SIMPLE)
    table.add_column("value", justify="right")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), f"{value:.3f}" if isinstance(value, float) else str(value))
    Console().print(table)
