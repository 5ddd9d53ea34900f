"""A list of tasks, each with a folder and a process of its own: what is missing is run, what is done is left alone.

A task is done when its folder holds `done.json`, which is written when its process ends well. A plan that was killed is
run again as it is: finished tasks are passed over, and the task that was under way starts again, so its command should
itself go on from what it finds (`longcoref train --resume`). `output.txt` in the folder has what the process printed,
and `attempts.jsonl` how long each attempt took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from longcoref.errors import UsageError
from longcoref.files import atomic_text

Report = Callable[[dict[str, Any]], None]
_TAIL = 12  # lines of a failed task's output that are shown
_PAUSE = 0.2  # seconds between two looks at the processes


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work: `command` runs in a fresh process, after the tasks named in `after` are done."""

    name: str
    folder: Path
    command: tuple[str, ...]
    after: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether it was finished, in this run or an earlier one."""
        return (self.folder / "done.json").exists()

    @property
    def seconds(self) -> float:
        """What all its attempts took so far, those that failed or were interrupted included."""
        try:
            lines = (self.folder / "attempts.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return 0.0
        return sum(float(json.loads(line)["seconds"]) for line in lines)


def longcoref_command(*arguments: object) -> tuple[str, ...]:
    """The command line of `longcoref` with these arguments, run by this interpreter."""
    return (sys.executable, "-m", "longcoref", *map(str, arguments))


def run_plan(tasks: Sequence[Task], *, jobs: int = 1, report: Report = lambda event: None) -> list[Task]:
    """Runs what is not done, in the order of the list, up to `jobs` processes at once; returns what is still missing.

    A task that fails leaves the tasks that wait for it undone; all others are run. Each event that is reported has
    `event` (skipped, started, done, failed, blocked) and `task`; done and failed have `seconds`, failed has `output`,
    the last lines of what the process said.
    """
    _check(tasks)
    waiting = [task for task in tasks if not task.done]
    for task in tasks:
        if task.done:
            report({"event": "skipped", "task": task.name, "seconds": task.seconds})
    done = {task.name for task in tasks if task.done}
    running: list[_Process] = []
    try:
        while waiting or running:
            ready = [task for task in waiting if done.issuperset(task.after)][: jobs - len(running)]
            for task in ready:
                waiting.remove(task)
                report({"event": "started", "task": task.name})
                running.append(_Process(task))
            if not running:
                break
            time.sleep(0 if any(process.ended for process in running) else _PAUSE)
            for process in [process for process in running if process.ended]:
                running.remove(process)
                event = process.finish()
                if event["event"] == "done":
                    done.add(process.task.name)
                report(event)
    finally:
        for process in running:
            process.stop()
    for task in waiting:
        report({"event": "blocked", "task": task.name})
    return [task for task in tasks if task.name not in done]


def _check(tasks: Sequence[Task]) -> None:
    """Every task once, and none that waits for one that does not come before it."""
    names: set[str] = set()
    for task in tasks:
        missing = [name for name in task.after if name not in names]
        if missing:
            raise UsageError(f"task {task.name} comes after {missing[0]}, which is not before it in the plan")
        if task.name in names:
            raise UsageError(f"two tasks of the plan are called {task.name}")
        names.add(task.name)


class _Process:
    """The process of a task that is under way."""

    def __init__(self, task: Task) -> None:
        self.task = task
        task.folder.mkdir(parents=True, exist_ok=True)
        self._output = (task.folder / "output.txt").open("ab")
        self._began = self._output.tell()
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            task.command,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def finish(self) -> dict[str, Any]:
        """Writes down how it ended, and says so."""
        code, facts = self._process.returncode, self._note()
        if code == 0:
            with atomic_text(self.task.folder / "done.json") as stream:
                json.dump({**facts, "seconds": self.task.seconds, "command": self.task.command}, stream, indent=2)
            return {"event": "done", "task": self.task.name, "seconds": self.task.seconds}
        with (self.task.folder / "output.txt").open("rb") as stream:
            stream.seek(self._began)
            lines = stream.read().decode("utf-8", errors="replace").splitlines()[-_TAIL:]
        return {"event": "failed", "task": self.task.name, "output": lines, **facts}

    def stop(self) -> None:
        """Ends the process because the plan is interrupted; what it took counts."""
        self._process.terminate()
        self._process.wait()
        self._note()

    def _note(self) -> dict[str, Any]:
        self._output.close()
        facts = {
            "seconds": time.perf_counter() - self._started,
            "code": self._process.returncode,
            "ended": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        with (self.task.folder / "attempts.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(facts) + "\n")
        return facts
