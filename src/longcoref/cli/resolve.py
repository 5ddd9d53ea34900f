"""`longcoref resolve`: who is who in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from longcoref.cli.inputs import Input, find_inputs
from longcoref.cli.options import NamesOption, RecallOption, SpeechOption, bytes_of, capacity_of
from longcoref.errors import InputError, UsageError, unknown_name
from longcoref.files import atomic_text
from longcoref.formats import FORMATS
from longcoref.memory import POLICIES, memory_policy
from longcoref.mention import MentionRecord
from longcoref.render.html import write_page
from longcoref.render.outputs import GROUPS, chosen_formats, output_formats, output_suffix, write_results
from longcoref.render.steps import MentionWriter, TraceWriter
from longcoref.resolver import Resolver, load
from longcoref.result import Result
from longcoref.runtime.footprint import Budget

_STREAMED = ["jsonl"]
_NEED_STEPS = frozenset(("html", "jsonl"))
_CHECK_EVERY = 64  # decisions between two looks at the memory


def resolve(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Text files, folders of .txt files, patterns such as 'ch*.txt', or - for input.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join([*output_formats(), *GROUPS])}; several with commas between them, into a folder. "
            "By default told from the name of OUT, else json.",
            autocompletion=lambda: [*output_formats(), *GROUPS],
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="A file, a folder (ending in /), or - for output.")
    ] = "-",
    model: Annotated[str | None, typer.Option(help="Model directory or name; the shipped one if not given.")] = None,
    memory: Annotated[
        str, typer.Option(help="learned, rule, unbounded or track-all.", autocompletion=lambda: list(POLICIES))
    ] = "learned",
    cells: Annotated[
        int | None, typer.Option(help="Entities in a learned or rule memory at once; 20 if not given.")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Stay below this, such as 1GB: takes as many cells as fit, unless --cells says how many, and refuses "
            "what does not fit. More cells take more time.",
        ),
    ] = None,
    types: Annotated[str | None, typer.Option(help="Only clusters of these types, such as PER,ORG.")] = None,
    min_mentions: Annotated[int, typer.Option(min=1, help="Only clusters with so many mentions.")] = 1,
    recall: RecallOption = False,
    names: NamesOption = True,
    speech: SpeechOption = True,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every decision with its scores here (JSONL).")
    ] = None,
    source_format: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Format of the input, whose words and sentences are kept.",
            autocompletion=lambda: list(FORMATS),
        ),
    ] = "text",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Windows encoded at once; all processors if not given.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Find who is who in texts of any length.

    With --to jsonl, mentions are written as they are decided, and memory does not grow with the text; so names and
    speech, which need the whole text, play no part there.

    Examples:
      longcoref resolve story.txt --to text
      longcoref resolve novel.txt -o novel.html
      longcoref resolve novel.txt -o novel.jsonl --cells 50
      longcoref resolve novel.txt -o novel.jsonl --memory-limit 1GB
      longcoref resolve novel.txt -o out/ --to json,html,csv,booknlp
      longcoref resolve 'chapters/*.txt' -o resolved/ --to conll
      cat story.txt | longcoref resolve - --to resolved --types PER --min-mentions 2

    """
    formats = chosen_formats(to, output)
    folder = Path(output) if output != "-" and (output.endswith("/") or Path(output).is_dir()) else None
    capacity = capacity_of(memory, cells, 20)
    resolver = load(model, memory=memory, cells=capacity, threads=threads, recall=recall, names=names, speech=speech)
    wanted = None if types is None else _types(types, resolver)
    inputs = find_inputs(files, source_format)
    if folder is None and len(formats) > 1:
        raise UsageError(f"{len(formats)} formats are a file each: give a folder: -o out/")
    if folder is None and "html" in formats and len(inputs) > 1:
        raise UsageError(f"a page shows one text, got {len(inputs)}: for a page each, give a folder: -o pages/")
    budget = None
    if memory_limit is not None:
        streamed = formats == _STREAMED and wanted is None and min_mentions == 1
        budget = _budget(memory_limit, resolver, [] if streamed else inputs)
        policy = memory_policy(memory, budget.cells(cells), recall=recall)
        resolver = Resolver(resolver.model, policy, book=resolver.book, source=model)
    with ExitStack() as stack:
        tracer = None if trace is None else TraceWriter(stack.enter_context(atomic_text(trace)))
        display = stack.enter_context(_Display(quiet=quiet))
        reading = _Reading(resolver, display, tracer, budget, wanted, min_mentions)
        if folder is not None:
            reading.write_folder(inputs, folder, formats)
        elif output == "-":
            reading.write(inputs, typer.get_text_stream("stdout", encoding="utf-8"), formats[0])
        else:
            with atomic_text(output) as stream:
                reading.write(inputs, stream, formats[0])


def _types(types: str, resolver: Resolver) -> list[str]:
    chosen = [name.strip() for name in types.split(",") if name.strip()]
    known = resolver.model.config.model.types
    for name in chosen:
        if name not in known:
            raise UsageError(unknown_name("type", name, known) if known else "this model has not learned any types")
    return chosen


