"""`longcoref score`: score predicted clusters against gold clusters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from longcoref.cli.options import FromOption, JsonOption, Singletons, SingletonsOption
from longcoref.formats import read_corpus
from longcoref.metrics import Scores
from longcoref.metrics.corpus import CorpusScores, score_corpus

METRIC_NAMES = {
    "muc": "MUC",
    "b_cubed": "B³",
    "ceaf_e": "CEAF-e",
    "ceaf_m": "CEAF-m",
    "lea": "LEA",
    "blanc": "BLANC",
    "mentions": "mentions",
}


def score(
    key: Annotated[Path, typer.Argument(help="File or folder with the gold clusters.")],
    response: Annotated[Path, typer.Argument(help="File or folder with the predicted clusters.")],
    as_json: JsonOption = False,
    singletons: SingletonsOption = Singletons.KEEP,
    per_document: Annotated[bool, typer.Option("--per-document", help="Also score each document.")] = False,
    source_format: FromOption = None,
) -> None:
    """Score predicted clusters against gold clusters: MUC, B³, CEAF, LEA, BLANC, mentions and the CoNLL average.

    Examples:
      longcoref score key.conll response.conll
      longcoref score gold/ predicted/ --per-document --json
      longcoref score key.conll response.conll --singletons drop

    """
    scores = score_corpus(
        read_corpus(key, format=source_format),
        read_corpus(response, format=source_format),
        keep_singletons=singletons is not Singletons.DROP,
    )
    if as_json:
        typer.echo(json.dumps(scores.as_json(per_document=per_document), ensure_ascii=False, indent=2))
        return
    console = Console()
    if per_document:
        console.print(_document_table(scores))
    console.print(score_table(scores.total, len(scores.documents)))


def score_table(scores: Scores, documents: int) -> Table:
    """All metrics of a corpus with this number of documents."""
    table = Table("metric", box=box.SIMPLE, title=f"{documents} document{'s' * (documents != 1)}", title_justify="left")
    for heading in ("precision", "recall", "F1"):
        table.add_column(heading, justify="right")
    for metric, name in METRIC_NAMES.items():
        value = getattr(scores, metric).as_json()
        table.add_row(name, *(f"{value[part]:.2f}" for part in ("precision", "recall", "f1")))
    table.add_section()
    table.add_row("CoNLL average", "", "", f"{100 * scores.conll_f1:.2f}")
    return table


def _document_table(scores: CorpusScores) -> Table:
    """F1 for the metrics that fit on a narrow terminal; JSON has all of them."""
    metrics = ("muc", "b_cubed", "ceaf_e", "lea")
    table = Table(title="F1", title_justify="left", box=box.SIMPLE)
    table.add_column("document", overflow="fold")
    for heading in ("CoNLL", *(METRIC_NAMES[metric] for metric in metrics)):
        table.add_column(heading, justify="right")
    for (id, part), document in scores.documents.items():
        values = (document.conll_f1, *(getattr(document, metric).f1 for metric in metrics))
        table.add_row(f"{id} {part}", *(f"{100 * value:.2f}" for value in values))
    return table
