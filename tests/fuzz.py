"""Feeds damaged inputs to everything that reads a file or a request; `make fuzz` runs it for long, the tests for short.

    python tests/fuzz.py                            # every target, 20,000 inputs each
    python tests/fuzz.py conll corefud --runs 1000000
    python tests/fuzz.py state model http --plain   # without atheris

A target takes bytes and raises if a law is broken: nothing but our own errors, none of them long. With atheris
installed the inputs are found by coverage, otherwise they are random edits; both start from tests/corpus and from an
example. An input that breaks a law is written to out/fuzz, from where it should move to tests/corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CORPUS = Path(__file__).parent / "corpus"
FOUND = ROOT / "out" / "fuzz"
LONGEST_MESSAGE = 1000
ROUND_TRIP = 8192
"""Bytes; the documents of a longer input are not written and read back."""
Target = Callable[[bytes], str]

TOKENS = [
    *(b"(", b")", b"|", b"\t", b" ", b"\n", b"\r", b"#", b"-", b"_", b"=", b",", b":", b'"', b"[", b"]", b"{", b"}"),
    *(
        b"0",
        b"9",
        b"-1",
        b"1.5",
        b"1e9",
        b"null",
        b"true",
        b"{}",
        b"[]",
        b'""',
        b"\\ud800",
        b"\xff",
        b"\x00",
        b"\xef\xbb\xbf",
    ),
    *(b"\xc2\x85", b"\xe2\x80\xa8", b"\xf0\x9f\x90\xa6", b"9" * 5000, b"[" * 3000, b" " * 3000, b"(" * 3000),
    *(b"#begin document (a); part 0\n", b"#end document\n", b"# newdoc id = a\n", b"# global.Entity = eid\n"),
    *(b"1-99999999\t", b"1.1\t", b"Entity=(e1", b"Entity=e1)", b"(e1[1/2])", b"SpaceAfter=No|", b"(0", b"0)", b"(0)"),
    *(b'"schema": "longcoref/1"', b'"words": ', b'"mentions": ', b'"start": ', b'"end": ', b'"text": ', b'"doc_key": '),
]


def mutated(seed: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """The seed after a few edits of bytes, tokens and lines, or crossed with another seed."""
    content = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        start = chance.randint(0, len(content))
        end = min(len(content), start + chance.choice((1, 1, 2, 8, 64)))
        edit = chance.randrange(7)
        if edit == 0:
            content[start:start] = chance.choice(TOKENS)
        elif edit == 1:
            content[start:end] = chance.choice(TOKENS)
        elif edit == 2:
            del content[start:end]
        elif edit == 3:
            del content[start:]
        elif edit == 4:
            content[start:end] = bytes(chance.randrange(256) for _ in range(end - start))
        elif edit == 5:
            lines = bytes(content).splitlines(keepends=True) or [b""]
            index = chance.randrange(len(lines))
            lines[index : index + 1] = [lines[index]] * chance.choice((0, 2, 2, 50)) + [chance.choice(lines)]
            content = bytearray(b"".join(lines))
        else:
            other = chance.choice(others)
            cut = chance.randint(0, len(other))
            content[start:] = other[cut:]
    return bytes(content)


# ---- targets ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def refusals() -> Iterator[list[str]]:
    """Collects the messages of our own errors; a long one breaks the law, and every other exception passes through."""
    from longcoref.errors import LongcorefError

    messages: list[str] = []
    try:
        yield messages
    except LongcorefError as error:
        messages.append(str(error))
    assert all(len(message) <= LONGEST_MESSAGE for message in messages), f"a message of {len(messages[0])} characters"


def read_format(name: str, content: bytes) -> str:
    """Reads a file of a format; what is accepted must survive being written and read again as our JSON."""
    from longcoref.formats import FORMATS, read_corpus
    from longcoref.formats.source import Source

    lenient = zlib.crc32(content) % 2 == 1
    with refusals() as messages, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        documents = [
            document for _, document in FORMATS[name].read(Source("fuzz", io.BytesIO(content)), lenient=lenient)
        ]
    if messages or len(content) > ROUND_TRIP:
        return "refused" if messages else "accepted"
    with tempfile.TemporaryDirectory() as folder:
        for number, document in enumerate(documents):
            file = Path(folder) / f"{number}.json"
            with file.open("w", encoding="utf-8", newline="\n") as stream:
                FORMATS["json"].write([document], stream)
            (again,) = read_corpus(file, format="json")
            assert (again.words, again.clusters) == (document.words, document.clusters), "another document came back"
    return "accepted"


def detect(content: bytes) -> str:
    """Detects the format of a file, under every suffix but that of plain text, which may contain anything."""
    from longcoref.formats import FORMATS
    from longcoref.formats.registry import detect_head

    outcome = "refused"
    for name in {suffix for format in FORMATS.values() if format.name != "text" for suffix in format.suffixes}:
        with refusals():
            head = content.decode(errors="replace")
            found = [format.name for format in FORMATS.values() if format.detect(head, name)]
            assert len(found) <= 1, f"detected as {' and '.join(found)}"
            detect_head(content, f"fuzz{name}")
            outcome = "accepted"
    return outcome


class Files:
    """Targets that need a model: state files, model directories and requests."""

    def __init__(self, folder: Path) -> None:
        from starlette.testclient import TestClient

        import longcoref
        from longcoref.server.app import build_app
        from model import write_tiny_model

        self.folder = folder
        self.model = write_tiny_model(folder / "tiny")
        self.resolver = longcoref.load(self.model, cells=3, threads=1)
        reading = self.resolver.open()
        reading.feed("Ann saw the old mill. She left it, and Tom met her. " * 3)
        reading.save(folder / "state")
        self.client = TestClient(build_app(self.resolver), base_url="http://localhost")

    def state(self, content: bytes) -> str:
        """Continues from a state file; half of the inputs get the checksum that they should have."""
        path = self.folder / "fuzzed"
        schema, _, rest = content.partition(b"\n")
        if zlib.crc32(content) % 2:
            rest = rest.partition(b"\n")[2]
            content = b"\n".join((schema, hashlib.sha256(rest).hexdigest().encode(), rest))
        path.write_bytes(content)
        with refusals() as messages:
            reading = self.resolver.resume(path)
            reading.feed("Ann left the mill. ")
            reading.finish()
        return "refused" if messages else "accepted"

    def settings(self, content: bytes) -> str:
        """Opens a model directory with another model.toml, and resolves a sentence."""
        import longcoref

        whole = (self.model / "model.toml").read_bytes()
        try:
            (self.model / "model.toml").write_bytes(content)
            with refusals() as messages:
                longcoref.load(self.model, cells=3, threads=1)("Ann saw the old mill. She left it.")
        finally:
            (self.model / "model.toml").write_bytes(whole)
        return "refused" if messages else "accepted"

    def http(self, content: bytes) -> str:
        """Sends a request."""
        answer = self.client.post("/v1/resolve", content=content, headers={"content-type": "application/json"})
        assert answer.status_code < 500, f"{answer.status_code}: {answer.text[:200]}"
        assert answer.status_code == 200 or len(answer.text) <= 4 * LONGEST_MESSAGE, "a long answer"
        return "accepted" if answer.status_code == 200 else "refused"


def reader_names() -> list[str]:
    """The targets that need nothing but bytes."""
    from longcoref.formats import FORMATS

    return [*FORMATS, "detect"]


NEED_A_MODEL = ("state", "model", "http")


@contextlib.contextmanager
def opened(name: str) -> Iterator[tuple[Target, list[bytes]]]:
    """A target and the inputs to begin with."""
    from format_examples import EXAMPLES

    seeds = [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]
    if name in EXAMPLES:
        yield partial(read_format, name), [EXAMPLES[name].encode(), *seeds]
    elif name == "detect":
        yield detect, [*(example.encode() for example in EXAMPLES.values()), *seeds]
    else:
        with tempfile.TemporaryDirectory() as folder:
            files = Files(Path(folder))
            body = json.dumps({"text": "Ann saw the mill. She left it.", "cells": 3, "min_mentions": 1}).encode()
            examples: dict[str, tuple[Target, bytes]] = {
                "state": (files.state, (Path(folder) / "state").read_bytes()),
                "model": (files.settings, (files.model / "model.toml").read_bytes()),
                "http": (files.http, body),
            }
            target, example = examples[name]
            yield target, [example, *seeds]


# ---- runs ------------------------------------------------------------------------------------------------------


def random_run(name: str, runs: int, seed: int = 0) -> dict[str, Any]:
    """Tries the seeds and random edits of them, `runs` inputs in all; says what became of them."""
    chance = random.Random(seed)
    outcomes: Counter[str] = Counter()
    slowest = (0.0, 0)
    with opened(name) as (target, seeds):
        for number in range(runs):
            content = seeds[number] if number < len(seeds) else mutated(chance.choice(seeds), chance, seeds)
            began = time.process_time()
            try:
                outcomes[target(content)] += 1
            except Exception:
                FOUND.mkdir(parents=True, exist_ok=True)
                (FOUND / f"{name}-{zlib.crc32(content):08x}").write_bytes(content)
                raise
            slowest = max(slowest, (time.process_time() - began, len(content)))
    return {"target": name, "inputs": runs, **outcomes, "slowest_ms": round(1000 * slowest[0], 1), "bytes": slowest[1]}


def guided_run(name: str, runs: int, seed: int) -> None:
    """Lets atheris look for inputs that reach new code. Ends the process."""
    import atheris

    with atheris.instrument_imports(
        include=["longcoref.formats", "longcoref.text", "longcoref.runtime", "longcoref.server"]
    ):
        import longcoref.formats
        import longcoref.server.app  # noqa: F401
    kept, dictionary = FOUND / "corpus" / name, FOUND / "tokens.txt"
    kept.mkdir(parents=True, exist_ok=True)
    quoted = ("".join(f"\\x{byte:02x}" for byte in token) for token in TOKENS if len(token) < 60)
    dictionary.write_text("".join(f'"{token}"\n' for token in quoted), encoding="utf-8")
    with opened(name) as (target, seeds):
        for number, content in enumerate(seeds):
            (kept / f"seed-{number}").write_bytes(content)
        options = [
            f"-runs={runs}",
            f"-seed={seed + 1}",
            f"-dict={dictionary}",
            "-max_len=20000",
            "-timeout=20",
            "-verbosity=1",
        ]
        atheris.Setup(
            [sys.argv[0], *options, f"-artifact_prefix={FOUND}/{name}-", str(kept)],
            lambda content: target(content) and None,
        )
        atheris.Fuzz()


def main() -> int:
    """Runs the targets one after another, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="all if none is given")
    parser.add_argument("--runs", type=int, default=20_000, help="inputs per target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="random edits even if atheris is installed")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    guided = not chosen.plain and importlib.util.find_spec("atheris") is not None
    if chosen.here and guided:
        guided_run(chosen.targets[0], chosen.runs, chosen.seed)
    if chosen.here:
        try:
            print(json.dumps(random_run(chosen.targets[0], chosen.runs, chosen.seed)), flush=True)
        except Exception:
            traceback.print_exc()
            return 1
        return 0
    failed = []
    for name in chosen.targets or [*reader_names(), *NEED_A_MODEL]:
        command = [sys.executable, __file__, name, "--here", "--runs", str(chosen.runs), "--seed", str(chosen.seed)]
        run = subprocess.run(
            [*command, *(["--plain"] if chosen.plain else [])], env=os.environ, capture_output=True, text=True
        )
        output = run.stdout + run.stderr
        done = re.findall(r"^Done \d+ runs in \d+ second.*", output, flags=re.MULTILINE)
        print(f"{name}: {done[-1]}" if done else output.strip()[-3000:], flush=True)
        failed += [name] if run.returncode else []
    print(f"broken: {', '.join(failed)}; the inputs are in {FOUND}" if failed else "no law was broken")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
