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
from ouzel.runtime.process.asks import ON, Ask, AskKind, ask_path, read_ask, write_ask
from ouzel.runtime.protocol.cluster.submitted import Verb

if TYPE_CHECKING:
    from ouzel.planner.topology import Task
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.process.job import RunDescription

TaskPath = Callable[["Path", int], "Path"]
"""Where a file of a task stands, by the directory of its container and the task's id."""


def _log_level_path(folder: Path, task: int) -> Path:
    return ask_path(folder, AskKind.LOG_LEVEL, task)


def _ask_for_samples_path(folder: Path, task: int) -> Path:
    return ask_path(folder, AskKind.SAMPLES, task)


ASK_PATHS: tuple[TaskPath, ...] = (_log_level_path, _ask_for_samples_path)
_TOLD = ("asked-", "samples-", "state-")
"""How the names of such files begin."""


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


class ToldFiles:
    """The files of what is asked of tasks, and of what they have told for that. Each directory is listed once, for of a thousand tasks
    hardly any has been asked something.

    Args:
        job: whose tasks.
        target: only those of this part.

    Raises:
        SubmissionError: there is no such part.
    """

    def __init__(self, job: RunDescription, target: str = "") -> None:
        wanted = {task.id for _, task in find_tasks(job, target)} if target else None
        self._tasks: list[tuple[Path, Task, frozenset[str]]] = []
        for number in job.containers:
            folder = job.container(number)
            if names := _list_told(folder):
                tasks = [task for task in job.tasks_in(number) if wanted is None or task.id in wanted]
                self._tasks += [(folder, task, names) for task in tasks]

    def find(self, path_of: TaskPath) -> Iterator[tuple[Path, Task]]:
        """The tasks that have such a file, each with the directory of its container."""
        return ((folder, task) for folder, task, names in self._tasks if path_of(folder, task.id).name in names)


def _list_told(folder: Path) -> frozenset[str]:
    with contextlib.suppress(OSError):
        return frozenset(name for name in os.listdir(folder) if name.startswith(_TOLD))
    return frozenset()


def find_unreadable(told: ToldFiles) -> Iterator[Path]:
    """Those that are there and cannot be read."""
    readers: list[tuple[TaskPath, Callable[[Path, int], object]]] = [
        (samples_path, read_row_samples),
        (summaries_path, read_state_summaries),
        *((path_of, lambda folder, task, path_of=path_of: read_ask(path_of(folder, task))) for path_of in ASK_PATHS),
    ]
    for path_of, read in readers:
        for folder, task in told.find(path_of):
            path = path_of(folder, task.id)
            if read(folder, task.id) is None and path.exists():
                yield path


def list_kept_state(told: ToldFiles) -> list[tuple[Task, StateSummary]]:
    """What tasks kept when rows were last sampled."""
    found = told.find(summaries_path)
    return [(task, one) for folder, task in found for one in read_state_summaries(folder, task.id) or ()]


def list_samples(told: ToldFiles) -> list[tuple[Task, OperatorSample]]:
    """The rows that tasks have sampled last, also when that is over."""
    found = told.find(samples_path)
    return [(task, sample) for folder, task in found for sample in read_row_samples(folder, task.id) or ()]
