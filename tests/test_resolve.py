"""The commands resolve and info."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

import longcoref
from longcoref.cli import main
from longcoref.formats import read_corpus
from longcoref.runtime.footprint import Budget, bytes_of_archive, bytes_per_cell
from longcoref.text import tokenize
from test_architecture import HEAVY, loaded_by

TEXT = (
    "Ann saw the old mill. She left it, and Tom met her. “Tom liked the barn,” he saw Ruth's inn. "
    "Carl saw the inns 😀 and left.\r\n\r\nRuth met the old mills — twice!\n"
) * 5


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_bytes(TEXT.encode())
    return path


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as exit:
        main([str(argument) for argument in arguments])
    return int(exit.value.code or 0)


@pytest.fixture
def resolve(tiny_model: Path, capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> str:
        code = run("resolve", "--model", tiny_model, "--cells", 3, "--threads", 1, *arguments)
        captured = capsys.readouterr()
        assert code == 0, captured.err
        assert captured.err == ""
        return captured.out

    return call


@pytest.fixture(scope="module")
def expected(tiny_model: Path) -> longcoref.Result:
    return longcoref.load(tiny_model, cells=3, threads=1)(TEXT, id="story")


def test_json_is_that_of_the_result(resolve, story: Path, expected: longcoref.Result) -> None:
    assert json.loads(resolve(story)) == json.loads(expected.to_json())
    several = json.loads(resolve(story, story))
    assert several == [json.loads(expected.to_json())] * 2


def test_jsonl_says_the_same_as_json_without_post_processing(
    resolve, story: Path, tmp_path: Path, tiny_model: Path
) -> None:
    expected = longcoref.load(tiny_model, cells=3, threads=1, post_processing="none")(TEXT, id="story")
    out = tmp_path / "story.jsonl"
    resolve(story, "-o", out)
    header, *records, end = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert header == {
        "schema": "longcoref-stream/1",
        "id": "story",
        "model": "tiny",
        "memory": {"policy": "learned", "capacity": 3},
    }
    mentions: dict[int, list[dict[str, object]]] = {}
    closed = {}
    for record in records:
        if "mention" in record:
            assert record["cluster"] not in closed
            mentions.setdefault(record["cluster"], []).append(record["mention"])
        else:
            closed[record["closed"]["id"]] = record["closed"]
    assert end == {"end": {"mentions": len(expected.mentions), "clusters": len(expected)}}
    assert sorted(closed) == sorted(mentions) == [cluster.id for cluster in expected]
    for cluster in expected:
        summary = {"id": cluster.id, "name": cluster.name, "type": cluster.type, "mentions": len(cluster)}
        assert closed[cluster.id] == summary
        assert mentions[cluster.id] == [mention.as_json(None) for mention in cluster]


@pytest.mark.parametrize(("format", "post_processing"), [("json", "all"), ("jsonl", "none")])
def test_filters(resolve, story: Path, tiny_model: Path, format: str, post_processing: str) -> None:
    expected = longcoref.load(tiny_model, cells=3, threads=1, post_processing=post_processing)(TEXT, id="story")
    out = resolve(story, "--to", format, "--types", "PER", "--min-mentions", 3)
    kept = {cluster.id for cluster in expected if cluster.type == "PER" and len(cluster) >= 3}
    assert 0 < len(kept) < len(expected)
    if format == "json":
        assert {cluster["id"] for cluster in json.loads(out)["clusters"]} == kept
    else:
        lines = [json.loads(line) for line in out.splitlines()]
        assert {line["cluster"] for line in lines if "cluster" in line} == kept
        assert {line["closed"]["id"] for line in lines if "closed" in line} == kept


def test_the_trace_has_every_decision(resolve, story: Path, tmp_path: Path, tiny_model: Path) -> None:
    for format in ("json", "jsonl"):
        trace = tmp_path / f"{format}.trace"
        resolve(story, "--to", format, "--trace", trace)
    records = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert trace.read_bytes() == (tmp_path / "json.trace").read_bytes()
    mentions = list(longcoref.load(tiny_model, cells=3, threads=1).mentions(tokenize(TEXT)))
    assert [record["index"] for record in records] == list(range(len(mentions)))
    for record, mention in zip(records, mentions, strict=True):
        assert (record["start"], record["end"], record["text"]) == (mention.start, mention.end, mention.text)
        assert (record["action"], record["cell"]) == (mention.decided.action.kind.value, mention.decided.action.cell)
        assert (record["cluster"], record["evicted"]) == (mention.decided.entity, mention.decided.evicted)
        best = sorted(mention.decided.links.tolist(), reverse=True)[:3]
        assert [link["score"] for link in record["links"]] == pytest.approx(best, abs=1e-4)
        if record["action"] == "link":
            assert record["links"][0]["cluster"] == record["cluster"]
        else:
            assert len(record["options"]) == min(3, len(mention.decided.options))


def test_marked_text(resolve, story: Path, expected: longcoref.Result) -> None:
    text, cast = resolve(story, "--to", "text").rsplit("\n\n", 1)
    assert re.sub(r"\[|\]\d+", "", text) == TEXT.rstrip()
    assert Counter(map(int, re.findall(r"\](\d+)", text))) == {cluster.id: len(cluster) for cluster in expected}
    assert [line.split("  ")[-1].rsplit(" (", 1)[0] for line in cast.splitlines()] == [c.name for c in expected]


def test_folders_and_stdin(
    resolve, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: longcoref.Result
) -> None:
    folder = tmp_path / "out"
    resolve(tmp_path, "--to", "json", "-o", f"{folder}/")
    assert json.loads((folder / "story.json").read_text(encoding="utf-8")) == json.loads(expected.to_json())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"\xef\xbb\xbf" + TEXT.encode())))
    assert json.loads(resolve("-")) == {**json.loads(expected.to_json()), "id": "stdin"}


def test_files_of_one_name_in_a_folder_are_two_texts(resolve, tmp_path: Path, expected: longcoref.Result) -> None:
    for place in ("", "one", "two/three"):
        (tmp_path / "texts" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / place / "story.txt").write_bytes(TEXT.encode())
    ids = ["one/story", "story", "two/three/story"]
    assert sorted(result["id"] for result in json.loads(resolve(tmp_path / "texts"))) == ids
    resolve(tmp_path / "texts", "-o", f"{tmp_path}/out/")
    for id in ids:
        written = json.loads((tmp_path / "out" / f"{id.replace('/', '_')}.json").read_text(encoding="utf-8"))
        assert written == {**json.loads(expected.to_json()), "id": id}


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_a_bad_file_in_a_folder_does_not_stop_the_others(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    (tmp_path / "texts").mkdir()
    for name, content in {"1": TEXT.encode(), "2": b"Ren\xe9 left.", "3": TEXT.encode()}.items():
        (tmp_path / "texts" / f"{name}.txt").write_bytes(content)
    out = tmp_path / "out"
    arguments = ["--model", tiny_model, "--cells", 3, "--threads", 1, "--quiet", "--to", format, "-o", f"{out}/"]
    assert run("resolve", tmp_path / "texts", *arguments) == 1
    assert {path.name for path in out.iterdir()} == {f"1.{format}", f"3.{format}"}
    bad, summary = capsys.readouterr().err.splitlines()
    assert "2.txt:1: byte 0xe9 is not UTF-8" in bad
    assert "1 of 3 texts failed" in summary


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_a_text_without_words_is_reported(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    for name, content in {"empty": "", "blank": " \n\n"}.items():
        (tmp_path / f"{name}.txt").write_text(content, encoding="utf-8")
        arguments = ["--model", tiny_model, "--to", format, "-o", tmp_path / f"out.{format}"]
        assert run("resolve", tmp_path / f"{name}.txt", *arguments) == 0
        assert capsys.readouterr().err == f"longcoref: {name}: there are no words in this text\n"


def test_words_of_other_formats_are_kept(resolve, tmp_path: Path) -> None:
    source = tmp_path / "words.jsonlines"
    sentences = [["Ann", "saw", "Tom", "and", "the", "mill", "."], ["She", "left", "it", "."]] * 4
    source.write_text(json.dumps({"doc_key": "words", "sentences": sentences}) + "\n", encoding="utf-8")
    resolve(source, "--from", "jsonlines", "--to", "jsonlines", "-o", tmp_path / "out.jsonlines")
    (document,) = read_corpus(tmp_path / "out.jsonlines")
    assert [list(document.words[start:end]) for start, end in document.sentences] == sentences
    assert document.clusters


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.txt"], 1, "cannot read this file"),
        (["*.text"], 1, "no file matches this pattern"),
        (["story.txt", "--to", "jsn"], 2, "did you mean 'json'"),
        (["story.txt", "--to", "json,tsv"], 2, "2 formats need 2 files"),
        (["story.txt", "--memory-limit", "much"], 2, "expected a size such as 500MB"),
        (["story.txt", "-o", "story.docx"], 2, "story.docx: unknown suffix"),
        (["story.txt", "story.txt", "-o", "story.html"], 2, "html holds one text, got 2"),
        (["story.txt", "--types", "PRE"], 2, "did you mean 'PER'"),
        (["story.txt", "--memory", "unbounded"], 2, "has no capacity"),
        (["story.txt", "--memory", "lerned"], 2, "did you mean 'learned'"),
        (["latin.txt"], 1, "latin.txt:2: byte 0xe9 is not UTF-8"),
        (["latin.txt", "--to", "jsonl", "-o", "out.jsonl"], 1, "latin.txt:2: byte 0xe9 is not UTF-8"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tiny_model: Path,
    story: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(story.parent)
    Path("latin.txt").write_bytes("Ann.\nRené saw Tom.".encode("latin-1"))
    assert run("resolve", "--model", tiny_model, "--cells", 3, *arguments) == code
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
    assert {path.name for path in story.parent.iterdir()} == {"story.txt", "latin.txt"}


@pytest.mark.parametrize("format", ["json", "jsonlines"])
def test_a_result_is_not_read_as_prose(
    tiny_model: Path,
    resolve,
    story: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    format: str,
) -> None:
    found = tmp_path / "found.txt"  # whatever its name
    resolve(story, "--to", format, "-o", found)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(found.read_bytes())))
    for source in (found, "-"):
        assert run("resolve", "--model", tiny_model, source) == 1
        errors = capsys.readouterr().err
        assert f"in the format {format}, not plain text" in errors
        assert "longcoref convert" in errors
        assert f"--from {format}" in errors
    assert json.loads(resolve(found, "--from", format))["clusters"]


def test_on_a_terminal_the_most_frequent_entities_are_shown(
    tiny_model: Path, story: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.write_bytes((TEXT * 4).encode())
    arguments = ["resolve", "--model", tiny_model, "--cells", 3, "--threads", 1, story]

    def entities(table: str) -> list[list[str]]:  # names, types and mentions: the rest depends on the width
        return [found[0].split() for line in table.splitlines() if (found := re.match(r".*? [0-9]+ ", line))]

    assert run(*arguments, "--to", "cast") == 0
    rows = entities(capsys.readouterr().out)
    assert len(rows) > 20
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(*arguments) == 0
    shown = capsys.readouterr()
    assert entities(shown.out) == [*rows[:20], ["…", "and", str(len(rows) - 20)]]
    assert "-o FILE.html" in shown.err
    story.write_bytes(b"Ann saw Tom. She left.")
    assert run(*arguments) == 0
    assert "more" not in capsys.readouterr().out
    assert run(*arguments, "--to", "json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["clusters"]
    assert shown.err == ""


def test_info(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", tiny_model, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["model"]["name"] == "tiny"
    assert facts["program"]["longcoref"] == longcoref.__version__
    assert facts["calibration"] == {"temperature": 1.5}
    assert run("info", tiny_model) == 0
    assert "tiny" in capsys.readouterr().out
    assert run("info", "nowhere") == 1


def test_resolving_loads_neither_torch_nor_transformers(tiny_model: Path, story: Path) -> None:
    command = ["resolve", str(story), "--model", str(tiny_model), "-o", str(story.with_suffix(".json"))]
    for program in (
        f"import longcoref\nassert longcoref.load({str(tiny_model)!r}, threads=1)({TEXT!r})",
        f"from longcoref.cli import main\ntry: main({command!r})\nexcept SystemExit as end: assert not end.code",
    ):
        loaded = loaded_by(program)
        assert "onnxruntime" in loaded
        assert loaded.isdisjoint(HEAVY)


def test_one_reading_writes_several_formats(resolve, story: Path, tmp_path: Path, expected: longcoref.Result) -> None:
    resolve(story, "--to", "json,jsonl,html,tokens,entities,tsv", "-o", f"{tmp_path}/several/")
    names = {path.name for path in (tmp_path / "several").iterdir()}
    assert names == {"story.json", "story.jsonl", "story.html", "story.tokens", "story.entities", "story.tsv"}
    for format, suffix in (("json", ".json"), ("html", ".html"), ("tsv", ".tsv"), ("jsonl", ".jsonl")):
        alone = resolve(story, "--to", format)
        assert alone == (tmp_path / "several" / f"story{suffix}").read_text(encoding="utf-8"), format


def test_patterns_that_no_shell_replaced(resolve, story: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "tale[1].txt").write_text("Ann saw Tom.", encoding="utf-8")
    found = json.loads(resolve(str(tmp_path / "**" / "*.txt"), str(tmp_path / "deep" / "tale[1].txt")))
    assert [result["id"] for result in found] == ["tale[1]", "story", "tale[1]"]


def test_a_memory_limit_picks_the_cells(
    tiny_model: Path, story: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("longcoref.runtime.footprint.peak_bytes", lambda: 50_000_000)
    arguments = ["resolve", "--model", tiny_model, "--threads", 1, story]
    heads = longcoref.load(tiny_model, threads=1).model.heads
    fixed = Budget.of(0, heads, threads=1, characters=len(TEXT.encode())).fixed
    limit = fixed + 7 * bytes_per_cell(heads)
    assert run(*arguments, "--memory-limit", limit) == 0
    assert json.loads(capsys.readouterr().out)["memory"] == {"policy": "learned", "capacity": 7}
    assert run(*arguments, "--memory-limit", limit, "--cells", 4) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["capacity"] == 4
    for options, message in (
        (("--cells", 8), "MB with 8 cells, but the limit is"),
        (("--memory", "unbounded"), "grows with the text"),
        (("-",), "standard input"),
    ):
        assert run(*arguments, "--memory-limit", limit, *options) == 2
        assert message in capsys.readouterr().err
    assert run(*arguments, "--memory-limit", "60MB") == 2
    assert "with 1 cell, but" in capsys.readouterr().err
    # The text is not held, and so the same limit has room for more.
    assert run(*arguments, "--memory-limit", limit, "--to", "jsonl") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["memory"]["capacity"] >= 7
    # The archive takes room, too.
    assert run(*arguments, "--memory-limit", limit, "--recall") == 2
    assert run(*arguments, "--memory-limit", limit + bytes_of_archive(heads), "--recall") == 0
    assert json.loads(capsys.readouterr().out)["memory"]["capacity"] == 7


def test_a_passed_limit_stops_the_reading(
    tiny_model: Path, story: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grown = iter([50_000_000])
    monkeypatch.setattr("longcoref.runtime.footprint.peak_bytes", lambda: next(grown, 900_000_000))
    assert run("resolve", "--model", tiny_model, "--threads", 1, story, "--memory-limit", "500MB") == 2
    assert "exceeded the limit of 500 MB and uses 900 MB" in capsys.readouterr().err
