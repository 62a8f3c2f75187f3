"""What a log is told while Spark computes."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from ouzel.cli.jobs import TOLD_EVERY_S, ToldStages, tell_meanwhile
from tests.cli.test_status import Clock


def spark_at(*stages: tuple[int, int, int]) -> Any:
    """A session whose running stages are these: number, tasks that are done, tasks."""
    told = {number: SimpleNamespace(numCompletedTasks=done, numTasks=tasks) for number, done, tasks in stages}
    tracker = SimpleNamespace(getActiveStageIds=lambda: list(told), getStageInfo=told.get)
    return SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))


def test_what_takes_long_is_told_until_it_is_over() -> None:
    seconds, twice = list[float](), threading.Event()

    def tell(passed: float) -> None:
        seconds.append(passed)
        if len(seconds) > 1:
            twice.set()

    with tell_meanwhile(tell, every_s=0.001):
        assert twice.wait(60)
    assert seconds == sorted(seconds)
    assert "tell_meanwhile" not in {thread.name for thread in threading.enumerate()}


def test_a_log_has_a_line_from_time_to_time() -> None:
    clock, lines = Clock(), list[str]()
    told = ToldStages(lines.append, clock)
    for _ in range(2):
        clock.now += TOLD_EVERY_S / 2
        told.follow(spark_at((4, 3, 8)))
        told.follow(spark_at((4, 4, 8)))
    clock.now += TOLD_EVERY_S
    told.follow(spark_at((7, 0, 2), (5, 1, 2)))
    clock.now += TOLD_EVERY_S
    told.follow(spark_at())
    assert lines == [
        "comparing for 10 s: stage 4: 3 of 8 tasks",
        "comparing for 20 s: stage 5: 1 of 2 tasks, stage 7: 0 of 2 tasks",
        "comparing for 30 s: no stage of Spark runs now",
    ]
