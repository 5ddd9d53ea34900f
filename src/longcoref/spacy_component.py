"""The spaCy component `longcoref`: who is who, inside any pipeline.

nlp = spacy.blank("en")
nlp.add_pipe("longcoref")
doc = nlp("Mr. Hale sold the mill. He had never liked it.")
doc.spans["coref_clusters_1"], doc._.coref

The tokens are taken as they are, and the sentences where they are set. Clusters are written as span groups, numbered
from 1 as spacy-experimental does; a group's `attrs` have what a span has no place for, so that all of it goes where the
Doc goes: to disk, into a DocBin, to another process. `doc._.coref` is the `Result`, read off the groups.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from longcoref.document import Document
from longcoref.errors import InputError
from longcoref.files import atomic_bytes
from longcoref.mention import MentionRecord
from longcoref.resolver import Resolver, load
from longcoref.result import Result, ResultCluster, annotation
from longcoref.runtime.model import find_model, shipped_models
from longcoref.spans import CharSpan, WordSpan
from longcoref.text.of_words import split_words_into_sentences

PREFIX = "coref_clusters_"
_MODEL_FOLDER = "model"


def make_longcoref(
    nlp: Language,
    name: str,
    model: str | None,
    memory: str,
    cells: int | None,
    threads: int | None,
    types: list[str] | None,
    min_mentions: int,
) -> LongcorefComponent:
    """The component, with the settings of `longcoref.load` and the filters of `Result.select`."""
    return LongcorefComponent(
        name, model=model, memory=memory, cells=cells, threads=threads, types=types, min_mentions=min_mentions
    )


Language.factory(
    "longcoref",
    assigns=["doc.spans", "doc._.coref"],
    default_config={"model": None, "memory": "learned", "cells": 20, "threads": None, "types": None, "min_mentions": 1},
    func=make_longcoref,
)


class LongcorefComponent:
    """Finds who is who in Docs. The model is opened when the first Doc comes, once in every process.

    spaCy itself turns this into batches and processes: each Doc is read alone, so that its result depends on nothing
    else.
    """

    def __init__(
        self,
        name: str = "longcoref",
        *,
        model: str | None = None,
        memory: str = "learned",
        cells: int | None = 20,
        threads: int | None = None,
        types: Collection[str] | None = None,
        min_mentions: int = 1,
    ) -> None:
        self.name = name
        self._model = model
        self._settings: dict[str, Any] = {"memory": memory, "cells": cells, "threads": threads}
        self._filters: dict[str, Any] = {"types": types, "min_mentions": min_mentions}
        self._opened: tuple[int, Resolver] | None = None
        if not Doc.has_extension("coref"):
            Doc.set_extension("coref", getter=result_of)

    @property
    def resolver(self) -> Resolver:
        """The resolver of this process: a forked one has the encoder of its parent, but not its threads."""
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), load(self._model, **self._settings)
        return self._opened[1]

    def __call__(self, doc: Doc) -> Doc:
        """Adds the clusters to a Doc."""
        self.set_annotations([doc], self.predict([doc]))
        return doc

    def predict(self, docs: Iterable[Doc]) -> list[Result]:
        """The results of some Docs, which stay as they are."""
        return [self.resolver.document(_document(doc)).select(**self._filters) for doc in docs]

    def set_annotations(self, docs: Iterable[Doc], results: Iterable[Result]) -> None:
        """Writes results into the span groups of their Docs; groups of an earlier run are replaced."""
        for doc, result in zip(docs, results, strict=True):
            for key in [key for key in doc.spans if key.startswith(PREFIX)]:
                del doc.spans[key]
            tokens = _tokens(doc)
            about = {"model": result.model, "memory": result.memory, "capacity": result.capacity}
            for number, cluster in enumerate(result, 1):
                key = f"{PREFIX}{number}"
                spans = [doc[tokens[m.words.start] : tokens[m.words.end - 1] + 1] for m in cluster]
                attrs: dict[str, Any] = {"id": cluster.id, "name": cluster.name, "type": cluster.type, **about}
                for label in ("kind", "type", "score"):
                    attrs[f"{label}s"] = [getattr(mention, label) for mention in cluster]
                doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the model into a folder, so that the pipeline can move; a shipped model is only named."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self._model_files().items():
            (folder / _MODEL_FOLDER).mkdir(exist_ok=True)
            with atomic_bytes(folder / _MODEL_FOLDER / name) as stream:
                stream.write(content)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> LongcorefComponent:
        """Takes the model from a folder that `to_disk` wrote."""
        folder = Path(path) / _MODEL_FOLDER
        if folder.is_dir():
            self._model, self._opened = str(folder), None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model as bytes; nothing but its name where it is a shipped one."""
        content: bytes = srsly.msgpack_dumps(self._model_files())
        return content

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> LongcorefComponent:
        """Takes the model from what `to_bytes` gave."""
        files: dict[str, bytes] = srsly.msgpack_loads(data)
        if files:
            folder = tempfile.mkdtemp(prefix="longcoref-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            for name, content in files.items():
                if Path(name).name != name:
                    raise InputError(f"expected the files of a model directory, got one called {name[:60]!r}")
                (Path(folder) / name).write_bytes(content)
            self._model, self._opened = folder, None
        return self

    def _model_files(self) -> dict[str, bytes]:
        """The content of the model directory, unless every longcoref has it."""
        if self._model is None or self._model in shipped_models():
            return {}
        return {file.name: file.read_bytes() for file in sorted(find_model(self._model).iterdir()) if file.is_file()}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is open: a process that takes the component over opens the model itself."""
        return {**self.__dict__, "_opened": None}


def result_of(doc: Doc) -> Result:
    """The result that stands in the span groups of a Doc; empty where the component has not run.

    It is made anew each time: keep it in a variable.
    """
    tokens = {token: word for word, token in enumerate(_tokens(doc))}
    document = _document(doc)
    clusters = []
    about: dict[str, Any] = {"model": "", "memory": "", "capacity": None}
    for key, group in doc.spans.items():
        if not key.startswith(PREFIX):
            continue
        attrs = group.attrs
        about = {name: attrs[name] for name in about}
        labels = zip(attrs["kinds"], attrs["types"], attrs["scores"], strict=True)
        mentions = []
        for span, (kind, type, score) in zip(group, labels, strict=True):
            words = WordSpan(tokens[span.start], tokens[span.end - 1] + 1)
            record = MentionRecord.of(document, words, kind=kind, type=type, entity=attrs["id"], score=score)
            mentions.append(record)
        clusters.append(ResultCluster(attrs["id"], attrs["name"], attrs["type"], tuple(mentions)))
    return Result(tuple(clusters), **about, document=document.with_clusters(annotation(clusters)))


def _tokens(doc: Doc) -> list[int]:
    """The tokens that are words; those of white space only are none."""
    return [token.i for token in doc if not token.is_space]


def _document(doc: Doc) -> Document:
    """The words of a Doc, with its sentences where these are set and ours elsewhere."""
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
