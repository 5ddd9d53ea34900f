"""Every mention as a row of a table, with its exact offsets: for spreadsheets, R and pandas."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import IO

from longcoref.result import Result

COLUMNS = ("document", "start", "end", "sentence", "cluster", "name", "kind", "type", "score", "text")


def write_tsv(results: Iterable[Result], stream: IO[str]) -> None:
    """Writes one row per mention, in text order; white space in `text` becomes a blank, `start` and `end` are exact."""
    writer = csv.writer(stream, dialect="excel-tab", lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        for mention, cluster in result.mentions:
            place = (mention.start, mention.end, mention.sentence, cluster.id)
            labels = (" ".join(cluster.name.split()), mention.kind, mention.type or "", f"{mention.score:.4f}")
            writer.writerow((" ".join(result.id.split()), *place, *labels, " ".join(mention.text.split())))
