"""`longcoref convert IN OUT`: documents from one file format to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from longcoref.document import Document
from longcoref.formats import FORMATS, format_to_write, left_out, read_corpus, write_corpus, write_stream

_FORMATS = "One of " + ", ".join(FORMATS) + "."


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, a folder, or - for standard input.")],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help="A file, a folder (ending in /) for a file per document, or - for output."),
    ],
    source_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help=f"{_FORMATS} By default told from the content.")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help=f"{_FORMATS} By default told from the name of OUT.")
    ] = None,
    fold: Annotated[int | None, typer.Option(help="LitBank's fold, 0 to 9.")] = None,
    part: Annotated[str | None, typer.Option(help="train, dev or test (OntoGUM also test2).")] = None,
    types: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A clone of litbank, for LitBank's entity types and kinds.")
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave out brackets that do not balance, with a warning.")
    ] = False,
) -> None:
    """Convert documents from one file format to another.

    Examples:
      longcoref convert story.json story.conll
      longcoref convert lrec2020-coref dev.jsonlines --fold 0 --part dev
      longcoref convert corrected.json - --to corefud
      cat story.json | longcoref convert - story.conllu

    """
    chosen = format_to_write(target, target_format).name
    documents = read_corpus(source, format=source_format, fold=fold, part=part, types=types, lenient=lenient)
    lost: set[str] = set()

    def watched() -> Iterator[Document]:
        for document in documents:
            lost.update(left_out(document, chosen))
            yield document

    if target == "-":
        write_stream(watched(), typer.get_text_stream("stdout", encoding="utf-8"), chosen)
    else:
        write_corpus(watched(), target, format=chosen)
    if lost:
        typer.echo(f"longcoref: {chosen} has no place for {', '.join(sorted(lost))}: left out", err=True)
