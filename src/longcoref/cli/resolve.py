"""`longcoref resolve`: find the entities in a text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from longcoref.cli.inputs import Input, find_inputs
from longcoref.cli.options import (
    CellsOption,
    EncodingOption,
    KeepAllOption,
    MaxDistanceOption,
    MemoryOption,
    MinScoreOption,
    ModelOption,
    PostProcessingOption,
    QuietOption,
    RecallOption,
    StyleOption,
    ThreadsOption,
    bytes_of,
)
from longcoref.cli.reading import Corrections, Display, Reading
from longcoref.errors import UsageError, unknown_name
from longcoref.files import atomic_text
from longcoref.formats import FORMATS
from longcoref.formats.registry import is_folder
from longcoref.render.lines import TraceWriter
from longcoref.render.outputs import GROUPS, OUTPUTS, TERMINAL, chosen_formats
from longcoref.render.resolved import Replacing
from longcoref.resolver import Resolver, load
from longcoref.runtime.footprint import Budget

_ON_A_TERMINAL = "cast"
_HINT = (
    "longcoref: --to cast lists every entity, --to text marks the mentions in the text, "
    "-o FILE.html writes a page for reading, and -o FILE.json the whole result"
)


def resolve(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files with text (plain, HTML, Markdown, epub, docx, RTF, PDF, subtitles), folders of them, patterns "
            "such as 'ch*.txt', or - for standard input.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT,...",
            help=f"Output format: {', '.join([*OUTPUTS, *GROUPS])}; several, separated by commas, need a folder. By "
            f"default chosen by the extension of OUT, else json ({_ON_A_TERMINAL} on a terminal).",
            autocompletion=lambda: [*OUTPUTS, *GROUPS],
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="File, folder (with a trailing /) for one file per text, or - for standard output.",
        ),
    ] = "-",
    model: ModelOption = None,
    memory: MemoryOption = None,
    cells: CellsOption = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Limit on the memory of the process, such as 1GB: use as many cells as fit, or check that --cells do. "
            "More cells take more time.",
        ),
    ] = None,
    types: Annotated[
        str | None, typer.Option(metavar="TYPE,...", help="Keep only entities of these types, such as PER,ORG.")
    ] = None,
    min_mentions: Annotated[int, typer.Option(min=1, help="Keep only entities with at least this many mentions.")] = 1,
    recall: RecallOption = None,
    post_processing: PostProcessingOption = "all",
    style: StyleOption = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write each decision with its scores to this file (JSON lines).")
    ] = None,
    corrections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON corrected in the reader page: all decisions in it are kept, the rest is resolved around them.",
        ),
    ] = None,
    min_score: MinScoreOption = 0.0,
    max_distance: MaxDistanceOption = None,
    source_format: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"Input format, whose words and sentences are kept: {', '.join(FORMATS)}.",
            autocompletion=lambda: list(FORMATS),
        ),
    ] = "text",
    encoding: EncodingOption = None,
    keep_all: KeepAllOption = False,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Find the entities in texts of any length.

    With --to jsonl, mentions are written as they are decided. Memory then
    does not grow with the text, and there is no post-processing.

    Examples:
      longcoref resolve story.txt --to text
      longcoref resolve novel.txt -o novel.html
      longcoref resolve novel.txt -o novel.jsonl --cells 50
      longcoref resolve novel.txt -o novel.jsonl --memory-limit 1GB
      longcoref resolve novel.txt -o out/ --to json,html,csv,booknlp
      longcoref resolve 'chapters/*.txt' -o resolved/ --to conll
      longcoref resolve novel.txt -o novel.html --corrections corrected.json
      cat story.txt | longcoref resolve - --to resolved --types PER --min-mentions 2

    """
    on_terminal = to is None and out == "-" and sys.stdout.isatty()
    formats = [_ON_A_TERMINAL] if on_terminal else chosen_formats(to, out)
    folder = Path(out) if out != "-" and is_folder(out) else None
    resolver = load(
        model, memory=memory, cells=cells, threads=threads, recall=recall, post_processing=post_processing, style=style
    )
    wanted = None if types is None else _types(types, resolver)
    inputs = find_inputs(files, source_format, encoding=encoding, keep_all=keep_all)
    if folder is None and len(formats) > 1:
        raise UsageError(f"{len(formats)} formats need {len(formats)} files: write them into a folder with -o out/")
    if folder is None and len(inputs) > 1 and OUTPUTS[formats[0]].single:
        raise UsageError(f"{formats[0]} holds one text, got {len(inputs)}: write them into a folder with -o out/")
    decided = None if corrections is None else Corrections.read(corrections, one=len(inputs) == 1)
    if decided is not None and not all(OUTPUTS[format].whole for format in formats):
        raise UsageError("--to jsonl is written before the text ends, so it cannot use --corrections: choose json")
    replacing = Replacing(min_score=min_score, max_distance=max_distance)
    budget = None
    if memory_limit is not None:
        holding = any(OUTPUTS[format].whole for format in formats) or wanted is not None or min_mentions > 1
        budget = _budget(memory_limit, resolver, inputs if holding else [])
        resolver = resolver.with_settings(cells=budget.cells(cells))
    with ExitStack() as stack:
        tracer = None if trace is None else TraceWriter(stack.enter_context(atomic_text(trace)))
        display = stack.enter_context(Display(quiet=quiet))
        beside = folder or (None if out == "-" else Path(out).parent)
        reading = Reading(resolver, display, tracer, budget, wanted, min_mentions, beside, decided, replacing)
        if folder is not None:
            reading.write_folder(inputs, folder, formats)
        elif out == "-":
            output = TERMINAL if on_terminal else OUTPUTS[formats[0]]
            reading.write(inputs, typer.get_text_stream("stdout", encoding="utf-8"), output)
        else:
            with atomic_text(out) as stream:
                reading.write(inputs, stream, OUTPUTS[formats[0]])
    if on_terminal and not quiet:
        typer.echo(_HINT, err=True)


def _types(types: str, resolver: Resolver) -> list[str]:
    chosen = [name.strip() for name in types.split(",") if name.strip()]
    known = resolver.model.config.model.types
    for name in chosen:
        if name not in known:
            raise UsageError(unknown_name("type", name, known) if known else "this model does not predict types")
    return chosen


def _budget(limit: str, resolver: Resolver, held: Sequence[Input]) -> Budget:
    """The budget for a limit, if the output holds each of some texts as a whole."""
    if resolver.policy.capacity is None:
        raise UsageError(
            f"the memory {resolver.policy.name!r} grows with the text, so no limit can hold: use --memory learned"
        )
    sizes = [item.size for item in held]
    if None in sizes:
        raise UsageError("the length of standard input is unknown: under a limit, use --to jsonl")
    characters = max((size for size in sizes if size is not None), default=0)
    threads = getattr(resolver.model.encoder, "threads", 1)
    return Budget.of(
        bytes_of(limit),
        resolver.model.heads,
        threads=threads,
        characters=characters,
        recall=resolver.policy.recalls,
    )
