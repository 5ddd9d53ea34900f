"""How work grows with the input: inputs that made something slow or might, and the exponent of the growth.

    python tests/growth.py                          # the table of docs/reliability.md
    python tests/growth.py corefud json             # the cases whose name contains one of these
    python tests/growth.py corefud --instructions   # counted by valgrind, which must be installed
    python tests/growth.py --lines                  # post-processing, in executed lines of Python

A case is run on inputs of size n and 8n, three doublings. Its exponent is the slope of CPU time on logarithmic scales:
1 is linear, 2 quadratic. The number of processor instructions, unlike time, depends neither on what else the machine is
doing nor on what fits into its caches; counting them takes about 50 times as long.
"""

from __future__ import annotations

import argparse
import gc
import io
import math
import os
import re
import subprocess
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from format_examples import EXAMPLES
from longcoref.book.revision import revise
from longcoref.errors import LongcorefError
from longcoref.formats import FORMATS
from longcoref.formats.registry import detect_head
from longcoref.formats.source import Source
from longcoref.render.outputs import OUTPUTS, write_results
from longcoref.text import tokenize
from longcoref.text.chapters import find_chapters
from longcoref.text.of_words import split_words_into_sentences
from longcoref.text.quotations import find_quotations
from results import make_result
from test_revision import GROWING, work

DOUBLINGS = 3


@dataclass(frozen=True)
class Case:
    """`prepare(n)` makes the input of a size, outside of what is measured, and returns what is to be measured."""

    name: str
    size: int
    prepare: Callable[[int], Callable[[], object]]


def exponent(case: Case, *, repeats: int = 3) -> float:
    """The growth of a case; the smallest of some times is the one that other processes have disturbed least."""
    seconds = []
    for size in (case.size, case.size << DOUBLINGS):
        run = case.prepare(size)
        times = []
        for _ in range(repeats):
            gc.collect()
            began = time.process_time()
            run()
            times.append(time.process_time() - began)
        seconds.append(max(min(times), 1e-6))
    return math.log2(seconds[1] / seconds[0]) / DOUBLINGS


def _read(format: str, make: Callable[[int], str], size: int) -> Callable[[], object]:
    content = make(size).encode()

    def run() -> None:
        with warnings.catch_warnings(), suppress(LongcorefError):
            warnings.simplefilter("ignore")
            deque(FORMATS[format].read(Source("case", io.BytesIO(content)), lenient=True), maxlen=0)

    return run


def _detect(make: Callable[[int], str], size: int) -> Callable[[], object]:
    """Detection as a whole, and each format's part of it on the whole input, which `detect_head` would cut."""
    head = make(size)

    def run() -> None:
        for name in ("case.conll", "case.jsonl", "case.txt"):
            for format in FORMATS.values():
                format.detect(head, name)
            with suppress(LongcorefError):
                detect_head(head.encode(), name)

    return run


def _split(make: Callable[[int], str], size: int) -> Callable[[], object]:
    return partial(tokenize, make(size))


def _look(make: Callable[[int], str], size: int) -> Callable[[], object]:
    document = tokenize(make(size))
    return lambda: (find_quotations(document), find_chapters(document), split_words_into_sentences(document.words))


def _row(number: int, marks: str) -> str:
    return f"{number}\tword\t_\t_\t_\t_\t_\t_\t_\t{marks}\n"


def _json(**parts: str) -> str:
    return '{"schema": "longcoref/1", ' + ", ".join(f'"{key}": {value}' for key, value in parts.items()) + "}\n"


def _words(count: int) -> dict[str, str]:
    return {"text": f'"{"a " * count}"', "words": str([[2 * index, 2 * index + 1] for index in range(count)])}


HEADERS: dict[str, Callable[[int], str]] = {
    "`#begin document`, n spaces, `x`": lambda n: f"#begin document{' ' * n}x\n",
    "`#begin document (`, n brackets": lambda n: f"#begin document ({')' * n}x\n",
    "`#begin document`, n semicolons": lambda n: f"#begin document{';' * n}x\n",
    "`#begin document`, n parts": lambda n: f"#begin document{'; part 1 ' * n}x\n",
    "`# begin document`, n line breaks": lambda n: f"# begin document{chr(10) * n}x",
    "`# newdoc id = a`, n spaces, `b`": lambda n: f"# newdoc id = a{' ' * n}b\n",
    "`# global.Entity =`, n spaces, `b`": lambda n: f"# global.Entity = a{' ' * n}b\n",
    "n spaces": lambda n: " " * n,
    "n digits and tabs": lambda n: "1\t" * n,
    '`"schema"`, n spaces': lambda n: f'{{"schema"{" " * n}x',
}

