"""`longcoref corpus`: resolve whole corpora into tables, and give an overview of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from longcoref import corpus
from longcoref.cli.options import (
    CellsOption,
    EncodingOption,
    JsonOption,
    KeepAllOption,
    MemoryOption,
    ModelOption,
    PostProcessingOption,
    QuietOption,
    RecallOption,
    StyleOption,
    bytes_of,
)
from longcoref.cli.progress import Bar
from longcoref.errors import InputError, UsageError

_SHOWN = 20  # failures that are listed at the end


class _Group(TyperGroup):
    """A group with a default command. `--ray` without an address means `--ray local`."""

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [self.default, *args]
        followed = zip(args, [*args[1:], "-"], strict=True)
        args = ["--ray=local" if one == "--ray" and after.startswith("-") else one for one, after in followed]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group, help="Resolve whole corpora: longcoref corpus IN... -o OUT/, or a command.", no_args_is_help=True
)


@app.command()
def run(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IN...",
            help="Texts, folders, patterns, archives (.zip, .tar, .tar.gz), JSON lines or Parquet files.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="Folder, or URL of a place that fsspec can reach.")
    ] = ...,  # type: ignore[assignment]
    paths: Annotated[
        Path | None, typer.Option("--list", metavar="FILE", help="Read more inputs from this file, one per line.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT,...", help="Also write a file for each document, in these formats of resolve."),
    ] = None,
    id_column: Annotated[str, typer.Option(help="Column or key of the id, in Parquet files and JSON lines.")] = "id",
    text_column: Annotated[str, typer.Option(help="Column or key of the text.")] = "text",
    model: ModelOption = None,
    memory: MemoryOption = None,
    cells: CellsOption = None,
    recall: RecallOption = None,
    post_processing: PostProcessingOption = "all",
    style: StyleOption = None,
    encoding: EncodingOption = None,
    keep_all: KeepAllOption = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of workers, each with one thread; by default one per processor if memory allows."
        ),
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Limit on the memory of each process; what does not fit is a failure."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on this Ray cluster, such as auto; without ADDRESS, start one here."),
    ] = None,
    shard_size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Text in a shard of several documents; by default a hundredth of the corpus, from 20kB to 500kB.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first document that fails.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Resolve all documents of a corpus into Parquet tables.

    OUT gets the tables documents, entities, mentions and quotations, in
    shards. A document that fails is recorded, and the others are read.
    Started again, the command does only what is missing or has changed.

    Examples:
      longcoref corpus novels/ -o out/
      longcoref corpus 'volumes/*.zip' -o out/ --to json,html --processes 4
      longcoref corpus reviews.parquet -o out/ --id-column review_id
      longcoref corpus novels/ -o s3://bucket/out --ray auto

    """
    names = [*(inputs or ()), *_listed(paths)]
    if not names:
        raise UsageError("expected files or folders to read, or --list FILE")
    with _Display(quiet=quiet) as display:
        summary = corpus.run(
            names,
            out,
            to=[] if to is None else to.split(","),
            model=model,
            memory=memory,
            cells=cells,
            recall=recall,
            post_processing=post_processing,
            style=style,
            encoding=encoding,
            keep_all=keep_all,
            processes=processes,
            ray=ray,
            memory_limit=None if memory_limit is None else bytes_of(memory_limit),
            strict=strict,
            id_column=id_column,
            text_column=text_column,
            shard_bytes=None if shard_size is None else bytes_of(shard_size),
            report=display.show,
        )
    if as_json:
        typer.echo(json.dumps(asdict(summary), ensure_ascii=False))
    else:
        _show(summary, quiet=quiet)
    if summary.failures:
        raise typer.Exit(1)


@app.command()
def report(
    out: Annotated[str, typer.Argument(metavar="OUT", help="What a corpus run has written.", show_default=False)],
    page: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
) -> None:
    """Write an overview of a corpus as an HTML page: documents, failures, cast sizes and speed.

    Examples:
      longcoref corpus report out/ -o report.html

    """
    corpus.write_report(out, page)


def _listed(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read this list: {error}", path) from error
    return [line.strip() for line in lines if line.strip()]


def _show(summary: corpus.Summary, *, quiet: bool) -> None:
    for row in summary.failures[:_SHOWN]:
        typer.echo(f"longcoref: {row['error']}", err=True)
    if len(summary.failures) > _SHOWN:
        typer.echo(f"longcoref: and {len(summary.failures) - _SHOWN} more; see the manifests", err=True)
    if quiet and not summary.failures:
        return
    read = summary.documents - summary.skipped - len(summary.failures)
    message = (
        f"longcoref: {summary.documents:,} document{'s' * (summary.documents != 1)}: {read:,} read, "
        f"{summary.skipped:,} done before, {len(summary.failures):,} failed"
    )
    if read:
        message += (
            f"; {summary.words:,} words in {summary.seconds:,.0f} s, {summary.words / summary.seconds:,.0f} words/s "
            f"with {summary.workers} worker{'s' * (summary.workers != 1)}, at most {summary.peak_megabytes} MB each"
        )
    typer.echo(message, err=True)


class _Display:
    """A progress bar with documents, failures, words per second and the remaining time; on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._progress = Bar(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, progress: corpus.Progress) -> None:
        """Shows how far the run is."""
        left = "" if progress.seconds_left is None else f", {progress.seconds_left / 60:,.0f} min left"
        text = (
            f"{progress.documents:,} of {progress.all_documents:,} documents, {progress.failed:,} failed, "
            f"{progress.words_per_second:,.0f} words/s{left}"
        )
        self._progress.update(self._task, description=text, total=progress.all_size, completed=progress.size)
