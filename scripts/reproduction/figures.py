"""The figures of a reproduction, computed from the records of its tasks only."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from statistics import mean
from typing import Any

from longcoref.analysis.entities import CorpusEntities, DocumentEntities
from longcoref.analysis.errors import ErrorType, analyze_errors
from longcoref.analysis.records import correlations, memory_use, read_records
from longcoref.clusters import spans_of
from longcoref.document import Document
from longcoref.formats import read_corpus
from longcoref.metrics import Scores, score_documents
from longcoref.metrics.corpus import pair_documents
from reproduction.models import MemoryModel, memory_model

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_POLICIES = ("unbounded", "track-all", "learned", "rule")


def paper_figures(corpus: str) -> dict[str, Any]:
    """The paper's figures for a corpus; OntoGUM stands in for OntoNotes."""
    table = tomllib.loads((files(__package__) / "paper.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = table["litbank" if corpus == "litbank" else "ontonotes"]
    return found


@dataclass(frozen=True, slots=True)
class Scored:
    """One model of one variant on one fold, with the folder of its responses."""

    variant: str
    fold: int | None
    model: MemoryModel
    folder: Path
    keep_singletons: bool

    def documents(self, part: str, side: str) -> list[Document]:
        """The keys or the responses of dev or test."""
        return list(read_corpus(self.folder / f"{part}.{side}.jsonl", format="jsonl"))


class Figures:
    """All results for a corpus so far. Missing ones are None or empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paper = paper_figures(folder.name)
        self._scores: dict[tuple[str, str, str, tuple[int | None, ...] | None], Scores | None] = {}
        self._errors: dict[tuple[str, str], dict[str, int]] = {}

    @cached_property
    def scored(self) -> list[Scored]:
        """All scored models, in the order of the paper's tables."""
        found = []
        for path in sorted(self.folder.glob("scores/*/scores.json")):
            facts = json.loads(path.read_text(encoding="utf-8"))
            model = memory_model(facts["model"])
            found.append(Scored(facts["variant"], facts["fold"], model, path.parent, facts["keep_singletons"]))
        return sorted(found, key=lambda each: (*_order(each.model), -1 if each.fold is None else each.fold))

    def models(self, variant: str = "taught") -> list[MemoryModel]:
        """The models of a variant that have scores."""
        return list({each.model.name: each.model for each in self.scored if each.variant == variant}.values())

    def folds(self, variant: str = "taught") -> list[int | None]:
        """The folds of a variant that have scores."""
        return sorted({each.fold for each in self.scored if each.variant == variant}, key=lambda fold: fold or 0)

    def select(self, variant: str, model: str, folds: Sequence[int | None] | None = None) -> list[Scored]:
        """The scored runs of a model, on some folds or all."""
        return [
            each
            for each in self.scored
            if each.variant == variant and each.model.name == model and (folds is None or each.fold in folds)
        ]

    def scores(
        self, model: str, part: str, variant: str = "taught", folds: Sequence[int | None] | None = None
    ) -> Scores | None:
        """The documents of all folds scored as one corpus."""
        key = (model, part, variant, None if folds is None else tuple(folds))
        if key not in self._scores:
            found = self.select(variant, model, folds)
            pairs = (
                (spans_of(gold.clusters or ()), spans_of(response.clusters or ()))
                for each in found
                for gold, response in pair_documents(each.documents(part, "key"), each.documents(part, "response"))
            )
            kept = all(each.keep_singletons for each in found)
            self._scores[key] = score_documents(pairs, keep_singletons=kept) if found else None
        return self._scores[key]

    def f1(
        self, model: str, part: str, variant: str = "taught", folds: Sequence[int | None] | None = None
    ) -> float | None:
        """CoNLL F1 in per cent."""
        scores = self.scores(model, part, variant, folds)
        return None if scores is None else 100 * scores.conll_f1

    def records(self, model: str, part: str, variant: str = "taught") -> list[dict[str, Any]]:
        """The records of a model's documents."""
        places = (each.folder / f"{part}.records.jsonl" for each in self.select(variant, model))
        return [record for place in places for record in read_records(place)]

    def use(self, model: str, part: str = "dev") -> dict[str, float]:
        """Entities in memory and mentions ignored; empty if nothing was scored."""
        records = self.records(model, part)
        return memory_use(records) if records else {}

    def correlation(self, model: str, part: str = "dev") -> dict[str, float | None]:
        """Spearman's correlation of document F1 with length and number of entities."""
        records = self.records(model, part)
        return correlations(records) if records else {}

    def errors(self, model: str, part: str = "dev") -> dict[str, int]:
        """The errors of a model, by kind."""
        if (model, part) not in self._errors:
            total = {kind.value: 0 for kind in ErrorType}
            for each in self.select("taught", model):
                sides = (each.documents(part, side) for side in ("key", "response"))
                for name, count in analyze_errors(*sides, keep_singletons=each.keep_singletons).counts.items():
                    total[name] += count
            self._errors[model, part] = total
        return self._errors[model, part]

    def genres(self, model: str, part: str) -> dict[str, tuple[int, float]]:
        """For each genre, its documents and their CoNLL F1."""
        pairs: dict[str, list[tuple[Any, Any]]] = {}
        kept = True
        for each in self.select("taught", model):
            kept = each.keep_singletons
            for gold, response in pair_documents(each.documents(part, "key"), each.documents(part, "response")):
                sides = (spans_of(gold.clusters or ()), spans_of(response.clusters or ()))
                pairs.setdefault(gold.genre or "", []).append(sides)
        return {
            genre: (len(own), 100 * score_documents(own, keep_singletons=kept).conll_f1)
            for genre, own in sorted(pairs.items())
        }

    @cached_property
    def entities(self) -> CorpusEntities | None:
        """The corpus's entity counts."""
        rows = self._fact("entities/entities.json")
        if rows is None:
            return None
        return CorpusEntities(tuple(DocumentEntities(**{**row, "spreads": tuple(row["spreads"])}) for row in rows))

    @cached_property
    def parameters(self) -> dict[str, dict[str, int]]:
        """The number of trained parameters of each model, in our size and the paper's."""
        return self._fact("parameters/parameters.json") or {}

    def measured(self, what: str, model: str) -> dict[str, float]:
        """The means over all measurements of training or inference; `runs` is their number."""
        rows = self.rows(f"{what}-{model}")
        if not rows:
            return {}
        return {name: mean(row[name] for row in rows) for name in ("seconds", "megabytes")} | {"runs": len(rows)}

    def rows(self, fact: str) -> list[dict[str, Any]]:
        """The measurements of a stage, in the order of what grows."""
        paths = (path for path in (self.folder / "facts" / fact).glob("*.json") if path.stem.isdecimal())
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(paths, key=lambda path: int(path.stem))]

    def _fact(self, path: str) -> Any:
        place = self.folder / "facts" / path
        return json.loads(place.read_text(encoding="utf-8")) if place.exists() else None

    def hours(self) -> dict[str, float]:
        """The time of the tasks so far, by kind of work, including the training of the encoder."""
        groups: dict[str, float] = {}
        for path in [*self.folder.parent.glob("encoder/attempts.jsonl"), *self.folder.rglob("attempts.jsonl")]:
            kind = path.parent.name if path.parent.name == "encoder" else path.parent.parent.name
            lines = path.read_text(encoding="utf-8").splitlines()
            groups[kind] = groups.get(kind, 0) + sum(json.loads(line)["seconds"] for line in lines) / 3600
        return groups


def _order(model: MemoryModel) -> tuple[int, int]:
    return _POLICIES.index(model.policy), model.cells or 0
