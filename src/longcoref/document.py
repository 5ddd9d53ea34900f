"""The document: a text, its words and sentences with exact offsets, and, where known, its gold clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from longcoref.clusters import Cluster
from longcoref.errors import DocumentError, quoted, shortened
from longcoref.spans import CharSpan, WordSpan


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable text with its words, sentences and annotation.

    `words[i]` stands at `text[offsets[i].start:offsets[i].end]`. `sentences` cover all words in order,
    without gap or overlap. `speakers` has one entry per word, None where nobody is named. `clusters` is
    None where the document carries no annotation, and empty where it was annotated and has no entity.
    `key` tells apart documents of one corpus; CoNLL's part number is kept beside the id.
    """

    id: str
    text: str
    words: tuple[str, ...]
    offsets: tuple[CharSpan, ...]
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
                raise DocumentError(f"{shortened(self.id)}: sentence {start}:{end} does not follow on word {position}")
            position = end
        if position != count:
            raise DocumentError(f"{shortened(self.id)}: sentences end at word {position} of {count}")
        for cluster in self.clusters or ():
            for span in cluster.spans:
                if not 0 <= span.start < span.end <= count:
                    raise DocumentError(
                        f"{shortened(self.id)}: mention {span.start}:{span.end} lies outside {count} words"
                    )

    @property
    def key(self) -> tuple[str, int]:
        """Id and part: unique within a corpus."""
        return self.id, self.part

    def characters(self, span: WordSpan) -> CharSpan:
        """Where a span of words stands in the text."""
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
    """A document from words that come without a text: words joined by spaces, sentences by line ends."""
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


def crop_document(document: Document, part: WordSpan) -> Document:
    """The document of some of the words, with the mentions that lie wholly inside."""
    begin, end = part
    start = document.offsets[begin].start if begin < end else 0
    sentences = (
        WordSpan(max(s.start, begin) - begin, min(s.end, end) - begin)
        for s in document.sentences
        if s.start < end and s.end > begin
    )
    clusters = None
    if document.clusters is not None:
        moved = (
            tuple(
                replace(mention, span=WordSpan(mention.span.start - begin, mention.span.end - begin))
                for mention in cluster.mentions
                if begin <= mention.span.start and mention.span.end <= end
            )
            for cluster in document.clusters
        )
        clusters = tuple(Cluster(mentions) for mentions in moved if mentions)
    return replace(
        document,
        text=document.text[start : document.offsets[end - 1].end if begin < end else 0],
        words=document.words[begin:end],
        offsets=tuple(CharSpan(o.start - start, o.end - start) for o in document.offsets[begin:end]),
        sentences=tuple(sentences),
        speakers=None if document.speakers is None else document.speakers[begin:end],
        clusters=clusters,
    )
