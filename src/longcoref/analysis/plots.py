"""Figures as PNG and SVG files, drawn without a display and the same to the byte each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from longcoref.analysis.entities import CorpusEntities
from longcoref.errors import InputError, optional_module
from longcoref.files import atomic_path

COLOURS = ("#4477aa", "#cc6677", "#228833", "#aa7733", "#66ccee")
GREY = "#666666"


def draw_entities(entities: CorpusEntities, folder: str | Path) -> list[Path]:
    """The two histograms of the paper's appendix; returns the files written.

    The spread is drawn for entities of two mentions or more: singletons would dominate it.
    """
    active = [document.max_active_entities for document in entities.documents]
    most = max(active, default=0)
    # One bar per count while bars are distinguishable, then fewer bars.
    step = most // 40 + 1
    return [
        *_histogram(
            active,
            Path(folder) / "max_active_entities",
            edges=[edge - 0.5 for edge in range(0, most + step + 1, step)],
            title=f"Maximum active entities in {len(active)} documents",
            horizontal="entities active at once, at most",
            vertical="documents",
            whole_numbers=True,
        ),
        *_histogram(
            entities.spreads,
            Path(folder) / "entity_spread",
            edges=[edge / 20 for edge in range(21)],
            title=f"Spread of {len(entities.spreads):,} entities of two mentions or more",
            horizontal="spread as a part of the document's length",
            vertical="entities",
            whole_numbers=False,
        ),
    ]


def draw_training(log: Iterable[Mapping[str, Any]], folder: str | Path) -> list[Path]:
    """The curves of a run: losses per document over steps, and dev scores over epochs; returns the files written."""
    events = list(log)
    steps = [event for event in events if event["event"] == "step" and event["phase"] == "clusters"]
    epochs = [event for event in events if event["event"] == "epoch"]
    losses = {
        name: ([event["step"] for event in steps], _smooth([event[name] for event in steps]))
        for name in ("link", "option", "mention", "label")
    }
    scores = {
        label: ([event["epoch"] for event in epochs], [event[name] for event in epochs])
        for name, label in (("conll_f1", "CoNLL F1"), ("proposal_recall", "proposal recall"))
    }
    stems = Path(folder) / "losses", Path(folder) / "dev_scores"
    return [
        *draw_lines(losses, stems[0], title="Losses", horizontal="step", vertical="sum over a document, smoothed"),
        *draw_lines(scores, stems[1], title="Dev", horizontal="epoch", vertical="per cent", marked=True),
    ]


def _smooth(values: Sequence[float], decay: float = 0.95) -> list[float]:
    smoothed: list[float] = []
    for value in values:
        smoothed.append(value if not smoothed else decay * smoothed[-1] + (1 - decay) * value)
    return smoothed


def draw_lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    stem: Path,
    *,
    title: str,
    horizontal: str,
    vertical: str,
    marked: bool = False,
) -> list[Path]:
    """Draws one line for each name, given as x and y; returns the PNG and the SVG."""

    def draw(axes: Any) -> None:
        for (name, (x, y)), colour in zip(series.items(), COLOURS, strict=False):
            axes.plot(x, y, color=colour, label=name, marker="o" if marked else None, markersize=4)
        axes.legend(frameon=False)
        axes.set_ylim(bottom=0)

    return _draw(draw, stem, title=title, horizontal=horizontal, vertical=vertical)


def _histogram(
    values: Sequence[float],
    stem: Path,
    *,
    edges: Sequence[float],
    title: str,
    horizontal: str,
    vertical: str,
    whole_numbers: bool,
) -> list[Path]:
    """Draws one histogram with a mark at the median; returns the PNG and the SVG."""
    tickers = optional_module("matplotlib.ticker", extra="plots", needed_for="drawing figures")

    def draw(axes: Any) -> None:
        axes.hist(values, bins=edges, color=COLOURS[0], edgecolor="white", linewidth=0.8)
        if values:
            middle = median(values)
            axes.axvline(middle, color=GREY, linestyle="--", linewidth=1, label=f"median {middle:.2g}")
            axes.legend(frameon=False)
        axes.xaxis.set_major_locator(tickers.MaxNLocator(integer=whole_numbers))
        axes.yaxis.set_major_locator(tickers.MaxNLocator(integer=True))

    return _draw(draw, stem, title=title, horizontal=horizontal, vertical=vertical)


def _draw(draw: Callable[[Any], None], stem: Path, *, title: str, horizontal: str, vertical: str) -> list[Path]:
    """A figure of one pair of axes in our style; returns the PNG and the SVG."""
    matplotlib = optional_module("matplotlib", extra="plots", needed_for="drawing figures")
    figures = optional_module("matplotlib.figure", extra="plots", needed_for="drawing figures")
    figure = figures.Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    draw(axes)
    axes.set(title=title, xlabel=horizontal, ylabel=vertical)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    with matplotlib.rc_context({"svg.hashsalt": stem.name}):
        return [_save(figure, stem, kind) for kind in ("png", "svg")]


def _save(figure: Any, stem: Path, kind: str) -> Path:
    path = stem.with_suffix(f".{kind}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder: {error.strerror}", path.parent) from error
    with atomic_path(path) as temporary:
        # Without a date, an SVG file depends on the figure alone.
        figure.savefig(temporary, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return path
