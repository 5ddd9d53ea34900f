"""`longcoref resolve`: who is who in a text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Protocol

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from longcoref.cli.options import capacity_of
from longcoref.document import Document
from longcoref.errors import InputError, UsageError, unknown_name
from longcoref.files import atomic_text
from longcoref.formats import read_corpus
from longcoref.formats.source import Source, open_source
from longcoref.render.html import write_page
from longcoref.render.outputs import output_formats, output_suffix, write_results
from longcoref.render.steps import StepWriter, TraceWriter
from longcoref.resolver import Resolver, load
from longcoref.result import Result
from longcoref.runtime.stream import Step
from longcoref.text import tokenize

_TEXT_SUFFIXES = (".txt", ".text")


def resolve(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Text files, folders of .txt files, or - for input.", show_default=False
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(output_formats())}; by default told from the name of OUT, else json."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="A file, a folder (ending in /), or - for output.")
    ] = "-",
    model: Annotated[str | None, typer.Option(help="Model directory or name; the shipped one if not given.")] = None,
    memory: Annotated[str, typer.Option(help="learned, rule, unbounded or track-all.")] = "learned",
    cells: Annotated[
        int | None, typer.Option(help="Entities in a learned or rule memory at once; 20 if not given.")
    ] = None,
    types: Annotated[str | None, typer.Option(help="Only clusters of these types, such as PER,ORG.")] = None,
    min_mentions: Annotated[int, typer.Option(min=1, help="Only clusters with so many mentions.")] = 1,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every decision with its scores here (JSONL).")
    ] = None,
    source_format: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="Format of the input, whose words and sentences are kept.")
    ] = "text",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Windows encoded at once; all processors if not given.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Find who is who in texts of any length.

    With --to jsonl, mentions are written as they are decided, and memory does not grow with the text.

    Examples:
      longcoref resolve story.txt
      longcoref resolve novel.txt -o novel.jsonl --cells 50
      longcoref resolve chapters/ -o resolved/ --to conll
      longcoref resolve novel.txt -o novel.html
      cat story.txt | longcoref resolve - --to text --types PER --min-mentions 2

    """
    format = to or next((name for name in output_formats() if output.endswith(output_suffix(name))), "json")
    suffix = output_suffix(format)
    resolver = load(model, memory=memory, cells=capacity_of(memory, cells, 20), threads=threads)
    wanted = None if types is None else _types(types, resolver)
    inputs = [item for name in files for item in _inputs(name, source_format)]
    with ExitStack() as stack:
        tracer = None if trace is None else TraceWriter(stack.enter_context(atomic_text(trace)))
        display = stack.enter_context(_Display(quiet=quiet))

        def watched(item: _Input, steps: Iterable[Step], length: int | None) -> Iterator[Step]:
            """The steps of an input, shown and traced on their way."""
            display.begin(item.id, length)
            if tracer is not None:
                tracer.begin(item.id)
            for step in steps:
                display.reach(step.end)
                if tracer is not None:
                    tracer.add(step)
                yield step

        def result(item: _Input, kept: list[Step] | None = None) -> Result:
            document = item.document()
            steps: Iterable[Step] = watched(item, resolver.steps(document), len(document.text))
            if kept is not None:
                kept.extend(steps)
                steps = kept
            return resolver.gather(document, steps).select(types=wanted, min_mentions=min_mentions)

        def write(chosen: Sequence[_Input], stream: IO[str]) -> None:
            if format == "html":
                for item in chosen:
                    kept: list[Step] = []
                    write_page(result(item, kept), stream, trace=kept)
                return
            if format != "jsonl":
                write_results(map(result, chosen), stream, format)
                return
            writer = StepWriter(stream, resolver.model, resolver.policy, types=wanted, min_mentions=min_mentions)
            for item in chosen:
                writer.begin(item.id)
                for step in watched(item, item.steps(resolver), item.size):
                    writer.add(step)
                writer.end()

        one_file = output == "-" or not (output.endswith("/") or Path(output).is_dir())
        if format == "html" and one_file and len(inputs) > 1:
            raise UsageError(f"a page shows one text, got {len(inputs)}: for a page each, give a folder: -o pages/")
        if output == "-":
            write(inputs, typer.get_text_stream("stdout", encoding="utf-8"))
        elif not one_file:
            _write_folder(inputs, Path(output), suffix, write)
        else:
            with atomic_text(output) as stream:
                write(inputs, stream)


