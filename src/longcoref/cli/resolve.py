"""`longcoref resolve`: find the entities in a text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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
from longcoref.cli.progress import Bar
from longcoref.corrections import Correction
from longcoref.document import Document
from longcoref.errors import InputError, UsageError, quoted, unknown_name
from longcoref.extraction import EXTRACTED_SUFFIX
from longcoref.files import atomic_text
from longcoref.formats import FORMATS
from longcoref.formats.registry import is_folder
from longcoref.mention import MentionRecord
from longcoref.render.lines import MentionWriter, TraceWriter
from longcoref.render.outputs import GROUPS, OUTPUTS, TERMINAL, Output, Resolved, chosen_formats, resolve_for
from longcoref.render.resolved import Replacing
from longcoref.resolver import Resolver, load
from longcoref.result import Result, read_results
from longcoref.runtime.footprint import Budget
from longcoref.text.likeness import warning_about

_CHECK_EVERY = 64  # mentions between two checks of the memory limit
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
    decided = None if corrections is None else _Corrections.read(corrections, one=len(inputs) == 1)
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
        display = stack.enter_context(_Display(quiet=quiet))
        beside = folder or (None if out == "-" else Path(out).parent)
        reading = _Reading(resolver, display, tracer, budget, wanted, min_mentions, beside, decided, replacing)
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


def _file_name(item: Input) -> str:
    """The name of an input's files in a folder, without ending."""
    return item.id.replace("/", "_")


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


@dataclass(frozen=True)
class _Corrections:
    """The corrected results of a file, by id; one result for one text needs none."""

    path: Path
    results: dict[str, Result]
    one: bool

    @classmethod
    def read(cls, path: Path, *, one: bool) -> _Corrections:
        """Reads a file of our JSON."""
        results = {result.id: result for result in read_results(path)}
        if not any(result.corrections for result in results.values()):
            raise InputError("contains no corrections: to turn it into other formats, use longcoref convert", path)
        return cls(path, results, one and len(results) == 1)

    def of(self, document: Document) -> tuple[Correction, ...]:
        """The corrections of a document, none if there are only others; an error if they are for another text."""
        result = next(iter(self.results.values())) if self.one else self.results.get(document.id)
        if result is None:
            return ()
        text = result.known_document.text
        if text != document.text:
            place = next((n for n, pair in enumerate(zip(text, document.text, strict=False)) if pair[0] != pair[1]), -1)
            place = min(len(text), len(document.text)) if place < 0 else place
            there, here = (quoted(whole[place : place + 40]) for whole in (text, document.text))
            raise InputError(
                f"was corrected in another text than {quoted(document.id)}: from character {place} on it has {there}, "
                f"and the text has {here}",
                self.path,
            )
        return result.corrections


