"""Reading texts and writing what was found, with what the command line asks for: progress, a trace, corrections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from longcoref.cli.inputs import Input
from longcoref.cli.progress import Bar
from longcoref.corrections import Correction
from longcoref.document import Document
from longcoref.errors import InputError, UsageError, quoted
from longcoref.extraction import EXTRACTED_SUFFIX
from longcoref.files import atomic_text
from longcoref.mention import MentionRecord
from longcoref.render.lines import MentionWriter, TraceWriter
from longcoref.render.outputs import OUTPUTS, Output, Resolved, resolve_for
from longcoref.render.resolved import Replacing
from longcoref.resolver import Resolver
from longcoref.result import Result, read_results
from longcoref.runtime.footprint import Budget
from longcoref.text.likeness import warning_about

_CHECK_EVERY = 64  # mentions between two checks of the memory limit


@dataclass(frozen=True)
class Corrections:
    """The corrected results of a file, by id; one result for one text needs none."""

    path: Path
    results: dict[str, Result]
    one: bool

    @classmethod
    def read(cls, path: Path, *, one: bool) -> Corrections:
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
class Reading:
    """Reads texts and writes what was found, with everything that the command line asks for."""

    resolver: Resolver
    display: Display
    tracer: TraceWriter | None
    budget: Budget | None
    types: list[str] | None
    min_mentions: int
    beside: Path | None
    corrections: Corrections | None
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


class Display:
    """A progress bar for the text being read, with words per second and the remaining time; on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        console = Console(stderr=True)
        rate = TextColumn("{task.fields[rate]}", justify="right")
        columns = (TextColumn("{task.description}"), BarColumn(), rate, TimeElapsedColumn(), TimeRemainingColumn())
        hidden = quiet or not console.is_terminal
        self._progress = Bar(*columns, console=console, transient=True, disable=hidden)
        self._task = self._progress.add_task("", total=None, rate="")

    def __enter__(self) -> Display:
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


def _file_name(item: Input) -> str:
    """The name of an input's files in a folder, without ending."""
    return item.id.replace("/", "_")
