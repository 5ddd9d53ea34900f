"""The train, dev and test documents that a config names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from longcoref.clusters import without_singletons
from longcoref.config import DataConfig, ExtraConfig
from longcoref.document import Document
from longcoref.errors import ConfigError
from longcoref.formats.corpus import read_corpus


def find_data(path: str) -> Path:
    """A corpus by its path: as it is, or in the folder LONGCOREF_DATA."""
    places = [Path(path)]
    if "LONGCOREF_DATA" in os.environ:
        places.append(Path(os.environ["LONGCOREF_DATA"]) / path)
    for place in places:
        if place.exists():
            return place
    raise ConfigError(
        f"there is no corpus at {' nor at '.join(map(str, places))}: set LONGCOREF_DATA to the folder that holds it, "
        "or give --set data.path=FOLDER"
    )


def read_part(config: DataConfig, part: str) -> list[Document]:
    """The documents of train, dev or test, in the order of the corpus."""
    types = find_data(config.types) if config.types else None
    own: str | None = getattr(config, part)
    if own is not None:
        return _in_style(read_corpus(find_data(own), format=config.format, types=types), config.style)
    if not config.path:
        raise ConfigError(f"the config names no {part} documents: give data.path, or data.{part}")
    found = read_corpus(find_data(config.path), format=config.format, fold=config.fold, part=part, types=types)
    return _in_style(found, config.style)


def read_extra(config: ExtraConfig, part: str) -> list[Document]:
    """The train or dev documents of a further corpus; none if it has no such part."""
    path: str | None = getattr(config, part)
    if path is None:
        return []
    documents = _in_style(read_corpus(find_data(path), format=config.format), config.style)
    if config.keep_singletons:
        return documents
    return [document.with_clusters(without_singletons(document.clusters or ())) for document in documents]


def _in_style(documents: Iterable[Document], style: str | None) -> list[Document]:
    return [document if style is None else replace(document, genre=style) for document in documents]
