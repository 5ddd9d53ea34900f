"""The spaCy component `longcoref`: coreference resolution inside any pipeline.

nlp = spacy.blank("en")
nlp.add_pipe("longcoref")
doc = nlp("Mr. Hale sold the mill. He had never liked it.")
doc.spans["coref_clusters_1"], doc._.coref

It uses the tokens of the pipeline, and its sentences if set. Clusters are written as span groups, numbered from 1 as
in spacy-experimental, and quotations as the group `coref_quotes`. The `attrs` of a group hold everything that a span
cannot, so that all of it is saved with the Doc: to disk, in a DocBin, between processes. `doc._.coref` is the `Result`,
rebuilt from the groups.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.files import atomic_bytes
from longcoref.mention import MentionRecord
from longcoref.outcome import ResultCluster, annotation
from longcoref.resolver import Resolver, load
from longcoref.result import Result
from longcoref.runtime.model import find_model, shipped_models
from longcoref.spans import CharSpan, WordSpan
from longcoref.text.of_words import split_words_into_sentences
from longcoref.text.quotations import Quotation

PREFIX = "coref_clusters_"
QUOTES = "coref_quotes"
_MENTION_LABELS = ("kind", "type", "score")
_QUOTE_LABELS = tuple(field.name for field in fields(Quotation) if field.name not in ("words", "start", "end"))
_MODEL_FOLDER = "model"


def make_longcoref(
    nlp: Language,
    name: str,
    model: str | None,
    memory: str | None,
    cells: int | None,
    recall: bool | None,
    threads: int | None,
    post_processing: str,
    style: str | None,
    types: list[str] | None,
    min_mentions: int,
) -> LongcorefComponent:
    """The component, with the settings of `longcoref.load` and the filters of `Result.select`."""
    return LongcorefComponent(
        name,
        model=model,
        settings={
            "memory": memory,
            "cells": cells,
            "recall": recall,
            "threads": threads,
            "post_processing": post_processing,
            "style": style,
        },
        filters={"types": types, "min_mentions": min_mentions},
    )


Language.factory(
    "longcoref",
    assigns=["doc.spans", "doc._.coref", "doc._.coref_clusters", "doc._.resolved_text"],
    default_config={
        "model": None,
        "memory": None,
        "cells": None,
        "recall": None,
        "threads": None,
        "post_processing": "all",
        "style": None,
        "types": None,
        "min_mentions": 1,
    },
    func=make_longcoref,
)


_ABOUT: dict[str, Any] = {"model": "", "memory": "", "capacity": None, "narrator": None}
"""What a group stores about the whole result, and the values if no group does."""


class LongcorefComponent:
    """Resolves coreference in Docs. The model is opened for the first Doc, once in each process.

    `settings` are the keyword arguments of `longcoref.load`, `filters` those of `Result.select`. spaCy handles batches
    and processes: each Doc is read alone, so its result depends on nothing else.
    """

    def __init__(
        self, name: str, *, model: str | None, settings: Mapping[str, Any], filters: Mapping[str, Any]
    ) -> None:
        self.name = name
        self._model = model
        self._settings, self._filters = dict(settings), dict(filters)
        self._opened: tuple[int, Resolver] | None = None
        for extension, getter in _EXTENSIONS.items():
            if not Doc.has_extension(extension):
                Doc.set_extension(extension, getter=getter)

    @property
    def resolver(self) -> Resolver:
        """The resolver of this process: a forked process has the encoder of its parent, but not its threads."""
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), load(self._model, **self._settings)
        return self._opened[1]

    def __call__(self, doc: Doc) -> Doc:
        """Adds the clusters to a Doc."""
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def predict(self, docs: Iterable[Doc]) -> list[Result]:
        """The results of some Docs, which are not changed."""
        return [self.resolver.document(_document(doc)).select(**self._filters) for doc in docs]

    def set_annotations(self, docs: Iterable[Doc], results: Iterable[Result]) -> None:
        """Writes results to the span groups of their Docs, in place of the groups of an earlier run."""
        for doc, result in zip(docs, results, strict=True):
            for key in [key for key in doc.spans if key == QUOTES or key.startswith(PREFIX)]:
                del doc.spans[key]
            tokens = _tokens(doc)
            about = {name: getattr(result, name) for name in _ABOUT}
            for number, cluster in enumerate(result, 1):
                own = {"id": cluster.id, "name": cluster.name, "type": cluster.type, **about}
                _write_group(doc, tokens, f"{PREFIX}{number}", cluster.mentions, _MENTION_LABELS, own)
            if result.quotes:
                _write_group(doc, tokens, QUOTES, result.quotes, _QUOTE_LABELS, about)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the model to a folder, so that the pipeline can be moved; a shipped model is not written."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self._model_files().items():
            (folder / _MODEL_FOLDER).mkdir(exist_ok=True)
            with atomic_bytes(folder / _MODEL_FOLDER / name) as stream:
                stream.write(content)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> LongcorefComponent:
        """Takes the model from a folder written by `to_disk`."""
        folder = Path(path) / _MODEL_FOLDER
        if folder.is_dir():
            self._model, self._opened = str(folder), None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model as bytes; empty for a shipped model."""
        content: bytes = srsly.msgpack_dumps(self._model_files())
        return content

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> LongcorefComponent:
        """Takes the model from the bytes of `to_bytes`."""
        files: dict[str, bytes] = srsly.msgpack_loads(data)
        if files:
            folder = tempfile.mkdtemp(prefix="longcoref-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, content in files.items():
                if Path(name).name != name:
                    raise InputError(f"expected the files of a model directory, got one named {name[:60]!r}")
                (Path(folder) / name).write_bytes(content)
            self._model, self._opened = folder, None
        return self

    def _model_files(self) -> dict[str, bytes]:
        """The content of the model directory, unless the model ships with the package."""
        if self._model is None or self._model in shipped_models():
            return {}
        return {file.name: file.read_bytes() for file in sorted(find_model(self._model).iterdir()) if file.is_file()}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the open model: the process that unpickles the component opens its own."""
        return {**self.__dict__, "_opened": None}


def result_of(doc: Doc) -> Result:
    """The result in the span groups of a Doc; empty if the component has not run.

    It is rebuilt on each access: keep it in a variable.
    """
    document = _document(doc)
    words_of = {token: word for word, token in enumerate(_tokens(doc))}
    clusters, quotes = [], []
    about = dict(_ABOUT)
    for key, group in doc.spans.items():
        if key != QUOTES and not key.startswith(PREFIX):
            continue
        attrs = group.attrs
        about = {name: attrs.get(name, default) for name, default in _ABOUT.items()}
        if key == QUOTES:
            for words, labels in _read_group(words_of, group, _QUOTE_LABELS):
                quotes.append(replace(Quotation.of(document, words), **labels))
            continue
        mentions = tuple(
            MentionRecord.of(document, words, entity=attrs["id"], **labels)
            for words, labels in _read_group(words_of, group, _MENTION_LABELS)
        )
        clusters.append(ResultCluster(attrs["id"], attrs["name"], attrs["type"], mentions))
    annotated = document.with_clusters(annotation(clusters))
    return Result(tuple(clusters), **about, document=annotated, quotes=tuple(quotes))


_EXTENSIONS: dict[str, Callable[[Doc], Any]] = {
    "coref": result_of,
    "coref_clusters": lambda doc: result_of(doc).get_clusters(as_strings=False),
    "resolved_text": lambda doc: result_of(doc).resolved_text(),
}
"""The attributes `doc._.…`; those after the first are named and shaped as fastcoref's."""


def _write_group(
    doc: Doc,
    tokens: Sequence[int],
    key: str,
    items: Sequence[MentionRecord | Quotation],
    labels: Iterable[str],
    attrs: Mapping[str, Any],
) -> None:
    """Writes items as a span group, with a list in its `attrs` for each of their labels."""
    spans = [doc[tokens[item.words.start] : tokens[item.words.end - 1] + 1] for item in items]
    lists = {f"{label}s": [getattr(item, label) for item in items] for label in labels}
    doc.spans[key] = SpanGroup(doc, name=key, attrs={**attrs, **lists}, spans=spans)


def _read_group(
    words_of: Mapping[int, int], group: SpanGroup, labels: Sequence[str]
) -> Iterator[tuple[WordSpan, dict[str, Any]]]:
    """The items of a span group as their words and labels."""
    for span, *values in zip(group, *(group.attrs[f"{label}s"] for label in labels), strict=True):
        yield WordSpan(words_of[span.start], words_of[span.end - 1] + 1), dict(zip(labels, values, strict=True))


def _tokens(doc: Doc) -> list[int]:
    """The tokens that are words; tokens of white space are not."""
    return [token.i for token in doc if not token.is_space]


def _document(doc: Doc) -> Document:
    """The words of a Doc, with its sentences if they are set, and ours otherwise."""
    kept = _tokens(doc)
    words = tuple(doc[index].text for index in kept)
    offsets = tuple(CharSpan(doc[index].idx, doc[index].idx + len(doc[index])) for index in kept)
    if doc.has_annotation("SENT_START"):
        lengths = [sum(not token.is_space for token in sentence) for sentence in doc.sents]
    else:
        lengths = [len(sentence) for sentence in split_words_into_sentences(words)]
    sentences, end = [], 0
    for length in filter(None, lengths):
        sentences.append(WordSpan(end, end + length))
        end += length
    return Document(id="", text=doc.text, words=words, offsets=offsets, sentences=tuple(sentences))
