"""`longcoref label`: make training documents from unlabelled text, with a model as the teacher."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from longcoref.cli.options import CellsOption, ModelOption, QuietOption, StyleOption
from longcoref.clusters import Cluster
from longcoref.document import Document
from longcoref.errors import InputError, UsageError
from longcoref.formats import write_corpus
from longcoref.resolver import Resolver, load
from longcoref.silver.gap import gap_documents, read_gap
from longcoref.silver.label import LabelSettings, label_file


def label(
    texts: Annotated[
        list[Path], typer.Argument(help="Text files, folders of them, or GAP files (.tsv).", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the documents, one file per text.")],
    model: ModelOption = None,
    cells: CellsOption = 30,
    style: StyleOption = None,
    words: Annotated[int, typer.Option(help="Maximum number of words to take from each text.", min=1)] = 10_000,
    hide: Annotated[float, typer.Option(help="Share of eligible names to hide.", min=0, max=1)] = 0.6,
    tags: Annotated[bool, typer.Option("--tags/--no-tags", help="Hide who speaks and who is addressed, too.")] = True,
    kinds: Annotated[bool, typer.Option("--kinds/--no-kinds", help="Keep the teacher's kinds and types.")] = True,
    seed: Annotated[int, typer.Option(help="Seed for choosing the names to replace.")] = 0,
    processes: Annotated[int, typer.Option(help="Number of parallel processes.", min=1)] = 1,
    quiet: QuietOption = False,
) -> None:
    """Make training documents from unlabelled text, with a model as the teacher.

    Later names of people are replaced with pronouns, whose antecedents are
    then known for certain. Words that say who speaks or who is addressed are
    left out where an "I" or a "you" is known to be that person. GAP's pronouns
    get the antecedents that people chose. A text that already has a file in
    the output folder is skipped, so an interrupted run can be started again.

    Examples:
      longcoref label novels/ --out silver/novels --processes 2
      longcoref label news/ --out silver/news --style modern --words 2000
      longcoref label gap-development.tsv --out silver/gap

    """
    files = [file for path in texts for file in _files(path)]
    targets = {file: out / f"{file.stem}.jsonl" for file in files}
    for file, other in pairwise(sorted(targets, key=targets.__getitem__)):
        if targets[file] == targets[other]:
            raise UsageError(
                f"{file} and {other} would both be written to {targets[file]}: label them into two folders"
            )
    out.mkdir(parents=True, exist_ok=True)
    waiting = [file for file in files if not targets[file].exists()]
    if not waiting:
        return
    settings = LabelSettings(words=words, stretch=min(words, 10_000), hide=hide, tags=tags, kinds=kinds, seed=seed)
    console = Console(stderr=True)
    _open_teacher(model, cells, style)  # an error here is reported as such; in a worker it would only break the pool
    with ProcessPoolExecutor(processes, get_context("spawn"), _open_teacher, (model, cells, style)) as pool:
        jobs = [pool.submit(_label, path, targets[path], settings) for path in waiting]
        for job in track(jobs, "labelling", console=console, disable=quiet or not console.is_terminal):
            job.result()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.is_file():
            raise InputError("no such file or folder", path)
        return [path]
    files = sorted(file for file in path.rglob("*.txt") if file.is_file())
    if not files:
        raise InputError("no .txt file in this folder", path)
    return files


_teacher: Resolver


def _open_teacher(model: str | None, cells: int | None, style: str | None) -> None:
    global _teacher
    _teacher = load(model, cells=cells, recall=True, threads=1, style=style)


def _label(path: Path, target: Path, settings: LabelSettings) -> None:
    if path.suffix == ".tsv":
        write_corpus(gap_documents(read_gap(path), _clusters), target, format="jsonl")
    else:
        label_file(_teacher, path, target, settings)


def _clusters(document: Document) -> Sequence[Cluster]:
    found = _teacher.document(document).document
    assert found is not None
    assert found.clusters is not None
    return found.clusters
