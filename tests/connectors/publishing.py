"""What drives a publisher as a topology does: it has staged epochs, publishes those that are not visible yet, and dies at drawn moments.

Each life of a task is a process of its own; see lives.py.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer

import polars as pl

from ouzel.connectors import open_publisher
from ouzel.connectors.writing import EpochPublisher, SinkRequest

COLUMNS: dict[str, pl.DataType] = {"id": pl.Int64(), "word": pl.String()}
FRAMES, ROWS = 3, 40
_EPOCH, _TASK = 1_000, 1_000_000
MOMENTS = ("before", "within", "commit", "after")
_COMMIT_S = 0.03
"""A commit takes about so long."""


@dataclass(frozen=True)
class Staged:
    """Frames that can be had again and again, as those of a file can."""

    make: Callable[[], Iterator[pl.DataFrame]]

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self.make()


@dataclass(frozen=True)
class Task:
    """A task that publishes `epochs` epochs. It is killed at a moment of epoch `dies`, or is stopped within it if the moment is `stop`."""

    connector: str
    options: Mapping[str, str]
    run: str = "run"
    task: int = 0
    mode: str = "append"
    keys: Sequence[str] = ()
    epochs: int = 5
    dies: int = 0
    moment: str = ""
    delay_s: float = 0.0

    @property
    def request(self) -> SinkRequest:
        """What the plan asks of the sink."""
        return SinkRequest(
            "t", self.options, COLUMNS, self.mode, Path(), self.keys, name="q", task=self.task, run=self.run, component="sink"
        )  # fmt: skip

    def open(self) -> EpochPublisher:
        """Its publisher."""
        return open_publisher(self.connector, self.request)


def ids(epoch: int, task: int = 0) -> list[int]:
    """The rows of an epoch, in order."""
    first = task * _TASK + epoch * _EPOCH
    return list(range(first, first + FRAMES * ROWS))


def frames(epoch: int, task: int = 0) -> Staged:
    """What is staged of an epoch."""
    return Staged(lambda: _frames(epoch, task))


def _frames(epoch: int, task: int) -> Iterator[pl.DataFrame]:
    numbers = ids(epoch, task)
    for start in range(0, len(numbers), ROWS):
        part = numbers[start : start + ROWS]
        yield pl.DataFrame({"id": part, "word": [f"w{number % 7}" for number in part]}, schema=COLUMNS)


def check(found: Sequence[int], epochs: int, tasks: int = 1) -> None:
    """See that each row has come once, and those of a task in order."""
    for task in range(tasks):
        wanted = [number for epoch in range(1, epochs + 1) for number in ids(epoch, task)]
        assert [number for number in found if number // _TASK == task] == wanted
    assert len(found) == tasks * epochs * FRAMES * ROWS


def publish(task: Task, publisher: EpochPublisher) -> None:
    """One life of the task: the epochs that are not visible yet."""
    for epoch in range(publisher.last_published() + 1, task.epochs + 1):
        dies = epoch == task.dies
        _die(dies and task.moment == "before")
        dying = Staged(lambda: _dying(task, publisher))
        publisher.publish(epoch, dying if dies else frames(epoch, task.task))
        if dies and task.moment == "commit":
            signal.pause()  # it was quicker than its death, which comes
        _die(dies and task.moment == "after")


def _dying(task: Task, publisher: EpochPublisher) -> Iterator[pl.DataFrame]:
    for number, frame in enumerate(frames(task.dies, task.task)):
        if number == 1 and task.moment in ("within", "stop"):
            if producer := getattr(publisher, "_producer", None):
                producer.flush()  # what librdkafka gathers is at the broker
            os.kill(os.getpid(), signal.SIGKILL if task.moment == "within" else signal.SIGSTOP)
        yield frame
    if task.moment == "commit":
        Timer(task.delay_s, _die, [True]).start()


def _die(now: bool) -> None:
    if now:
        os.kill(os.getpid(), signal.SIGKILL)


def publish_while(
    epochs: int, publisher: EpochPublisher, strike: Callable[[], object], delays_s: Iterator[float]
) -> None:
    """Publish epochs. Something strikes once in each, so long after its last row was handed over."""
    publisher.last_published()
    for epoch in range(1, epochs + 1):
        striking: list[Timer] = []

        def struck(epoch: int = epoch, striking: list[Timer] = striking) -> Iterator[pl.DataFrame]:
            yield from frames(epoch)
            if not striking:
                striking.append(Timer(next(delays_s), strike))
                striking[0].start()

        publisher.publish(epoch, Staged(struck))
        striking[0].join()


def delays(seed: int) -> Iterator[float]:
    """When something strikes: moments of a commit, drawn."""
    draw = random.Random(seed)
    while True:
        yield draw.uniform(0, _COMMIT_S)


def lives_of(task: Task, seed: int) -> list[Task]:
    """Its lives: it dies once in most epochs, and in the last life it does not."""
    draw = random.Random(f"{seed}-{task.task}")
    dying = sorted(draw.sample(range(1, task.epochs + 1), task.epochs - 1))
    drawn = [
        replace(task, dies=epoch, moment=draw.choice(MOMENTS), delay_s=draw.uniform(0, _COMMIT_S)) for epoch in dying
    ]
    return [*drawn, task]
