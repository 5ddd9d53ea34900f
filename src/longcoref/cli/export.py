"""`longcoref export`: export a training run as a model directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from longcoref.config import load_config

SAMPLE_DOCUMENTS = 20


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="Model directory to write.", show_default=False)],
    weights: Annotated[
        str, typer.Option(help="Storage format of the encoder: float32, float16, compact or int8.")
    ] = "int8",
    rank: Annotated[
        int,
        typer.Option(
            min=0, help="Rank of the matrix that compares a mention with an entity; 0 keeps it as it was trained."
        ),
    ] = 64,
    gate: Annotated[
        bool,
        typer.Option(help="Propose mentions only where linear scores let one of their length start, which is faster."),
    ] = True,
    mention_bias: Annotated[
        float,
        typer.Option(help="Number to add to mention scores, chosen on dev; above 0, more mentions are found."),
    ] = 0.0,
    link_bias: Annotated[
        float, typer.Option(help="Number to add to link scores, chosen on dev; above 0, entities are larger.")
    ] = 0.0,
    calibrate: Annotated[bool, typer.Option(help="Calibrate probabilities on the dev documents of the run.")] = True,
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Take the calibration of another model, if this one was trained on the dev documents.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the model; the directory's name by default.")] = None,
) -> None:
    """Export a training run as a model directory, which loads without torch.

    Examples:
      longcoref export runs/litbank-small models/mine
      longcoref export runs/litbank-small models/mine --weights float32

    """
    from longcoref.formats import read_part
    from longcoref.runtime.model import open_model
    from longcoref.training.runs import export_run

    config = load_config(run / "config.toml")
    sample = read_part(config.data, "train")[:SAMPLE_DOCUMENTS] if weights == "int8" or rank or gate else []
    borrowed = None if calibration is None else open_model(calibration).facts.get("calibration")
    dev = read_part(config.data, "dev") if calibrate and borrowed is None else []
    export_run(
        run,
        target,
        weights=weights,
        rank=rank,
        gate=gate,
        mention_bias=mention_bias,
        link_bias=link_bias,
        sample=sample,
        dev=dev,
        calibration=borrowed,
        name=name,
    )
    size = sum(file.stat().st_size for file in target.iterdir()) / 1e6
    typer.echo(f"{target}: {size:.1f} MB, {weights}")
