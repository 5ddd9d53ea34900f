"""`longcoref train`: learn a model from a config."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from longcoref.analysis.plots import draw_training
from longcoref.cli.progress import StepDisplay
from longcoref.config import load_config
from longcoref.errors import UsageError


def train(
    config: Annotated[Path, typer.Argument(help="A TOML file such as configs/litbank-small.toml.", show_default=False)],
    run: Annotated[Path | None, typer.Option(help="Folder of the run; runs/NAME of the config if not given.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change one key: --set train.seed=3. May be given again.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the run's last checkpoint.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")] = False,
) -> None:
    """Learn a model from a config.

    Examples:
      longcoref train configs/litbank-small.toml --run runs/small
      longcoref train configs/litbank-small.toml --run runs/seed3 --set train.seed=3
      longcoref train configs/litbank-small.toml --run runs/small --resume

    """
    from longcoref.formats import read_part
    from longcoref.training.loop import Trainer

    loaded = load_config(config, settings or [])
    folder = run or Path("runs") / config.stem
    if (folder / "log.jsonl").exists() and not resume:
        raise UsageError(f"{folder} holds a run already: give --resume to go on with it, or another --run")
    with StepDisplay("reading", quiet=quiet) as display:

        def show(event: dict[str, Any]) -> None:
            if event["event"] == "step":
                display.advance(event["place"], event["documents"], f"{event['phase']} epoch {event['epoch'] + 1}")
            else:
                display.console.print(
                    f"epoch {event['epoch']}: dev CoNLL F1 {event['conll_f1']:.2f}, "
                    f"proposal recall {event['proposal_recall']:.1f} %"
                )

        trainer = Trainer(
            loaded,
            folder,
            read_part(loaded.data, "train"),
            read_part(loaded.data, "dev"),
            report=show,
            resume=resume,
        )
        best = trainer.train()
    if find_spec("matplotlib"):
        log = (json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
        draw_training(log, folder)
    if not quiet:
        typer.echo(f"{folder}: best epoch {best.get('epoch')} with dev CoNLL F1 {best.get('conll_f1', 0):.2f}")
