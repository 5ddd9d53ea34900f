"""The table of output formats.

`OUTPUTS` has a writer for every format; a new format is an entry there. A writer takes resolved texts one at a time, so
that only one of them is in memory. `GROUPS` are names for several formats that belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from longcoref.corrections import Correction
from longcoref.document import Document
from longcoref.errors import UsageError, unknown_name
from longcoref.formats import FORMATS, write_stream
from longcoref.formats.registry import is_folder
from longcoref.mention import MentionRecord
from longcoref.render.book import write_book, write_copresence, write_graph, write_quotes
from longcoref.render.booknlp import write_entities, write_tokens
from longcoref.render.cast import write_cast, write_csv
from longcoref.render.html import Trace, write_page
from longcoref.render.json import write_json
from longcoref.render.lines import MentionWriter
from longcoref.render.resolved import EVERYTHING, Replacing, write_offsets, write_resolved
from longcoref.render.text import write_text
from longcoref.render.tsv import write_tsv
from longcoref.resolver import Resolver
from longcoref.result import Result

_UNSCORED = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A resolved text, with as much of it as the outputs need.

    `result` is None if the text is only streamed. `mentions` are the proposed mentions with their decisions, in text
    order, None if they were not kept; `mention_writer` opens a writer for them. `replacing` is for resolved text, and
    `trace` for the page.
    """

    id: str
    result: Result | None
    mentions: Iterable[MentionRecord] | None = None
    mention_writer: Callable[[IO[str]], MentionWriter] | None = None
    replacing: Replacing = EVERYTHING
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """An output format: the ending of its files, its writer, and what the writer needs of a text.

    A format that is not `whole` is written while the text is being read. With `decisions`, the writer uses the mentions
    with their decisions, with `traced` their trace. A `single` output has room for one text.
    """

    suffix: str
    write: Callable[[Iterable[Resolved], IO[str]], None]
    whole: bool = True
    decisions: bool = False
    traced: bool = False
    single: bool = False


def resolve_for(
    outputs: Iterable[Output],
    resolver: Resolver,
    document: Document,
    mentions: Iterable[MentionRecord],
    *,
    types: Collection[str] | None = None,
    min_mentions: int = 1,
    corrections: Sequence[Correction] = (),
    replacing: Replacing = EVERYTHING,
) -> Resolved:
    """A whole document, with as much of it as these outputs need; `mentions` are those of the resolver."""
    outputs = list(outputs)
    kept: list[MentionRecord] | None = [] if any(output.decisions for output in outputs) else None
    trace = Trace() if any(output.traced for output in outputs) else None
    if kept is not None:
        mentions = _kept(mentions, kept)
    if trace is not None:
        mentions = _traced(mentions, trace)
    result = resolver.result(document, mentions, corrections=corrections)
    writer = partial(
        MentionWriter, model=resolver.model, policy=resolver.policy, types=types, min_mentions=min_mentions
    )
    selected = result.select(types=types, min_mentions=min_mentions)
    return Resolved(document.id, selected, kept, writer, replacing, trace)


def _kept(mentions: Iterable[MentionRecord], kept: list[MentionRecord]) -> Iterator[MentionRecord]:
    """Passes mentions on and keeps each without the scores of the cells, which take the most memory."""
    for mention in mentions:
        kept.append(replace(mention, decision=replace(mention.decided, links=_UNSCORED, options=_UNSCORED)))
        yield mention


def _traced(mentions: Iterable[MentionRecord], trace: Trace) -> Iterator[MentionRecord]:
    """Passes mentions on and adds them to a trace."""
    for mention in mentions:
        trace.add(mention)
        yield mention


def _results(texts: Iterable[Resolved], format: str) -> Iterator[Result]:
    for text in texts:
        if text.result is None:
            raise UsageError(f"{format} needs the whole result, but {text.id!r} was only streamed")
        yield text.result


def _of_results(name: str, suffix: str, write: Callable[[Iterable[Result], IO[str]], None]) -> Output:
    """The output of a writer of results."""
    return Output(suffix, lambda texts, stream: write(_results(texts, name), stream))


def _of_documents(name: str, suffix: str) -> Output:
    """The output of a corpus format."""

    def write(texts: Iterable[Resolved], stream: IO[str]) -> None:
        write_stream((result.known_document for result in _results(texts, name)), stream, name)

    return Output(suffix, write)


