"""Detectors: what is not as it should be. Each is a row of a table; it looks at numbers, and knows no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import fsum

from ouzel.tracker import words
from ouzel.tracker.health.readings import ComponentReading, Readings, TaskReading, Trend

PRESSED = 0.2
"""A task is under back-pressure if too much waited for it in this share of the time. Short bursts are not."""

RATE_SKEW = 1.5
"""A task gets more than its share if it gets so many times what the others get on average."""

RATE_MIN = 10.0
"""Rows a second; of fewer no skew is told."""

COST_SKEW = 3.0
"""A task is slow if a row costs it so many times what it costs the others."""

FULL = 0.9
"""A task that uses this share of a core has no room."""

IDLE = 0.3
"""A component has tasks to spare if none of them has used more than this share of a core for long."""

LAG_MIN, LAG_GROWTH = 1_000, 0.2
"""Lag grows if it has grown by so many records, and by this share of what it was."""

WAITING_BYTES = 1 << 20
MEMORY_BYTES, MEMORY_GROWTH, MEMORY_SPAN_S = 128 << 20, 0.5, 1_800.0
"""Memory grows without bound if it has risen all the time for at least MEMORY_SPAN_S, by so much, and by this share."""

EPOCHS_LATE, EPOCH_LATE_S = 3, 120.0
"""An epoch is overdue after so many intervals, and not before so many seconds."""

SILENT_S = 10.0
"""A topology master says something every second, or every few when nothing happens."""


@dataclass(frozen=True)
class Symptom:
    """Something that is not as it should be.

    Attributes:
        kind: the name of the detector.
        place: a component, or a container as `container 1`; empty for the topology.
        task: the place of the task in its component; None if it is not of one task.
        text: for people, with the numbers.
    """

    kind: str
    place: str
    task: int | None
    text: str


Detect = Callable[[Readings], Iterator[Symptom]]


@dataclass(frozen=True)
class Detector:
    """One row: its name, what it looks for, and the function that does."""

    kind: str
    doc: str
    detect: Detect


def _find_pressure(readings: Readings) -> Iterator[Symptom]:
    for part in readings.components:
        for task in part.tasks:
            if task.pressed is not None and task.pressed >= PRESSED:
                text = f"too much waited for {part.name}[{task.index}] in {words.share_text(task.pressed)} of the time"
                yield Symptom("back-pressure", part.name, task.index, text)


def _find_slow_links(readings: Readings) -> Iterator[Symptom]:
    for (sender, receiver), share in readings.slow_links.items():
        if share >= PRESSED:
            text = f"too much waited for the connection from container {sender} to {receiver} in {words.share_text(share)} of the time"
            yield Symptom("slow-link", f"container {receiver}", None, text)


def _find_growing_waits(readings: Readings) -> Iterator[Symptom]:
    for container, trend in readings.waiting.items():
        if trend.rises and trend.thirds[2] >= WAITING_BYTES:
            yield Symptom(
                "growing-waits", f"container {container}", None, _growth(f"container {container}", trend, "B waiting")
            )


def _find_rate_skew(readings: Readings) -> Iterator[Symptom]:
    for part, rows in _find_known(readings, lambda task: task.rows_s):
        for index, (rate, others) in _with_others(rows).items():
            if rate >= RATE_MIN and rate >= RATE_SKEW * others:
                text = f"{part.name}[{index}] gets {words.rate_text(rate)} rows/s, the others {words.rate_text(others)} on average"
                yield Symptom("rate-skew", part.name, index, text)


def _find_cost_skew(readings: Readings) -> Iterator[Symptom]:
    for part in readings.components:
        costs = {
            task.index: 1e3 * task.cores / task.rows_s
            for task in part.tasks
            if task.cores is not None and task.rows_s is not None and task.rows_s >= RATE_MIN
        }
        for index, (cost, others) in _with_others(costs).items() if len(costs) > 1 else ():
            if cost >= COST_SKEW * others and others > 0:
                text = f"a row costs {part.name}[{index}] {cost:.2g} ms of CPU time, the others {others:.2g} ms"
                yield Symptom("cost-skew", part.name, index, text)


def _find_full(readings: Readings) -> Iterator[Symptom]:
    for part in readings.components:
        for task in part.tasks:
            if task.cores is not None and task.cores >= FULL:
                text = f"{part.name}[{task.index}] uses {words.share_text(task.cores)} of a core"
                yield Symptom("full-task", part.name, task.index, text)


def _find_idle(readings: Readings) -> Iterator[Symptom]:
    for part, cores in _find_known(readings, lambda task: task.cores_long):
        total, count = sum(cores.values()), len(part.tasks)
        if len(cores) == count and max(cores.values()) < IDLE:
            text = f"the {count} tasks of {part.name} together use {words.share_text(total)} of a core"
            yield Symptom("idle-tasks", part.name, None, text)


def _find_growing_lag(readings: Readings) -> Iterator[Symptom]:
    trend = readings.lag
    if trend is not None and trend.rises and trend.grew >= max(LAG_MIN, LAG_GROWTH * trend.thirds[0]):
        yield Symptom("growing-lag", "", None, _growth("lag", trend, "records"))


def _find_growing_memory(readings: Readings) -> Iterator[Symptom]:
    for container, trend in readings.memory.items():
        is_long = trend.span_s >= MEMORY_SPAN_S
        if is_long and trend.rises and trend.grew >= max(MEMORY_BYTES, MEMORY_GROWTH * trend.thirds[0]):
            yield Symptom(
                "growing-memory",
                f"container {container}",
                None,
                _growth(f"container {container}", trend, "B of memory"),
            )


def _find_late_epochs(readings: Readings) -> Iterator[Symptom]:
    if not readings.epoch_interval_s:
        return
    if readings.epoch_age_s >= max(EPOCH_LATE_S, EPOCHS_LATE * readings.epoch_interval_s):
        age, interval = words.duration_text(readings.epoch_age_s), words.duration_text(readings.epoch_interval_s)
        yield Symptom("late-epoch", "", None, f"no epoch was completed for {age}; one is due every {interval}")


def _find_silence(readings: Readings) -> Iterator[Symptom]:
    if readings.silence_s is not None and readings.silence_s >= SILENT_S:
        text = f"the topology master has said nothing for {words.duration_text(readings.silence_s)}"
        yield Symptom("silent-master", "", None, text)


def _find_known(
    readings: Readings, value_of: Callable[[TaskReading], float | None]
) -> Iterator[tuple[ComponentReading, dict[int, float]]]:
    """Components of several tasks, and what is known of these."""
    for part in readings.components:
        found = {task.index: value for task in part.tasks if (value := value_of(task)) is not None}
        if len(found) > 1:
            yield part, found


def _with_others(values: dict[int, float]) -> dict[int, tuple[float, float]]:
    """Of several tasks, each one's value and the mean of the others'; the sum is made once, for there may be a thousand."""
    total, others = fsum(values.values()), len(values) - 1
    return {index: (value, max(0.0, total - value) / others) for index, value in values.items()}


def _growth(what: str, trend: Trend, unit: str) -> str:
    first, last = words.rate_text(trend.thirds[0]), words.rate_text(trend.thirds[2])
    return f"{what}: from {first} to {last} {unit} in {words.duration_text(trend.span_s)}"


DETECTORS = (
    Detector("back-pressure", "too much waits for a task in a fifth of the time", _find_pressure),
    Detector(
        "slow-link", "too much waits for a connection between containers in a fifth of the time", _find_slow_links
    ),
    Detector("growing-waits", "more and more bytes wait to be sent by a container", _find_growing_waits),
    Detector("rate-skew", "a task gets 1.5 times the rows of the others", _find_rate_skew),
    Detector("cost-skew", "a row costs a task three times the CPU time of the others", _find_cost_skew),
    Detector("full-task", "a task uses 90 % of a core", _find_full),
    Detector("idle-tasks", "no task of a component uses 30 % of a core, for half an hour", _find_idle),
    Detector("growing-lag", "more and more records wait to be read", _find_growing_lag),
    Detector("growing-memory", "the memory of a container rises all the time, for half an hour", _find_growing_memory),
    Detector("late-epoch", "no epoch for three intervals and two minutes", _find_late_epochs),
    Detector("silent-master", "the topology master says nothing for ten seconds", _find_silence),
)


def detect_symptoms(readings: Readings) -> list[Symptom]:
    """All that is not as it should be."""
    return [symptom for row in DETECTORS for symptom in row.detect(readings)]
