"""`longcoref convert`: convert documents between file formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from longcoref.cli.options import FoldOption, FromOption, PartOption, TypesDataOption
from longcoref.document import Document
from longcoref.formats import FORMATS, format_to_write, left_out, read_corpus, write_corpus, write_stream


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="File, folder, or - for standard input.", show_default=False)
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="File, folder (with a trailing /) for one file per document, or - for standard output.",
            show_default=False,
        ),
    ],
    source_format: FromOption = None,
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"Output format: {', '.join(FORMATS)}; chosen by the extension of OUT by default.",
            autocompletion=lambda: list(FORMATS),
        ),
    ] = None,
    fold: FoldOption = None,
    part: PartOption = None,
    types_data: TypesDataOption = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Drop unbalanced brackets with a warning instead of failing.")
    ] = False,
) -> None:
    """Convert documents between file formats.

    Examples:
      longcoref convert story.json story.conll
      longcoref convert lrec2020-coref dev.jsonlines --fold 0 --part dev
      longcoref convert corrected.json - --to corefud
      cat story.json | longcoref convert - story.conllu

    """
    chosen = format_to_write(target, target_format).name
    documents = read_corpus(source, format=source_format, fold=fold, part=part, types=types_data, lenient=lenient)
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
        typer.echo(f"longcoref: {chosen} cannot represent {', '.join(sorted(lost))}: dropped", err=True)
