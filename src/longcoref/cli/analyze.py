"""`longcoref analyze`: statistics of corpora and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from longcoref.analysis.entities import CorpusEntities, analyze_entities
from longcoref.analysis.errors import CorpusErrors, ErrorType, analyze_errors
from longcoref.analysis.examples import example_record
from longcoref.analysis.plots import draw_entities
from longcoref.analysis.records import correlations, memory_use, read_records
from longcoref.cli.options import FromOption, JsonOption, PlotsOption, Singletons, SingletonsOption
from longcoref.files import atomic_text
from longcoref.formats import read_corpus
from longcoref.render.html import page

app = typer.Typer(help="Analyze corpora and results.", no_args_is_help=True)


@app.command()
def entities(
    data: Annotated[Path, typer.Option("--data", help="Corpus: a file or a folder.", show_default=False)],
    source_format: FromOption = None,
    plots: PlotsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count entities, and measure how far they spread and how many are active at once.

    Examples:
      longcoref analyze entities --data lrec2020-coref
      longcoref analyze entities --data mine.conll --plots figures --json

    """
    result = analyze_entities(read_corpus(data, format=source_format))
    figures = [] if plots is None else draw_entities(result, plots)
    if as_json:
        typer.echo(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
        return
    console = Console()
    console.print(_document_table(result))
    console.print(_corpus_table(result))
    for path in figures:
        console.print(f"wrote {path}", soft_wrap=True)


@app.command()
def errors(
    key: Annotated[Path, typer.Argument(help="File or folder with the gold clusters.")],
    response: Annotated[Path, typer.Argument(help="File or folder with the predicted clusters.")],
    singletons: SingletonsOption = Singletons.KEEP,
    source_format: FromOption = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the worst errors in context to this HTML file.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Number of errors in the HTML file.")] = 28,
    as_json: JsonOption = False,
) -> None:
    """Classify errors: conflated and divided entities, extra and missing mentions and entities, wrong spans.

    The classification is that of Kummerfeld and Klein (2013).

    Examples:
      longcoref evaluate --data lrec2020-coref --fold 0 --part dev --conll-out scored
      longcoref analyze errors scored/key.conll scored/response.conll
      longcoref analyze errors scored/key.conll scored/response.conll --html errors.html --json

    """
    sides = (read_corpus(path, format=source_format) for path in (key, response))
    result = analyze_errors(*sides, keep_singletons=singletons is not Singletons.DROP)
    if html is not None:
        record = example_record(result.worst(examples))
        with atomic_text(html) as stream:
            stream.write(page(record, record["text"], title=f"Errors of {response.name}"))
    if as_json:
        typer.echo(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
        return
    console = Console()
    console.print(_error_table(result))
    if html is not None:
        console.print(f"wrote {html}", soft_wrap=True)


RecordFiles = Annotated[list[Path], typer.Argument(help="Files written by longcoref evaluate --records.")]


@app.command()
def correlation(
    records: RecordFiles,
    as_json: JsonOption = False,
) -> None:
    """Correlate document scores with document length and number of entities (Spearman).

    Examples:
      longcoref evaluate --data lrec2020-coref --fold 0 --part dev --records dev.jsonl
      longcoref analyze correlation dev.jsonl

    """
    headings = {"words": "document length", "gold_entities": "entities"}
    _show_records({path: correlations(read_records(path)) for path in records}, headings, ".2f", as_json)


@app.command()
def memory(
    records: RecordFiles,
    as_json: JsonOption = False,
) -> None:
    """Show memory usage: entities held at once, and mentions ignored because the memory was full.

    Examples:
      longcoref evaluate --data lrec2020-coref --fold 0 --part dev --memory rule --cells 5 --records rule-5.jsonl
      longcoref analyze memory rule-5.jsonl learned-5.jsonl

    """
    headings = {"average_entities": "entities", "max_entities": "at most", "ignored_per_document": "ignored"}
    _show_records({path: memory_use(read_records(path)) for path in records}, headings, ".1f", as_json)


def _show_records(
    rows: Mapping[Path, Mapping[str, float | None]], headings: Mapping[str, str], form: str, as_json: bool
) -> None:
    """Prints one row per file."""
    if as_json:
        typer.echo(json.dumps([{"records": str(path), **row} for path, row in rows.items()], indent=2))
        return
    table = Table(box=box.SIMPLE)
    table.add_column("records", overflow="fold")
    for heading in headings.values():
        table.add_column(heading, justify="right")
    for path, row in rows.items():
        values = (row[name] for name in headings)
        table.add_row(str(path), *("–" if value is None else format(value, form) for value in values))
    Console().print(table)


def _error_table(result: CorpusErrors) -> Table:
    """One column per kind of error, named by its initials as in the paper."""
    table = Table(box=box.SIMPLE, caption=", ".join(f"{kind.initials} {kind.value}" for kind in ErrorType))
    table.add_column("document", overflow="fold")
    for kind in ErrorType:
        table.add_column(kind.initials, justify="right")
    for entry in result.documents:
        table.add_row(f"{entry.document.id} {entry.document.part}", *map(str, entry.counts.values()))
    table.add_section()
    table.add_row(f"{len(result.documents)} documents", *map(str, result.counts.values()), style="bold")
    return table


def _corpus_table(result: CorpusEntities) -> Table:
    values = result.as_json()
    table = Table("corpus", box=box.SIMPLE)
    table.add_column("", justify="right")
    for label in ("documents", "words", "mentions", "entities", "singletons"):
        table.add_row(label, f"{values[label]:,}")
    table.add_section()
    table.add_row("most entities in a document", f"{result.max_total_entities:,}", style="bold")
    table.add_row("most entities active at once", f"{result.max_active_entities:,}", style="bold")
    table.add_row("median spread (share of document)", _part(values["median_spread"]))
    return table


def _document_table(result: CorpusEntities) -> Table:
    """The columns that fit on a narrow terminal; JSON has all of them."""
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
