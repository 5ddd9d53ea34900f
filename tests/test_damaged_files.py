"""Damaged files: an error with file and line, or a repair with a warning; never anything else."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_examples import EACH, EXAMPLES, ID, SPANS, read_text
from longcoref.clusters import spans_of
from longcoref.errors import InputError, RepairWarning
from longcoref.formats import FORMATS, Format, read_corpus, write_corpus


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "message"),
    [
        ("conll", "*  1)", "*  -", 2, r"\(1 opens a mention that is never closed"),
        ("conll", "(1)", "3)", 10, r"3\) closes a mention that was never opened"),
        ("conll", "(1)", "(1", 10, r"\(1 opens"),
        ("conll", "(1)", "((1)", 10, "expected brackets"),
        ("conll", "   2   dog     NN", "   2   dog", 4, "expected 12 columns, got 11"),
        ("conll", "part 002", "part two", 1, r"expected '#begin document \(id\); part 000'"),
        ("conll", "#begin document (nw/tale/00/tale_0001); part 002\n", "", 1, "expected '#begin document'"),
        ("conll", "#end document\n", "", 12, "ends inside the document of line 1"),
        ("conll", "#end document\n", "#begin document (b); part 0\n", 13, "'#end document' is missing"),
        ("litbank", "\tdog\t_\t_", "\tdog\t_", 4, "expected 13 columns, got 12"),
        ("litbank", "\t1)", "\t", 2, r"\(1 opens"),
        ("ontogum", "2\tdog\t1)", "2\tdog", 4, "expected 3 columns, got 2"),
        ("ontogum", "2\tdog\t1)", "2\tdog\tx", 4, "expected brackets"),
        ("json", '"end": 21', '"end": 20', 1, r"clusters\[0\].mentions\[1\].start: 18 to 20 does not begin and end"),
        ("json", '"text": "She"', '"text": "He"', 1, "'He', but the text has 'She'"),
        ("json", '"id": "dog"', '"id": 0', 1, "two clusters have the id '0'"),
        ("json", "longcoref/1", "longcoref/9", 1, "expected schema 'longcoref/1'"),
        ("json", '"words": [[0, 4],', '"words": [[0, 5],', 1, r"expected \[start, end\] from 5 on, got \[4, 6\]"),
        ("json", '"sentences": [[0, 17], [18, 30]],', '"sentences" [[0, 17]],', 6, "not JSON"),
        ("json", '"start": 0, "end": 6', '"start": true, "end": 6', 1, "expected a number, got true"),
        ("jsonl", '"end": 6', '"end": -6', 1, "expected 0 or more"),
        ("jsonlines", "[0, 1]", "[0, 99]", 1, "lies outside"),
        ("jsonlines", "[0, 1]", "[3, 1]", 1, "lies outside"),
        ("jsonlines", "[0, 1]", "[0]", 1, r"clusters\[0\]: expected a list of \[first word, last word\]"),
        ("jsonlines", '"woke", ', '"woke", 3, ', 1, r"sentences\[1\]: expected a list of words"),
        ("jsonlines", '["-", ', "[", 1, "speakers: expected a list for each sentence"),
        ("corefud", "3\tdog\t", "3\t", 8, "expected 10 columns"),
        ("corefud", "3\tdog\t", "x\tdog\t", 8, "expected a word number"),
        ("corefud", "Entity=e1)", "Entity=e9)", 7, "e9. closes a mention"),
        ("corefud", "(e1-person-1-kind:PRON)", "(e1[1/2]-person)", 14, "discontinuous"),
        ("corefud", "(e1-person-1-kind:PRON)", "(e1-person(e1", 14, r"\(e1 opens a mention that is never closed"),
        ("corefud", "1-2\t", "1-99999999\t", 5, r"expected 99999999 words of \"Anna's\", got 9"),
        ("corefud", "2\t's\t", "2-3\t's\t", 7, "the range 2-3 is empty or overlaps"),
        ("json", '"speakers": [', f'"part": {"9" * 4300}, "speakers": [', 1, "a number of more than 18 digits"),
        (
            "json",
            '"end": 17}]',
            '"end": 17}, {"speaker": "A", "start": 0, "end": 17}]',
            1,
            "overlaps the speaker before",
        ),
        ("jsonlines", "[0, 1]", f"[0, {'9' * 4300}]", 1, "a number of more than 18 digits"),
    ],
)
def test_damage_is_reported_with_file_and_line(
    name: str, old: str, new: str, line: int, message: str, tmp_path: Path
) -> None:
    assert old in EXAMPLES[name]
    file = tmp_path / "tale.file"
    file.write_text(EXAMPLES[name].replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        list(read_corpus(file, format=name))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{file}:{line}: ")


def refusal(format: Format, content: str, *, lenient: bool = False) -> str:
    """The message of the error, empty if there is none."""
    try:
        read_text(format, content, lenient=lenient)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("name", "old"), [("json", '"Teller"'), ("jsonl", "[4, 6]"), ("jsonlines", "[0, 1]")])
def test_values_may_be_nested_to_any_depth(name: str, old: str) -> None:
    for depth in (1, 10, 100, *range(600, 1100, 3), 100_000):
        content = EXAMPLES[name].replace(old, "[" * depth + "]" * depth)
        assert refusal(FORMATS[name], content).startswith("tale:1: ")


@EACH
@pytest.mark.parametrize("word", ["Anna", "She", "(1", "e1", "tale", "0", "nw"])
def test_messages_do_not_repeat_a_whole_file(format: Format, word: str) -> None:
    for long in ("x" * 100_000, "(" * 100_000, "9" * 100_000, "\U0010ffff" * 100_000):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            messages = [
                refusal(format, EXAMPLES[format.name].replace(word, long), lenient=lenient) for lenient in (False, True)
            ]
        assert all(len(message) <= 1000 for message in messages + [str(warning.message) for warning in caught])


@EACH
def test_bytes_that_are_not_utf8_are_reported_with_their_line(format: Format) -> None:
    content = EXAMPLES[format.name].encode().replace(b"She", b"Sh\xe9")
    with pytest.raises(InputError, match="0xe9 is not UTF-8") as caught:
        read_text(format, content)
    assert caught.value.line == 1 + content[: content.index(b"\xe9")].count(b"\n")


@EACH
def test_a_file_without_a_document_is_an_error_but_for_text(format: Format, tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.write_bytes(b"")
    if format.name == "text":
        (document,) = read_corpus(file, format="text")
        assert document.words == ()
    else:
        with pytest.raises(InputError, match=f"no {format.name} document"):
            list(read_corpus(file, format=format.name))


def test_a_document_that_comes_twice_is_an_error(tmp_path: Path) -> None:
    one, two = tmp_path / "one.conll", tmp_path / "two.conll"
    one.write_text(EXAMPLES["conll"] * 2, encoding="utf-8")
    with pytest.raises(InputError, match=f"one.conll:14: document '{ID}', part 2, was read before, at .*one.conll:1"):
        list(read_corpus(one))
    for file in (one, two):
        file.write_text(EXAMPLES["conll"], encoding="utf-8")
    with pytest.raises(InputError, match=r"two.conll:1: .* at .*one.conll:1"):
        list(read_corpus(tmp_path))


def test_lenient_reading_leaves_out_brackets_that_do_not_balance() -> None:
    damaged = EXAMPLES["conll"].replace("(1)", "(1|3)")
    with pytest.warns(RepairWarning) as caught:
        (document,) = read_text(FORMATS["conll"], damaged, lenient=True)
    assert spans_of(document.clusters or ()) == [SPANS[0], ((0, 3),)]
    assert [str(warning.message).partition(" ")[0] for warning in caught] == ["tale:10:", "tale:10:"]


def test_lenient_reading_keeps_the_first_part_of_a_discontinuous_mention() -> None:
    damaged = EXAMPLES["corefud"].replace("(e1-person-1-kind:PRON)", "(e1[1/2]-person)")
    damaged = damaged.replace(
        "4\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "4\t.\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1[2/2]-person)\n\n"
    )
    with pytest.warns(RepairWarning, match="discontinuous"):
        (document,) = read_text(FORMATS["corefud"], damaged, lenient=True)
    assert spans_of(document.clusters or ()) == SPANS


@st.composite
def damaged_examples(draw: st.DrawFn, content: bytes) -> bytes:
    """The content after a few edits of bytes and of lines."""
    alphabet = st.sampled_from(
        [b"(", b")", b"|", b"\t", b" ", b"\n", b"\r", b"#", b"-", b"0", b"9", b'"', b"[", b"]", b"{"]
    )
    pieces = alphabet | st.binary(max_size=3) | st.just(b"\\ud800") | st.just(b"[" * 3000) | st.just(b"9" * 5000)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        edit = draw(st.sampled_from(["insert", "delete", "replace", "cut", "line", "double"]))
        if edit == "insert":
            content = content[:start] + draw(pieces) + content[start:]
        elif edit == "delete":
            content = content[:start] + content[start + draw(st.integers(1, 8)) :]
        elif edit == "replace":
            content = content[:start] + draw(pieces) + content[start + draw(st.integers(1, 3)) :]
        elif edit == "cut":
            content = content[:start]
        else:
            lines = content.splitlines(keepends=True) or [b""]
            index = draw(st.integers(0, len(lines) - 1))
            lines[index : index + 1] = [] if edit == "line" else [lines[index]] * 2
            content = b"".join(lines)
    return content


def test_a_damaged_file_is_closed_although_its_error_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    path = tmp_path / "tale.json"
    path.write_text("{")
    whole = Path.open
    monkeypatch.setattr(Path, "open", lambda *given, **named: opened.append(whole(*given, **named)) or opened[-1])
    with pytest.raises(InputError) as kept:
        list(read_corpus(path, format="json"))
    assert kept.value.line
    assert [stream.closed for stream in opened] == [True]


@EACH
@settings(max_examples=250)
@given(data=st.data(), lenient=st.booleans())
def test_damaged_files_give_documents_or_errors_with_a_line(format: Format, data: st.DataObject, lenient: bool) -> None:
    content = data.draw(damaged_examples(EXAMPLES[format.name].encode()))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        if lenient:
            warnings.simplefilter("ignore", RepairWarning)
        file = Path(folder) / "tale"
        file.write_bytes(content)
        trouble: InputError | None = None
        try:
            write_corpus(read_corpus(file, format=format.name, lenient=lenient), Path(folder) / "out.json")
        except InputError as error:
            trouble = error
        assert trouble is None or trouble.line or str(trouble).endswith(f"no {format.name} document in this file")
