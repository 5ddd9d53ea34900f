"""The paper's tables and figures, each with our figures next to the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from longcoref.analysis.errors import ErrorType
from longcoref.analysis.plots import draw_entities, draw_lines
from reproduction.figures import Figures
from reproduction.models import MemoryModel
from reproduction.orderings import findings
from reproduction.page import Block, Figure, Table, Text, show

_METRICS = {"muc": "MUC", "b_cubed": "B³", "ceaf_e": "CEAF-e"}
Series = dict[str, tuple[list[float], list[float]]]


def line_figure(
    place: Path, name: str, series: Series, *, title: str, horizontal: str, vertical: str
) -> Iterator[Block]:
    """A figure of lines, where there are any."""
    if series:
        stem = place / "figures" / name
        draw_lines(series, stem, title=title, horizontal=horizontal, vertical=vertical, marked=True)
        yield Figure(f"figures/{name}.png", f"{title} over {horizontal}")


def columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Points as a series."""
    return [x for x, _ in points], [y for _, y in points]


class PaperTables:
    """A method for each table, which yields nothing without results. `place` is the folder of the report."""

    def __init__(self, figures: Figures, place: Path) -> None:
        self.figures, self.place = figures, place
        self.paper: dict[str, dict[str, Any]] = figures.paper["models"]
        self.models = figures.models()
        self.theirs = "the paper, OntoNotes" if figures.folder.name == "ontogum" else "the paper"

    def table(self, headings: Sequence[str], row: Callable[[MemoryModel], Sequence[str]]) -> Table:
        """A row for each model."""
        return Table(("model", *headings), tuple((model.label, *row(model)) for model in self.models))

    def their(self, model: MemoryModel, key: str, form: str = ".1f") -> str:
        """The paper's figure of a model."""
        return show(self.paper.get(model.name, {}).get(key), form)

    def beside(self, *headings: str) -> list[str]:
        """Each heading, followed by that of the paper's figure."""
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
                for text in (show(self.figures.f1(model.name, part)), self.their(model, part))
            ]

        yield self.table(self.beside("dev", "test"), row)
        folds = self.figures.folds()
        if len(folds) > 1:
            yield Text("Test by fold. Above, the documents of all folds are scored as one corpus, as in the paper.")
            yield self.table(
                [f"fold {fold}" for fold in folds],
                lambda model: [show(self.figures.f1(model.name, "test", folds=[fold])) for fold in folds],
            )
        series: Series = {}
        for policy, label in (("learned", "LB-MEM"), ("rule", "RB-MEM")):
            models = [model for model in self.models if model.policy == policy]
            ours = [(float(m.cells or 0), self.figures.f1(m.name, "test") or 0.0) for m in models]
            theirs = [(float(m.cells or 0), float(self.paper.get(m.name, {}).get("test", 0))) for m in models]
            if len(models) > 1:
                series |= {label: columns(ours), f"{label}, {self.theirs}": columns(theirs)}
        yield from line_figure(
            self.place, "capacity", series, title="CoNLL F1 on test", horizontal="cells", vertical="per cent"
        )

    def details(self) -> Iterator[Block]:
        """The three metrics of the average, one table each."""
        for metric, label in _METRICS.items():

            def row(model: MemoryModel, metric: str = metric) -> list[str]:
                scores, paper = self.figures.scores(model.name, "test"), self.paper.get(model.name, {}).get(metric)
                cells = []
                for place, part in enumerate(("precision", "recall", "f1")):
                    ours = None if scores is None else 100 * getattr(getattr(scores, metric), part)
                    cells += [show(ours), show(paper and paper[place])]
                return cells

            if self.models:
                yield self.table(self.beside(f"{label} precision", f"{label} recall", f"{label} F1"), row)

    def measures(self) -> Iterator[Block]:
        """Peak training memory, peak inference memory and inference time."""
        if not any(self.figures.measured("training", model.name) for model in self.models):
            return

        def row(model: MemoryModel) -> list[str]:
            training, inference = (self.figures.rows(f"{what}-{model.name}") for what in ("training", "inference"))
            return [
                _spread([each["megabytes"] / 1000 for each in training]),
                self.their(model, "training_gigabytes"),
                _spread([each["megabytes"] / 1000 for each in inference]),
                self.their(model, "inference_gigabytes"),
                _spread([each["seconds"] for each in inference]),
                self.their(model, "inference_seconds", ".2f"),
            ]

        first = self.figures.rows(f"training-{self.models[0].name}")
        setting = f"hidden {first[0]['hidden']}, documents of {first[0]['words']} words" if first else ""
        runs = max(int(self.figures.measured("training", model.name).get("runs", 0)) for model in self.models)
        yield Text(
            f"Means over {runs} fresh processes on one thread of a processor, and the least and the most of them; the "
            "paper's are of a GPU. Training "
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
            cells = ((show(use.get(name), form), self.their(model, name, form)) for name, form in names.items())
            return [text for pair in cells for text in pair]

        yield Text(
            "The most entities held at once in a dev document, on average and at worst; mentions ignored in one."
        )
        yield self.table(self.beside("average", "maximum", "ignored"), row)

    def errors(self) -> Iterator[Block]:
        """Errors by kind; the paper has none for LitBank, and no wrong spans."""
        if not self.models:
            return

        def row(model: MemoryModel) -> list[str]:
            return [str(count) for count in self.figures.errors(model.name).values()]

        def their_row(model: MemoryModel) -> list[str]:
            return [str(count) for count in self.paper.get(model.name, {}).get("errors", ["–"] * (len(ErrorType) - 1))]

        legend = ", ".join(f"{kind.initials} {kind.value}" for kind in ErrorType)
        yield Text(f"Kummerfeld and Klein's classification: {legend}. Heads are found from words.")
        initials = [kind.initials for kind in ErrorType]
        yield self.table(initials, row)
        if any("errors" in self.paper.get(model.name, {}) for model in self.models):
            yield Text("The paper's counts are of OntoNotes dev, 343 documents, with heads from parse trees.")
            yield self.table([f"{name}, {self.theirs}" for name in initials[:-1]], their_row)

    def correlation(self) -> Iterator[Block]:
        """Spearman's correlation on dev."""
        if not self.models:
            return

        def row(model: MemoryModel) -> list[str]:
            ours = self.figures.correlation(model.name)
            pairs = ((show(ours[name], ".2f"), self.their(model, name, ".2f")) for name in ("words", "gold_entities"))
            return [text for pair in pairs for text in pair]

        yield Text("Spearman's correlation of the F1 of a dev document with its length and its number of entities.")
        yield self.table(self.beside("length", "entities"), row)

    def genres(self) -> Iterator[Block]:
        """Test scores by genre, if there are genres."""
        found = {model.label: self.figures.genres(model.name, "test") for model in self.models}
        names = sorted({genre for genres in found.values() for genre in genres if genre})
        if names:
            first = next(iter(found.values()))
            rows = tuple(
                (genre, str(first[genre][0]), *(show(genres[genre][1]) for genres in found.values())) for genre in names
            )
            yield Table(("genre", "test documents", *found), rows)

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
                        *(show(counts[model.name][size] / 1e6, ".2f") for size in ("ours", "paper_size")),
                        self.their(model, "million_parameters", ".2f"),
                    ]
                    if model.name in counts
                    else ["–", "–", self.their(model, "million_parameters", ".2f")]
                ),
            )


def _spread(values: Sequence[float]) -> str:
    """The mean of some runs, and the least and the most of them."""
    return f"{mean(values):.2f} ({min(values):.2f}–{max(values):.2f})" if values else "–"
