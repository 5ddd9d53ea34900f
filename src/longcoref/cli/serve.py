"""`longcoref serve`: start the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from longcoref.cli.options import (
    CellsOption,
    MemoryOption,
    ModelOption,
    PostProcessingOption,
    RecallOption,
    StyleOption,
    ThreadsOption,
)
from longcoref.resolver import load


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; by default only this machine can reach it.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Additional host name that the server answers to, or * for any. Repeatable."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token that requests must send; or set LONGCOREF_TOKEN.")
    ] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Let other machines in without a token.")] = False,
    model: ModelOption = None,
    memory: MemoryOption = None,
    cells: CellsOption = None,
    recall: RecallOption = None,
    post_processing: PostProcessingOption = "all",
    style: StyleOption = None,
    threads: ThreadsOption = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Maximum size of a request body.")] = 5_000_000,
    max_seconds: Annotated[
        float, typer.Option(min=0.001, help="Maximum time for a text to wait, and again to be resolved.")
    ] = 600,
    at_once: Annotated[int, typer.Option(min=1, help="Number of texts to resolve concurrently.")] = 8,
    queue: Annotated[int, typer.Option(min=0, help="Number of texts that may wait; more are refused.")] = 32,
    connections: Annotated[int, typer.Option(min=1, help="Maximum number of open connections.")] = 256,
    grace_seconds: Annotated[float, typer.Option(min=0, help="Time for requests to finish on shutdown.")] = 5,
    access_log: Annotated[
        bool, typer.Option("--access-log/--no-access-log", help="Log requests to standard output.")
    ] = True,
) -> None:
    """Serve a web page and an API. Stop with Ctrl-C.

    / is a page for pasting texts, /docs describes the API, /health and
    /metrics are for monitoring. To let other machines in, set a token:
    requests then need the header "Authorization: Bearer TOKEN".

    Examples:
      longcoref serve
      longcoref serve --port 9000 --cells 50 --max-bytes 10000000
      longcoref serve --host 0.0.0.0 --allow-host coref.example.org --token-file token.txt

    """
    from longcoref.server.access import access_to
    from longcoref.server.limits import Limits
    from longcoref.server.running import address_of, listen
    from longcoref.server.running import serve as run

    limits = Limits(
        max_bytes=max_bytes,
        max_seconds=max_seconds,
        at_once=at_once,
        queue=queue,
        connections=connections,
        grace_seconds=grace_seconds,
    )
    access = access_to(host, allowed_hosts=allow_host or (), token_file=token_file, no_token=no_token)
    with listen(host, port) as listening:
        resolver = load(
            model,
            memory=memory,
            cells=cells,
            recall=recall,
            threads=threads,
            post_processing=post_processing,
            style=style,
        )
        Console(stderr=True, highlight=False).print(
            f"longcoref: serving at {address_of(listening)} with model {resolver.model.name}; stop with Ctrl-C",
            soft_wrap=True,
        )
        run(resolver, listening, limits, access, access_log=access_log)
