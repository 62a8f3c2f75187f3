"""How a task stands, told to the metrics manager of its container."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from ouzel.compiler.user_code import sayable
from ouzel.planner.topology import Task
from ouzel.runtime.observe.counts import COUNTS
from ouzel.runtime.observe.reports import EVENTS_KEPT, split_report
from ouzel.runtime.process.collector import CollectorClock
from ouzel.runtime.protocol.cluster.report_stream import Compose
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.wire import wire_pb2

if TYPE_CHECKING:
    from ouzel.runtime.process.epochs import TaskEpochs
    from ouzel.runtime.protocol.task import TaskMachine, TaskMetrics

_REASON_LENGTH = 20_000


class Sender(Protocol):
    """What carries reports to the metrics manager; see `ReportSender`."""

    def tell(self, compose: Compose) -> bool:
        """Send what `compose` says, which hears whether the listener is a new one; False if that has to be tried again."""


class Reporter:
    """Tells the container's metrics manager how the task stands: a new one all of it, the same one what has changed.

    While the task's thread still starts it, another may tell what it waits for.
    """

    def __init__(self, sender: Sender, task: Task, incarnation: int, collector: CollectorClock | None = None) -> None:
        self._sender, self._task, self._incarnation = sender, task, incarnation
        self._collector = collector or CollectorClock()
        self._events: deque[wire_pb2.Event] = deque(maxlen=EVENTS_KEPT)
        self._events_made = self._events_told = 0
        self._ranges_told: dict[str, tuple[tuple[int, int], int | None]] = {}
        self._lock = Lock()
        self.finished = False
        self.failed = ""
        self.plan = 0
        self.epochs: TaskEpochs | None = None
        self._busy_before_s, self._collected_before = 0.0, (0, 0.0)

    def begin_anew(self, incarnation: int) -> None:
        """The task has a new machine: its counts begin anew."""
        with self._lock:
            self._incarnation, self.finished = incarnation, False
            self._busy_before_s = time.process_time()
            self._collected_before = self._collector.runs, self._collector.seconds
            self._ranges_told.clear()

    def event(self, event: Event) -> None:
        """To be told with the next report."""
        with self._lock:
            self._events_made += 1
            told = wire_pb2.Event(sequence=self._events_made, kind=event.kind, text=sayable(event.text))
            told.count, told.at_us = event.count, time.time_ns() // 1000
            self._events.append(told)

    def report(self, machine: TaskMachine | None) -> bool:
        """Send a report now; False if nobody took it, or not all of it."""
        with self._lock:
            return self._sender.tell(partial(self._compose, machine))

    def _compose(self, machine: TaskMachine | None, anew: bool) -> Iterator[wire_pb2.Report]:
        if anew:
            self._events_told = 0
            self._ranges_told.clear()
        counts = self._counts()
        ranges: list[wire_pb2.Range] = []
        if machine is not None:
            metrics = machine.metrics()
            _put_counts(counts, machine.paused, metrics)
            ranges += self._list_changed_ranges(metrics)
        if self.epochs is not None:
            _put_epochs(counts, self.epochs)
        events = [event for event in self._events if event.sequence > self._events_told]
        self._events_told = self._events_made
        for part in split_report(counts, ranges, events):
            yield wire_pb2.Report(task=part)

    def _counts(self) -> wire_pb2.TaskReport:
        return wire_pb2.TaskReport(
            task=self._task.id,
            component=self._task.component,
            incarnation=self._incarnation,
            finished=self.finished,
            failed=sayable(self.failed[:_REASON_LENGTH]),
            plan=self.plan,
            busy_seconds=time.process_time() - self._busy_before_s,
            collections=self._collector.runs - self._collected_before[0],
            collecting_seconds=self._collector.seconds - self._collected_before[1],
        )

    def _list_changed_ranges(self, metrics: TaskMetrics) -> Iterator[wire_pb2.Range]:
        for partition, span in metrics.ranges.items():
            time_us = metrics.times.get(partition)
            if self._ranges_told.get(partition) != (span, time_us):
                self._ranges_told[partition] = span, time_us
                yield wire_pb2.Range(
                    component=self._task.component,
                    partition=partition,
                    start=span[0],
                    end=span[1],
                    time_us=time_us,
                    began_us=metrics.began_us,
                )


def _put_epochs(report: wire_pb2.TaskReport, epochs: TaskEpochs) -> None:
    part, saved = epochs.part, epochs.saved
    report.generation, report.needs_restore, report.taken = part.generation.number, part.needs_restore, part.taken
    report.taken_by, report.published = part.taken_by, part.published
    if saved.epoch:
        files = (wire_pb2.EpochFile(name=one.name, size=one.size, digest=one.digest) for one in saved.files)
        took = wire_pb2.PartTimes(**asdict(saved.took)) if saved.took else None
        report.saved.CopyFrom(wire_pb2.EpochFiles(epoch=saved.epoch, files=files, took=took, keys=saved.keys))
        report.epoch_failed = saved.failed


def _put_counts(report: wire_pb2.TaskReport, paused: int, metrics: TaskMetrics) -> None:
    for name in COUNTS:
        setattr(report, name, getattr(metrics, name))
    report.pending_rows = metrics.pending_rows
    report.pause, report.carries, report.restored = paused, metrics.carries, metrics.restored
    if metrics.watermark_us is not None:
        report.watermark_us = metrics.watermark_us
    if metrics.lag is not None:
        report.lag = metrics.lag
    if metrics.lag_bytes is not None:
        report.lag_bytes = metrics.lag_bytes
    if metrics.lag_ms is not None:
        report.lag_ms = metrics.lag_ms
    report.backlogs.extend(wire_pb2.Backlog(component=report.component, **asdict(each)) for each in metrics.backlogs)
    report.latency_us.update(metrics.latency_us)
    report.counters.update(metrics.counters)
    sizes = (wire_pb2.OperatorStateSize(operator=name, **asdict(size)) for name, size in metrics.states.items())
    report.states.extend(sizes)
    report.waiting.extend(wire_pb2.Waiting(**asdict(waiting)) for waiting in metrics.waiting)
