"""The header and the licence that Project Gutenberg puts around a book."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

_REACH = 65536  # characters in which a header must end
_LINE = 200  # characters of a line that show what it is
_TITLE_LINES = 5  # lines over which the title in a marker may go on
_CREDIT_LINES = 12  # lines of a paragraph that says who made the file

_START = re.compile(
    r"\s{0,40}(?:\*{3}\s?START OF (?:TH(?:E|IS) )?PROJECT GUTENBERG|\*\s?END\s?\*?\s?THE SMALL PRINT)", re.IGNORECASE
)
_END = re.compile(
    r"\s{0,40}(?:\*{3}\s?END OF (?:TH(?:E|IS) )?PROJECT GUTENBERG"
    r"|End of (?:th(?:e|is) )?Project Gutenberg(?:'s|’s)? (?:EBook|E-?text|edition)\b"
    r"|End of Project Gutenberg(?:'s|’s) )",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"\s{0,40}(?:(?:Produced|Transcribed|Scanned) (?:by|from) |E-?text (?:was )?(?:prepared|produced|scanned) by "
    r"|This e-?text was (?:prepared|produced|scanned|transcribed) )",
    re.IGNORECASE,
)


class _Line(NamedTuple):
    """A line with its end, or a part of a long one; `begins` says that it is the first or only part."""

    text: str
    begins: bool

    def opens(self, pattern: re.Pattern[str]) -> bool:
        """Whether the line begins with a pattern."""
        return self.begins and pattern.match(self.text) is not None

    @property
    def is_blank(self) -> bool:
        """Whether the line is empty."""
        return self.begins and not self.text.strip()

    @property
    def closes_marker(self) -> bool:
        """Whether the line ends with the asterisks of a marker."""
        return self.begins and len(self.text) <= _LINE and self.text.rstrip().endswith("*")


class Trimmer:
    """Leaves out the header and licence of a text that comes in pieces; however it is cut, the same text is kept.

    `left_out` counts the characters that were left out so far. If a file holds several books, each is trimmed. A text
    without Project Gutenberg's marker lines is kept as it is.
    """

    def __init__(self) -> None:
        self.left_out = 0

    def trimmed(self, pieces: Iterable[str]) -> Iterator[str]:
        """The text without what is left out."""
        lines = _lines(pieces)
        held: list[_Line] = []
        size = 0
        for line in lines:
            held.append(line)
            size += len(line.text)
            if line.opens(_START):
                self.left_out += size
                held = self._after_marker(line, lines)
                break
            if line.opens(_END) or size > _REACH:
                break
        for line in chain(held, lines):
            if line.opens(_END):
                self.left_out += len(line.text)
                yield from self._next_book(lines)
            else:
                yield line.text

    def _next_book(self, lines: Iterator[_Line]) -> list[str]:
        """Leaves out the licence, up to the first lines of another book in the same file."""
        for line in lines:
            self.left_out += len(line.text)
            if line.opens(_START):
                return [first.text for first in self._after_marker(line, lines)]
        return []

    def _after_marker(self, marker: _Line, lines: Iterator[_Line]) -> list[_Line]:
        """Leaves out what follows the first line of a marker: the rest of its title, credits and empty lines.

        Returns the lines of the book that were read on the way.
        """
        if not marker.closes_marker:
            title = _up_to(lines, lambda line: line.closes_marker, most=_TITLE_LINES)
            if not title or not title[-1].closes_marker:
                return title
            self._leave_out(title)
        for line in lines:
            if line.is_blank:
                self._leave_out([line])
            elif line.opens(_CREDIT):
                credit = [line, *_up_to(lines, lambda line: line.is_blank, most=_CREDIT_LINES)]
                if not credit[-1].is_blank:
                    return credit
                self._leave_out(credit)
            else:
                return [line]
        return []

    def _leave_out(self, lines: Iterable[_Line]) -> None:
        self.left_out += sum(len(line.text) for line in lines)


def _up_to(lines: Iterator[_Line], is_last: Callable[[_Line], bool], *, most: int) -> list[_Line]:
    """The next lines, including the first one for which `is_last` holds, and no more than `most`."""
    taken: list[_Line] = []
    for line in lines:
        taken.append(line)
        most -= line.begins
        if is_last(line) or not most:
            break
    return taken


def _lines(pieces: Iterable[str]) -> Iterator[_Line]:
    """The lines of a text; a long one comes in parts, so that nothing grows with it."""
    text, begins = "", True
    for piece in pieces:
        *complete, text = (text + piece).split("\n")
        for line in complete:
            yield _Line(f"{line}\n", begins)
            begins = True
        if len(text) > _LINE:
            yield _Line(text, begins)
            text, begins = "", False
    if text:
        yield _Line(text, begins)
