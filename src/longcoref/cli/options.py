"""Options that several commands share, so that each has one spelling and one meaning."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from longcoref.book.revision import BOOK_POLICIES
from longcoref.errors import UsageError
from longcoref.formats import FORMATS
from longcoref.memory import POLICIES


class Singletons(str, Enum):
    """What to do with entities that have a single mention."""

    KEEP = "keep"
    DROP = "drop"


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model directory, or name of a shipped model; several, separated by commas, read with their mean scores.",
    ),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help=f"Kind of memory: {', '.join(POLICIES)}; the model's own by default.",
        autocompletion=lambda: list(POLICIES),
    ),
]
CellsOption = Annotated[
    int | None,
    typer.Option(
        "--cells",
        min=1,
        help="Number of entities that a learned or rule memory holds at once; the model's own by default.",
    ),
]
RecallOption = Annotated[
    bool | None,
    typer.Option(
        "--recall/--no-recall",
        help="Archive evicted entities, so that they can return to memory; the model's own setting by default.",
    ),
]
PostProcessingOption = Annotated[
    str,
    typer.Option(
        "--post-processing",
        help=f"Revise the clusters at the end of a text, using names and speakers: {', '.join(BOOK_POLICIES)}.",
        autocompletion=lambda: list(BOOK_POLICIES),
    ),
]
StyleOption = Annotated[
    str | None,
    typer.Option(
        "--style",
        help="Kind of text, for a model trained on several (see `longcoref info`); by default the first one.",
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Number of windows encoded in parallel; one per processor by default."),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the texts, such as cp1252; by default UTF-8, or by byte order mark.",
    ),
]
KeepAllOption = Annotated[
    bool, typer.Option("--keep-all", help="Also read Project Gutenberg's header and licence, which are left out.")
]
MinScoreOption = Annotated[
    float,
    typer.Option(
        "--min-score", min=0.0, max=1.0, help="In resolved text, replace only mentions of at least this probability."
    ),
]
MaxDistanceOption = Annotated[
    int | None,
    typer.Option(
        "--max-distance",
        min=0,
        help="In resolved text, replace only mentions at most this many words after the entity was last named.",
    ),
]
FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help=f"Input format: {', '.join(FORMATS)}; detected by default.",
        autocompletion=lambda: list(FORMATS),
    ),
]
FoldOption = Annotated[int | None, typer.Option("--fold", help="Fold of LitBank, 0 to 9.")]
PartOption = Annotated[
    str | None, typer.Option("--part", help="Part of the corpus: train, dev or test (OntoGUM also has test2).")
]
TypesDataOption = Annotated[
    Path | None,
    typer.Option("--types-data", metavar="DIR", help="Clone of litbank, for LitBank's entity types and mention kinds."),
]
SingletonsOption = Annotated[
    Singletons | None,
    typer.Option(
        "--singletons",
        help="Keep entities with a single mention (LitBank), or drop them from key and response (OntoNotes).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key, such as train.seed=3. Repeatable."),
]
FoldsOption = Annotated[str, typer.Option("--folds", help="Folds of LitBank, such as 0-9 or 0,3.")]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Tasks to run in parallel.")]
PlotsOption = Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Write figures to this folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]


def numbers_of(text: str) -> list[int]:
    """Numbers written as `0-2`, `0,3` or both."""
    numbers: list[int] = []
    for item in text.split(","):
        first, dash, last = item.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"expected numbers such as 0-2 or 0,3,5, got {text!r}")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def bytes_of(text: str) -> int:
    """A size such as 500MB, 1.5 GB or 2GiB, in bytes."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", text.strip(), flags=re.IGNORECASE)
    if found is None:
        raise UsageError(f"expected a size such as 500MB or 1.5GB, got {text!r}")
    power = ["", "k", "m", "g", "t"].index(found[2].lower())
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)
