"""`longcoref analyze`: what the data and the model's records say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from longcoref.analysis.entities import CorpusEntities, analyze_entities
from longcoref.analysis.plots import draw_entities
from longcoref.formats import read_corpus

app = typer.Typer(help="Look into corpora and results.", no_args_is_help=True)


@app.command()
def entities(
    data: Annotated[Path, typer.Option("--data", help="Corpus: a folder or a file.")],
    format: Annotated[
        str | None, typer.Option("--format", help="Format of the corpus; found out if not given.")
    ] = None,
    plots: Annotated[Path | None, typer.Option("--plots", help="Folder for the two histograms (PNG and SVG).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count entities: how many there are, how far they spread, how many are active at once."""
    result = analyze_entities(read_corpus(data, format=format))
    figures = [] if plots is None else draw_entities(result, plots)
    if as_json:
        typer.echo(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
        return
    console = Console()
    console.print(_document_table(result))
    console.print(_corpus_table(result))
    for path in figures:
        console.print(f"wrote {path}", soft_wrap=True)


def _corpus_table(result: CorpusEntities) -> Table:
    values = result.as_json()
    table = Table("corpus", box=box.SIMPLE)
    table.add_column("", justify="right")
    for label in ("documents", "words", "mentions", "entities", "singletons"):
        table.add_row(label, f"{values[label]:,}")
    table.add_section()
    table.add_row("most entities in a document", f"{result.max_total_entities:,}", style="bold")
    table.add_row("most entities active at once", f"{result.max_active_entities:,}", style="bold")
    table.add_row("median spread (part of document)", _part(values["median_spread"]))
    return table


def _document_table(result: CorpusEntities) -> Table:
    """What fits on a narrow terminal; JSON has all."""
    table = Table(box=box.SIMPLE)
    table.add_column("document", overflow="fold")
    for heading in ("words", "entities", "active", "spread"):
        table.add_column(heading, justify="right")
    for document in result.documents:
        table.add_row(
            f"{document.id} {document.part}",
            f"{document.words:,}",
            f"{document.total_entities:,}",
            f"{document.max_active_entities:,}",
            _part(document.as_json()["median_spread"]),
        )
    return table


def _part(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
