"""The document: a text, its words and sentences with exact offsets and, where known, its clusters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from longcoref.clusters import Cluster
from longcoref.errors import DocumentError, quoted, shortened
from longcoref.spans import CharSpan, CharSpans, WordSpan


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of one sentence and their offsets in the whole text."""

    words: tuple[str, ...]
    offsets: CharSpans


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable text with its words, sentences and annotation.

    `words[i]` is `text[offsets[i].start:offsets[i].end]`; offsets are kept as `CharSpans`. `sentences` cover all words
    in order, without gap or overlap. `speakers` has one entry per word, None where no speaker is given. `clusters` is
    None if the document is not annotated, and empty if it is annotated and has no entities. `key` identifies a document
    within a corpus; CoNLL's part number is kept next to the id.
    """

    id: str
    text: str
    words: tuple[str, ...]
    offsets: Sequence[CharSpan]
    sentences: tuple[WordSpan, ...]
    part: int = 0
    genre: str | None = None
    speakers: tuple[str | None, ...] | None = None
    clusters: tuple[Cluster, ...] | None = None

    def __post_init__(self) -> None:
        count = len(self.words)
        if len(self.offsets) != count:
            raise DocumentError(f"{shortened(self.id)}: {count} words but {len(self.offsets)} offsets")
        if self.speakers is not None and len(self.speakers) != count:
            raise DocumentError(f"{shortened(self.id)}: {count} words but {len(self.speakers)} speakers")
        position = 0
        for index, (word, (start, end)) in enumerate(zip(self.words, self.offsets, strict=True)):
            if start < position or self.text[start:end] != word or not word:
                raise DocumentError(
                    f"{shortened(self.id)}: word {index} is {quoted(word)}, "
                    f"but the text has {quoted(self.text[start:end])} at {start}:{end}"
                )
            position = end
        position = 0
        for start, end in self.sentences:
            if start != position or end <= start:
                raise DocumentError(f"{shortened(self.id)}: sentence {start}:{end} does not start at word {position}")
            position = end
        if position != count:
            raise DocumentError(f"{shortened(self.id)}: sentences end at word {position} of {count}")
        self._check_clusters()
        if not isinstance(self.offsets, CharSpans):  # by now they are known to lie inside the text
            object.__setattr__(self, "offsets", CharSpans(self.offsets))

    def _check_clusters(self) -> None:
        count = len(self.words)
        for cluster in self.clusters or ():
            for span in cluster.spans:
                if not 0 <= span.start < span.end <= count:
                    raise DocumentError(
                        f"{shortened(self.id)}: mention {span.start}:{span.end} lies outside {count} words"
                    )

    def _changed(self, **changes: Any) -> Document:
        """A document with some fields changed, whose words are not checked again."""
        document = object.__new__(Document)
        for field in fields(Document):
            object.__setattr__(document, field.name, changes.get(field.name, getattr(self, field.name)))
        document._check_clusters()
        return document

    def with_clusters(self, clusters: Iterable[Cluster] | None) -> Document:
        """The same text with another annotation."""
        return self._changed(clusters=None if clusters is None else tuple(clusters))

    def crop(self, part: WordSpan) -> Document:
        """The document of some of the words, with the mentions that lie entirely inside."""
        begin, end = part
        first = self.offsets[begin].start if begin < end else 0
        last = self.offsets[end - 1].end if begin < end else 0
        clusters = None
        if self.clusters is not None:
            moved = (
                tuple(
                    replace(mention, span=WordSpan(mention.span.start - begin, mention.span.end - begin))
                    for mention in cluster.mentions
                    if begin <= mention.span.start and mention.span.end <= end
                )
                for cluster in self.clusters
            )
            clusters = tuple(Cluster(mentions) for mentions in moved if mentions)
        return self._changed(
            text=self.text[first:last],
            words=self.words[begin:end],
            offsets=CharSpans(CharSpan(start - first, stop - first) for start, stop in self.offsets[begin:end]),
            sentences=tuple(
                WordSpan(max(sentence.start, begin) - begin, min(sentence.end, end) - begin)
                for sentence in self.sentences
                if max(sentence.start, begin) < min(sentence.end, end)
            ),
            speakers=None if self.speakers is None else self.speakers[begin:end],
            clusters=clusters,
        )

    @property
    def key(self) -> tuple[str, int]:
        """Id and part: unique within a corpus."""
        return self.id, self.part

    def read(self) -> Iterator[Sentence]:
        """The sentences with their words, one at a time."""
        offsets = self.offsets
        assert isinstance(offsets, CharSpans)  # since the document was made
        for start, end in self.sentences:
            yield Sentence(self.words[start:end], offsets[start:end])

    def sentence_of(self, word: int) -> int:
        """The number of the sentence that a word is in."""
        return bisect_right(self.sentences, word, key=lambda sentence: sentence.start) - 1

    def characters(self, span: WordSpan) -> CharSpan:
        """The span in characters of a span of words."""
        return CharSpan(self.offsets[span.start].start, self.offsets[span.end - 1].end)

    def text_of(self, span: WordSpan) -> str:
        """The text of a span of words, as it was written."""
        start, end = self.characters(span)
        return self.text[start:end]


def document_of_words(
    id: str,
    sentences: Iterable[Sequence[str]],
    *,
    part: int = 0,
    genre: str | None = None,
    speakers: Sequence[str | None] | None = None,
    clusters: Sequence[Cluster] | None = None,
) -> Document:
    """A document from words without a text: words are joined by spaces, sentences by line breaks."""
    words: list[str] = []
    offsets: list[CharSpan] = []
    spans: list[WordSpan] = []
    lines: list[str] = []
    position = 0
    for sentence in sentences:
        if not sentence:
            continue
        spans.append(WordSpan(len(words), len(words) + len(sentence)))
        lines.append(" ".join(sentence))
        for word in sentence:
            offsets.append(CharSpan(position, position + len(word)))
            position += len(word) + 1
        words.extend(sentence)
    return Document(
        id=id,
        text="\n".join(lines),
        words=tuple(words),
        offsets=tuple(offsets),
        sentences=tuple(spans),
        part=part,
        genre=genre,
        speakers=None if speakers is None else tuple(speakers),
        clusters=None if clusters is None else tuple(clusters),
    )
