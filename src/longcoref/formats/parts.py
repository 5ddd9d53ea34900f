"""The train, dev and test documents that a config names."""

from __future__ import annotations

import os
from pathlib import Path

from longcoref.config import DataConfig
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
    types = None if config.types is None else find_data(config.types)
    own: str | None = getattr(config, part)
    if own is not None:
        return list(read_corpus(find_data(own), format=config.format, types=types))
    if not config.path:
        raise ConfigError(f"the config names no {part} documents: give data.path, or data.{part}")
    return list(read_corpus(find_data(config.path), format=config.format, fold=config.fold, part=part, types=types))
