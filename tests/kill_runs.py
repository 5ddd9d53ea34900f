"""`kill -9` at random moments of whole runs: nothing that was written is lost, and nothing is half written.

    python tests/kill_runs.py                          # 25 kills of each: resolve, train, corpus, save
    python tests/kill_runs.py corpus --kills 100 --seed 2

A run is started in a child process and killed after a random time, at most that of an unkilled run. Then everything on
disk is checked, and the next run continues where this one was killed; when it comes to its end, the result must be that
of the unkilled run, and it starts anew. Runs that end before they are killed do not count. The model is a tiny one with
random weights. Needs Linux or macOS.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).parent.parent
STORY = ROOT / "examples" / "story.txt"
PIECES = 12


class Subject(Protocol):
    """A kind of run that continues what an earlier one has left in `folder`."""

    def __init__(self, folder: Path, model: Path) -> None: ...

    def work(self) -> None:
        """The run, in a process of its own."""

    def check(self, before: Path | None) -> None:
        """Fails if anything in the folder is damaged, or something that a copy of it had `before` is lost."""

    def compare(self, whole: Path) -> None:
        """Fails if a finished run has not written what an unkilled one has written to the folder `whole`."""


def command(*arguments: object) -> None:
    from longcoref.cli import main

    try:
        main([str(argument) for argument in arguments])
    except SystemExit as done:
        if done.code not in (0, None):
            raise RuntimeError(f"exit code {done.code}") from done


class Resolve:
    """`longcoref resolve`, over outputs that exist already."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.model = folder, model

    def work(self) -> None:
        command("resolve", STORY, "--model", self.model, "--to", "json,html,csv", "-o", f"{self.folder}/", "--quiet")

    def check(self, before: Path | None) -> None:
        whole = {path.name: path.read_bytes() for path in self.folder.glob("[!.]*")}
        if before is not None:
            old = {path.name: path.read_bytes() for path in before.glob("[!.]*")}
            assert old.keys() <= whole.keys()
        if json_file := whole.get("story.json"):
            assert json.loads(json_file)["clusters"]
        if page := whole.get("story.html"):
            assert page.rstrip().endswith(b"</html>")
        if table := whole.get("story.csv"):
            assert table.endswith(b"\n")

    def compare(self, whole: Path) -> None:
        names = sorted(path.name for path in whole.glob("[!.]*"))
        assert names == sorted(path.name for path in self.folder.glob("[!.]*"))
        assert len(names) == 3
        for name in names:
            assert (self.folder / name).read_bytes() == (whole / name).read_bytes()


