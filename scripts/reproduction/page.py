"""A report of headings, paragraphs, tables and figures, as Markdown and as one HTML page that needs no network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_STYLE = """
:root { color-scheme: light dark; --text: #222; --quiet: #5a5a5a; --line: #d9d9d9; --back: #fff; --mark: #f4f1ea; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ddd; --quiet: #a5a5a5; --line: #444; --back: #1b1b1b; --mark: #2a2823; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.table { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th:first-child, td:first-child, .words { text-align: left; }
td:not(.words) { white-space: nowrap; } th { color: var(--quiet); font-weight: 600; }
td.paper, th.paper { background: var(--mark); }
figure { margin: 1rem 0; } figure img { max-width: 100%; background: #fff; } figcaption { color: var(--quiet); }
pre { background: var(--mark); padding: .8rem; overflow-x: auto; }
"""


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Preformatted lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings. Columns with figures of the paper are marked."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: the PNG is shown, the SVG is in the same folder."""

    path: str
    caption: str


def show(value: float | None, form: str = ".1f") -> str:
    """A figure as text; – if there is none."""
    return "–" if value is None else format(value, form)


Block = Heading | Text | Code | Table | Figure


def markdown(title: str, blocks: Iterable[Block]) -> str:
    """The report as Markdown."""
    return "\n\n".join([f"# {title}", *map(_markdown, blocks)]) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"## {block.text}"
    if isinstance(block, Code):
        return f"```\n{block.text.strip()}\n```"
    if isinstance(block, Figure):
        return f"![{block.caption}]({block.path})"
    if isinstance(block, Text):
        return block.text
    lines = [block.headings, ["---"] * len(block.headings), *block.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def html_page(title: str, blocks: Iterable[Block]) -> str:
    """The report as a page; its figures are the SVG files."""
    body = "\n".join(map(_html, blocks))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h2>{html.escape(block.text)}</h2>"
    if isinstance(block, Text):
        return f"<p>{html.escape(block.text)}</p>"
    if isinstance(block, Code):
        return f"<pre>{html.escape(block.text.strip())}</pre>"
    if isinstance(block, Figure):
        source, caption = html.escape(str(Path(block.path).with_suffix(".svg"))), html.escape(block.caption)
        return f'<figure><img src="{source}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
    marks = [_mark(heading, [row[place] for row in block.rows]) for place, heading in enumerate(block.headings)]
    head = _row("th", block.headings, marks)
    rows = "\n".join(_row("td", row, marks) for row in block.rows)
    return f'<div class="table"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody></table></div>'


def _mark(heading: str, cells: Sequence[str]) -> str:
    """The class of a column: the paper's figures, words, or our figures."""
    words = any(letter.isalpha() for cell in cells for letter in cell)
    return ' class="paper"' if "paper" in heading else ' class="words"' if words else ""


def _row(tag: str, cells: Sequence[str], marks: Sequence[str]) -> str:
    inner = "".join(f"<{tag}{mark}>{html.escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
    return f"<tr>{inner}</tr>"
