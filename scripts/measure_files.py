"""Whether a novel has the same cast as plain text, as a file of Project Gutenberg and as an epub.

python scripts/measure_files.py NOVEL.txt...
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from html import escape
from pathlib import Path

import longcoref
from longcoref.extraction import read_text
from longcoref.render.outputs import write_results

HEADER = """The Project Gutenberg eBook of {title}

Title: {title}

Author: Somebody Else

*** START OF THE PROJECT GUTENBERG EBOOK {title} ***

Produced by Another Person

"""
FOOTER = """

*** END OF THE PROJECT GUTENBERG EBOOK {title} ***

Mr. License grants you the right to read this book. He keeps his own.
"""
_PAGE = "<html><head><title>{title}</title></head><body>{body}</body></html>"


def gutenberg_file(text: str, title: str) -> str:
    """A text with a header and a licence."""
    return HEADER.format(title=title) + text + FOOTER.format(title=title)


def epub(text: str, title: str) -> bytes:
    """A text as an epub: a page for every fifty paragraphs, whose lines are joined."""
    paragraphs = [f"<p>{escape(' '.join(part.split()))}</p>" for part in re.split(r"\n\s*\n", text) if part.strip()]
    pages = [
        _PAGE.format(title=escape(title), body="".join(paragraphs[i : i + 50])) for i in range(0, len(paragraphs), 50)
    ]
    items = "".join(
        f'<item id="p{n}" href="p{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(pages))
    )
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(pages)))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="book.opf"/></container>')
        archive.writestr("book.opf", f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>")
        for number, page in enumerate(pages):
            archive.writestr(f"p{number}.xhtml", page)
    return content.getvalue()


def main() -> None:
    """Prints a line for each novel, and differences."""
    resolver = longcoref.load()
    for path in map(Path, sys.argv[1:]):
        plain = path.read_text(encoding="utf-8")
        whole = gutenberg_file(plain, path.stem)
        files = {
            "plain": read_text(plain.encode(), name="x.txt"),
            "gutenberg": read_text(whole.encode(), name="x.txt"),
            "epub": read_text(epub(whole, path.stem), name="x.epub"),
        }
        casts = {}
        for kind, file in files.items():
            written = io.StringIO()
            write_results([resolver(file.text, id="book")], written, "cast")
            casts[kind] = written.getvalue()
        same = {kind: cast == casts["plain"] for kind, cast in casts.items()}
        print(
            path.stem, len(plain), "characters", same, "left out", {kind: file.left_out for kind, file in files.items()}
        )


if __name__ == "__main__":
    main()
