"""Results for people: the text with its mentions in brackets, and a list of entities; in colour on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from rich.console import Console
from rich.text import Text

from longcoref.outcome import ResultCluster
from longcoref.result import Result

_COLOURS = ("red", "green", "yellow", "blue", "magenta", "cyan", "bright_red", "bright_green", "bright_blue")
CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), " ")
"""Control characters that must not reach a terminal: all but tab and line feed become a blank of the same width."""


class _Piece(NamedTuple):
    """A part of the text, or a bracket, and the innermost cluster that it belongs to."""

    text: str
    cluster: int | None
    bracket: bool


def write_text(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes each text as `[Anna]0 fed [her]0 dog`, then the entities by number; on a terminal in colour."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    for number, result in enumerate(results):
        stream.write("\n" if number else "")
        pieces = list(_pieces(result.known_document.text, result))
        if console.is_terminal:
            console.print(_coloured(pieces), end="\n\n")
        else:
            stream.write("".join(piece.text for piece in pieces).rstrip() + "\n\n")
        for cluster in result:
            line = _cast_line(cluster)
            if console.is_terminal:
                console.print(Text(line.translate(CONTROLS), style=_colour(cluster.id)))
            else:
                stream.write(f"{line}\n")


def _cast_line(cluster: ResultCluster) -> str:
    type = f" ({cluster.type})" if cluster.type else ""
    mentions = "1 mention" if len(cluster) == 1 else f"{len(cluster)} mentions"
    return f"{cluster.id:>5}  {cluster.name}{type}, {mentions}"


def _pieces(text: str, result: Result) -> Iterator[_Piece]:
    """The text cut at every bracket; joined, the pieces are the marked text."""
    # At the same offset, closing brackets come first, inner before outer; then opening ones, outer before inner.
    marks: list[tuple[int, bool, int, int]] = []
    for mention, cluster in result.mentions:
        marks.append((mention.start, True, -mention.end, cluster.id))
        marks.append((mention.end, False, -mention.start, cluster.id))
    position = 0
    inside: list[int] = []
    for place, opens, _, id in sorted(marks):
        yield _Piece(text[position:place], inside[-1] if inside else None, False)
        position = place
        yield _Piece("[" if opens else f"]{id}", id, True)
        if opens:
            inside.append(id)
        else:
            del inside[len(inside) - 1 - inside[::-1].index(id)]  # mentions may cross
    yield _Piece(text[position:], None, False)


def _coloured(pieces: Iterable[_Piece]) -> Text:
    shown = Text()
    for text, cluster, bracket in pieces:
        style = "" if cluster is None else _colour(cluster)
        shown.append(text.translate(CONTROLS), f"{style} dim" if bracket else style)
    shown.rstrip()
    return shown


def _colour(cluster: int) -> str:
    """Entities with adjacent numbers differ in colour; after all colours they repeat in bold, then from the start."""
    row, column = divmod(cluster, len(_COLOURS))
    return f"{'bold ' if row % 2 else ''}{_COLOURS[column]}"
