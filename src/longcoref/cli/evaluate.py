"""`longcoref evaluate`: score a model on a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from longcoref.book.revision import book_policy
from longcoref.cli.options import (
    CellsOption,
    FoldOption,
    FromOption,
    JsonOption,
    MemoryOption,
    ModelOption,
    PartOption,
    PostProcessingOption,
    QuietOption,
    RecallOption,
    Singletons,
    SingletonsOption,
    StyleOption,
    TypesDataOption,
)
from longcoref.cli.score import score_table
from longcoref.evaluation import Evaluation
from longcoref.evaluation import evaluate as evaluate_documents
from longcoref.files import atomic_text
from longcoref.formats import read_corpus, write_corpus
from longcoref.memory import chosen_policy
from longcoref.runtime.model import open_model


def evaluate(
    data: Annotated[Path, typer.Option(help="Corpus: a file or a folder.", show_default=False)],
    model: ModelOption = None,
    source_format: FromOption = None,
    fold: FoldOption = None,
    part: PartOption = None,
    types_data: TypesDataOption = None,
    memory: MemoryOption = None,
    cells: CellsOption = None,
    recall: RecallOption = None,
    post_processing: PostProcessingOption = "all",
    style: StyleOption = None,
    singletons: SingletonsOption = None,
    records: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JSON line for each document to this file.")
    ] = None,
    conll_out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write key.conll and response.conll into this folder.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score a model on a corpus with gold clusters, with any memory.

    The output of `resolve` is scored; --post-processing none scores the
    memory alone, as in the paper. By default, singletons are kept or
    dropped as they were when the model was trained.

    Examples:
      longcoref evaluate --data lrec2020-coref --fold 0 --part test
      longcoref evaluate --data lrec2020-coref --fold 0 --part test --memory rule --cells 5 --json
      longcoref evaluate --model models/mine --data mine.conll --conll-out scored

    """
    opened = open_model(model).in_style(style)
    policy = chosen_policy(opened.config.memory, memory=memory, cells=cells, recall=recall)
    documents = list(read_corpus(data, format=source_format, fold=fold, part=part, types=types_data))
    console = Console(stderr=True)
    shown = track(documents, "reading", console=console, transient=True, disable=quiet or not console.is_terminal)
    keep = opened.config.data.keep_singletons if singletons is None else singletons is Singletons.KEEP
    result = evaluate_documents(shown, opened, policy, book=book_policy(post_processing), keep_singletons=keep)
    if records is not None:
        with atomic_text(records) as stream:
            stream.writelines(json.dumps(record.as_json(), ensure_ascii=False) + "\n" for record in result.records)
    if conll_out is not None:
        conll_out.mkdir(parents=True, exist_ok=True)
        write_corpus(documents, conll_out / "key.conll", format="conll")
        write_corpus(result.responses, conll_out / "response.conll", format="conll")
    facts = {"model": opened.name, "memory": {"policy": policy.name, "capacity": policy.capacity}, **result.as_json()}
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        _show(result, facts)


def _show(result: Evaluation, facts: dict[str, object]) -> None:
    console = Console()
    console.print(score_table(result.scores, len(result.records)))
    memory = facts["memory"]
    console.print(f"model {facts['model']}, memory {memory}")
    for name in ("proposal_recall", "ignored_per_document", "max_entities_in_memory", "kind_accuracy", "type_accuracy"):
        if name in facts:
            console.print(f"{name.replace('_', ' ')}: {facts[name]:.1f}")
