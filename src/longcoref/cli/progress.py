"""Progress on standard error: a bar, on a terminal only, and a line for each task of a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Bar(Progress):
    """A progress bar that prints nothing if it is disabled; that of older versions of rich ends with an empty line."""

    def stop(self) -> None:
        """Ends the display."""
        if not self.disable:
            super().stop()


class StepDisplay:
    """A bar with a title, the number of steps, the elapsed and the remaining time."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self.console = Console(stderr=True, quiet=quiet)
        self._progress = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=quiet or not self.console.is_terminal,
        )
        self._task = self._progress.add_task(title, total=None)

    def __enter__(self) -> StepDisplay:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, done: int, total: int, title: str) -> None:
        """Shows that `done` of `total` steps are done, with this title."""
        self._progress.update(self._task, description=title, completed=done, total=total)


def show_tasks(console: Console) -> Callable[[dict[str, Any]], None]:
    """Prints a line for each event of a plan, and the last output of a failed task."""

    def show(event: dict[str, Any]) -> None:
        took = f", {event['seconds'] / 60:.1f} min" if "seconds" in event else ""
        console.print(f"{event['task']}: {event['event']}{took}", highlight=False)
        for line in event.get("output", ()):
            console.print(f"  {line}", highlight=False, markup=False)

    return show
