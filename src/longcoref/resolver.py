"""The public entry point: a model and a memory, ready for texts.

resolver = longcoref.load()
for cluster in resolver("Mr. Hale sold the mill. He had never liked it."):
    print(cluster.name, [mention.text for mention in cluster])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longcoref.book.revision import EVERYTHING, BookPolicy, book_policy
from longcoref.config import MemoryConfig
from longcoref.document import Document, document_of_words
from longcoref.errors import UsageError
from longcoref.memory import GivenMentions, MemoryPolicy, chosen_policy
from longcoref.mention import MentionRecord
from longcoref.outcome import annotation, collect, post_processed
from longcoref.reading import Reading
from longcoref.result import Result
from longcoref.runtime.model import Model, open_model
from longcoref.runtime.reading import Reader
from longcoref.runtime.state import load_state
from longcoref.runtime.stream import TextStream
from longcoref.spans import WordSpan
from longcoref.text import tokenize

if TYPE_CHECKING:
    from longcoref.corrections import Correction


def load(
    model: str | Path | None = None,
    *,
    memory: str | None = None,
    cells: int | None = None,
    recall: bool | None = None,
    post_processing: str = "all",
    style: str | None = None,
    threads: int | None = None,
) -> Resolver:
    """Opens a model: a directory, the name of a shipped model, or None for the default.

    The model says which memory it uses by default; `memory` (learned, rule, unbounded or track-all), `cells` (the
    number of entities that a learned or rule memory holds at once) and `recall` (whether evicted entities are archived
    and can return) override it. `post_processing` revises the clusters at the end of a text: by the names of people, by
    who speaks to whom, by both ("all") or not at all ("none"). `style` is the kind of text, for a model trained on
    several; by default the first in its list. `threads` is the number of windows encoded at once; None uses all
    processors.
    """
    opened = open_model(model, threads=threads).in_style(style)
    policy = chosen_policy(opened.config.memory, memory=memory, cells=cells, recall=recall)
    return Resolver(opened, policy, book=book_policy(post_processing), source=model)


class Resolver:
    """Resolves coreference in texts. It keeps no state between calls: load it once and use it for any number.

    Call it with a whole text, `open` a text that arrives piece by piece, or pass many texts to `pipe`.
    """

    def __init__(
        self,
        model: Model,
        policy: MemoryPolicy,
        *,
        book: BookPolicy = EVERYTHING,
        source: str | Path | None = None,
    ) -> None:
        self.model, self.policy, self.book = model, policy, book
        self._source = source

    def with_settings(
        self,
        *,
        memory: str | None = None,
        cells: int | None = None,
        recall: bool | None = None,
        post_processing: str | None = None,
        style: str | None = None,
    ) -> Resolver:
        """The same resolver with other settings; those that are None stay as they are here."""
        own: dict[str, Any] = {"policy": self.policy.name, "recall": self.policy.recalls}
        own["cells"] = self.policy.capacity or self.model.config.memory.cells
        policy = chosen_policy(MemoryConfig(**own), memory=memory, cells=cells, recall=recall)
        book = self.book if post_processing is None else book_policy(post_processing)
        return Resolver(self.model.in_style(style), policy, book=book, source=self._source)

    def __call__(self, text: str, *, id: str = "", corrections: Sequence[Correction] = ()) -> Result:
        """The clusters of a text. All `corrections` hold in them, such as those of a `Result.from_json`."""
        if not isinstance(text, str):
            raise UsageError(f"a text must be a string, got {type(text).__name__}")
        return self.document(tokenize(text, id=id), corrections=corrections)

    def words(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None,
        id: str = "",
    ) -> Result:
        """The clusters of a text that is already split into sentences and words.

        `mentions`, if given, are the spans to cluster, by sentence number and in words of that sentence: no others are
        proposed and none of them is rejected. Offsets count characters of the words joined by spaces, sentences by line
        breaks.
        """
        return self.document(document_of_words(id, sentences), mentions=mentions)

    def document(
        self,
        document: Document,
        *,
        mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None,
        corrections: Sequence[Correction] = (),
    ) -> Result:
        """The clusters of a document with its own words and sentences; `mentions` as for `words`."""
        return self.result(document, self.mentions(document, mentions=mentions), corrections=corrections)

    def mentions(
        self, document: Document, *, mentions: Mapping[int, Sequence[tuple[int, int]]] | None = None
    ) -> Iterator[MentionRecord]:
        """Every proposed mention of a document with its decision, in text order, rejected ones included.

        The entities are provisional: they are what the memory decides, before post-processing.
        """
        given = None if mentions is None else _checked(document, mentions)
        policy = self.policy if given is None else GivenMentions(self.policy)
        reader = Reader(self.model, policy, genre=document.genre)
        for block in reader.read(document.read(), text=document.text, last=True, given=given):
            yield from block.mentions

    def result(
        self, document: Document, mentions: Iterable[MentionRecord], *, corrections: Sequence[Correction] = ()
    ) -> Result:
        """The result for the mentions of a document, post-processed: for callers who also want to see the mentions."""
        kept = [mention.without_decision() for mention in mentions if mention.entity is not None]
        outcome = post_processed(document, kept, self.book, corrections)
        annotated = document.with_clusters(annotation(outcome.clusters))
        return Result(
            outcome.clusters,
            self.model.name,
            self.policy.name,
            self.policy.capacity,
            id=document.id,
            document=annotated,
            quotes=outcome.quotes,
            narrator=outcome.narrator,
            corrections=tuple(corrections),
        )

    def provisional(self, mentions: Iterable[MentionRecord]) -> Result:
        """The result so far for a text that is still being read: as the memory decided, without post-processing."""
        return Result(collect(mentions), self.model.name, self.policy.name, self.policy.capacity)

    def open(self) -> Reading:
        """A reading of one text that arrives piece by piece."""
        return Reading(self)

    def resume(self, path: str | Path) -> Reading:
        """A reading that continues where `Reading.save` left off, with the same model and memory."""
        return Reading(self, load_state(path, self.model, self.policy))

    def stream(self) -> TextStream:
        """A reading that keeps no result, for texts whose result must not stay in memory."""
        return TextStream(self.model, self.policy)

    def pipe(self, texts: Iterable[str], *, batch_size: int = 8, processes: int = 1) -> Iterator[Result | Exception]:
        """The results of many texts, in their order; if one fails, its error is its result.

        With several `processes`, each opens the model and takes `batch_size` texts at a time. If a text kills its
        process (by running out of memory), its result is an error as well, and the others are not affected.
        """
        from longcoref.pipe import outcomes  # not at the top, because of the time that multiprocessing takes

        opened = partial(_opened, self._source, self.policy, self.book, self.model.style or None)
        return outcomes(texts, opened if processes > 1 else lambda: self, batch_size=batch_size, processes=processes)


def _opened(source: str | Path | None, policy: MemoryPolicy, book: BookPolicy, style: str | None) -> Resolver:
    """The resolver of a worker process: one thread in each is enough."""
    return Resolver(open_model(source, threads=1).in_style(style), policy, book=book, source=source)


def _checked(document: Document, mentions: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, list[WordSpan]]:
    """Given mentions by sentence number, if all of them are inside their sentences."""
    for number, spans in mentions.items():
        if not 0 <= number < len(document.sentences):
            raise UsageError(f"mentions in sentence {number}, but there are {len(document.sentences)} sentences")
        first, last = document.sentences[number]
        for start, end in spans:
            if not 0 <= start < end <= last - first:
                raise UsageError(f"mention {start}:{end} lies outside sentence {number}")
    return {number: [WordSpan(*span) for span in spans] for number, spans in mentions.items()}
