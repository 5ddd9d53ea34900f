"""The text of HTML and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser

from longcoref.errors import UsageError, optional_module
from longcoref.formats.source import known_encoding

Attributes = Sequence[tuple[str, str | None]]

_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        """address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer
        form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table tbody tfoot thead tr ul""",
    )
)
_SKIPPED = frozenset(re.findall(r"\w+", "button nav noscript script select style svg template textarea title"))
_PAGE_NUMBERS = frozenset(("pagenum", "pageno", "pagebreak", "doc-pagebreak"))
_CELLS = frozenset(("td", "th"))
_SPACE = re.compile(r"[ \t\r\n\f]+")
_DECLARATION = re.compile(
    rb"<\?xml[^>]{0,200}?encoding\s?=\s?[\"']([\w.:-]{1,40})|<meta[^>]{0,200}?charset\s?=\s?[\"']?([\w.:-]{1,40})",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 4096  # bytes
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n.*?\r?\n(?:---|\.\.\.)[ \t]*\r?\n", re.DOTALL)


class TextBuilder:
    """Joins runs of text: white space becomes one blank, and paragraphs are separated by an empty line."""

    _SEPARATORS = ("", " ", "\t", "\n", "\n\n")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._separator = 0

    def add(self, text: str) -> None:
        """Adds running text, in which line breaks mean nothing."""
        words = _SPACE.sub(" ", text)
        if words.startswith(" "):
            self._separate(" ")
        if words.strip(" "):
            self.add_verbatim(words.strip(" "))
            if words.endswith(" "):
                self._separate(" ")

    def add_verbatim(self, text: str) -> None:
        """Adds text with its own line breaks."""
        if text:
            self._parts += [self._SEPARATORS[self._separator] if self._parts else "", text]
            self._separator = 0

    def tab(self) -> None:
        """Separates two cells of a table."""
        self._separate("\t")

    def line_break(self) -> None:
        """Ends the line; two of them end the paragraph."""
        self._separate("\n" if self._SEPARATORS[self._separator] != "\n" else "\n\n")

    def paragraph(self) -> None:
        """Ends the paragraph."""
        self._separate("\n\n")

    def text(self) -> str:
        """The text so far, with a line end."""
        return "".join([*self._parts, "\n"] if self._parts else [])

    def _separate(self, separator: str) -> None:
        """The strongest of several separators between two runs of text counts."""
        self._separator = max(self._separator, self._SEPARATORS.index(separator))


class _Page(HTMLParser):
    """Collects the text of a page; scripts, menus, page numbers and the like are skipped."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = TextBuilder()
        self._skipping, self._depth = "", 0
        self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if self._skipping:
            self._depth += tag == self._skipping
        elif tag in _SKIPPED or _is_page_number(attrs):
            self._skipping, self._depth = tag, 1
        elif tag == "br":
            self.builder.line_break()
        elif tag in _CELLS:
            self.builder.tab()
        elif tag in _BLOCKS:
            self.builder.paragraph()
            self._verbatim += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            self._depth -= tag == self._skipping
            if not self._depth:
                self._skipping = ""
        elif tag in _BLOCKS:
            self.builder.paragraph()
            self._verbatim -= tag == "pre" and self._verbatim > 0

    def handle_data(self, data: str) -> None:
        if self._skipping:
            return
        if self._verbatim:
            self.builder.add_verbatim(data)
        else:
            self.builder.add(data)


def _is_page_number(attributes: Attributes) -> bool:
    """Whether an element is the number of a printed page, which interrupts sentences of digitised books."""
    return any(
        not _PAGE_NUMBERS.isdisjoint((value or "").lower().split())
        for name, value in attributes
        if name in ("class", "epub:type", "role")
    )


def declared_encoding(page: bytes) -> str | None:
    """The encoding that a page declares, if it is one that we know."""
    found = _DECLARATION.search(page, 0, _DECLARED_WITHIN)
    if found is None:
        return None
    try:
        return known_encoding((found[1] or found[2]).decode("ascii", "replace"))
    except UsageError:
        return None


def html_text(pages: Iterable[str]) -> str:
    """The text of HTML pages, one after another."""
    builder = TextBuilder()
    for page in pages:
        parser = _Page()
        parser.feed(page)
        parser.close()
        builder.paragraph()
        builder.add_verbatim(parser.builder.text().removesuffix("\n"))
    return builder.text()


def markdown_text(text: str) -> str:
    """The text of a Markdown file, without its front matter."""
    parser = optional_module("markdown_it", extra="files", needed_for="reading Markdown").MarkdownIt("commonmark")
    found = _FRONT_MATTER.match(text)
    return html_text([parser.enable("table").render(text[found.end() :] if found else text)])
