"""The text of a file as people have it: plain text, web pages, books, office documents, subtitles.

    reading.py     `read_text` and `TextFile`: finds the format of a file, and gives its text
    gutenberg.py   the header and licence of Project Gutenberg's files, which are left out
    markup.py      HTML, Markdown
    archives.py    epub and docx, which are zip archives of markup
    library.py     RTF and PDF, by other libraries
    subtitles.py   WebVTT and SubRip

Offsets always count the code points of the text that is given here. HTML, epub, docx and subtitles need nothing but the
standard library; Markdown, RTF and PDF need the extra `[files]`. The size of an extracted text is bounded, because
a small archive can hold an enormous one.
"""

from longcoref.extraction.reading import EXTRACTED_SUFFIX, FileText, TextFile, is_text_file, is_text_name, read_text

__all__ = ["EXTRACTED_SUFFIX", "FileText", "TextFile", "is_text_file", "is_text_name", "read_text"]
