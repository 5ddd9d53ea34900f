"""The report of a reproduction: our figures, from records on disk, beside the paper's, which are marked as such."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import longcoref
from longcoref.analysis.errors import ErrorType
from longcoref.analysis.plots import draw_entities, draw_lines
from longcoref.files import atomic_text
from longcoref.reproduction.figures import Figures
from longcoref.reproduction.models import MemoryModel
from longcoref.reproduction.orderings import findings
from longcoref.reproduction.page import Block, Code, Figure, Heading, Table, Text, html_page, markdown

TITLES = {"litbank": "LitBank", "ontogum": "OntoGUM", "ontonotes": "OntoNotes"}
_METRICS = {"muc": "MUC", "b_cubed": "B³", "ceaf_e": "CEAF-e"}
_VARIANTS = {
    "taught": "taught coreference on another corpus, then frozen",
    "frozen": "frozen from the start",
    "finetuned": "fine-tuned on the fold itself",
}


def write_report(folder: Path) -> list[Path]:
    """Writes report.md, report.html and the figures of a corpus's folder from what is there; returns the two files."""
    place = folder / "report"
    place.mkdir(parents=True, exist_ok=True)
    title = f"{TITLES[folder.name]}: the paper again"
    blocks = list(_Report(Figures(folder), place).blocks())
    written = []
    for name, text in (("report.md", markdown(title, blocks)), ("report.html", html_page(title, blocks))):
        with atomic_text(place / name) as stream:
            stream.write(text)
        written.append(place / name)
    return written


def _show(value: float | None, form: str = ".1f") -> str:
    return "–" if value is None else format(value, form)


