"""The list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import longcoref


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"longcoref {longcoref.__version__}")
        raise typer.Exit


def build_app() -> typer.Typer:
    """The typer application with all commands."""
    from longcoref.cli import (
        adapt,
        analyze,
        bench,
        convert,
        corpus,
        crossval,
        evaluate,
        export,
        info,
        label,
        resolve,
        score,
        serve,
        train,
    )

    app = typer.Typer(
        name="longcoref",
        help="Coreference resolution for English text of any length.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
        ] = False,
        debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    ) -> None:
        """Options before the command. `main` handles `--debug`, which may appear anywhere."""

    app.command()(resolve.resolve)
    app.command()(convert.convert)
    app.command()(score.score)
    app.command()(adapt.adapt)
    app.command()(train.train)
    app.command()(crossval.crossval)
    app.command()(evaluate.evaluate)
    app.command()(export.export)
    app.command()(serve.serve)
    app.command()(label.label)
    app.command()(info.info)
    app.add_typer(corpus.app, name="corpus")
    app.add_typer(bench.app, name="bench")
    app.add_typer(analyze.app, name="analyze")
    return app