def _write_folder(
    inputs: Sequence[_Input], folder: Path, suffix: str, write: Callable[[Sequence[_Input], IO[str]], None]
) -> None:
    names = Counter(item.id for item in inputs)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise UsageError(f"two inputs would be written to {folder / twice}{suffix}: rename one, or write one file")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", folder) from error
    for item in inputs:
        with atomic_text(folder / (item.id.replace("/", "_") + suffix)) as stream:
            write([item], stream)


def _types(types: str, resolver: Resolver) -> list[str]:
    chosen = [name.strip() for name in types.split(",") if name.strip()]
    known = resolver.model.config.model.types
    for name in chosen:
        if name not in known:
            raise UsageError(unknown_name("type", name, known) if known else "this model has not learned any types")
    return chosen


class _Input(Protocol):
    """One text to be resolved."""

    @property
    def id(self) -> str:
        """Its name in the output."""

    @property
    def size(self) -> int | None:
        """About how many characters it has, where that is known before reading."""

    def document(self) -> Document:
        """The whole of it."""

    def steps(self, resolver: Resolver) -> Iterator[Step]:
        """Its decisions, without holding the whole of it where that can be avoided."""


@dataclass(frozen=True)
class _Text:
    """A text file, or standard input, read in pieces."""

    path: str

    @property
    def id(self) -> str:
        return "stdin" if self.path == "-" else Path(self.path).stem

    @property
    def size(self) -> int | None:
        return None if self.path == "-" else Path(self.path).stat().st_size

    def _chunks(self) -> Iterator[str]:
        if self.path == "-":
            yield from Source("stdin", sys.stdin.buffer).chunks()
        else:
            with open_source(Path(self.path)) as source:
                yield from source.chunks()

    def document(self) -> Document:
        return tokenize("".join(self._chunks()), id=self.id)

    def steps(self, resolver: Resolver) -> Iterator[Step]:
        stream = resolver.stream()
        for chunk in self._chunks():
            yield from stream.feed(chunk)
        yield from stream.finish()


@dataclass(frozen=True)
class _Words:
    """A document of a corpus, with words and sentences of its own."""

    content: Document

    @property
    def id(self) -> str:
        return self.content.id

    @property
    def size(self) -> int | None:
        return len(self.content.text)

    def document(self) -> Document:
        return self.content

    def steps(self, resolver: Resolver) -> Iterator[Step]:
        return resolver.steps(self.content)


def _inputs(name: str, format: str) -> Iterator[_Input]:
    if format != "text":
        yield from map(_Words, read_corpus(name, format=format))
        return
    path = Path(name)
    if name != "-" and path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.name.endswith(_TEXT_SUFFIXES) and file.is_file())
        if not files:
            raise InputError(f"no text in this folder: expected {' or '.join(_TEXT_SUFFIXES)}", path)
        yield from (_Text(str(file)) for file in files)
        return
    if name != "-":
        with open_source(path):  # a mistyped name is found before the first text is read
            pass
    yield _Text(name)


class _Display:
    """A bar for the text that is being read, on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        hidden = quiet or not console.is_terminal
        self._progress = Progress(*columns, console=console, transient=True, disable=hidden)
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, id: str, length: int | None) -> None:
        """A text of about this many characters begins."""
        self._progress.reset(self._task, description=id[:40], total=length)

    def reach(self, place: int) -> None:
        """Everything before this character is done."""
        if not self._progress.disable:
            self._progress.update(self._task, completed=place)