_CONLL_ROW = EXAMPLES["conll"].split("\n")[4] + "\n\n"
_RANGE = "\tword\t_\t_\t_\t_\t_\t_\t_\t_\n"

READERS: list[tuple[str, str, int, Callable[[int], str]]] = [
    *(
        (format, name, 20_000, make)
        for format in ("conll", "ontogum", "corefud")
        for name, make in HEADERS.items()
        if "schema" not in name
    ),
    (
        "conll",
        "n sentences",
        200,
        lambda n: EXAMPLES["conll"].replace("\n\n", "\n\n" + _CONLL_ROW * n, 1),
    ),
    ("ontogum", "n marks in a cell", 4_000, lambda n: f"# begin document\n0\tword\t{'(1' * n}\n# end document\n"),
    ("ontogum", "n brackets in a cell", 50_000, lambda n: f"# begin document\n0\tword\t{'(' * n}\n# end document\n"),
    ("ontogum", "a cell of n letters", 50_000, lambda n: f"# begin document\n0\tword\t{'a' * n}\n# end document\n"),
    (
        "ontogum",
        "n mentions of the whole text",
        500,
        lambda n: "# begin document\n" + "0\tword\t(1\n" * n + "0\tword\t1)\n" * n + "# end document\n",
    ),
    (
        "corefud",
        "n ranges of n words",
        500,
        lambda n: f"1-{n}{_RANGE}" * n + _row(1, "_") * n,
    ),
    (
        "corefud",
        "a range of 99999999 words",
        500,
        lambda n: f"1-99999999{_RANGE}" + _row(1, "_") * n,
    ),
    ("corefud", "n marks in a cell", 3_000, lambda n: _row(1, f"Entity={'(e1-person' * n}")),
    ("corefud", "n fields of a mark", 20_000, lambda n: _row(1, f"Entity=(e1{'-x' * n})")),
    ("corefud", "n parts of a mention", 10_000, lambda n: _row(1, f"Entity=(e1{'[1/' * n})")),
    ("corefud", "n features", 10_000, lambda n: _row(1, "a=b|" * n)),
    ("json", "n words that overlap", 2_000, lambda n: _json(text=f'"{"a" * n}"', words=str([[0, n]] * n))),
    ("json", "n words", 2_000, lambda n: _json(**_words(n))),
    (
        "json",
        "n speakers of the whole text",
        1_000,
        lambda n: _json(
            **_words(n), speakers=str([{"speaker": "A", "start": 0, "end": 2 * n - 1}] * n).replace("'", '"')
        ),
    ),
    (
        "json",
        "n mentions of the whole text",
        2_000,
        lambda n: _json(
            **_words(n), clusters=str([{"mentions": [{"start": 0, "end": 2 * n - 1}] * n}]).replace("'", '"')
        ),
    ),
    ("json", "n lists in one another", 20_000, lambda n: _json(words="[" * n)),
    ("json", "a number of n digits", 20_000, lambda n: _json(part="9" * n)),
    ("json", "n spaces between documents", 50_000, lambda n: _json(text='""') + " " * n + "x"),
    ("json", "n documents", 200, lambda n: _json(text='"word"') * n),
    ("jsonlines", "n sentences", 2_000, lambda n: f'{{"sentences": {[["a"]] * n!s}}}'.replace("'", '"')),
    ("jsonlines", "n clusters", 2_000, lambda n: f'{{"sentences": [["a"]], "clusters": {[[[0, 0]]] * n}}}'),
    ("jsonlines", "a document key of n underscores", 50_000, lambda n: f'{{"sentences": [], "doc_key": "{"_" * n}"}}'),
]

TEXTS: dict[str, Callable[[int], str]] = {
    'n `"`': lambda n: '"' * n,
    "n `“`": lambda n: "“" * n,
    "n `'`": lambda n: "'" * n,
    'n `" `': lambda n: '" ' * n,
    "n `.`": lambda n: "." * n,
    "n `. `": lambda n: ". " * n,
    "n `a.`": lambda n: "a." * n,
    "n `Mr. `": lambda n: "Mr. " * n,
    "n `-`": lambda n: "-" * n,
    "n `(`": lambda n: "(" * n,
    "n letters": lambda n: "a" * n,
    "n digits": lambda n: "1," * n,
    "n spaces": lambda n: " " * n,
    "n line breaks": lambda n: "\n" * n,
    "n paragraphs": lambda n: "— Yes.\n\n" * n,
    "n dialogues": lambda n: "“Yes,” said he. “No,” she said. " * n,
    "n chapters": lambda n: "CHAPTER I\n\nIt rained.\n\n" * n,
    "n addresses": lambda n: "http://a.b/c?d=e@" * n,
}


