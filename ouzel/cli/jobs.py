"""Waiting for a job of Spark's: a bar for each stage, and Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ouzel.cli.screen import redirects
from ouzel.interrupts import AwaitedThread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.progress import TaskID

POLL_S = 0.1

TOLD_EVERY_S = 10.0
"""How often a log, which shows no bars, has a line of what Spark does."""


def await_work(work: Callable[[], Any], spark: SparkSession, follow: Callable[[], None]) -> Any:
    """The result of `work`; `follow` is called while it runs, and Ctrl-C cancels Spark's jobs."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = work()
        except BaseException as error:
            outcome["error"] = error

    thread = AwaitedThread(run, "batch")
    thread.start()
    try:
        while thread.is_alive():
            follow()
            thread.join(POLL_S)
    except KeyboardInterrupt:
        spark.sparkContext.cancelAllJobs()
        thread.join(10)
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


@contextmanager
def stages(console: Console) -> Iterator[Callable[[SparkSession], None]]:
    """A function that draws a bar for each running stage each time it is called; nothing where there is no terminal."""
    if not console.is_terminal:
        yield lambda spark: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tasks"),
    )
    with Progress(*columns, console=console, transient=True, **redirects()) as progress:
        starting = progress.add_task("Spark starts", total=None)
        bars: dict[int, TaskID] = {}

        def follow(spark: SparkSession) -> None:
            progress.update(starting, visible=False)
            tracker = spark.sparkContext.statusTracker()
            active = set(tracker.getActiveStageIds())
            for stage in sorted(active | bars.keys()):
                told = tracker.getStageInfo(stage)
                if told is not None:
                    if stage not in bars:
                        bars[stage] = progress.add_task(f"stage {stage}", total=told.numTasks)
                    progress.update(bars[stage], completed=told.numCompletedTasks, visible=stage in active)

        yield follow


@contextmanager
def tell_meanwhile(tell: Callable[[float], None], every_s: float = TOLD_EVERY_S) -> Iterator[None]:
    """Tell every few seconds how many have passed, from a thread of its own, while what stands in it runs."""
    began, over = time.monotonic(), threading.Event()

    def go_on() -> None:
        while not over.wait(every_s):
            tell(time.monotonic() - began)

    thread = threading.Thread(target=go_on, name="tell_meanwhile", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class ToldStages:
    """Says every few seconds how long Spark has computed, and how far each of its running stages is."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock, self._began = say, clock, clock()
        self._next = self._began + TOLD_EVERY_S

    def follow(self, spark: SparkSession) -> None:
        """Say it, if it is time."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + TOLD_EVERY_S
        tracker = spark.sparkContext.statusTracker()
        running = [(stage, tracker.getStageInfo(stage)) for stage in sorted(tracker.getActiveStageIds())]
        told = [f"stage {stage}: {info.numCompletedTasks} of {info.numTasks} tasks" for stage, info in running if info]
        self._say(f"comparing for {now - self._began:.0f} s: {', '.join(told) or 'no stage of Spark runs now'}")
