"""Builds a `Document` from parsed pieces: shared by all readers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from longcoref.clusters import Cluster
from longcoref.document import Document, document_of_words
from longcoref.errors import DocumentError
from longcoref.formats.source import Source

# Ids that contain a genre: OntoNotes (bc/cctv/00/cctv_0000), GUM and GENTLE (GUM_fiction_beast).
# For another corpus with such ids, add a pattern whose only group is the genre.
GENRE_IN_ID = (re.compile(r"([a-z]{2})/"), re.compile(r"(?:GUM|GENTLE)_([a-z]+)_"))

# The part at the end of a document key (bc/cctv/00/cctv_0000_2); 0001 is not a part but the end of a name.
_PART_IN_KEY = re.compile(r"(.+)_(0|[1-9][0-9]{0,8})", re.DOTALL)


def genre_of(id: str) -> str | None:
    """The genre in a document's id, if it contains one."""
    for pattern in GENRE_IN_ID:
        if found := pattern.match(id):
            return found[1]
    return None


def key_of(document: Document) -> str:
    """Id and part in one string, as in the files of the coreference literature: `parse_key` reads it back.

    A part of 0 is omitted if the key stays unambiguous; OntoNotes keys always have a part.
    """
    id, part = document.key
    named = part or id[2:3] == "/" or _PART_IN_KEY.fullmatch(id)
    return f"{id}_{part}" if named else id


def parse_key(key: str) -> tuple[str, int]:
    """Id and part of a document key."""
    found = _PART_IN_KEY.fullmatch(key)
    return (found[1], int(found[2])) if found else (key, 0)


def in_text_order(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """Sorts clusters by first mention and their mentions by position. Nothing is merged or dropped."""
    arranged = (
        replace(cluster, mentions=tuple(sorted(cluster.mentions, key=lambda m: (m.span, m.kind or "", m.type or ""))))
        for cluster in clusters
    )
    return tuple(sorted(arranged, key=lambda cluster: (cluster.spans, cluster.id or "")))


def build_document(
    source: Source,
    line: int,
    *,
    id: str,
    part: int = 0,
    sentences: Iterable[Sequence[str]],
    speakers: Sequence[str | None] | None = None,
    clusters: Iterable[Cluster] | None = None,
) -> Document:
    """A document from words; a contradiction becomes an error at `line`."""
    try:
        return document_of_words(
            id,
            sentences,
            part=part,
            genre=genre_of(id),
            speakers=speakers if speakers is not None and any(speakers) else None,
            clusters=None if clusters is None else in_text_order(clusters),
        )
    except DocumentError as error:
        raise source.error(str(error), line) from error
