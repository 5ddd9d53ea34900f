"""Results for people: the text with its mentions in brackets, and the cast."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from longcoref.result import Result


def write_text(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes each text as `[Anna]0 fed [her]0 dog`, then who 0 is."""
    for number, result in enumerate(results):
        stream.write("\n" if number else "")
        if result.document is not None:
            stream.write(bracketed(result.document.text, result).rstrip() + "\n\n")
        for cluster in result:
            type = f" ({cluster.type})" if cluster.type else ""
            mentions = "1 mention" if len(cluster) == 1 else f"{len(cluster)} mentions"
            stream.write(f"{cluster.id:>5}  {cluster.name}{type}, {mentions}\n")


def bracketed(text: str, result: Result) -> str:
    """The text with every mention in brackets that carry the id of its cluster."""
    # At one place closing brackets come first, the inner ones before the outer; of opening ones the outer come first.
    marks = []
    for mention, cluster in result.mentions:
        marks.append((mention.start, 1, -mention.end, "["))
        marks.append((mention.end, 0, -mention.start, f"]{cluster.id}"))
    pieces = []
    position = 0
    for place, _, _, mark in sorted(marks):
        pieces += [text[position:place], mark]
        position = place
    return "".join([*pieces, text[position:]])
