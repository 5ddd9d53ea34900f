"""From raw text, in pieces of any size, to decided mentions with their offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longcoref.document import Sentence
from longcoref.errors import UsageError
from longcoref.memory import MemoryPolicy
from longcoref.mention import MentionRecord
from longcoref.runtime.model import Model
from longcoref.runtime.reading import Reader
from longcoref.text import SentenceStream

_CHUNK = 65536
"""Characters split into sentences at a time."""


class TextStream:
    """Reads one text that arrives in pieces; the mentions do not depend on where it is cut.

    It holds the text from the first undecided sentence on, which is about one window.
    """

    def __init__(self, model: Model, policy: MemoryPolicy) -> None:
        if model.config.proposals.rule == "top":
            raise UsageError(
                'this model proposes the best mentions of the whole document (proposals.rule = "top"), which cannot be '
                "known while reading piece by piece: give the whole text at once"
            )
        self.sentences = SentenceStream()
        self.reader = Reader(model, policy)
        self.text = ""  # from `begin` on
        self.begin = 0

    def feed(self, text: str) -> list[MentionRecord]:
        """Takes the next piece of the text; returns the newly decided mentions, including rejected ones."""
        return list(self.decided(text))

    def decided(self, text: str) -> Iterator[MentionRecord]:
        """Like `feed`, but gives each mention when it is decided, so that not all of them are held."""
        for start in range(0, len(text), _CHUNK):
            yield from self._read(self._split(text[start : start + _CHUNK]), last=False)

    def finish(self) -> list[MentionRecord]:
        """Ends the text; returns the mentions that were still undecided."""
        return list(self._read(self.sentences.finish(), last=True))

    def skip(self, text: str) -> list[Sentence]:
        """Passes over text that was read before (see `Reader.skip`); returns its complete sentences."""
        skipped: list[Sentence] = []
        for start in range(0, len(text), _CHUNK):
            sentences = self._split(text[start : start + _CHUNK])
            self.reader.skip(sentences)
            self._trim(sentences)
            skipped += sentences
        return skipped

    def _split(self, text: str) -> list[Sentence]:
        self.text += text
        return self.sentences.feed(text)

    def _read(self, sentences: Sequence[Sentence], *, last: bool) -> Iterator[MentionRecord]:
        for block in self.reader.read(sentences, text=self.text, begin=self.begin, last=last):
            yield from block.mentions
        self._trim(sentences)

    def _trim(self, sentences: Sequence[Sentence]) -> None:
        """Drops the text that is no longer needed; `sentences` are those that were read last."""
        if self.reader.open:
            needed = self.reader.open[0].offsets[0].start
        elif sentences:
            needed = sentences[-1].offsets[-1].end
        else:
            needed = self.begin
        kept = self.text[needed - self.begin :]
        if not self.reader.open:
            kept = kept.lstrip()  # no word begins with white space, and an endless run of it must not pile up
        self.begin, self.text = self.begin + len(self.text) - len(kept), kept
