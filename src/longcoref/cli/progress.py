"""One progress bar for what goes step by step; on a terminal only."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class StepDisplay:
    """A bar on stderr with a title, steps done, time gone and time left."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self.console = Console(stderr=True, quiet=quiet)
        self._progress = Progress(
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
        """Shows so many steps of the total as done, under this title."""
        self._progress.update(self._task, description=title, completed=done, total=total)
