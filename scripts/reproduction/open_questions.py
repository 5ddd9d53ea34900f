"""Experiments that the paper does not have: the second step, the encoder, the entity, the capacities, the length."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproduction.figures import Figures
from reproduction.page import Block, Table, Text, show
from reproduction.paper_tables import columns, line_figure

_ENCODERS = {
    "taught": "taught coreference on another corpus, then frozen",
    "frozen": "frozen from the start",
    "finetuned": "fine-tuned on the fold itself, half as many epochs",
}
_ENTITIES = {"taught": "mean of the mentions", "weighted": "learned weights, from each mention alone"}


class OpenQuestions:
    """A method for each question, which yields nothing without results. `place` is the folder of the report."""

    def __init__(self, figures: Figures, place: Path) -> None:
        self.figures, self.place = figures, place
        self.models = figures.models()

    def variants(self, labels: dict[str, str]) -> Iterator[Block]:
        """One model trained in several ways, on the folds that they have in common."""
        scored = [each for each in self.figures.scored if each.variant in labels]
        names = {each.model.name for each in scored if each.variant != "taught"}
        rows = []
        for variant, label in labels.items():
            for each in scored:
                if each.variant == variant and each.model.name in names and each.fold == self.figures.folds(variant)[0]:
                    values = (self.figures.f1(each.model.name, part, variant, [each.fold]) for part in ("dev", "test"))
                    rows.append(
                        (label, each.model.label, "–" if each.fold is None else str(each.fold), *map(show, values))
                    )
        if names:
            yield Table(("variant", "model", "fold", "dev", "test"), tuple(rows))

    def encoder(self) -> Iterator[Block]:
        """Fine-tuned against frozen."""
        return self.variants(_ENCODERS)

    def entity(self) -> Iterator[Block]:
        """A weighted mean against the plain one."""
        return self.variants(_ENTITIES)

    def capacities(self) -> Iterator[Block]:
        """One model for all capacities against one for each, on the same fold."""
        return self.beside("shared", "one for all", "a model for each")

    def options(self) -> Iterator[Block]:
        """Validity and eviction, joint or staged, on the same fold."""
        return self.beside("flat", "at once, as in the paper", "in turn")

    def beside(self, variant: str, label: str, own: str) -> Iterator[Block]:
        """All models of a variant compared with those of the recipe, on the variant's folds."""
        models, folds = self.figures.models(variant), self.figures.folds(variant)
        rows = []
        for model in models:
            pairs = (
                show(self.figures.f1(model.name, part, each, folds))
                for part in ("dev", "test")
                for each in ("taught", variant)
            )
            rows.append((model.label, *pairs))
        if models:
            headings = (f"{part}, {each}" for part in ("dev", "test") for each in (own, label))
            yield Table(("model", *headings), tuple(rows))

    def length(self) -> Iterator[Block]:
        """Joined documents and novels."""
        texts = {
            "joined": "The test documents, several joined into one; no entity of one appears in the next.",
            "novels": "Novels, joined and cut to a number of words; proposals by threshold, as in a stream.",
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
                    cells = [show(value, ".0f") for value in values]
                    lines.append((label, *cells, show(each["megabytes"], ".0f"), show(each.get("conll_f1"))))
            headings = ("model", "documents", "words", "most entities", "ignored", "seconds", "peak MB", "CoNLL F1")
            yield Table(headings, tuple(lines))
            for name, title in (
                ("max_entities", "Entities in memory"),
                ("seconds", "Seconds"),
                ("megabytes", "Peak MB"),
            ):
                series = {label: columns([(r["words"], r[name]) for r in rows]) for label, rows in found.items()}
                stem = f"{fact}_{name}"
                yield from line_figure(
                    self.place, stem, series, title=title, horizontal="words", vertical=title.lower()
                )
