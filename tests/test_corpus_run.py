"""Corpus runs: every document exactly once, whatever dies; a second run does only what is missing or has changed."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import longcoref
from longcoref.cli import main
from longcoref.errors import InputError, UsageError

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from longcoref import corpus
from longcoref.corpus import engine, work
from longcoref.corpus.engine import Task, fitting, plan, remove_stale, schedule, usual_shard_bytes
from longcoref.corpus.sources import Entry, find_documents
from longcoref.corpus.store import MANIFEST, Store, file_name, open_store
from longcoref.corpus.tables import SCHEMAS, parquet_of, without
from longcoref.corpus.work import Item, Job, Settings, Worker, write_shard
from longcoref.extraction import read_text
from longcoref.runtime.footprint import peak_bytes
from longcoref.text import tokenize

RECIPES = (Path(__file__).parent.parent / "docs" / "corpus.md").read_text(encoding="utf-8")
TEXTS = {
    "first": "Anna lost her hat. She found it again near the old mill.",
    "letters/first": '"I have seen Mr. Hale," said Clara. He smiled at her, and she left the garden.',
    "letters/second": "The captain raised his glass. His men drank to him and to the ship.",
    "third": "Old Peter mended the nets. His wife watched him from the door, and she sang.",
}


class Texts:
    """A container of texts in memory."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._texts = texts

    def documents(self) -> list[tuple[int, str, str]]:
        return [(number, f"d{number}", f"memory:{number}") for number in range(len(self._texts))]

    def open(self, key: int) -> io.BytesIO:
        return io.BytesIO(self._texts[key])


def entries_of(sizes: Sequence[int]) -> list[Entry]:
    contents = [bytes([65 + number % 26]) * size for number, size in enumerate(sizes)]
    container = Texts(contents)
    return [
        Entry(id, source, hashlib.sha256(contents[key]).hexdigest(), len(contents[key]), container, key)
        for key, id, source in container.documents()
    ]


@given(st.lists(st.integers(0, 40)), st.integers(1, 50), st.data())
def test_shards_hold_every_document_once_and_do_not_depend_on_what_is_done(
    sizes: list[int], shard_bytes: int, data: st.DataObject
) -> None:
    entries = entries_of(sizes)
    whole = plan(entries, (), shard_bytes=shard_bytes)
    assert [entry for task in whole for entry in task.entries] == entries
    assert all(task.size <= shard_bytes or len(task.entries) == 1 for task in whole)
    done = {task.name for task in whole if data.draw(st.booleans())}
    ids = [entry.id for task in whole if task.name in done for entry in task.entries]
    left = plan(entries, ids, shard_bytes=shard_bytes)
    assert [task.name for task in left] == [task.name for task in whole if task.name not in done]


class Workers:
    """Workers that die when `dies` says so, and otherwise only say what they were given."""

    def __init__(self, count: int, dies: Callable[[Job], bool]) -> None:
        self.count, self._dies = count, dies
        self._jobs: list[Job] = []
        self.sizes: list[int] = []

    @property
    def idle(self) -> int:
        return self.count - len(self._jobs)

    def submit(self, job: Job) -> None:
        assert self.idle
        self._jobs.append(job)
        self.sizes.append(sum(len(item.content) for item in job.items if isinstance(item.content, bytes)))

    def finished(self, timeout: float) -> list[tuple[str, list[dict[str, Any]] | None]]:
        job = self._jobs.pop()
        return [(job.name, None if self._dies(job) else [{"document": item.id} for item in job.items])]

    def close(self) -> None:
        pass


@given(st.lists(st.integers(0, 40), min_size=1), st.integers(1, 4), st.sets(st.integers(0, 10)), st.randoms())
def test_every_document_is_read_once_and_only_those_that_kill_their_worker_are_given_up(
    sizes: list[int], count: int, deadly: set[int], random: Any
) -> None:
    tasks = plan(entries_of(sizes), (), shard_bytes=60)
    fatal = {f"d{number}" for number in deadly}
    once = {task.name for task in tasks if random.random() < 0.3}  # killed by something else, once

    def dies(job: Job) -> bool:
        if job.name in once:
            once.remove(job.name)
            return True
        return any(item.id in fatal for item in job.items)

    read: Counter[str] = Counter()
    given_up: Counter[str] = Counter()
    split: list[Task] = []
    for task, rows in schedule(tasks, Workers(count, dies), split=split.append):
        assert task not in split
        if rows is None:
            given_up.update(entry.id for entry in task.entries)
        else:
            read.update(row["document"] for row in rows)
    assert read + given_up == Counter(f"d{number}" for number in range(len(sizes)))
    assert set(given_up) == fatal & {f"d{number}" for number in range(len(sizes))}


