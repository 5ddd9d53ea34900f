"""An overview of a corpus run as one HTML page: documents, failures, cast sizes and speed, with plots."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from string import Template
from typing import Any

from longcoref.corpus.store import MANIFEST, open_store
from longcoref.corpus.tables import Row, read_rows
from longcoref.errors import InputError
from longcoref.files import atomic_text

_LEAST = 10  # mentions of a main character
_BARS = 20
_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse } td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top }
td.number { text-align: right } figure { display: inline-block; margin: 0 1rem 1rem 0 } figcaption { font-weight: 600 }
svg { background: #f6f6f6 } svg text { font-size: 11px; fill: #444 } .failed { color: #a00000 }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd } svg { background: #262626 } svg text { fill: #bbb }
  .failed { color: #ff8080 }
}
</style></head><body>
<h1>$title</h1>
$summary
<h2>Plots</h2>
$plots
<h2>Failures</h2>
$failures
<h2>Documents</h2>
$documents
</body></html>
""")


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The manifests of all shards, and the number of characters in each document by their mentions."""

    manifest: list[Row]
    documents: list[Row]
    casts: Counter[str]


def write_report(out: str | Path, path: str | Path) -> None:
    """Writes the overview of what a corpus run has written to `out`."""
    corpus = _read(out)
    with atomic_text(path) as stream:
        stream.write(_page(corpus, f"Corpus {Path(str(out)).name or out}"))


def _read(out: str | Path) -> _Corpus:
    store = open_store(out)
    manifest: list[Row] = []
    documents: list[Row] = []
    casts: Counter[str] = Counter()
    for shard in store.shards():
        manifest += [json.loads(line) for line in store.read(shard, MANIFEST).splitlines()]
        documents += read_rows(
            store.read(shard, "documents.parquet"), ["document", "words", "entities", "mentions", "quotations"]
        )
        people = read_rows(store.read(shard, "entities.parquet"), ["document", "type", "mentions"])
        casts.update(row["document"] for row in people if row["type"] == "PER" and row["mentions"] >= _LEAST)
    if not manifest:
        raise InputError("no corpus run has written anything here", str(out))
    return _Corpus(manifest, documents, casts)


def _page(corpus: _Corpus, title: str) -> str:
    done = [row for row in corpus.manifest if row["status"] == "done"]
    failed = [row for row in corpus.manifest if row["status"] == "failed"]
    words, seconds = sum(row["words"] for row in done), sum(row["seconds"] for row in done)
    facts = {
        "documents": len(done),
        "failures": len(failed),
        "words": words,
        "entities": sum(row["entities"] for row in corpus.documents),
        "mentions": sum(row["mentions"] for row in corpus.documents),
        "quotations": sum(row["quotations"] for row in corpus.documents),
        "hours of all processes": round(seconds / 3600, 2),
        "words per second and process": round(words / seconds) if seconds else 0,
        "largest process, MB": max((row["peak_megabytes"] for row in done), default=0),
    }
    lengths = [row["words"] for row in done]
    casts = [corpus.casts[row["document"]] for row in done]
    speeds = [row["words"] / row["seconds"] for row in done if row["seconds"]]
    people = f"people with {_LEAST} mentions or more"
    plots = [
        _histogram("Length of documents", lengths, "words"),
        _histogram("Size of casts", casts, people),
        _histogram("Speed", speeds, "words per second"),
        _scatter("Casts by length", list(zip(lengths, casts, strict=True)), "words", people),
    ]
    columns = ("document", "words", "entities", "mentions", "quotations")
    largest = sorted(corpus.documents, key=lambda row: -row["words"])
    return _PAGE.substitute(
        title=html.escape(title),
        summary=_table(facts.items()),
        plots="\n".join(plots),
        failures=_table([(row["source"], row["error"]) for row in failed], ("source", "error"), "failed")
        if failed
        else "<p>None.</p>",
        documents=_table(
            [(*(row[name] for name in columns), corpus.casts[row["document"]]) for row in largest], (*columns, "cast")
        ),
    )


def _table(rows: Iterable[Sequence[Any]], header: Sequence[str] = (), kind: str = "") -> str:
    def cell(value: object) -> str:
        if isinstance(value, int | float):
            return f'<td class="number">{value:,}</td>'
        return f"<td>{html.escape(str(value))}</td>"

    lines = [f"<tr>{''.join(f'<th>{html.escape(name)}</th>' for name in header)}</tr>"] if header else []
    lines += [f'<tr class="{kind}">{"".join(map(cell, row))}</tr>' for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _histogram(title: str, values: Sequence[float], label: str) -> str:
    most = max(values, default=0) or 1
    counts = Counter(min(int(_BARS * value / most), _BARS - 1) for value in values)
    tallest = max(counts.values(), default=1)
    bars = "".join(
        f'<rect x="{30 + 18 * bar}" y="{150 - 130 * count / tallest:.1f}" width="16" '
        f'height="{130 * count / tallest:.1f}" fill="#4477aa"/>'
        for bar, count in sorted(counts.items())
    )
    middle = f"{label}; median {median(values):,.0f}" if values else label
    return _figure(title, bars, middle, most, f"{tallest} documents")


def _scatter(title: str, points: Sequence[tuple[float, float]], across: str, up: str) -> str:
    right, top = (max((point[axis] for point in points), default=0) or 1 for axis in (0, 1))
    dots = "".join(
        f'<circle cx="{30 + 360 * x / right:.1f}" cy="{150 - 130 * y / top:.1f}" r="3" fill="#4477aa" opacity=".6"/>'
        for x, y in points
    )
    return _figure(title, dots, across, right, f"{top:,.0f} {up}")


def _figure(title: str, content: str, across: str, most: float, up: str) -> str:
    labels = f'<text x="30" y="15">{html.escape(up)}</text><text x="30" y="168">0</text>'
    labels += f'<text x="210" y="180" text-anchor="middle">{html.escape(across)}</text>'
    labels += f'<text x="390" y="168" text-anchor="end">{most:,.0f}</text>'
    return (
        f'<figure><figcaption>{html.escape(title)}</figcaption><svg width="420" height="190" role="img" '
        f'aria-label="{html.escape(title)}">{content}{labels}</svg></figure>'
    )
