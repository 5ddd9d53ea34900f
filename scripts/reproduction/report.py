"""The report of a reproduction: our figures, from records on disk, next to the paper's, which are marked as such."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import longcoref
from longcoref.config import load_config
from longcoref.files import atomic_text
from reproduction.experiments import settings_of
from reproduction.figures import Figures
from reproduction.open_questions import OpenQuestions
from reproduction.page import Block, Code, Heading, Table, Text, html_page, markdown, show
from reproduction.paper_tables import PaperTables

TITLES = {"litbank": "LitBank", "ontogum": "OntoGUM", "ontonotes": "OntoNotes"}


def write_report(folder: Path) -> list[Path]:
    """Writes report.md, report.html and the figures from the records in a corpus's folder; returns the two files."""
    place = folder / "report"
    place.mkdir(parents=True, exist_ok=True)
    title = f"{TITLES[folder.name]}: the paper again"
    blocks = list(_blocks(Figures(folder), place))
    written = []
    for name, text in (("report.md", markdown(title, blocks)), ("report.html", html_page(title, blocks))):
        with atomic_text(place / name) as stream:
            stream.write(text)
        written.append(place / name)
    return written


def _blocks(figures: Figures, place: Path) -> Iterator[Block]:
    """All sections that have results."""
    paper, left_open = PaperTables(figures, place), OpenQuestions(figures, place)
    sections = {
        "What the paper found": paper.findings(),
        "Entities in the corpus": paper.entities(),
        "CoNLL F1": paper.scores(),
        "Precision, recall and F1 on test": paper.details(),
        "Memory and time": paper.measures(),
        "Entities in memory, and mentions ignored": paper.use(),
        "Errors on dev": paper.errors(),
        "Hard documents": paper.correlation(),
        "By genre": paper.genres(),
        "Validity and eviction: decided in one choice or in stages": left_open.options(),
        "Left open by the paper: the encoder": left_open.encoder(),
        "Left open by the paper: a learned entity": left_open.entity(),
        "Left open by the paper: one set of weights for all capacities": left_open.capacities(),
        "Left open by the paper: documents far longer than those trained on": left_open.length(),
        "Parameters": paper.parameters(),
        "Hyperparameters": _hyperparameters(figures),
        "What it took": _hours(figures),
    }
    yield from _opening(figures)
    for title, section in sections.items():
        blocks = list(section)
        if blocks:
            yield Heading(title)
            yield from blocks


def _opening(figures: Figures) -> Iterator[Block]:
    """When and how the report was written."""
    folds = [str(fold) for fold in figures.folds() if fold is not None]
    part = f"folds {', '.join(folds)}" if folds else "the corpus's own parts"
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    yield Text(
        f"Written {now} by longcoref {longcoref.__version__}, {_commit()}, on {machine}. Models scored: "
        f"{len(figures.models())}, on {part}. Every figure is computed from records that the command left on disk; the "
        "paper's own figures (Toshniwal et al. 2020) were typed in and are in the columns marked so. – means not "
        "measured, or not reported."
    )
    name, config = figures.folder.name, figures.folder / "config.toml"
    command = [f"python scripts/reproduce.py {name} --out {figures.folder.parent.name}"]
    command += [f"--folds {','.join(folds)}"] * bool(folds)
    command += [f"--set {each}" for each in settings_of(name, load_config(config))] if config.exists() else []
    yield Code(" ".join(command))


def _hyperparameters(figures: Figures) -> Iterator[Block]:
    """The recipe, and what each model changes in it."""
    config = figures.folder / "config.toml"
    if config.exists():
        yield Text("The recipe as it was used, and what makes each model of it.")
        # Paths on this machine are of no use on another.
        yield Code(re.sub(r'"/[^"]*/([^"/]+)"', r'"…/\1"', config.read_text(encoding="utf-8")))
        yield Code("\n".join(f"{model.label}: {' '.join(model.settings)}" for model in figures.models()) or "–")


def _hours(figures: Figures) -> Iterator[Block]:
    """Hours by kind of task."""
    names = {"encoder": "teaching the encoder", "runs": "training", "scores": "scoring", "facts": "measuring"}
    hours = figures.hours()
    rows = [(label, show(hours[kind], ".2f")) for kind, label in names.items() if kind in hours]
    if rows:
        total = sum(hours.values())
        yield Text("Hours of all tasks, one after the other, also where several ran at once.")
        yield Table(("work", "hours"), (*rows, ("all of it", show(total, ".2f"))))


def _commit() -> str:
    """The commit of this code, if it runs from a clone."""
    place = Path(longcoref.__file__).parent
    try:
        git = subprocess.run(
            ["git", "-C", str(place), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return "installed without its history"
    return f"commit {git.stdout.strip()}"