def test_a_shard_that_two_dead_workers_have_written_is_removed_before_its_documents_are_read_alone(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(tmp_path / "texts")

    class Dying:
        """A worker that does its work, and dies before it can say so if the job has several documents."""

        count = 1

        def __init__(self, count: int, settings: Settings, location: str) -> None:
            self._worker, self._jobs = Worker(settings, location), deque[Job]()

        @property
        def idle(self) -> int:
            return 1 - len(self._jobs)

        def submit(self, job: Job) -> None:
            self._jobs.append(job)

        def finished(self, timeout: float) -> list[tuple[str, list[dict[str, Any]] | None]]:
            job = self._jobs.pop()
            rows = self._worker.work(job)
            return [(job.name, rows if len(rows) == 1 else None)]

        def close(self) -> None:
            pass

    monkeypatch.setattr(engine, "worker_processes", Dying)
    corpus.run(tmp_path / "texts", tmp_path / "out", model=str(tiny_model), processes=1)
    assert sorted(row["document"] for row in tables_of(tmp_path / "out")["documents"]) == sorted(TEXTS)


def test_a_document_that_exceeds_the_memory_limit_does_not_fail_the_next_ones(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux can measure the peak again")
    held: list[str] = []

    def reading(content: bytes, **options: Any) -> Any:
        if content == b"greedy":  # a library that takes more than anybody could know
            assert bytearray(200_000_000).count(1) == 0
        return read_text(content, **options)

    def cutting(text: str, **options: Any) -> Any:
        held.append(text)
        return tokenize(text, **options)

    monkeypatch.setattr(work, "read_text", reading)
    monkeypatch.setattr(work, "tokenize", cutting)
    settings = Settings(model=str(tiny_model), memory_limit=peak_bytes() + 150_000_000)
    texts = {"long": "Anna left. " * 100_000, "greedy": "greedy", **TEXTS}
    items = tuple(Item(id, f"{id}.txt", text.encode()) for id, text in texts.items())
    rows = Worker(settings, str(tmp_path / "out")).work(Job("all", items))
    assert {row["document"] for row in rows if row["status"] == "done"} == set(TEXTS)
    assert len(rows) == len(texts)
    assert texts["long"] not in held


BUDGET = """
import sys
from longcoref.corpus.work import Settings
settings = Settings(model=sys.argv[1])
settings.budget(settings.resolver())
print("pyarrow.parquet" in sys.modules)
"""


def test_the_memory_of_a_process_includes_what_writes_the_tables(tiny_model: Path) -> None:
    command = [sys.executable, "-c", BUDGET, str(tiny_model)]
    assert subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout == "True\n"


def test_what_workers_write_elsewhere_is_an_error(tmp_path: Path, tiny_model: Path) -> None:
    pytest.importorskip("fsspec")
    write_texts(tmp_path / "texts")
    with pytest.raises(UsageError, match="workers write elsewhere"):
        corpus.run(tmp_path / "texts", "memory://out", model=str(tiny_model), processes=1)


@given(st.lists(st.integers(0, 3_000_000), min_size=1))
def test_a_corpus_is_enough_shards_for_many_processes(sizes: list[int]) -> None:
    container = Texts([])
    entries = [Entry(f"d{key}", "", f"{key}", size, container, key) for key, size in enumerate(sizes)]
    largest = usual_shard_bytes(entries)
    assert 20_000 <= largest <= corpus.SHARD_BYTES
    together = [task.size for task in plan(entries, (), shard_bytes=largest) if len(task.entries) > 1]
    assert max(together, default=0) <= max(20_000, sum(sizes) / 100)


def test_the_largest_task_is_first() -> None:
    workers = Workers(2, lambda job: False)
    for _ in schedule(plan(entries_of([3, 50, 7, 20]), (), shard_bytes=5), workers):
        pass
    assert workers.sizes == [50, 20, 7, 3]


@given(st.lists(st.integers(1, 100)), st.integers(1, 8), st.integers(0, 300))
def test_as_many_processes_as_fit_into_memory(needs: list[int], processors: int, available: int) -> None:
    count = fitting(needs, processors=processors, available=available)
    largest = sorted(needs, reverse=True)
    assert 1 <= count <= processors
    assert count == 1 or sum(largest[:count]) <= available
    assert count in (processors, len(needs)) or not needs or sum(largest[: count + 1]) > available
    assert fitting(needs, processors=processors, available=None) == processors


def write_texts(folder: Path) -> None:
    for id, text in TEXTS.items():
        path = folder / f"{id}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_every_kind_of_input_gives_the_same_documents(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    write_texts(folder)
    (folder / "notes.log").write_text("not a text", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        for id, text in TEXTS.items():
            archive.writestr(f"{id}.txt", text)
    for name in ("texts.tar", "texts.tar.gz", "texts.tgz", "texts.tar.xz"):
        with tarfile.open(tmp_path / name, f"w:{'gz' if 'gz' in name else 'xz' if 'xz' in name else ''}") as archive:
            for id in TEXTS:
                archive.add(folder / f"{id}.txt", f"{id}.txt")
    lines = [json.dumps({"key": id, "body": text}) for id, text in TEXTS.items()]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    table = pa.table({"key": list(TEXTS), "body": list(TEXTS.values())})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=3)
    for place in ("texts", "texts.zip", "texts.tar", "texts.tar.gz", "texts.tgz", "texts.tar.xz"):
        found = find_documents([tmp_path / place])
        assert {entry.id: entry.read().decode() for entry in found} == TEXTS, place
    for place in ("texts.jsonl", "texts.parquet"):
        found = find_documents([tmp_path / place], id_column="key", text_column="body")
        assert {entry.id: entry.read().decode() for entry in reversed(found)} == TEXTS, place
        assert [entry.size for entry in found] == [len(text) for text in TEXTS.values()]
    pattern = find_documents([str(folder / "*" / "*.txt")])
    assert [entry.read().decode() for entry in pattern] == [TEXTS["letters/first"], TEXTS["letters/second"]]


def test_what_cannot_be_read_is_listed_with_its_error(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    lines = ['{"id": "a", "text": "Anna."}', '{"id": "b"}', "nonsense", '{"id": "c", "text": 3}']
    lines += [f'{{"id": {id}, "text": "Anna."}}' for id in ("null", "null", "[]", '""', "8")]
    path.write_text("\n".join(lines), encoding="utf-8")
    entries = find_documents([path])
    expected = ["a", "b", "texts:3", "c", "texts:5", "texts:6", "texts:7", "texts:8", "8"]
    assert [entry.id for entry in entries] == expected
    assert [entry.id for entry in entries if entry.error is None] == ["a", "8"]
    pq.write_table(pa.table({"id": ["a", None, None], "text": ["Anna."] * 3}), tmp_path / "rows.parquet")
    rows = find_documents([tmp_path / "rows.parquet"])
    assert [(entry.id, entry.error is None) for entry in rows] == [("a", True), ("rows:2", False), ("rows:3", False)]
    assert "rows.parquet:3: cannot read this document: 'id' is not" in str(rows[2].error)
    assert f"{path}:2: cannot read this document: no 'text'" in str(entries[1].error)
    with pytest.raises(InputError, match=r"texts\.jsonl:3"):
        entries[2].read()


def test_a_document_beyond_the_memory_limit_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("Anna.", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "large.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.txt", b"\0" * 10**8)
    large, small = find_documents([tmp_path / "large.zip", tmp_path / "small.txt"], largest=2_000_000)
    assert (large.id, large.size, small.error) == ("bomb", 0, None)
    with pytest.raises(InputError, match=r"bomb\.txt: is larger than the memory limit of a process, 2,000,000 bytes"):
        large.read()


def test_wrong_inputs_are_errors_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in ("a", "b"):
        (tmp_path / folder / "x.txt").write_text("Anna.", encoding="utf-8")
    (tmp_path / "bad.zip").write_bytes(b"PK nonsense")
    assert len(find_documents([tmp_path])) == 2
    with pytest.raises(UsageError, match="both have the id 'x'"):
        find_documents([tmp_path / "a", tmp_path / "b"])
    for wrong in (tmp_path / "none.txt", tmp_path / "*.none", tmp_path / "bad.zip", tmp_path / "a" / "*" / "*"):
        with pytest.raises(InputError):
            find_documents([wrong])


@given(st.lists(st.text(min_size=1), unique=True, max_size=5))
def test_files_stay_in_their_folder_and_do_not_collide(ids: list[str]) -> None:
    names = [file_name(id, ".json") for id in ids]
    assert len(set(names)) == len(names)
    for name in names:
        assert not {"", ".", ".."} & set(name.split("/"))
        assert "\0" not in name
        assert "\\" not in name


@pytest.fixture(params=["folder", "url"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "url":
        pytest.importorskip("fsspec")
        return open_store(f"file://{tmp_path}/out")
    return open_store(tmp_path / "out")


def shard_rows(ids: Sequence[str], stamp: dict[str, Any], **other: Any) -> tuple[dict[str, Any], list[Any]]:
    blank = {"string": "", "int32": 0, "float32": 0.0, "bool": False, "list<string>": []}
    tables = {
        table: [{column: blank[kind] for column, kind in SCHEMAS[table].items()} | {"document": id} for id in ids]
        for table in SCHEMAS
    }
    return tables, [{"document": id, "hash": id, "status": "done", **stamp} | other for id in ids]


def test_stale_documents_are_removed_and_others_stay(store: Store) -> None:
    stamp = {"model": "m", "options": {"cells": 3}}
    write_shard(store, "one", *shard_rows(["kept", "changed", "elsewhere"], stamp))
    write_shard(store, "two", *shard_rows(["failed"], stamp, status="failed"))
    write_shard(store, "three", *shard_rows(["other model"], {**stamp, "model": "n"}))
    entries = [
        Entry(id, id, id if id != "changed" else "new", 1, Texts([]), 0)
        for id in ("kept", "changed", "failed", "other model", "new")
    ]
    assert remove_stale(store, entries, stamp) == {"kept"}
    assert store.shards() == ["one"]
    for table in SCHEMAS:
        found = pq.read_table(io.BytesIO(store.read("one", f"{table}.parquet")))
        assert found["document"].to_pylist() == ["kept", "elsewhere"]
    assert remove_stale(store, entries, {**stamp, "options": {"cells": 4}}) == set()
    assert [json.loads(line)["document"] for line in store.read("one", MANIFEST).splitlines()] == ["elsewhere"]


class KilledError(Exception):
    """Stands for the end of a process."""


def test_removing_documents_goes_on_where_it_was_killed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stamp, other = {"options": {"cells": 3}}, {"options": {"cells": 4}}
    tables, rows = shard_rows(["a", "b"], stamp)
    entries = [Entry("b", "b", "b", 1, Texts([]), 0)]
    write = type(store).write_shard
    for last in range(2 * len(SCHEMAS)):
        steps = iter(range(last))

        def write_some(store: Store, shard: str, files: dict[str, bytes], steps: Iterator[int] = steps) -> None:
            for name in sorted(files, key=lambda name: name == MANIFEST):
                if next(steps, None) is None:
                    raise KilledError
                write(store, shard, {name: files[name]})

        write_shard(store, "one", tables, rows)
        with monkeypatch.context() as patched, suppress(KilledError):
            patched.setattr(type(store), "write_shard", write_some)
            remove_stale(store, entries, other)
        done = remove_stale(store, entries, stamp)  # the old options again
        for table in SCHEMAS:
            found = pq.read_table(io.BytesIO(store.read("one", f"{table}.parquet")))["document"].to_pylist()
            assert found == ["a", *sorted(done)]
        assert ("b" in done) == (last == 0)
        store.delete_shard("one")


def test_a_table_without_some_documents_is_that_of_the_others(tmp_path: Path, tiny_model: Path) -> None:
    write_texts(tmp_path / "texts")
    for name in ("all", "some"):
        corpus.run(tmp_path / "texts", tmp_path / name, model=str(tiny_model), processes=1)
        for id in TEXTS:
            if "first" in id:
                (tmp_path / "texts" / f"{id}.txt").unlink(missing_ok=True)
    (every,), (some,) = ((tmp_path / name / "shards").iterdir() for name in ("all", "some"))
    for table in SCHEMAS:
        file = f"{table}.parquet"
        left = without(table, (every / file).read_bytes(), [id for id in TEXTS if "first" in id])
        assert left == (some / file).read_bytes()


def test_an_unfinished_shard_does_not_exist_and_is_removed(tmp_path: Path, store: Store) -> None:
    write_shard(store, "whole", *shard_rows(["a"], {}))
    for name in ("part", ".0123.part"):
        (tmp_path / "out" / "shards" / name).mkdir()
        (tmp_path / "out" / "shards" / name / "mentions.parquet").write_bytes(parquet_of("mentions", []))
    assert store.shards() == ["whole"]
    store.clean()
    left = {path.name for path in (tmp_path / "out" / "shards").iterdir() if not path.name.startswith(".")}
    assert left <= {"whole", "part"}
    assert store.shards() == ["whole"]


def test_two_runs_refuse_each_other(store: Store) -> None:
    with store.locked() as renew:
        renew()
        with pytest.raises(UsageError, match="another run"), open_store(store.location).locked():
            pass
    with store.locked():
        pass


def tables_of(out: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        table: [
            row for path in sorted(out.glob(f"shards/*/{table}.parquet")) for row in pq.read_table(path).to_pylist()
        ]
        for table in SCHEMAS
    }


def files_of(out: Path) -> dict[str, bytes]:
    """What two equal runs have in common: all tables and files, to the byte."""
    paths = [*out.glob("shards/*/*.parquet"), *(path for path in out.glob("files/**/*") if path.is_file())]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def test_a_run_finishes_resumes_and_survives_a_killed_worker(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    texts, out = tmp_path / "texts", tmp_path / "out"
    write_texts(texts)
    (texts / "empty.txt").touch()
    (texts / "letters" / "bad.txt").write_bytes(b"One line.\nbad \xff here")
    options: dict[str, Any] = {"model": str(tiny_model), "processes": 1, "shard_bytes": 100}
    summary = corpus.run(texts, out, to=["json"], **options)
    assert (summary.documents, summary.skipped) == (6, 0)
    assert sorted((row["document"], row["line"]) for row in summary.failures) == [("empty", None), ("letters/bad", 2)]

    tables = tables_of(out)
    assert sorted(row["document"] for row in tables["documents"]) == sorted(TEXTS)
    resolver = longcoref.load(tiny_model, threads=1)
    for id, text in TEXTS.items():
        result = resolver(text, id=id)
        assert json.loads((out / "files" / f"{id}.json").read_text(encoding="utf-8"))["clusters"] == [
            cluster.as_json() for cluster in result
        ]
        rows = [row for row in tables["mentions"] if row["document"] == id]
        expected = [(mention.start, mention.end, cluster.id) for mention, cluster in result.mentions]
        assert [(row["start"], row["end"], row["entity"]) for row in rows] == expected
        assert [text[row["start"] : row["end"]] for row in rows] == [row["text"] for row in rows]
        entities = [row for row in tables["entities"] if row["document"] == id]
        assert sum(row["mentions"] for row in entities) == len(rows)
        assert all(row["names"] + row["nouns"] + row["pronouns"] == row["mentions"] for row in entities)

    before = files_of(out)
    (texts / "empty.txt").unlink()
    (texts / "letters" / "bad.txt").unlink()
    again = corpus.run(texts, out, to=["json"], **options)
    assert (again.skipped, again.words, again.failures) == (4, 0, ())
    assert files_of(out) == before

    (texts / "third.txt").write_text(TEXTS["first"], encoding="utf-8")
    killed = []

    def kill(progress: corpus.Progress) -> None:
        for child in multiprocessing.active_children() if not killed else ():
            os.kill(child.pid or 0, signal.SIGKILL)
            killed.append(child.pid)

    changed = corpus.run(texts, out, to=["json"], report=kill, **options)
    assert changed.skipped == 3
    assert not changed.failures
    assert sorted(row["document"] for row in tables_of(out)["documents"]) == sorted(TEXTS)
    (tmp_path / "years.csv").write_text("document,year\n" + "".join(f"{id},1850\n" for id in TEXTS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        for query in re.findall(r"^```sql\n(.*?)^```$", RECIPES, flags=re.MULTILINE | re.DOTALL):
            connection.execute(query).fetchall()  # raises if a column does not exist
        counted = connection.execute("select count(*) from mentions").fetchall()
    assert counted == [(len(tables_of(out)["mentions"]),)]

    corpus.write_report(out, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "letters/second" in page
    assert page.count("<svg") == 4


def test_the_command_reports_failures_and_stops_if_strict(
    tmp_path: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "bad.txt").write_bytes(b"\xff")
    (tmp_path / "texts" / "long.txt").write_text("Anna left. " * 1000, encoding="utf-8")
    (tmp_path / "list").write_text(f"{tmp_path / 'texts'}\n", encoding="utf-8")
    command = ["corpus", "--list", str(tmp_path / "list"), "-o", str(tmp_path / "out"), "--model", str(tiny_model)]
    limited = ["--memory-limit", "1MB"]
    for more, message in (
        ([], "1 read, 0 done before, 1 failed"),
        ([], "0 read, 1 done before, 1 failed\n"),
        (["--strict"], "bad.txt:1: byte 0xff"),
        (["--cells", "5", *limited], "long.txt: this text needs about"),
    ):
        with pytest.raises(SystemExit) as done:
            main([*command, "--processes", "1", *more])
        assert done.value.code == 1
        assert message in capsys.readouterr().err
    with pytest.raises(SystemExit) as done:
        main(["corpus", "-o", str(tmp_path / "out")])
    assert done.value.code == 2


KILLED = """
import os, sys
from longcoref import corpus
def report(progress):
    if progress.documents:
        os.kill(os.getpid(), 9)
if __name__ == "__main__":
    corpus.run(sys.argv[1], sys.argv[2], model=sys.argv[3], processes=1, shard_bytes=100, report=report)
"""


def test_a_run_that_is_killed_and_resumed_writes_the_same_files(tmp_path: Path, tiny_model: Path) -> None:
    write_texts(tmp_path / "texts")
    (tmp_path / "texts" / "fourth.txt").write_bytes(b"Not UTF-8: \xff")  # in a shard with "first"
    (tmp_path / "texts" / "long.txt").write_text(TEXTS["third"] * 2, encoding="utf-8")
    (tmp_path / "texts" / "third-empty.txt").touch()  # in a shard with "third"
    script = tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    command = [sys.executable, str(script), str(tmp_path / "texts"), str(tmp_path / "out"), str(tiny_model)]
    killed = subprocess.run(command, check=False, timeout=300, stderr=subprocess.PIPE, text=True)
    assert killed.returncode == -signal.SIGKILL
    assert "Traceback" not in killed.stderr  # of the workers, which notice and end
    done = len(tables_of(tmp_path / "out")["documents"])
    assert 0 < done < len(TEXTS)
    options: dict[str, Any] = {"model": str(tiny_model), "processes": 1, "shard_bytes": 100}
    assert corpus.run(tmp_path / "texts", tmp_path / "whole", **options).skipped == 0
    for _ in range(2):
        resumed = corpus.run(tmp_path / "texts", tmp_path / "out", **options)
        assert resumed.skipped >= done
        assert sorted(row["document"] for row in resumed.failures) == ["fourth", "third-empty"]
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_ray_worker_is_killed_and_every_document_is_there_once(tmp_path: Path, tiny_model: Path) -> None:
    pytest.importorskip("ray")
    write_texts(tmp_path / "texts")
    killed: list[int] = []

    def kill(progress: corpus.Progress) -> None:
        workers = [] if killed else ray_workers()
        for process in workers[:1]:
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    options: dict[str, Any] = {"model": str(tiny_model), "shard_bytes": 1}
    summary = corpus.run(tmp_path / "texts", f"file://{tmp_path}/out", ray="local", processes=2, report=kill, **options)
    assert killed
    assert (summary.workers, summary.failures) == (2, ())
    corpus.run(tmp_path / "texts", tmp_path / "whole", processes=1, **options)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_ray_cluster_that_is_not_there_is_our_own_error(tmp_path: Path, tiny_model: Path) -> None:
    pytest.importorskip("ray")
    write_texts(tmp_path / "texts")
    with pytest.raises(InputError, match="cannot use the Ray cluster 'nonsense://here'"):
        corpus.run(tmp_path / "texts", tmp_path / "out", model=str(tiny_model), ray="nonsense://here")


def ray_workers() -> list[int]:
    """The processes of our Ray actors; other runs on this machine have others."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            if path.read_bytes().startswith(b"ray::Worker") and os.getpid() in ancestors(int(path.parent.name)):
                found.append(int(path.parent.name))
    return found


def ancestors(process: int) -> Iterator[int]:
    while process > 1:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        process = int(status.rpartition(")")[2].split()[1])
        yield process


def test_a_task_is_named_after_its_documents() -> None:
    one, other = (Task(tuple(entries_of(sizes))) for sizes in ([3, 4], [3, 5]))
    assert one.name == Task(tuple(entries_of([3, 4]))).name
    assert one.name != other.name
