"""Results made by hand and by hypothesis, for tests of what is written of them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from longcoref.mention import MentionRecord
from longcoref.outcome import annotation, collect
from longcoref.result import Result
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
    mentions = [
        MentionRecord.of(document, WordSpan(first, end), kind=kind, type="PER", entity=number, score=0.875)
        for number, members in enumerate(sorted(map(sorted, clusters)))
        for first, end, kind in members
    ]
    made = collect(mentions)
    return Result(made, "tiny", "learned", 20, id, document.with_clusters(annotation(made)))


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
