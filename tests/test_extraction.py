"""The text of files: every format, their damage, Project Gutenberg's header and licence, and encodings."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longcoref.cli import main
from longcoref.errors import InputError, MissingExtraError, UsageError
from longcoref.extraction import TextFile, archives, is_text_file, library, read_text, reading
from longcoref.extraction.gutenberg import Trimmer

Resolve = Callable[..., tuple[str, str]]

HEADER = """The Project Gutenberg eBook of The Ferry

Author: Nobody Inparticular

*** START OF THE PROJECT GUTENBERG EBOOK THE FERRY, OR
A CROSSING ***

Produced by Somebody and
the proofreaders


"""
FOOTER = """End of the Project Gutenberg EBook of The Ferry

*** END OF THE PROJECT GUTENBERG EBOOK THE FERRY ***

Section 1. General Terms of Use
"""
STORY = ["Mrs. Hale kept the inn.", "She liked it & its <old> guests.", "“Come in,” said Ann."]

words = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\x7f\xa0\xad\x85"), min_size=1)
paragraphs = st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=4)


def archive(files: dict[str, str], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as target:
        for name, text in files.items():
            target.writestr(name, text)
    return content.getvalue()


def html(story: Sequence[str]) -> bytes:
    body = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in story)
    page = f"<!DOCTYPE html><html><head><title>Menu</title><style>p {{}}</style></head><body>{body}</body></html>"
    return page.encode()


def epub(story: Sequence[str], **more: str) -> bytes:
    pages = {f"OEBPS/page {number}.xhtml": html([text]).decode() for number, text in enumerate(story)}
    items = "".join(
        f'<item id="p{n}" href="page%20{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(story))
    )
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(story)))
    package = f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    return archive({"META-INF/container.xml": container, "OEBPS/book.opf": package, **pages, **more})


def docx(story: Sequence[str]) -> bytes:
    body = "".join(f'<w:p><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>' for text in story)
    return archive({"word/document.xml": f'<?xml version="1.0"?><w:document><w:body>{body}</w:body></w:document>'})


def rtf(story: Sequence[str]) -> bytes:
    def spelled(text: str) -> str:
        return "".join(f"\\u{ord(c)}?" if ord(c) > 126 or c in "\\{}" else c for c in text)

    return ("{\\rtf1\\ansi " + "".join(f"{spelled(text)}\\par\n" for text in story) + "}").encode()


def pdf(lines: Sequence[str]) -> bytes:
    """A PDF of one page, written by hand."""
    shown = " ".join(f"({line}) Tj 0 -14 Td" for line in lines)
    stream = f"BT /F1 12 Tf 72 720 Td {shown} ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content = "%PDF-1.4\n"
    places = []
    for number, item in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{item}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    return f"{content}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


FORMATS: dict[str, Callable[[Sequence[str]], bytes]] = {"html": html, "epub": epub, "docx": docx, "rtf": rtf}


@pytest.mark.parametrize("format", FORMATS)
@given(story=paragraphs)
def test_every_format_gives_its_paragraphs(format: str, story: list[str]) -> None:
    found = read_text(FORMATS[format](story), name=f"tale.{format}", keep_all=True)
    assert (found.text, found.format) == ("\n\n".join(story) + "\n", format)
    assert not found.is_own


def test_markdown_is_read_without_its_marks_and_front_matter() -> None:
    content = b"---\ntitle: Tale\n---\n# The *inn*\n\nAnn saw\n[Tom](https://example.org).\n\n- one\n- two\n"
    assert read_text(content, name="tale.md").text == "The inn\n\nAnn saw Tom.\n\none\n\ntwo\n"


def test_html_without_scripts_menus_and_page_numbers() -> None:
    page = (
        b"<html><script>var he;</script><nav><a>Home</a></nav><div>Ann saw<span class='x pagenum'>[Pg 3]</span> the\n"
        b"mill.<br>She<br><br>left.</div><table><tr><td>a<td>b</tr></table><pre>x\n  y</pre>"
    )
    assert read_text(page).text == "Ann saw the mill.\nShe\n\nleft.\n\na\tb\n\nx\n  y\n"


def test_a_page_says_its_own_encoding() -> None:
    page = '<html><meta charset="windows-1252"><p>“Café”'.encode("cp1252")
    assert read_text(page).text == "“Café”\n"
    with pytest.raises(InputError, match="--encoding"):
        read_text(page.replace(b"windows-1252", b"martian"))
    assert read_text(page.replace(b"windows-1252", b"martian"), encoding="cp1252").text == "“Café”\n"


def test_pdf_joins_hyphenated_words() -> None:
    found = read_text(pdf(["Ann saw the mil-", "ler by the river."]), name="tale.pdf")
    assert (found.format, found.text.split()) == ("pdf", ["Ann", "saw", "the", "miller", "by", "the", "river."])


@pytest.mark.parametrize(
    ("name", "time"), [("talk.vtt", "00:01.000 --> 00:02.000"), ("talk.srt", "00:00:01,000 --> 00:00:02,000")]
)
def test_subtitles_become_turns(name: str, time: str) -> None:
    cues = ["<v Ann Lee>I saw", "<v Ann Lee>you.", "<v Tom>Where &amp; <i>when</i>?", "- There."]
    head = "WEBVTT\n\nNOTE not read\n\n" if name.endswith("vtt") else ""
    content = head + "\n\n".join(f"{number}\n{time}\n{cue}" for number, cue in enumerate(cues, 1))
    assert read_text(content.encode(), name=name).text == "Ann Lee: I saw you.\n\nTom: Where & when?\n\nTom: There.\n\n"


# Project Gutenberg


@pytest.fixture(scope="module", params=["", "\r"], ids=["LF", "CRLF"])
def book(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A file of Project Gutenberg, and the book in it."""
    body = "CHAPTER I\n\n" + "\n\n".join(STORY) + "\n\n"
    whole, part = HEADER + body + FOOTER, body
    return whole.replace("\n", f"{request.param}\n"), part.replace("\n", f"{request.param}\n")


