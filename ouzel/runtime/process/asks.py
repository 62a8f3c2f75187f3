"""What users ask of the tasks of a topology for some minutes: another log level, and samples of the rows that pass and of what is kept.

A command writes a file into the directory of the task's container. The task looks there once a second, obeys, and goes back by itself when
the time is over. No other process has a part in it: a topology master that dies meanwhile changes nothing, and a task that is started again
obeys for the rest of the time.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.files import put_bytes, suffix_of_process
from ouzel.runtime.observe.samples import RowSampler, write_row_samples
from ouzel.runtime.observe.state_summaries import write_state_summaries

if TYPE_CHECKING:
    from ouzel.planner.topology import Task
    from ouzel.runtime.protocol.task import TaskMachine

MINUTES_MAX = 240
"""Nothing is asked for longer."""

LOOK_MS = 1_000.0
"""How often a task looks for what is asked of it."""

STATE_MS, STATE_SHARE = 10_000.0, 0.005
"""While rows are sampled, what a task keeps is summed up so often, and in no more than this share of its time."""

RESERVED = ("kazoo",)
"""Libraries whose loggers stay at warnings: they log passwords that they send."""

ON = "on"


class LogLevelName(Enum):
    """Levels of loggers that can be asked for; the last ends it at once: what there was before."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    DEFAULT = "default"


class AskKind(Enum):
    """What can be asked: a level for all loggers of the process; samples of rows, and with them what is kept."""

    LOG_LEVEL = "log-level"
    SAMPLES = "samples"


@dataclass(frozen=True)
class Ask:
    """Something that is asked, until this wall clock in microseconds UTC."""

    value: str
    until_us: int


def ask_path(folder: Path, kind: AskKind, task: int) -> Path:
    """Where it stands, in the directory of the task's container."""
    return folder / f"asked-{kind.value}-{task}.json"


def write_ask(path: Path, ask: Ask) -> None:
    """Ask it; what was asked before is over.

    Raises:
        OSError: it cannot be written.
    """
    put_bytes(path, json.dumps(asdict(ask)).encode(), beside=suffix_of_process())


def read_ask(path: Path) -> Ask | None:
    """What is asked, be it over or not; None if nothing is."""
    try:
        fields = json.loads(path.read_text())
        return Ask(str(fields["value"]), int(fields["until_us"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


class Term:
    """Whether something that was asked for a time still holds. It measures the rest of the time by a clock that nobody can set back."""

    def __init__(self) -> None:
        self._value, self._until_ms = "", 0.0

    def on_found(self, ask: Ask | None, wall_us: int, now_ms: float) -> None:
        """This stands there now."""
        rest_ms = min((ask.until_us - wall_us) / 1e3, MINUTES_MAX * 60e3) if ask else 0.0
        self._value, self._until_ms = ask.value if ask else "", now_ms + rest_ms

    def value(self, now_ms: float) -> str:
        """What holds now; empty if nothing does."""
        return self._value if now_ms < self._until_ms else ""


class _AskFile:
    """Reads a file again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path, self._term = path, Term()
        self._seen: tuple[int, int] | None = None

    def read(self, wall_us: int, now_ms: float) -> str:
        """What holds now."""
        try:
            stat = self._path.stat()
            found = stat.st_mtime_ns, stat.st_ino
        except OSError:
            found = None
        if found != self._seen:
            self._seen = found
            self._term.on_found(read_ask(self._path) if found else None, wall_us, now_ms)
        return self._term.value(now_ms)


class LogLevel:
    """The level of all loggers of this process; what they say goes to its log."""

    def __init__(self) -> None:
        self._handler: logging.Handler | None = None
        self._before, self._level = logging.WARNING, ""

    def obey(self, level: str) -> None:
        """Have this level from now on; with an empty text, what there was at first."""
        if level == self._level:
            return
        root, self._level = logging.getLogger(), level
        print(f"log level: {level or 'as before'}", file=sys.stderr, flush=True)
        if self._handler is None:
            self._before = root.level
            self._handler = logging.StreamHandler(sys.stderr)
            self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
            root.addHandler(self._handler)
            for name in RESERVED:
                logging.getLogger(name).setLevel(logging.WARNING)
        if level:
            root.setLevel(logging.getLevelNamesMapping().get(level.upper(), logging.WARNING))
            return
        root.setLevel(self._before)
        root.removeHandler(self._handler)
        self._handler = None


class TaskAsks:
    """What is asked of one task.

    Args:
        folder: the directory of its container.
        task: which task.
        wall_us: the wall clock, in microseconds UTC.
        stopwatch_ms: tells how long something takes, in milliseconds.
    """

    def __init__(
        self,
        folder: Path,
        task: Task,
        wall_us: Callable[[], int] = lambda: time.time_ns() // 1_000,
        stopwatch_ms: Callable[[], float] = lambda: time.perf_counter() * 1e3,
    ) -> None:
        self._folder, self._task, self._wall_us = folder, task, wall_us
        self._level, self._sampler = LogLevel(), RowSampler()
        self._files = {kind: _AskFile(ask_path(folder, kind, task.id)) for kind in AskKind}
        self._due_ms = self._state_due_ms = 0.0
        self._stopwatch_ms = stopwatch_ms
        self._sampled: TaskMachine | None = None

    def on_tick(self, machine: TaskMachine, now_ms: float) -> None:
        """Some time has passed: obey what is asked now. The machine may be another one than before."""
        if now_ms < self._due_ms:
            return
        self._due_ms, wall_us = now_ms + LOOK_MS, self._wall_us()
        self._level.obey(self._files[AskKind.LOG_LEVEL].read(wall_us, now_ms))
        is_sampled = bool(self._files[AskKind.SAMPLES].read(wall_us, now_ms))
        if is_sampled and self._sampled is not machine:
            machine.sample_into(self._sampler.take)
            self._sampled = machine
        elif not is_sampled and self._sampled is not None:
            self._sampled.sample_into(None)
            self._sampled = None
        if text := self._sampler.on_second(wall_us):
            write_row_samples(self._folder, self._task.id, text)
        if is_sampled and now_ms >= self._state_due_ms:
            self._summarize(machine, wall_us, now_ms)

    def _summarize(self, machine: TaskMachine, wall_us: int, now_ms: float) -> None:
        """Write what the task keeps; the longer that takes, the longer until it is done again."""
        began = self._stopwatch_ms()
        if summaries := machine.summarize_states():
            write_state_summaries(self._folder, self._task.id, summaries, wall_us)
        took_ms = self._stopwatch_ms() - began
        self._state_due_ms = now_ms + max(STATE_MS, took_ms / STATE_SHARE)