def _of_replacements(
    name: str,
    suffix: str,
    write: Callable[[Iterable[tuple[Result, Replacing]], IO[str]], None],
    *,
    pronouns_only: bool = False,
) -> Output:
    """The output of a writer of resolved text."""

    def write_all(texts: Iterable[Resolved], stream: IO[str]) -> None:
        pairs = ((text, result) for text in texts for result in _results([text], name))
        write(((result, replace(text.replacing, pronouns_only=pronouns_only)) for text, result in pairs), stream)

    return Output(suffix, write_all)


def _write_pages(texts: Iterable[Resolved], stream: IO[str]) -> None:
    for text in texts:
        for result in _results([text], "html"):
            write_page(result, stream, trace=text.trace)


def _write_mentions(texts: Iterable[Resolved], stream: IO[str]) -> None:
    for text in texts:
        if text.mentions is None or text.mention_writer is None:
            raise UsageError("jsonl is written while a text is being read, from mentions with their decisions")
        writer = text.mention_writer(stream)
        writer.begin(text.id)
        for mention in text.mentions:
            writer.add(mention)
        writer.end()


OUTPUTS: dict[str, Output] = {
    "json": _of_results("json", ".json", write_json),
    "text": _of_results("text", ".txt", write_text),
    "cast": _of_results("cast", ".cast.txt", write_cast),
    "csv": _of_results("csv", ".csv", write_csv),
    "tsv": _of_results("tsv", ".tsv", write_tsv),
    "resolved": _of_replacements("resolved", ".resolved.txt", write_resolved),
    "resolved-pronouns": _of_replacements("resolved-pronouns", ".pronouns.txt", write_resolved, pronouns_only=True),
    "resolved-offsets": _of_replacements("resolved-offsets", ".offsets.tsv", write_offsets),
    "tokens": _of_results("tokens", ".tokens", write_tokens),
    "entities": _of_results("entities", ".entities", write_entities),
    "quotes": _of_results("quotes", ".quotes", write_quotes),
    "book": _of_results("book", ".book", write_book),
    "copresence": _of_results("copresence", ".copresence.tsv", write_copresence),
    "graph": _of_results("graph", ".graphml", write_graph),
    "jsonl": Output(".jsonl", _write_mentions, whole=False, decisions=True),
    "html": Output(".html", _write_pages, traced=True, single=True),
}
OUTPUTS |= {name: _of_documents(name, format.suffixes[0]) for name, format in FORMATS.items() if name not in OUTPUTS}
TERMINAL = _of_results("cast", ".cast.txt", partial(write_cast, most=20))  # what fits on a screen
GROUPS = {"booknlp": ("tokens", "entities", "quotes", "book")}


def chosen_formats(names: str | None, path: str) -> list[str]:
    """The formats in `--to`, separated by commas; without it, the one for the ending of `path`.

    A folder, a device or standard output has no ending that means anything, and gets JSON.
    """
    if names is None:
        if path == "-" or is_folder(path) or (Path(path).exists() and not Path(path).is_file()):
            return ["json"]
        fitting = [name for name, output in OUTPUTS.items() if path.endswith(output.suffix)]
        if not fitting:
            endings = sorted({output.suffix for output in OUTPUTS.values()})
            raise UsageError(
                f"{path}: unknown suffix; end the name in {', '.join(endings)}, or choose a format with --to"
            )
        # The longest ending is the most specific one; of formats with the same ending, the first in the table counts.
        return [max(fitting, key=lambda name: len(OUTPUTS[name].suffix))]
    chosen: list[str] = []
    for name in filter(None, map(str.strip, names.split(","))):
        if name not in GROUPS and name not in OUTPUTS:
            raise UsageError(unknown_name("output format", name, [*OUTPUTS, *GROUPS]))
        chosen += GROUPS.get(name, (name,))
    if not chosen:
        raise UsageError(f"expected an output format, got {names!r} (choose from {', '.join(OUTPUTS)})")
    return list(dict.fromkeys(chosen))


def write_results(results: Iterable[Result], stream: IO[str], format: str) -> None:
    """Writes results in a format, one at a time, so that only one of them is in memory."""
    if format not in OUTPUTS:
        raise UsageError(unknown_name("output format", format, OUTPUTS))
    OUTPUTS[format].write((Resolved(result.id, result) for result in results), stream)
