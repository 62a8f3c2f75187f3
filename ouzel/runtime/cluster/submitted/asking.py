"""What is asked of the tasks of a submitted topology for some minutes, and the rows that they have sampled; see process/asks.py."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.errors import SubmissionError
from ouzel.runtime.cluster.submitted.verbs import find_parts
from ouzel.runtime.observe.samples import OperatorSample, read_row_samples, samples_path
from ouzel.runtime.observe.state_summaries import StateSummary, read_state_summaries, summaries_path
from ouzel.runtime.process.asks import ON, Ask, AskKind, ask_path, write_ask
from ouzel.runtime.protocol.cluster.submitted import Verb

if TYPE_CHECKING:
    from ouzel.planner.topology import Task
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.process.job import RunDescription

TaskPath = Callable[["Path", int], "Path"]
"""Where a file of a task stands, by the directory of its container and the task's id."""


def ask_log_level(registry: Registry, name: str, target: str, level: str, minutes: int) -> int:
    """Have tasks log at a level for so many minutes, at once as before if those are 0; how many tasks.

    Raises:
        SubmissionError: it does not run, has no such part, or its files cannot be written.
    """
    return _ask(registry, name, target, Verb.LOG_LEVEL, AskKind.LOG_LEVEL, level, minutes)


def ask_samples(registry: Registry, name: str, target: str, minutes: int) -> int:
    """Have tasks sample the rows that pass for so many minutes, no more if those are 0; how many tasks.

    Raises:
        SubmissionError: it does not run, has no such part, or its files cannot be written.
    """
    return _ask(registry, name, target, Verb.SAMPLE, AskKind.SAMPLES, ON, minutes)


def _ask(registry: Registry, name: str, target: str, verb: Verb, kind: AskKind, value: str, minutes: int) -> int:
    record, _ = registry.look_up(verb, name)
    job = registry.folder(name).load(record.run)
    asked = Ask(value, time.time_ns() // 1_000 + minutes * 60_000_000)
    tasks = list(find_tasks(job, target))
    for folder, task in tasks:
        path = ask_path(folder, kind, task.id)
        try:
            write_ask(path, asked) if minutes else path.unlink(missing_ok=True)
        except OSError as error:
            raise SubmissionError(f"{path} cannot be written: {error.strerror}; look for what is in its way") from error
    return len(tasks)


def find_tasks(job: RunDescription, target: str = "") -> Iterator[tuple[Path, Task]]:
    """The tasks of a part, or all, each with the directory of its container.

    Raises:
        SubmissionError: there is no such part.
    """
    parts = {(part.container, part.process) for part in find_parts(job, target)}
    for number in job.containers:
        for task in job.tasks_in(number):
            if (number, f"instance-{task.id}") in parts or (number, "") in parts:
                yield job.container(number), task


def find_told(job: RunDescription, path_of: TaskPath, target: str = "") -> Iterator[tuple[Path, Task]]:
    """Those of these tasks whose file is there: a folder is listed once, for of a thousand tasks hardly any has been asked something.

    Raises:
        SubmissionError: there is no such part.
    """
    names: dict[Path, frozenset[str]] = {}
    for folder, task in find_tasks(job, target):
        if folder not in names:
            names[folder] = _list_names(folder)
        if path_of(folder, task.id).name in names[folder]:
            yield folder, task


def _list_names(folder: Path) -> frozenset[str]:
    with contextlib.suppress(OSError):
        return frozenset(os.listdir(folder))
    return frozenset()


def list_kept_state(job: RunDescription, target: str = "") -> list[tuple[Task, StateSummary]]:
    """What tasks kept when rows were last sampled.

    Raises:
        SubmissionError: there is no such part.
    """
    found = find_told(job, summaries_path, target)
    return [(task, one) for folder, task in found for one in read_state_summaries(folder, task.id)]


def list_samples(job: RunDescription, target: str = "") -> list[tuple[Task, OperatorSample]]:
    """The rows that tasks have sampled last, also when that is over.

    Raises:
        SubmissionError: there is no such part.
    """
    found = find_told(job, samples_path, target)
    return [(task, sample) for folder, task in found for sample in read_row_samples(folder, task.id)]
