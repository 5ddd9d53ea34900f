"""`longcoref serve`: a page to paste texts into, and an API."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from longcoref.cli.options import capacity_of
from longcoref.resolver import load


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at; by default only this machine reaches it.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")] = 8000,
    model: Annotated[str | None, typer.Option(help="Model directory or name; the shipped one if not given.")] = None,
    memory: Annotated[str, typer.Option(help="learned, rule, unbounded or track-all, where a request says none.")] = (
        "learned"
    ),
    cells: Annotated[
        int | None, typer.Option(min=1, help="Entities in a learned or rule memory at once; 20 if not given.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Windows encoded at once; all processors if not given.")
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Size of a request.")] = 2_000_000,
    max_seconds: Annotated[float, typer.Option(min=0.001, help="Time that a text may be read, or wait for it.")] = 600,
    at_once: Annotated[int, typer.Option(min=1, help="Texts that are read at once, taking turns.")] = 8,
    queue: Annotated[int, typer.Option(min=0, help="Texts that may wait; whoever comes then is refused.")] = 32,
) -> None:
    """Serve a page to read texts on, and an API, until Ctrl-C.

    / is the page, /docs describes the API, /health and /metrics are for those who watch over it.

    Examples:
      longcoref serve
      longcoref serve --port 9000 --cells 50 --max-bytes 5000000
      longcoref serve --host 0.0.0.0 --at-once 4 --queue 16 --max-seconds 60

    """
    from longcoref.server.limits import Limits
    from longcoref.server.running import address_of, listen
    from longcoref.server.running import serve as run

    limits = Limits(max_bytes=max_bytes, max_seconds=max_seconds, at_once=at_once, queue=queue)
    with listen(host, port) as listening:
        resolver = load(model, memory=memory, cells=capacity_of(memory, cells, 20), threads=threads)
        Console(stderr=True, highlight=False).print(
            f"longcoref: {address_of(listening)} (model {resolver.model.name}); Ctrl-C ends it", soft_wrap=True
        )
        run(resolver, listening, limits)