def _nested(size: int) -> list[list[tuple[int, int, str]]]:
    return [[(4 * index, 4 * index + width, "PROP") for index in range(size)] for width in (1, 2)]


def _rendered(format: str, size: int) -> Callable[[], object]:
    result = make_result("Ann Lee left. “Yes,” said Ann Lee." * size, _nested(size))
    return lambda: write_results([result], io.StringIO(), format)


CASES = [
    *(Case(f"read {format}: {name}", size, partial(_read, format, make)) for format, name, size, make in READERS),
    *(Case(f"detect: {name}", 4_000, partial(_detect, make)) for name, make in HEADERS.items()),
    *(Case(f"splitter: {name}", 1_000, partial(_split, make)) for name, make in TEXTS.items()),
    *(Case(f"quotations, chapters: {name}", 1_000, partial(_look, make)) for name, make in TEXTS.items()),
    *(
        Case(f"write {format}", 100, partial(_rendered, format))
        for format, output in OUTPUTS.items()
        if not output.decisions
    ),
]


def _revised(make: Callable[[int], Any], size: int) -> Callable[[], object]:
    case = make(size)
    return partial(revise, case.document, case.mentions)


# A test in test_revision.py counts the work of these, so that they need not be timed there.
POST_PROCESSING = [Case(f"post-processing: {name}", 500, partial(_revised, make)) for name, make in GROWING.items()]


def forked(work: Callable[[], object]) -> int:
    """Does work in a child process, which valgrind counts; returns its id."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return child


def counted(case: Case) -> None:
    """Prints the processes that prepare inputs of both sizes without and with running the case."""
    for size in (case.size, case.size << DOUBLINGS):
        prepared = forked(partial(case.prepare, size))
        print(prepared, forked(lambda size=size: case.prepare(size)()), flush=True)  # type: ignore[misc]


def exponents_of_instructions(wanted: list[str]) -> list[float]:
    """The growth of cases in processor instructions."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command += [sys.executable, __file__, *wanted, "--counted"]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "0"}, check=True)
    found = re.findall(r"^==(\d+)== I\s+refs:\s+([\d,]+)", run.stderr, flags=re.MULTILINE)
    counts = {process: int(count.replace(",", "")) for process, count in found}
    pairs = [line.split() for line in run.stdout.splitlines()]
    instructions = [counts[whole] - counts[prepared] for prepared, whole in pairs]
    return [
        math.log2(large / small) / DOUBLINGS for small, large in zip(instructions[::2], instructions[1::2], strict=True)
    ]


def exponent_of_lines(make: Callable[[int], Any], size: int) -> float:
    """The growth of post-processing in executed lines of Python; what a single line does in C is not seen."""
    work(make(10))  # what is loaded once
    return math.log2(work(make(size << DOUBLINGS)) / work(make(size))) / DOUBLINGS


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="*", help="only the cases whose name contains one of these")
    parser.add_argument("--instructions", action="store_true", help="count instructions instead of measuring time")
    parser.add_argument("--lines", action="store_true", help="count the lines that post-processing executes")
    parser.add_argument("--repeats", type=int, default=3, help="times that are measured; the smallest counts")
    parser.add_argument("--counted", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = options.wanted or [""]
    cases = [case for case in [*CASES, *POST_PROCESSING] if any(part in case.name for part in wanted)]
    if options.counted:
        for case in cases:
            counted(case)
        return
    if options.lines:
        for name, make in GROWING.items():
            if any(part in name for part in wanted):
                print(f"| {name} | 100 to {100 << DOUBLINGS} | {exponent_of_lines(make, 100):.2f} |", flush=True)
        return
    found = iter(
        exponents_of_instructions(wanted)
        if options.instructions
        else (exponent(case, repeats=options.repeats) for case in cases)
    )
    print("| input | n | growth exponent |\n|---|---|---|")
    for case in cases:
        print(f"| {case.name} | {case.size:,} to {case.size << DOUBLINGS:,} | {next(found):.2f} |", flush=True)


if __name__ == "__main__":
    main()
