"""`longcoref bench`: measures speed and memory, as ratios within one run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from longcoref.analysis.plots import draw_lines
from longcoref.benchmark import (
    bench_cells,
    bench_growth,
    bench_load,
    bench_recall,
    bench_speed,
    growth_of_memory,
    join_texts,
)
from longcoref.cli.options import (
    CellsOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    PlotsOption,
    ThreadsOption,
)
from longcoref.errors import UsageError
from longcoref.memory import chosen_policy, memory_policy
from longcoref.resolver import load
from longcoref.runtime.encoder import WindowEncoder
from longcoref.runtime.model import open_model

app = typer.Typer(help="Measure speed and memory, as ratios within one run.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure speed and memory, as ratios within one run."""


Texts = Annotated[Path, typer.Option(help="Folder of .txt files to read.", show_default=False)]
Words = Annotated[int, typer.Option(min=1, help="Number of words to read.")]
Repeat = Annotated[int, typer.Option(min=1, help="Number of runs; the fastest counts.")]
_PEAK = "peak resident memory, MB"


@app.command()
def training(
    run: Annotated[Path, typer.Argument(help="Folder of a training run.", show_default=False)],
    documents: Annotated[int, typer.Option(min=1, help="Number of dev documents to time.")] = 4,
    memory: MemoryOption = None,
    cells: CellsOption = None,
    repeat: Repeat = 3,
    threads: Annotated[int, typer.Option(min=1, help="Number of torch threads.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Compare the time of a training step with that of its unavoidable work.

    Without --memory and --cells, there is one row for each memory that the run trains with, and one for all of them.

    Examples:
      longcoref bench training runs/litbank-small
      longcoref bench training runs/litbank-small --memory learned --cells 5 --json

    """
    from longcoref.formats import read_part
    from longcoref.training.bench import bench_training
    from longcoref.training.runs import load_run

    model, _ = load_run(run)
    chosen = read_part(model.config.data, "dev")[:documents]
    train = model.config.train
    policies = [memory_policy(train.policy, number or None, recall=train.recall) for number in train.cells]
    if memory is not None or cells is not None:
        policies = [chosen_policy(model.config.memory, memory=memory, cells=cells)]
    found = [bench_training(model, chosen, policy, repeat=repeat, threads=threads) for policy in policies]
    rows = [
        {"memory": policy.name, "cells": policy.capacity, **bench.as_json()}
        for policy, bench in zip(policies, found, strict=True)
    ]
    if len(found) > 1:
        rows.append({"memory": "all", "cells": None, **reduce(add, found).as_json()})
    _show(rows, as_json=as_json)


@app.command()
def agreement(
    run: Annotated[Path, typer.Argument(help="Folder of a training run.", show_default=False)],
    model: Annotated[str, typer.Argument(help="Model directory exported from the run.", show_default=False)],
    memory: MemoryOption = None,
    cells: CellsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the decisions on dev documents in which a model directory and its torch model differ.

    Examples:
      longcoref bench agreement runs/litbank-small models/mine

    """
    from longcoref.formats import read_part
    from longcoref.training.agreement import compare
    from longcoref.training.runs import load_run

    trained, _ = load_run(run)
    policy = chosen_policy(trained.config.memory, memory=memory, cells=cells)
    found = compare(trained, open_model(model), read_part(trained.config.data, "dev"), policy)
    _show([{name: getattr(found, name) for name in found.__slots__}], as_json=as_json)


@app.command()
def speed(
    texts: Texts,
    words: Words = 10_000,
    model: ModelOption = None,
    cells: CellsOption = None,
    threads: ThreadsOption = None,
    run: Annotated[Path | None, typer.Option(help="Training run whose torch encoder is also timed.")] = None,
    repeat: Repeat = 3,
    as_json: JsonOption = False,
) -> None:
    """Compare reading end to end with running only the encoder on the same windows.

    Examples:
      longcoref bench speed --texts novels --words 10000
      longcoref bench speed --texts novels --run runs/litbank-small --threads 1

    """
    resolver = load(model, cells=cells, threads=threads)
    others: dict[str, WindowEncoder] = {}
    if run is not None:
        from longcoref.training.runs import torch_encoder

        others["torch"] = torch_encoder(run, threads=threads)
    _show([bench_speed(resolver, join_texts(texts, words), repeat=repeat, others=others)], as_json=as_json)


@app.command()
def cells(
    texts: Texts,
    words: Words = 10_000,
    model: ModelOption = None,
    capacities: Annotated[str, typer.Option(help="Capacities to time; 0 is unbounded.")] = "5,10,20,50,100,0",
    repeat: Repeat = 3,
    as_json: JsonOption = False,
) -> None:
    """Time clustering per mention, without the encoder, for memories of several capacities.

    Examples:
      longcoref bench cells --texts novels --words 10000

    """
    found = bench_cells(open_model(model), join_texts(texts, words), _numbers(capacities), repeat=repeat)
    _show(found, as_json=as_json)


@app.command()
def growth(
    texts: Texts,
    lengths: Annotated[str, typer.Option(help="Lengths in words, for bounded memory.")] = "10000,50000,100000,500000",
    unbounded: Annotated[str, typer.Option(help="Lengths in words, for unbounded memory.")] = "10000,20000,50000",
    to: Annotated[str, typer.Option(help="Output format; only jsonl is written while reading.")] = "jsonl",
    cells: CellsOption = None,
    model: ModelOption = None,
    threads: ThreadsOption = None,
    plots: PlotsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how time and peak memory grow with the length of the text, in a separate process for each length.

    The second table compares the longest text with the shortest.

    Examples:
      longcoref bench growth --texts novels --plots out
      longcoref bench growth --texts novels --to json --lengths 10000,200000 --unbounded ""

    """
    capacity = _capacity(model, cells)
    measure = partial(bench_growth, texts, model=model, to=to, threads=threads)
    rows = measure(_numbers(lengths), memory="learned", cells=capacity)
    rows += measure(_numbers(unbounded), memory="unbounded", cells=None)
    if plots is not None:
        curves = {"seconds": "seconds", "peak_megabytes": _PEAK}
        _draw(rows, "memory", plots, curves, "{} memory", "growth", "by length of the text")
    _show(rows, as_json=as_json)
    summary = growth_of_memory(rows)
    if summary and not as_json:
        _show(summary, as_json=False)


@app.command()
def recall(
    text: Annotated[Path, typer.Argument(help="One long text, such as a novel.", show_default=False)],
    every: Annotated[int, typer.Option(min=1, help="Words between two measurements.")] = 10_000,
    cells: CellsOption = None,
    model: ModelOption = None,
    plots: PlotsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure clustering time and peak memory along one text, with and without --recall.

    Examples:
      longcoref bench recall novel.txt --plots out

    """
    rows, summary = bench_recall(text, model=model, cells=_capacity(model, cells), every=every)
    if plots is not None:
        curves = {"milliseconds_per_mention": "milliseconds of clustering per mention", "peak_megabytes": _PEAK}
        _draw(rows, "recall", plots, curves, "recall {}", "recall", "along a novel")
    _show(rows, as_json=as_json)
    if not as_json:
        _show(summary, as_json=False)


def _draw(
    rows: Sequence[dict[str, Any]], by: str, folder: Path, curves: dict[str, str], line: str, name: str, where: str
) -> None:
    """Draws a figure for each of `curves` (a column and its label) over words, with one line per value of `by`."""
    for column, label in curves.items():
        series = {
            line.format(value): (
                [row["words"] for row in rows if row[by] == value],
                [row[column] for row in rows if row[by] == value],
            )
            for value in dict.fromkeys(row[by] for row in rows)
        }
        title = f"{label[0].upper()}{label[1:]}, {where}"
        draw_lines(series, folder / f"{name}_{column}", title=title, horizontal="words", vertical=label, marked=True)


@app.command("load")
def load_time(model: ModelOption = None, repeat: Repeat = 3, as_json: JsonOption = False) -> None:
    """Time a fresh process from the import to the first result.

    Examples:
      longcoref bench load

    """
    _show([bench_load(model, repeat=repeat)], as_json=as_json)


def _capacity(model: str | None, cells: int | None) -> int | None:
    """The capacity of a learned memory: the given one, or else the model's own."""
    return chosen_policy(open_model(model).config.memory, memory="learned", cells=cells).capacity


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",") if number.strip()]
    except ValueError as error:
        raise UsageError(f"expected whole numbers separated by commas, got {text!r}") from error


def _show(rows: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Prints measurements as JSON, or as a list (for one) or table (for several)."""
    if as_json:
        typer.echo(json.dumps(rows[0] if len(rows) == 1 else rows, indent=2))
        return

    def shown(value: object) -> str:
        return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    table = Table(box=box.SIMPLE)
    if len(rows) == 1:
        table.add_column("measurement")
        table.add_column("value", justify="right")
        for name, value in rows[0].items():
            table.add_row(name.replace("_", " "), shown(value))
    else:
        for name in rows[0]:
            table.add_column(name.replace("_", " "), justify="right")
        for row in rows:
            table.add_row(*(shown(value) for value in row.values()))
    Console().print(table)
