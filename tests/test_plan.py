"""Plans: what is missing is run, what is done is left alone, and what failed is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from longcoref.errors import UsageError
from longcoref.plan import Task, run_plan


def task(root: Path, name: str, program: str, *after: str) -> Task:
    return Task(name, root / name, (sys.executable, "-c", program, str(root)), after)


NOTE = "import sys; open(sys.argv[1] + '/notes', 'a').write('{} ')"


def names(events: list[dict[str, Any]], kind: str) -> list[str]:
    return [event["task"] for event in events if event["event"] == kind]


def test_tasks_run_once_and_in_order(tmp_path: Path) -> None:
    plan = [task(tmp_path, "first", NOTE.format("1")), task(tmp_path, "second", NOTE.format("2"), "first")]
    events: list[dict[str, Any]] = []
    assert run_plan(plan, report=events.append) == []
    assert (names(events, "done"), names(events, "skipped")) == (["first", "second"], [])
    assert run_plan(plan, report=events.append) == []
    assert names(events, "skipped") == ["first", "second"]
    assert (tmp_path / "notes").read_text() == "1 2 "
    marker = json.loads((tmp_path / "first" / "done.json").read_text())
    assert marker["seconds"] == plan[0].seconds > 0


def test_a_failed_task_blocks_those_after_it_and_no_other_and_is_tried_again(tmp_path: Path) -> None:
    program = "import os, sys; print('no luck'); sys.exit(not os.path.exists(sys.argv[1] + '/luck'))"
    plan = [
        task(tmp_path, "bad", program),
        task(tmp_path, "later", NOTE.format("later"), "bad"),
        task(tmp_path, "other", NOTE.format("other")),
    ]
    events: list[dict[str, Any]] = []
    missing = run_plan(plan, report=events.append)
    assert [each.name for each in missing] == ["bad", "later"]
    (failed,) = (event for event in events if event["event"] == "failed")
    assert failed["output"] == ["no luck"]
    assert names(events, "blocked") == ["later"]
    (tmp_path / "luck").touch()
    once = plan[0].seconds
    assert run_plan(plan) == []
    assert (tmp_path / "notes").read_text() == "other later "
    assert plan[0].seconds > once  # both attempts count


def test_two_at_once(tmp_path: Path) -> None:
    # Each waits for the file of the other: one after the other they would never end.
    meet = (
        "import os, sys, time\n"
        "open(sys.argv[1] + '/{0}.here', 'w').close()\n"
        "while not os.path.exists(sys.argv[1] + '/{1}.here'): time.sleep(0.01)"
    )
    plan = [task(tmp_path, "a", meet.format("a", "b")), task(tmp_path, "b", meet.format("b", "a"))]
    assert run_plan(plan, jobs=2) == []


def test_an_interrupted_plan_stops_its_process_and_goes_on_later(tmp_path: Path) -> None:
    wait = "import os, sys, time\nwhile not os.path.exists(sys.argv[1] + '/go'): time.sleep(0.01)\n" + NOTE.format(
        "done"
    )
    plan = [task(tmp_path, "quick", NOTE.format("quick")), task(tmp_path, "slow", wait)]

    def interrupt(event: dict[str, Any]) -> None:
        if (event["event"], event["task"]) == ("done", "quick"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, jobs=2, report=interrupt)
    attempts = (tmp_path / "slow" / "attempts.jsonl").read_text().splitlines()
    assert [json.loads(line)["code"] for line in attempts] == [-15]
    (tmp_path / "go").touch()
    assert run_plan(plan) == []
    assert (tmp_path / "notes").read_text() == "quick done "


def test_a_plan_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="depends on missing"):
        run_plan([task(tmp_path, "a", "", "missing")])
    with pytest.raises(UsageError, match="two tasks"):
        run_plan([task(tmp_path, "a", ""), task(tmp_path, "a", "")])
