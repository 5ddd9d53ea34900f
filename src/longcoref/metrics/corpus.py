"""Scores of annotated documents: each response document is compared with the key document of the same id and part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from longcoref.clusters import spans_of
from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.metrics.conll import DocumentCounts, Scores, count_document


@dataclass(frozen=True, slots=True)
class CorpusScores:
    """The scores of a corpus and of each of its documents, by id and part, in the key's order."""

    total: Scores
    documents: dict[tuple[str, int], Scores]

    def as_json(self, *, per_document: bool = False) -> dict[str, Any]:
        """The scores of the corpus in per cent and, if wanted, those of each document under `documents`."""
        result: dict[str, Any] = dict(self.total.as_json())
        if per_document:
            result["documents"] = [
                {"id": id, "part": part, **scores.as_json()} for (id, part), scores in self.documents.items()
            ]
        return result


def score_corpus(
    keys: Iterable[Document], responses: Iterable[Document], *, keep_singletons: bool = True
) -> CorpusScores:
    """Scores responses against keys; both sides must have the same documents, with as many words."""
    counts = {
        key.key: count_document(
            spans_of(key.clusters or ()), spans_of(response.clusters or ()), keep_singletons=keep_singletons
        )
        for key, response in pair_documents(keys, responses)
    }
    total = sum(counts.values(), DocumentCounts()).scores
    return CorpusScores(total, {name: count.scores for name, count in counts.items()})


def pair_documents(keys: Iterable[Document], responses: Iterable[Document]) -> Iterator[tuple[Document, Document]]:
    """Each key with the response of the same id and part, in the order of the keys.

    Both sides must have the same documents, with as many words. (The official scorer silently treats a missing
    response document as empty and ignores a document that the key lacks.)
    """
    key_documents, response_documents = _by_key("key", keys), _by_key("response", responses)
    _require_all("response", "key", key_documents, response_documents)
    _require_all("key", "response", response_documents, key_documents)
    for name, key in key_documents.items():
        response = response_documents[name]
        if len(key.words) != len(response.words):
            raise InputError(
                f"{_label(name)}: the key has {len(key.words)} words, the response {len(response.words)}; "
                "mentions are compared by word position, so give both the same words"
            )
        yield key, response


def _by_key(side: str, documents: Iterable[Document]) -> dict[tuple[str, int], Document]:
    """The documents by id and part; each only once, each annotated."""
    found: dict[tuple[str, int], Document] = {}
    for document in documents:
        if document.key in found:
            raise InputError(f"the {side} has {_label(document.key)} twice")
        if document.clusters is None:
            raise InputError(f"the {side} has no coreference annotation for {_label(document.key)}")
        found[document.key] = document
    return found


def _require_all(
    side: str, other: str, wanted: dict[tuple[str, int], Document], present: dict[tuple[str, int], Document]
) -> None:
    missing = [name for name in wanted if name not in present]
    if missing:
        some = ", ".join(map(_label, missing[:3])) + (", …" if len(missing) > 3 else "")
        raise InputError(
            f"the {side} lacks {len(missing)} of the {other}'s {len(wanted)} documents ({some}); "
            "documents are matched by id and part"
        )


def _label(name: tuple[str, int]) -> str:
    return f"{name[0]} part {name[1]}"