class _Report:
    """The blocks of the report, section by section; a section of which nothing is known is left out."""

    def __init__(self, figures: Figures, place: Path) -> None:
        self.figures, self.place = figures, place
        self.paper: dict[str, dict[str, Any]] = figures.paper["models"]
        self.models = figures.models()
        own = figures.folder.name
        self.theirs = "the paper" if own != "ontogum" else "the paper, OntoNotes"

    def blocks(self) -> Iterator[Block]:
        yield from self.opening()
        sections = (
            ("What the paper found", self.findings),
            ("Entities in the corpus", self.entities),
            ("CoNLL F1", self.scores),
            ("Precision, recall and F1 on test", self.details),
            ("Memory and time", self.measures),
            ("Entities in memory, and mentions ignored", self.use),
            ("Errors on dev", self.errors),
            ("Hard documents", self.correlation),
            ("By genre", self.genres),
            ("Left open by the paper: the encoder", self.encoder),
            ("Left open by the paper: a learned entity", self.entity),
            ("Left open by the paper: one set of weights for all capacities", self.capacities),
            ("Left open by the paper: documents far longer than those trained on", self.length),
            ("Parameters", self.parameters),
            ("Hyperparameters", self.hyperparameters),
            ("What it took", self.hours),
        )
        for title, section in sections:
            blocks = list(section())
            if blocks:
                yield Heading(title)
                yield from blocks

    def opening(self) -> Iterator[Block]:
        folds = [str(fold) for fold in self.figures.folds() if fold is not None]
        part = f"folds {', '.join(folds)}" if folds else "the corpus's own parts"
        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        yield Text(
            f"Written {now} by longcoref {longcoref.__version__}, {_commit()}, on {machine}. Models scored: "
            f"{len(self.models)}, on {part}. Every figure is computed from records that the command left on disk; the "
            "paper's own figures (Toshniwal et al. 2020) were typed in and stand in the columns that say so. – is: not "
            "measured, or not reported."
        )
        command = f"longcoref reproduce {self.figures.folder.name} --out {self.figures.folder.parent.name}"
        yield Code(command + (f" --folds {','.join(folds)}" if folds else ""))

    def table(self, headings: Sequence[str], row: Callable[[MemoryModel], Sequence[str]]) -> Table:
        """A row for each model."""
        return Table(("model", *headings), tuple((model.label, *row(model)) for model in self.models))

    def their(self, model: MemoryModel, key: str, form: str = ".1f") -> str:
        """The paper's figure of a model."""
        return _show(self.paper.get(model.name, {}).get(key), form)

    def beside(self, *headings: str) -> list[str]:
        """Each heading, and that of the paper's figure beside it."""
        return [text for heading in headings for text in (heading, f"{heading}, {self.theirs}")]

    def findings(self) -> Iterator[Block]:
        """The paper's findings, confirmed or not."""
        rows = [(each.statement, each.verdict, each.figures) for each in findings(self.figures)]
        yield Table(("finding", "here", "figures"), tuple(rows))

    def entities(self) -> Iterator[Block]:
        """Total against active entities, and the two histograms of the appendix."""
        counts, paper = self.figures.entities, self.figures.paper
        if counts is None:
            return
        rows = (
            ("most entities in a document", str(counts.max_total_entities), str(paper["max_total_entities"])),
            ("most entities active at once", str(counts.max_active_entities), str(paper["max_active_entities"])),
        )
        yield Table((f"{len(counts.documents)} documents", "ours", self.theirs), rows)
        for path in draw_entities(counts, self.place / "figures"):
            if path.suffix == ".png":
                yield Figure(f"figures/{path.name}", path.stem.replace("_", " ").capitalize())

    def scores(self) -> Iterator[Block]:
        """CoNLL F1 on dev and test, of all folds together and of each."""
        if not self.models:
            return

        def row(model: MemoryModel) -> list[str]:
            return [
                text
                for part in ("dev", "test")
                for text in (_show(self.figures.f1(model.name, part)), self.their(model, part))
            ]

        yield self.table(self.beside("dev", "test"), row)
        folds = self.figures.folds()
        if len(folds) > 1:
            yield Text("Test by fold. Above, the documents of all folds are scored as one corpus, as in the paper.")
            yield self.table(
                [f"fold {fold}" for fold in folds],
                lambda model: [_show(self.figures.f1(model.name, "test", folds=[fold])) for fold in folds],
            )
        series: dict[str, tuple[list[float], list[float]]] = {}
        for policy, label in (("learned", "LB-MEM"), ("rule", "RB-MEM")):
            models = [model for model in self.models if model.policy == policy]
            ours = [(float(m.cells or 0), self.figures.f1(m.name, "test") or 0.0) for m in models]
            theirs = [(float(m.cells or 0), float(self.paper.get(m.name, {}).get("test", 0))) for m in models]
            if len(models) > 1:
                series |= {label: _columns(ours), f"{label}, {self.theirs}": _columns(theirs)}
        yield from self.lines("capacity", series, "CoNLL F1 on test", "cells", "per cent")

    def lines(
        self, name: str, series: dict[str, tuple[list[float], list[float]]], title: str, horizontal: str, vertical: str
    ) -> Iterator[Block]:
        """A figure of lines, where there are any."""
        if series:
            stem = self.place / "figures" / name
            draw_lines(series, stem, title=title, horizontal=horizontal, vertical=vertical, marked=True)
            yield Figure(f"figures/{name}.png", f"{title} over {horizontal}")

    def details(self) -> Iterator[Block]:
        """The three metrics of the average, one table each."""
        for metric, label in _METRICS.items():

            def row(model: MemoryModel, metric: str = metric) -> list[str]:
                scores, paper = self.figures.scores(model.name, "test"), self.paper.get(model.name, {}).get(metric)
                cells = []
                for place, part in enumerate(("precision", "recall", "f1")):
                    ours = None if scores is None else 100 * getattr(getattr(scores, metric), part)
                    cells += [_show(ours), _show(paper and paper[place])]
                return cells

            if self.models:
                yield self.table(self.beside(f"{label} precision", f"{label} recall", f"{label} F1"), row)

    def measures(self) -> Iterator[Block]:
        """Peak training memory, peak inference memory and inference time."""
        if not any(self.figures.measured("training", model.name) for model in self.models):
            return

        def row(model: MemoryModel) -> list[str]:
            training, inference = (self.figures.measured(what, model.name) for what in ("training", "inference"))
            return [
                _gigabytes(training),
                self.their(model, "training_gigabytes"),
                _gigabytes(inference),
                self.their(model, "inference_gigabytes"),
                _show(inference.get("seconds"), ".2f"),
                self.their(model, "inference_seconds", ".2f"),
            ]

        first = self.figures.rows(f"training-{self.models[0].name}")
        setting = f"hidden {first[0]['hidden']}, documents of {first[0]['words']} words" if first else ""
        runs = max(int(self.figures.measured("training", model.name).get("runs", 0)) for model in self.models)
        yield Text(
            f"Means over {runs} fresh processes on one thread of a processor; the paper's are of a GPU. Training "
            "memory is the peak minus what the process had before its first step "
            f"({setting}, a fifth of the invalid mentions, vectors from the cache). Inference is reading the test "
            "documents of the first fold, encoder included; its memory is the peak of the whole process."
        )
        yield self.table(self.beside("training GB", "inference GB", "inference s"), row)

    def use(self) -> Iterator[Block]:
        """Entities in memory and ignored mentions, on dev."""
        if not self.models:
            return
        names = {"average_entities": ".1f", "max_entities": ".0f", "ignored_per_document": ".1f"}

        def row(model: MemoryModel) -> list[str]:
            use = self.figures.use(model.name)
            cells = ((_show(use.get(name), form), self.their(model, name, form)) for name, form in names.items())
            return [text for pair in cells for text in pair]

        yield Text(
            "The most entities held at once in a dev document, on average and at worst; mentions ignored in one."
        )
        yield self.table(self.beside("average", "maximum", "ignored"), row)

    def errors(self) -> Iterator[Block]:
        """Errors by kind."""
        if not self.models:
            return

        def row(model: MemoryModel) -> list[str]:
            ours = self.figures.errors(model.name)
            theirs = self.paper.get(model.name, {}).get("errors", [])
            cells = (
                (str(ours[kind.value]), str(theirs[n]) if n < len(theirs) else "–") for n, kind in enumerate(ErrorType)
            )
            return [text for pair in cells for text in pair]

        yield Text(
            "Kummerfeld and Klein's classification. The paper has counts for OntoNotes dev, 343 documents, with heads "
            "from parse trees; ours are found from words."
        )
        if any("errors" in self.paper.get(model.name, {}) for model in self.models):
            yield self.table(self.beside(*(kind.value for kind in ErrorType)), row)
        else:
            kinds = [kind.value for kind in ErrorType]
            yield self.table(kinds, lambda model: [str(self.figures.errors(model.name)[kind]) for kind in kinds])

    def correlation(self) -> Iterator[Block]:
        """Spearman's correlation on dev."""
        if not self.models:
            return

        def row(model: MemoryModel) -> list[str]:
            ours = self.figures.correlation(model.name)
            pairs = ((_show(ours[name], ".2f"), self.their(model, name, ".2f")) for name in ("words", "gold_entities"))
            return [text for pair in pairs for text in pair]

        yield Text("Spearman's correlation of the F1 of a dev document with its length and its number of entities.")
        yield self.table(self.beside("length", "entities"), row)

    def genres(self) -> Iterator[Block]:
        """Test scores by genre, where there are genres."""
        found = {model.label: self.figures.genres(model.name, "test") for model in self.models}
        names = sorted({genre for genres in found.values() for genre in genres if genre})
        if names:
            first = next(iter(found.values()))
            rows = tuple(
                (genre, str(first[genre][0]), *(_show(genres[genre][1]) for genres in found.values()))
                for genre in names
            )
            yield Table(("genre", "test documents", *found), rows)

    def variants(self, labels: dict[str, str]) -> Iterator[Block]:
        """One model trained in several ways, on the folds that all ways have."""
        scored = [each for each in self.figures.scored if each.variant in labels]
        names = {each.model.name for each in scored if each.variant != "taught"}
        rows = []
        for variant, label in labels.items():
            for each in scored:
                if each.variant == variant and each.model.name in names and each.fold == self.figures.folds(variant)[0]:
                    values = (self.figures.f1(each.model.name, part, variant, [each.fold]) for part in ("dev", "test"))
                    rows.append(
                        (label, each.model.label, "–" if each.fold is None else str(each.fold), *map(_show, values))
                    )
        if names:
            yield Table(("variant", "model", "fold", "dev", "test"), tuple(rows))

    def encoder(self) -> Iterator[Block]:
        """Fine-tuned against frozen."""
        return self.variants(_VARIANTS)

    def entity(self) -> Iterator[Block]:
        """A weighted mean against the plain one."""
        return self.variants({"taught": "mean of the mentions", "weighted": "learned weights, from each mention alone"})

    def capacities(self) -> Iterator[Block]:
        """One model for all capacities against one for each, on the same fold."""
        shared = self.figures.models("shared")
        if not shared:
            return
        folds = self.figures.folds("shared")
        rows = []
        for model in shared:
            pairs = (
                _show(self.figures.f1(model.name, part, variant, folds))
                for part in ("dev", "test")
                for variant in ("taught", "shared")
            )
            rows.append((model.label, *pairs))
        headings = ("model", "dev, a model for each", "dev, one for all", "test, a model for each", "test, one for all")
        yield Table(headings, tuple(rows))

    def length(self) -> Iterator[Block]:
        """Joined documents and novels."""
        texts = {
            "joined": "The test documents, so many of them joined to one: nobody of one is in the next.",
            "novels": "Novels, one after the other, cut after so many words; proposals by threshold, as in a stream.",
        }
        for fact, text in texts.items():
            found = {m.label: self.figures.rows(f"{fact}-{m.name}") for m in self.models}
            found = {label: rows for label, rows in found.items() if rows}
            if not found:
                continue
            yield Text(text)
            lines = []
            for label, rows in found.items():
                for each in rows:
                    ignored = each.get("ignored", each.get("ignored_per_document"))
                    values = (each.get("joined"), each["words"], each["max_entities"], ignored, each["seconds"])
                    cells = [_show(value, ".0f") for value in values]
                    lines.append((label, *cells, _show(each["megabytes"], ".0f"), _show(each.get("conll_f1"))))
            headings = ("model", "documents", "words", "most entities", "ignored", "seconds", "peak MB", "CoNLL F1")
            yield Table(headings, tuple(lines))
            for name, title in (
                ("max_entities", "Entities in memory"),
                ("seconds", "Seconds"),
                ("megabytes", "Peak MB"),
            ):
                series = {label: _columns([(r["words"], r[name]) for r in rows]) for label, rows in found.items()}
                yield from self.lines(f"{fact}_{name}", series, title, "words", title.lower())

    def parameters(self) -> Iterator[Block]:
        """Trained parameters, in our size and the paper's."""
        counts = self.figures.parameters
        if counts and self.models:
            yield Text(
                "Millions of trained parameters above the encoder; in the paper's size, hidden 3000 and width 1024."
            )
            yield self.table(
                ["ours", "in the size of the paper", self.theirs],
                lambda model: (
                    [
                        *(_show(counts[model.name][size] / 1e6, ".2f") for size in ("ours", "paper_size")),
                        self.their(model, "million_parameters", ".2f"),
                    ]
                    if model.name in counts
                    else ["–", "–", self.their(model, "million_parameters", ".2f")]
                ),
            )

    def hyperparameters(self) -> Iterator[Block]:
        """The recipe, and what each model changes in it."""
        config = self.figures.folder / "config.toml"
        if config.exists():
            yield Text("The recipe as it was used, and what makes each model of it.")
            yield Code(config.read_text(encoding="utf-8"))
            yield Code("\n".join(f"{model.label}: {' '.join(model.settings)}" for model in self.models) or "–")

    def hours(self) -> Iterator[Block]:
        """Hours by kind of task."""
        names = {"encoder": "teaching the encoder", "runs": "training", "scores": "scoring", "facts": "measuring"}
        hours = self.figures.hours()
        rows = [(label, _show(hours[kind], ".2f")) for kind, label in names.items() if kind in hours]
        if rows:
            total = sum(hours.values())
            yield Table(("work", "hours"), (*rows, ("all of it", _show(total, ".2f"))))


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _gigabytes(measured: dict[str, float]) -> str:
    return _show(measured["megabytes"] / 1000, ".2f") if measured else "–"


def _commit() -> str:
    """The commit that this code is of, where it is run from a clone."""
    place = Path(longcoref.__file__).parent
    try:
        git = subprocess.run(
            ["git", "-C", str(place), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "installed without its history"
    return f"commit {git.stdout.strip()}"
