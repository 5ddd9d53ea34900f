"""`longcoref train`: train a model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from longcoref.analysis.plots import draw_training
from longcoref.cli.options import QuietOption, SetOption
from longcoref.cli.progress import StepDisplay
from longcoref.config import load_config
from longcoref.errors import UsageError


def train(
    config: Annotated[Path, typer.Argument(help="TOML file, such as configs/litbank-small.toml.", show_default=False)],
    run: Annotated[Path | None, typer.Option(help="Folder of the training run; runs/CONFIG by default.")] = None,
    settings: SetOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Train a model from a configuration file.

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
        raise UsageError(f"{folder} already contains a run: use --resume to continue it, or another --run")
    with StepDisplay("training", quiet=quiet) as display:

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
