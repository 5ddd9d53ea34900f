"""Puts a server under load on this machine: many requests, refusals, killed clients, and clients that attack it.

python scripts/load_server.py [--requests 2000] [--clients 16]
python scripts/load_server.py --only attacks
python scripts/load_server.py --only unread
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice, product
from statistics import median

import longcoref

NAMES = ("Ada", "Mary", "Ruth", "Jane", "Clara", "Nora", "Edith", "Rose")
OTHERS = ("Tom", "Sam", "Paul", "Hugh")
PATH = "/v1/resolve"
NOVEL = "Nora rowed to the island, and her brother waited on the pier for her until the lamp went out. " * 2000


@contextmanager
def running(*options: str) -> Iterator[int]:
    """A new server; yields its port."""
    command = [sys.executable, "-m", "longcoref", "serve", "--port", "0", "--threads", "1", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r":(\d+)/", said)
        if not found:
            raise SystemExit(said + process.stderr.read())
        try:
            yield int(found[1])
        finally:
            process.terminate()


def ask(port: int, request: dict[str, object]) -> tuple[int, bytes]:
    """Status and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.request("POST", PATH, json.dumps(request), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def counts(port: int) -> dict[str, float]:
    """The metrics of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def texts() -> list[str]:
    """Different short stories of 20 to 100 words."""
    story = "{} met {} at the harbour. She gave him {} letters, and he thanked her for them. "
    couples = enumerate(product(NAMES, OTHERS))
    return [story.format(name, other, number) * (1 + number % 5) for number, (name, other) in couples]


def many_requests(requests: int, clients: int) -> None:
    """Compares every response with the result of the library; measures memory before and after each quarter."""
    stories = texts()
    resolver = longcoref.load(threads=1)
    expected = [resolver(story).as_json() for story in stories]
    with running("--at-once", str(clients)) as port, ThreadPoolExecutor(clients) as pool:

        def check(number: int) -> tuple[str, float]:
            started = time.perf_counter()
            status, body = ask(port, {"text": stories[number % len(stories)]})
            right = status == 200 and json.loads(body) == expected[number % len(stories)]
            return "right" if right else f"wrong ({status})", time.perf_counter() - started

        list(pool.map(check, range(4 * clients)))  # all threads have worked once
        started = time.perf_counter()
        outcomes: list[tuple[str, float]] = []
        memory = [counts(port)["process_resident_memory_bytes"]]
        for part in parts(range(requests), 4):
            outcomes += pool.map(check, part)
            memory.append(counts(port)["process_resident_memory_bytes"])
        seconds = time.perf_counter() - started
    print(f"{requests} requests by {clients} clients: {dict(Counter(outcome for outcome, _ in outcomes))}")
    print(f"{requests / seconds:.1f} requests a second, median {median(taken for _, taken in outcomes):.2f} s")
    print(f"resident MB before and after each quarter: {', '.join(f'{size / 1e6:.0f}' for size in memory)}")


def parts(numbers: Sequence[int], count: int) -> Iterator[Sequence[int]]:
    """The numbers in `count` parts."""
    size = -(-len(numbers) // count)
    return (numbers[start : start + size] for start in range(0, len(numbers), size))


def refusals() -> None:
    """More clients than are admitted, and texts that are too long or take too long."""
    with running("--at-once", "2", "--queue", "2", "--max-bytes", "50000") as port, ThreadPoolExecutor(16) as pool:
        story = texts()[4] * 10
        statuses = Counter(pool.map(lambda _: ask(port, {"text": story})[0], range(64)))
        print(f"16 clients where 2 texts are resolved and 2 wait: {dict(statuses)}")
        print(f"a text over the limit: {ask(port, {'text': NOVEL})[0]}")
    with running("--max-seconds", "1") as port:
        print(f"a text that takes longer than it may: {ask(port, {'text': NOVEL})[0]}")


def killed_clients(clients: int) -> None:
    """Clients that disconnect after their first line: how much is read for them afterwards."""
    request = json.dumps({"text": NOVEL, "stream": True}).encode()
    with running("--at-once", str(clients)) as port:
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
        for connection in connections:
            connection.sendall(head(len(request)) + request)
        for connection in connections:
            connection.recv(1000)
        for connection in connections:
            connection.close()
        started = time.perf_counter()
        while counts(port)["longcoref_inside"]:
            time.sleep(0.05)
        seconds = time.perf_counter() - started
        found = counts(port)
        time.sleep(2)
        later = counts(port)
    read = found["longcoref_characters_total"] / (clients * len(NOVEL))
    stopped = found['longcoref_stopped_total{reason="client"}']
    more, busy = (later[name] - found[name] for name in ("longcoref_characters_total", "process_cpu_seconds_total"))
    print(f"{clients} killed clients: {stopped:.0f} stopped, the last after {seconds:.1f} s, {100 * read:.1f} % read")
    print(f"in the 2 seconds after that: {more:.0f} characters read, {busy:.2f} s of processor time")


def head(length: int) -> bytes:
    """The header of a request whose body has this length."""
    lines = [f"POST {PATH} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def attacks(requests: int = 20) -> None:
    """Short texts while hostile clients are at work, compared with an idle server."""
    hostile = ('"' * 24_000, " ".join(f"John {name} came home." for name in invented_names(2000)))
    with running() as port, ExitStack() as stack:

        def connect(sent: bytes) -> None:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(sent)

        short_texts(port, 5)
        idle = short_texts(port, requests)
        print(f"a short text on an idle server: median {median(idle):.2f} s, longest {max(idle):.2f} s")
        for text in hostile:
            body = json.dumps({"text": text}).encode()
            connect(head(len(body)) + body)
        for _ in range(230):
            connect(b"")
        for _ in range(50):
            connect(head(1000) + b"{")
        busy = short_texts(port, requests)
        left = counts(port)["longcoref_reading"]
        print("a short text meanwhile, with 2 hostile texts, 230 silent connections and 50 that upload a byte:")
        print(f"median {median(busy):.2f} s, longest {max(busy):.2f} s; {left:.0f} hostile texts are not finished yet")


def unread(requests: int = 20, streams: int = 32) -> None:
    """Short texts while clients ask for streams of long texts and do not read them, compared with an idle server."""
    with running() as port, ExitStack() as stack:
        short_texts(port, 5)
        idle = short_texts(port, requests)
        print(f"a short text on an idle server: median {median(idle):.2f} s, longest {max(idle):.2f} s")
        body = json.dumps({"text": NOVEL, "stream": True}).encode()
        for _ in range(streams):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(head(len(body)) + body)
        busy = short_texts(port, requests)
        read = counts(port)["longcoref_characters_total"] / (streams * len(NOVEL))
        print(f"a short text meanwhile, with {streams} streams of long texts that nobody reads:")
        print(
            f"median {median(busy):.2f} s, longest {max(busy):.2f} s; {100 * read:.1f} % of the long texts are resolved"
        )


def short_texts(port: int, requests: int) -> list[float]:
    """The seconds that short texts take, one after the other."""
    seconds = []
    for story in texts()[:requests]:
        started = time.perf_counter()
        status, body = ask(port, {"text": story})
        if status != 200:
            raise SystemExit(f"a short text got {status}: {body.decode()}")
        seconds.append(time.perf_counter() - started)
    return seconds


def invented_names(count: int) -> list[str]:
    """Different capitalised words."""
    letters = product("BDFGKLMNPRST", "aeiou", "bdfgklmnprst", "aeiou")
    return ["".join(word).capitalize() for word in islice(letters, count)]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument(
        "--only", choices=("requests", "refusals", "killed", "attacks", "unread"), help="run a single part"
    )
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "requests": lambda: many_requests(arguments.requests, arguments.clients),
        "refusals": refusals,
        "killed": lambda: killed_clients(arguments.clients),
        "attacks": attacks,
        "unread": unread,
    }
    for name, part in parts.items():
        if arguments.only in (None, name):
            part()


if __name__ == "__main__":
    main()
