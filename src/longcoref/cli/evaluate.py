"""`longcoref evaluate`: how well does a model do on documents with gold clusters?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from longcoref.book.revision import BookPolicy
from longcoref.cli.options import NamesOption, RecallOption, SpeechOption, capacity_of
from longcoref.cli.score import score_table
from longcoref.evaluation import Evaluation
from longcoref.evaluation import evaluate as evaluate_documents
from longcoref.files import atomic_text
from longcoref.formats import read_corpus, write_corpus
from longcoref.memory import memory_policy
from longcoref.runtime.model import open_model


def evaluate(
    data: Annotated[Path, typer.Option(help="File, folder or corpus with gold clusters.", show_default=False)],
    model: Annotated[str | None, typer.Option(help="Model directory or name; the shipped one if not given.")] = None,
    source_format: Annotated[
        str | None, typer.Option("--format", help="Format of the data; found out if not given.")
    ] = None,
    fold: Annotated[int | None, typer.Option(help="LitBank's fold, 0 to 9.")] = None,
    part: Annotated[str | None, typer.Option(help="train, dev or test of the corpus.")] = None,
    types_data: Annotated[Path | None, typer.Option(help="Clone of litbank: scores types and kinds too.")] = None,
    memory: Annotated[str | None, typer.Option(help="unbounded, track-all, learned or rule.")] = None,
    cells: Annotated[int | None, typer.Option(help="Capacity of a learned or rule memory.")] = None,
    recall: RecallOption = False,
    names: NamesOption = True,
    speech: SpeechOption = True,
    singletons: Annotated[
        bool | None, typer.Option("--singletons/--no-singletons", help="Score entities of one mention.")
    ] = None,
    records: Annotated[Path | None, typer.Option(help="Write a JSON line for each document here.")] = None,
    conll_out: Annotated[Path | None, typer.Option(help="Folder for key.conll and response.conll.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, in per cent.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Score a model on a corpus, under any memory, and keep what happened in each document.

    What is scored is what `resolve` gives; with --no-names --no-speech, what the memory decided, as in the paper.

    Examples:
      longcoref evaluate --data lrec2020-coref --fold 0 --part test
      longcoref evaluate --data lrec2020-coref --fold 0 --part test --memory rule --cells 5 --json
      longcoref evaluate --model models/mine --data mine.conll --conll-out scored

    """
    opened = open_model(model)
    chosen = opened.config.memory
    name = memory or chosen.policy
    policy = memory_policy(name, capacity_of(name, cells, chosen.cells), recall=recall)
    documents = list(read_corpus(data, format=source_format, fold=fold, part=part, types=types_data))
    console = Console(stderr=True)
    shown = track(documents, "reading", console=console, transient=True, disable=quiet or not console.is_terminal)
    keep = opened.config.data.keep_singletons if singletons is None else singletons
    result = evaluate_documents(
        shown, opened, policy, book=BookPolicy(names=names, speech=speech), keep_singletons=keep
    )
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
