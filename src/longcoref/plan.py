"""A resumable list of tasks, each with its own folder and process.

A task is done when its folder holds `done.json`, which is written when its process succeeds. To resume a plan that was
killed, run it again: finished tasks are skipped, and the interrupted task is started again, so its command should
resume by itself (`longcoref train --resume`). `output.txt` in the folder has the output of the process, and
`attempts.jsonl` the duration of each attempt.
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
_TAIL = 12  # last lines of a failed task's output to show
_PAUSE = 0.2  # seconds between two polls of the processes


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work: `command` runs in a fresh process, after the tasks named in `after` are done."""

    name: str
    folder: Path
    command: tuple[str, ...]
    after: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether it is finished, in this run or an earlier one."""
        return (self.folder / "done.json").exists()

    @property
    def seconds(self) -> float:
        """The duration of all attempts so far, including failed and interrupted ones."""
        try:
            lines = (self.folder / "attempts.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return 0.0
        return sum(float(json.loads(line)["seconds"]) for line in lines)


def longcoref_command(*arguments: object) -> tuple[str, ...]:
    """The command line of `longcoref` with these arguments, run by this interpreter."""
    return (sys.executable, "-m", "longcoref", *map(str, arguments))


def run_plan(tasks: Sequence[Task], *, jobs: int = 1, report: Report = lambda event: None) -> list[Task]:
    """Runs the unfinished tasks in order, up to `jobs` at once; returns the tasks that are still unfinished.

    If a task fails, the tasks that depend on it are not run; all others are. Each reported event has `event` (skipped,
    started, done, failed, blocked) and `task`; done and failed have `seconds`, failed has `output`, the last lines of
    the output.
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
    """Checks that task names are unique and that every task comes after those it depends on."""
    names: set[str] = set()
    for task in tasks:
        missing = [name for name in task.after if name not in names]
        if missing:
            raise UsageError(f"task {task.name} depends on {missing[0]}, which is not before it in the plan")
        if task.name in names:
            raise UsageError(f"two tasks of the plan have the name {task.name}")
        names.add(task.name)


class _Process:
    """The process of a running task."""

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
        """Records how the process ended, and returns the event."""
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
        """Ends the process because the plan is interrupted; its duration is recorded."""
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