def _budget(limit: str, resolver: Resolver, held: Sequence[Input]) -> Budget:
    """The budget under a limit, for outputs that hold each of some texts as a whole."""
    if resolver.policy.capacity is None:
        raise UsageError(
            f"the memory {resolver.policy.name!r} grows with the text, so no limit holds: take --memory learned"
        )
    sizes = [item.size for item in held]
    if None in sizes:
        raise UsageError("how long standard input is, is not known beforehand: under a limit, write --to jsonl")
    characters = max((size for size in sizes if size is not None), default=0)
    threads = getattr(resolver.model.encoder, "threads", 1)
    return Budget.of(
        bytes_of(limit),
        resolver.model.heads,
        threads=threads,
        characters=characters,
        recall=resolver.policy.recalls,
    )


@dataclass(frozen=True)
class _Reading:
    """Reads texts and writes what was found, with all that the command line asks for."""

    resolver: Resolver
    display: _Display
    tracer: TraceWriter | None
    budget: Budget | None
    types: list[str] | None
    min_mentions: int

    def write(self, inputs: Sequence[Input], stream: IO[str], format: str) -> None:
        """Writes all texts to one stream."""
        if format == "jsonl":
            for item in inputs:
                self._write_mentions(item.id, self._watched(item, item.mentions(self.resolver), item.size), stream)
        elif format == "html":
            for item in inputs:
                self._write_answer(*self._answer(item, keep=True), stream, format)
        else:
            write_results((self._answer(item)[0] for item in inputs), stream, format)

    def write_folder(self, inputs: Sequence[Input], folder: Path, formats: list[str]) -> None:
        """Writes a file for each text and format; a text is read once."""
        names = Counter(item.id for item in inputs)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            target = folder / f"{twice}{output_suffix(formats[0])}"
            raise UsageError(f"two inputs would be written to {target}: rename one, or write one file")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", folder) from error
        for item in inputs:
            paths = [folder / (item.id.replace("/", "_") + output_suffix(format)) for format in formats]
            if formats == _STREAMED:
                with atomic_text(paths[0]) as stream:
                    self.write([item], stream, "jsonl")
                continue
            result, mentions = self._answer(item, keep=not _NEED_STEPS.isdisjoint(formats))
            for format, path in zip(formats, paths, strict=True):
                with atomic_text(path) as stream:
                    self._write_answer(result, mentions, stream, format)

    def _answer(self, item: Input, *, keep: bool = False) -> tuple[Result, list[MentionRecord]]:
        """The result of a text and, where they are to be kept, the decisions that led to it."""
        document = item.document()
        kept: list[MentionRecord] = []

        def passing() -> Iterator[MentionRecord]:
            for mention in self._watched(item, self.resolver.mentions(document), len(document.text)):
                if keep:
                    kept.append(_without_scores(mention))
                yield mention

        result = self.resolver.result(document, passing())
        return result.select(types=self.types, min_mentions=self.min_mentions), kept

    def _write_answer(self, result: Result, mentions: Sequence[MentionRecord], stream: IO[str], format: str) -> None:
        if format == "html":
            write_page(result, stream, trace=mentions)
        elif format == "jsonl":
            self._write_mentions(result.id, mentions, stream)
        else:
            write_results([result], stream, format)

    def _write_mentions(self, id: str, mentions: Iterable[MentionRecord], stream: IO[str]) -> None:
        model, policy = self.resolver.model, self.resolver.policy
        writer = MentionWriter(stream, model, policy, types=self.types, min_mentions=self.min_mentions)
        writer.begin(id)
        for mention in mentions:
            writer.add(mention)
        writer.end()

    def _watched(self, item: Input, mentions: Iterable[MentionRecord], length: int | None) -> Iterator[MentionRecord]:
        """The mentions of a text, shown, traced and measured on their way."""
        self.display.begin(item.id, length)
        if self.tracer is not None:
            self.tracer.begin(item.id)
        for number, mention in enumerate(mentions):
            self.display.reach(mention)
            if self.tracer is not None:
                self.tracer.add(mention)
            if self.budget is not None and number % _CHECK_EVERY == 0:
                self.budget.check()
            yield mention


def _without_scores(mention: MentionRecord) -> MentionRecord:
    """The mention with its best link score only: the scores of all cells would be most of what is kept of a book."""
    decision = mention.decided
    best = decision.links[[decision.links.argmax()]] if len(decision.links) else decision.links
    return replace(mention, decision=replace(decision, links=best, options=decision.options[:0]))


class _Display:
    """A bar for the text that is being read, with words a second and the time left; on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        rate = TextColumn("{task.fields[rate]}", justify="right")
        columns = (TextColumn("{task.description}"), BarColumn(), rate, TimeElapsedColumn(), TimeRemainingColumn())
        hidden = quiet or not console.is_terminal
        self._progress = Progress(*columns, console=console, transient=True, disable=hidden)
        self._task = self._progress.add_task("", total=None, rate="")

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, id: str, length: int | None) -> None:
        """A text of about this many characters begins."""
        self._progress.reset(self._task, description=id[:40], total=length, rate="")

    def reach(self, mention: MentionRecord) -> None:
        """Everything before this mention is done."""
        if not self._progress.disable:
            seconds = self._progress.tasks[0].elapsed or 0.0
            rate = f"{mention.words.end / seconds:,.0f} words/s" if seconds > 1 else ""
            self._progress.update(self._task, completed=mention.end, rate=rate)
