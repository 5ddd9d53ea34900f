"""Results made by hand and by hypothesis, for tests of what is written of them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from longcoref.book.naming import NameChooser
from longcoref.result import Result, ResultCluster, ResultMention, with_clusters
from longcoref.spans import WordSpan
from longcoref.text import tokenize

# Emoji with joiners, right to left, combining marks, line ends of all kinds, control characters, quotes for tables.
ALPHABET = (
    *"Anna her 's,.“”\"'\t\n",
    *("\r\n", "\r", "\x0b", "\x85", "\u2028", "\x00", "\x1b", "\ufeff"),
    *(
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "🏚️",
        "e\u0301",
        "n\u0303a",
        "אנה ",
        "الطاحونة ",
        "\u200f",
        "ﬁn",
        "😀",
        "<script>",
        "&",
        "\\",
    ),
)
KINDS = ("PROP", "NOM", "PRON")


def make_result(text: str, clusters: Sequence[Sequence[tuple[int, int, str]]], *, id: str = "tale") -> Result:
    """The result with clusters of mentions (first word, word after the last, kind), in words of the text."""
    document = tokenize(text, id=id)
    sentences = [number for number, (start, end) in enumerate(document.sentences) for _ in range(start, end)]
    made = []
    for number, mentions in enumerate(sorted(map(sorted, clusters))):
        names = NameChooser()
        found = []
        for first, end, kind in mentions:
            start, stop = document.characters(WordSpan(first, end))
            wording = text[start:stop]
            names.add(wording, kind)
            found.append(
                ResultMention(start, stop, wording, kind, "PER", 0.875, sentences[first], WordSpan(first, end))
            )
        made.append(ResultCluster(number, names.best(), "PER", len(found), tuple(found)))
    return Result(tuple(made), "tiny", "learned", 20, id, with_clusters(document, made))


@st.composite
def results(draw: st.DrawFn, alphabet: Sequence[str] = ALPHABET) -> Result:
    """A text of any characters with clusters of nested mentions; no two mentions of a result cross."""
    text = "".join(draw(st.lists(st.sampled_from(alphabet) | st.sampled_from(["Anna ", "she ", ". "]), max_size=60)))
    document = tokenize(text)
    clusters: dict[int, dict[tuple[int, int], str]] = {}
    taken: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 8)) if document.sentences else 0):
        sentence = draw(st.sampled_from(document.sentences))
        start = draw(st.integers(sentence.start, sentence.end - 1))
        end = draw(st.integers(start + 1, min(sentence.end, start + 6)))
        crosses = any(a < start < b < end or start < a < end < b for a, b in taken)
        if (start, end) not in taken and not crosses:
            taken.append((start, end))
            clusters.setdefault(draw(st.integers(0, 3)), {})[start, end] = draw(st.sampled_from(KINDS))
    return make_result(text, [[(*span, kind) for span, kind in spans.items()] for spans in clusters.values()])