@dataclass(frozen=True)
class _Reading:
    """Reads texts and writes what was found, with everything that the command line asks for."""

    resolver: Resolver
    display: _Display
    tracer: TraceWriter | None
    budget: Budget | None
    types: list[str] | None
    min_mentions: int
    beside: Path | None
    corrections: _Corrections | None
    replacing: Replacing

    def write(self, inputs: Sequence[Input], stream: IO[str], output: Output) -> None:
        """Writes all texts to one stream."""
        output.write((self._resolved(item, [output]) for item in inputs), stream)

    def write_folder(self, inputs: Sequence[Input], folder: Path, formats: Sequence[str]) -> None:
        """Writes a file for each text and format; each text is read once.

        A text that cannot be read is reported, and the others are still written; at the end, that is an error.
        """
        outputs = [OUTPUTS[format] for format in formats]
        names = Counter(_file_name(item) for item in inputs)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            target = folder / f"{twice}{outputs[0].suffix}"
            raise UsageError(f"two inputs would be written to {target}: rename one, or write a single file")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create this folder: {error.strerror}", folder) from error
        if len(inputs) == 1:
            self._write_files(inputs[0], folder, outputs)
            return
        failures = [failure for item in inputs if (failure := self._failure(item, folder, outputs)) is not None]
        if failures:
            raise InputError(f"{len(failures)} of {len(inputs)} texts failed; the others were written", folder)

    def _failure(self, item: Input, folder: Path, outputs: Sequence[Output]) -> InputError | None:
        """Writes the files of a text; returns the error, which is shown, if that is impossible."""
        try:
            self._write_files(item, folder, outputs)
        except InputError as error:
            self.display.say(str(error), always=True)
            return error
        return None

    def _write_files(self, item: Input, folder: Path, outputs: Sequence[Output]) -> None:
        text = self._resolved(item, outputs)
        for output in outputs:
            with atomic_text(folder / f"{_file_name(item)}{output.suffix}") as stream:
                output.write([text], stream)

    def _resolved(self, item: Input, outputs: Sequence[Output]) -> Resolved:
        """A text with as much of it as these outputs need."""
        if any(output.whole for output in outputs):
            document = item.document()
            self._report(item, [document.text])
            self._warn(item, document.words)
            watched = self._watched(item, self.resolver.mentions(document), len(document.text))
            return resolve_for(
                outputs,
                self.resolver,
                document,
                watched,
                types=self.types,
                min_mentions=self.min_mentions,
                corrections=() if self.corrections is None else self.corrections.of(document),
                replacing=self.replacing,
            )
        writer = partial(
            MentionWriter,
            model=self.resolver.model,
            policy=self.resolver.policy,
            types=self.types,
            min_mentions=self.min_mentions,
        )
        return Resolved(item.id, None, self._watched(item, self._streamed(item), item.size), writer)

    def _streamed(self, item: Input) -> Iterator[MentionRecord]:
        """The mentions of a text that is not held in memory."""
        yield from item.mentions(self.resolver, check=partial(self._warn, item))
        self._report(item, None if item.size is None or item.file is None else item.file.pieces())

    def _warn(self, item: Input, words: Sequence[str]) -> None:
        """Says if a text has no words, or does not look like English prose."""
        warning = warning_about(words) if words else "there are no words in this text"
        if warning is not None:
            self.display.say(f"{item.id}: {warning}")

    def _report(self, item: Input, text: Iterable[str] | None) -> None:
        """Says what was left out of a file, and writes the text that offsets refer to if it is not that of the file."""
        if item.file is None or item.file.is_own:
            return
        left_out, target = item.file.left_out, None
        if self.beside is not None and text is not None:
            target = self.beside / f"{_file_name(item)}{EXTRACTED_SUFFIX}"
            with atomic_text(target) as stream:
                stream.writelines(text)
        notes = []
        if left_out:
            notes.append(f"left out {left_out:,} characters of Project Gutenberg's header and licence (see --keep-all)")
        if target is not None:
            notes.append(f"offsets refer to {target}")
        if notes:
            self.display.say(f"{item.file.name}: {'; '.join(notes)}")

    def _watched(self, item: Input, mentions: Iterable[MentionRecord], length: int | None) -> Iterator[MentionRecord]:
        """The mentions of a text; as they pass, progress is shown, the trace written and the memory limit checked."""
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


class _Display:
    """A progress bar for the text being read, with words per second and the remaining time; on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        console = Console(stderr=True)
        rate = TextColumn("{task.fields[rate]}", justify="right")
        columns = (TextColumn("{task.description}"), BarColumn(), rate, TimeElapsedColumn(), TimeRemainingColumn())
        hidden = quiet or not console.is_terminal
        self._progress = Bar(*columns, console=console, transient=True, disable=hidden)
        self._task = self._progress.add_task("", total=None, rate="")

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def say(self, message: str, *, always: bool = False) -> None:
        """Shows one line: an error `always`, a note unless the command is to be quiet."""
        if always or not self._quiet:
            self._progress.console.print(f"longcoref: {message}", soft_wrap=True, highlight=False, markup=False)

    def begin(self, id: str, length: int | None) -> None:
        """Starts a text of about this many characters."""
        self._progress.reset(self._task, description=id[:40], total=length, rate="")

    def reach(self, mention: MentionRecord) -> None:
        """Shows that everything before this mention has been read."""
        if not self._progress.disable:
            seconds = self._progress.tasks[0].elapsed or 0.0
            rate = f"{mention.words.end / seconds:,.0f} words/s" if seconds > 1 else ""
            self._progress.update(self._task, completed=mention.end, rate=rate)