@given(cuts=st.lists(st.integers(0, 700)))
def test_header_and_licence_are_left_out_however_the_text_is_cut(book: tuple[str, str], cuts: list[int]) -> None:
    whole, body = book
    edges = [0, *sorted(cuts), len(whole)]
    trimmer = Trimmer()
    pieces = [whole[start:end] for start, end in pairwise(edges)]
    assert "".join(trimmer.trimmed(pieces)) == body
    assert trimmer.left_out == len(whole) - len(body)


@given(text=st.text(st.sampled_from("ab*\n\r ") | st.characters(), max_size=600), size=st.integers(1, 300))
def test_any_other_text_is_kept(text: str, size: int) -> None:
    trimmer = Trimmer()
    assert "".join(trimmer.trimmed(text[start : start + size] for start in range(0, len(text), size))) == text
    assert trimmer.left_out == 0


def test_each_of_several_books_is_trimmed(book: tuple[str, str]) -> None:
    whole, body = book
    assert "".join(Trimmer().trimmed([whole, whole])) == body * 2


def test_a_marker_without_an_end_loses_no_text() -> None:
    text = "*** START OF THE PROJECT GUTENBERG EBOOK\n" + "".join(f"Line {number}.\n" for number in range(9))
    assert "".join(Trimmer().trimmed([text])) == text[text.index("Line 0") :]


def test_a_long_header_is_not_a_header() -> None:
    text = "Ann.\n" * 20_000 + HEADER
    assert "".join(Trimmer().trimmed([text])) == text


# Encodings


@given(text=st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_byte_order_mark_decides(encoding: str, text: str) -> None:
    text = f"Ann {text}"  # no format begins like this
    content = text.encode(encoding)
    assert read_text(content).text == text
    assert "".join(TextFile(io.BytesIO(content)).pieces(3)) == text


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "mac-roman"])
def test_other_encodings_must_be_named(encoding: str) -> None:
    content = "Zoë’s café".encode(encoding, "ignore")
    with pytest.raises(InputError, match="--encoding"):
        read_text(content)
    assert read_text(content, encoding=encoding).text.startswith("Zoë")


@pytest.mark.parametrize("encoding", ["martian", "rot13", "hex", "", "a\0b"])
def test_unknown_encodings(encoding: str) -> None:
    with pytest.raises(UsageError, match="unknown encoding"):
        read_text(b"Ann", encoding=encoding)


# Damage