class Train:
    """`longcoref train --resume`."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.data = folder, model.parent

    def work(self) -> None:
        settings = [f"encoder.name={self.data / 'tiny-encoder'}", "train.epochs=2"]
        settings += [f"data.{part}={self.data / part}.jsonlines" for part in ("train", "dev")]
        sets = [part for setting in settings for part in ("--set", setting)]
        command("train", ROOT / "configs" / "tiny.toml", "--run", self.folder, "--quiet", "--resume", *sets)

    def check(self, before: Path | None) -> None:
        from longcoref.training import checkpoints

        for path in self.folder.glob("[!.]*.safetensors"):
            checkpoints.load(path)
            if before is not None and (before / path.name).exists():
                steps = [_step(folder / path.name) for folder in (before, self.folder)]
                assert steps[0] <= steps[1]
        if before is not None:
            assert {path.name for path in before.glob("[!.]*")} <= {path.name for path in self.folder.glob("[!.]*")}

    def compare(self, whole: Path) -> None:
        from longcoref.training import checkpoints

        mine, other = (checkpoints.load(folder / "best.safetensors") for folder in (self.folder, whole))
        assert mine.tensors.keys() == other.tensors.keys()
        assert all((mine.tensors[name] == other.tensors[name]).all() for name in mine.tensors)


def _step(path: Path) -> int:
    from longcoref.training import checkpoints

    return int(checkpoints.load(path).facts.get("state", {}).get("step", 0))


class Corpus:
    """`longcoref corpus`: only the main process is killed, so that the workers have to notice."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.model = folder, model

    def work(self) -> None:
        command(
            *("corpus", self.model.parent / "texts", "-o", self.folder, "--to", "json", "--model", self.model),
            *("--processes", 2, "--shard-size", "1kB", "--quiet"),
        )

    def check(self, before: Path | None) -> None:
        documents = self._documents(self.folder)
        assert len(set(documents)) == len(documents)
        if before is not None:
            assert set(self._documents(before)) <= set(documents)

    @staticmethod
    def _documents(folder: Path) -> list[str]:
        import pyarrow.parquet as pq

        found: list[str] = []
        for shard in folder.glob("shards/[!.]*"):
            rows = [json.loads(line) for line in (shard / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
            tables = [pq.read_table(path) for path in sorted(shard.glob("*.parquet"))]
            assert len(tables) == 4
            assert tables[0]["document"].to_pylist() == [row["document"] for row in rows]
            found += tables[0]["document"].to_pylist()
            for row in rows:
                json.loads((folder / "files" / f"{row['document']}.json").read_text(encoding="utf-8"))
        return found

    def compare(self, whole: Path) -> None:
        mine, other = (
            {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*/[!.]*.*") if path.is_file()}
            for folder in (self.folder, whole)
        )
        mine, other = ({name: found[name] for name in found if "/." not in name} for found in (mine, other))
        assert len(mine) > 20
        assert mine.keys() == other.keys()
        assert all(mine[name] == other[name] for name in mine if not name.endswith("manifest.jsonl"))


class Save:
    """`Reading.save` after every piece of a text; a line in `saved` says that it has returned."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.model = folder, model

    def work(self) -> None:
        import longcoref

        text = STORY.read_text(encoding="utf-8")
        size = -(-len(text) // PIECES)
        resolver = longcoref.load(self.model, threads=1)
        state = self.folder / "state"
        reading = resolver.resume(state) if state.exists() else resolver.open()
        for place in range(self._read() if state.exists() else 0, len(text), size):
            reading.feed(text[place : place + size])
            reading.save(state)
            descriptor = os.open(self.folder / "saved", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, b".")
            os.close(descriptor)
        (self.folder / "result.json").write_text(reading.finish().to_json(), encoding="utf-8")

    def _read(self) -> int:
        import longcoref
        from longcoref.runtime.state import load_state

        resolver = longcoref.load(self.model, threads=1)
        return len(load_state(self.folder / "state", resolver.model, resolver.policy).text)

    def check(self, before: Path | None) -> None:
        text = STORY.read_text(encoding="utf-8")
        size = -(-len(text) // PIECES)
        saved = self.folder / "saved"
        if saved.exists():
            assert self._read() >= min(saved.stat().st_size * size, len(text))
        elif (self.folder / "state").exists():
            assert self._read() == size

    def compare(self, whole: Path) -> None:
        results = [(folder / "result.json").read_bytes() for folder in (self.folder, whole)]
        assert results[0] == results[1]


SUBJECTS: dict[str, type[Subject]] = {"resolve": Resolve, "train": Train, "corpus": Corpus, "save": Save}


def start(work: Callable[[], object]) -> int:
    """Starts work in a child process; its exit code says whether it succeeded."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def succeed(work: Callable[[], object]) -> float:
    """Does work in a child process, and returns how long it took."""
    began = time.perf_counter()
    _, status = os.waitpid(start(work), 0)
    if status:
        raise SystemExit("failed; see above")
    return time.perf_counter() - began


def kill_runs(name: str, kills: int, generator: random.Random, scratch: Path, model: Path) -> str:
    """Kills runs of one kind; returns a line about what happened."""
    whole, folder, before = (scratch / f"{name}-{part}" for part in ("whole", "killed", "before"))
    whole.mkdir()
    seconds = succeed(SUBJECTS[name](whole, model).work)
    subject = SUBJECTS[name](folder, model)
    killed = finished = 0
    while killed < kills:
        folder.mkdir(exist_ok=True)
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(folder, before)
        child = start(subject.work)
        time.sleep(generator.uniform(0, seconds))
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        succeed(lambda: subject.check(before))
        if os.WIFSIGNALED(status):
            killed += 1
            print(f"{name}: {killed} of {kills}", file=sys.stderr, flush=True)
            continue
        if status:
            raise SystemExit(f"{name}: a run failed by itself; see above")
        succeed(lambda: subject.compare(whole))
        finished += 1
        shutil.rmtree(folder)
    if folder.exists():
        succeed(subject.work)
        succeed(lambda: subject.compare(whole))
        finished += 1
    return f"{name}: {killed} kills within {seconds:.1f} s, {finished} runs to the end, all equal to an unkilled one"


def prepare(folder: Path) -> None:
    """Writes the tiny model, and the texts and documents that runs read."""
    from model import write_tiny_model
    from tiny import write_tiny_corpus

    write_tiny_model(folder / "tiny")
    write_tiny_corpus(folder)
    (folder / "texts").mkdir()
    paragraphs = STORY.read_text(encoding="utf-8").split("\n\n")
    for number in range(0, len(paragraphs), 3):
        text = "\n\n".join(paragraphs[number : number + 3])
        (folder / "texts" / f"part{number}.txt").write_text(text, encoding="utf-8")


def main() -> None:
    """Reads the options and prints a line for each kind of run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as scratch:
        succeed(lambda: prepare(Path(scratch)))
        import longcoref.cli.app
        import longcoref.training.loop  # everything is imported once, so that kills hit the work

        longcoref.cli.app.build_app()
        for name in options.subjects or SUBJECTS:
            generator = random.Random(f"{options.seed} {name}")
            print(kill_runs(name, options.kills, generator, Path(scratch), Path(scratch) / "tiny"), flush=True)


if __name__ == "__main__":
    main()