def encrypted_pdf() -> bytes:
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(["Ann"])))
    writer.encrypt("secret", algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


DRM = {"META-INF/encryption.xml": '<encryption><enc:CipherReference URI="OEBPS/page%200.xhtml"/></encryption>'}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *((f"tale{suffix}", lambda: b"", "is empty") for suffix in (".epub", ".docx", ".rtf", ".pdf")),
        *(
            (f"tale{suffix}", lambda: b"\x89PNG\r\n\x1a\n\0\0", "is not ")
            for suffix in (".epub", ".docx", ".rtf", ".pdf")
        ),
        *(
            (f"tale{suffix}", lambda: b"Ann\0\xff\xfe\0", "0xff is not UTF-8")
            for suffix in (".txt", ".html", ".md", ".srt", ".vtt")
        ),
        ("tale.txt", lambda: b"Ann\0Tom", "null characters"),
        ("tale.epub", lambda: epub(STORY)[:-30], "damaged"),
        ("tale.docx", lambda: docx(STORY)[:200], "damaged"),
        ("tale.epub", lambda: epub(STORY, **DRM), "encrypted"),
        ("tale.epub", lambda: archive({"META-INF/container.xml": "<x/>"}), "contains no ''"),
        ("tale.zip", lambda: archive({"a.txt": "Ann"}), "neither epub nor docx"),
        ("tale.pdf", lambda: pdf(["Ann"])[:40], "not a PDF that can be read"),
        ("tale.pdf", lambda: pdf([]), "contains no text"),
        ("tale.pdf", encrypted_pdf, "is encrypted"),
        ("tale.doc", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office file"),
        ("tale.txt", lambda: b'{"schema": "longcoref/1", "text": "Ann"}', "is in the format json"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(
    name: str, content: Callable[[], bytes], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_text(content(), name=name)
    assert str(caught.value).startswith(name)


@given(data=st.data())
@pytest.mark.parametrize("format", ["epub", "docx", "rtf", "pdf", "html", "md", "vtt"])
def test_damaged_files_are_read_or_refused(format: str, data: st.DataObject) -> None:
    make = {**FORMATS, "pdf": pdf, "md": lambda story: "\n\n".join(story).encode()}
    whole = make.get(format, lambda story: b"WEBVTT\n\n00:01 --> 00:02\nAnn\n")(["Ann saw Tom."])
    place = data.draw(st.integers(0, len(whole)))
    damaged = whole[:place] + data.draw(st.binary(max_size=4)) + whole[place + data.draw(st.integers(0, 8)) :]
    with suppress(InputError):
        assert isinstance(read_text(damaged, name=f"tale.{format}").text, str)


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_unpacked_is_bounded(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = FORMATS[format](["Ann " * 5000] * 3)
    for module in (archives, library, reading):
        monkeypatch.setattr(module, "MOST_BYTES", 30_000)
    with pytest.raises(InputError, match="more than 30,000 bytes"):
        read_text(content, name=f"tale.{format}")


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtraError, match=r"longcoref\[files\]"):
        read_text(pdf(STORY[:1]), name="tale.pdf")


@pytest.mark.parametrize("path", ["absent.epub", "folder"])
def test_files_that_cannot_be_opened(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot read this file"):
        read_text(tmp_path / path)


# The command


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Resolve:
    """Runs the command in an empty folder; returns what it writes and says."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[str, str]:
        with pytest.raises(SystemExit) as exit:
            main(["resolve", *arguments])
        said = capsys.readouterr()
        assert not exit.value.code, said.err
        return said.out, said.err

    return call


def test_a_text_its_epub_and_its_gutenberg_file_have_the_same_result(resolve: Resolve) -> None:
    body = "\n\n".join(STORY) + "\n"
    Path("plain.txt").write_text(body, encoding="utf-8")
    Path("gutenberg.txt").write_text(HEADER + body + FOOTER, encoding="utf-8")
    Path("book.epub").write_bytes(epub([*HEADER.strip().split("\n\n"), *STORY, *FOOTER.strip().split("\n\n")]))
    expected, said = resolve("plain.txt", "--to", "tsv")
    assert said == ""
    for name in ("gutenberg.txt", "book.epub"):
        found, said = resolve(name, "--to", "tsv")
        assert found.replace(Path(name).stem, "plain") == expected
        assert said.count("\n") == 1
        assert "Project Gutenberg's header and licence" in said
    kept, said = resolve("gutenberg.txt", "--to", "text", "--keep-all")
    assert "Inparticular" in kept
    assert said == ""


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_the_text_that_offsets_refer_to_is_written_beside_the_result(resolve: Resolve, format: str) -> None:
    body = "\n\n".join(STORY) + "\n"
    Path("tale.txt").write_text(HEADER + body + FOOTER, encoding="utf-8")
    _, said = resolve("tale.txt", "-o", f"result.{format}")
    assert Path("tale.source.txt").read_text(encoding="utf-8") == body
    assert "offsets refer to tale.source.txt" in said
    assert [path.name for path in filter(is_text_file, Path().iterdir())] == ["tale.txt"]
    Path("tale.source.txt").unlink()
    Path("tale.txt").write_text(body, encoding="utf-8")
    resolve("tale.txt", "-o", f"result.{format}")
    assert not Path("tale.source.txt").exists()
