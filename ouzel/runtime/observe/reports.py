"""Reports of tasks on their way up: whoever listens anew is told all, then only what has changed, in messages of bounded size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TypeVar

from google.protobuf.message import Message

from ouzel.runtime.observe.counts import COUNTS
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2 import Range, TaskReport

MESSAGE_BYTES = 256 << 10
"""A message is closed when its list has come to so much; gRPC refuses one of 4 MiB."""

EVENTS_KEPT = 1_000
"""How many events of one incarnation of a task are kept, for a listener that comes later."""

INCARNATIONS_KEPT = 8
"""For how many incarnations of a task counts are kept apart; those of earlier ones are added up."""

M = TypeVar("M", bound=Message)


def batches(messages: Iterable[M]) -> Iterator[list[M]]:
    """The messages in order, in lists of about MESSAGE_BYTES."""
    batch: list[M] = []
    size = 0
    for message in messages:
        batch.append(message)
        size += message.ByteSize()
        if size >= MESSAGE_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def split_report(counts: TaskReport, ranges: Iterable[Range], events: Iterable[wire_pb2.Event]) -> Iterator[TaskReport]:
    """A report, cut up. The counts come last: who hears that a task has finished knows its ranges. A failure comes first, by itself."""
    if counts.failed:
        yield counts
    for batch in batches(ranges):
        yield TaskReport(task=counts.task, incarnation=counts.incarnation, ranges=batch)
    for events_batch in batches(events):
        yield TaskReport(task=counts.task, incarnation=counts.incarnation, events=events_batch)
    yield counts


def status_parts(status: wire_pb2.TopologyStatus) -> Iterator[wire_pb2.TopologyStatus]:
    """A status, cut up like a report: `partial` ones with ranges and events, then the rest."""
    for ranges in batches(status.ranges):
        yield wire_pb2.TopologyStatus(partial=True, ranges=ranges)
    for events in batches(status.events):
        yield wire_pb2.TopologyStatus(partial=True, events=events)
    del status.ranges[:], status.events[:]
    yield status


def is_newer(report: TaskReport, known: TaskReport | None) -> bool:
    """Whether these counts are the later ones of one task's life; a part without counts never says more than one with them."""
    return known is None or (report.batches_in, report.rows_in, report.busy_seconds) >= (
        known.batches_in,
        known.rows_in,
        known.busy_seconds,
    )


def add_up(lives: Iterable[TaskReport]) -> TaskReport:
    """The counts of a task's lives, in order, as those of all up to the last one."""
    total = TaskReport(former=True)
    for life in lives:
        if life.restored:
            total = TaskReport(former=True, restored=True, busy_seconds=total.busy_seconds)
        total.task, total.incarnation, total.component = life.task, life.incarnation, life.component
        for name, metric in COUNTS.items():
            known, told = getattr(total, name), getattr(life, name)
            setattr(total, name, max(known, told) if life.carries and metric.carried else known + told)
        total.busy_seconds += life.busy_seconds
        total.carries |= life.carries
        for slot, rows in life.latency_us.items():
            total.latency_us[slot] += rows
        for name, count in life.counters.items():
            total.counters[name] += count
    return total


class Spans:
    """What has been read of every partition: the first start and the last end that anyone has told, the latest change last."""

    def __init__(self) -> None:
        self._spans: dict[tuple[str, str], tuple[int, Range]] = {}
        self.version = 0

    def take(self, told: Range) -> None:
        """Take in a range; one that was read on after a restart is one with that before it."""
        key = (told.component, told.partition)
        _, known = self._spans.get(key, (0, None))
        merged = _join(known or told, told)
        if merged != known:
            self._spans.pop(key, None)
            self.version += 1
            self._spans[key] = self.version, merged

    def since(self, version: int) -> list[Range]:
        """The ranges that have changed after `version`, by component and partition."""
        changed = takewhile(lambda entry: entry[0] > version, reversed(self._spans.values()))
        return sorted((span for _, span in changed), key=lambda span: (span.component, span.partition))


def _join(one: Range, other: Range) -> Range:
    joined = Range()
    joined.CopyFrom(other if other.end >= one.end else one)
    joined.start = min(one.start, other.start)
    times = [span.time_us for span in (one, other) if span.HasField("time_us")]
    if times:
        joined.time_us = max(times)
    return joined


class _Incarnation:
    """What one incarnation of a task has told, and how much of it the listener knows."""

    def __init__(self) -> None:
        self.counts: TaskReport | None = None
        self.spans = Spans()
        self.events: deque[wire_pb2.Event] = deque(maxlen=EVENTS_KEPT)
        self.last_event = 0
        self.told_version = self.told_event = 0
        self.is_told = False

    def take(self, report: TaskReport) -> None:
        for span in report.ranges:
            self.spans.take(span)
        for event in report.events:
            if event.sequence > self.last_event:
                self.last_event = event.sequence
                self.events.append(event)
        if is_newer(report, self.counts):
            self.counts = TaskReport()
            self.counts.CopyFrom(report)
            del self.counts.ranges[:], self.counts.events[:]
        self.is_told = False

    def news(self) -> Iterator[TaskReport]:
        if self.is_told or self.counts is None:
            return
        events = [event for event in self.events if event.sequence > self.told_event]
        yield from split_report(self.counts, self.spans.since(self.told_version), events)
        self.told_version, self.told_event, self.is_told = self.spans.version, self.last_event, True

    def on_new_listener(self) -> None:
        self.told_version, self.told_event, self.is_told = 0, 0, False


class _Former:
    """What all lives of a task have told that are not kept one by one."""

    def __init__(self, task: int) -> None:
        self.counts = TaskReport(task=task, incarnation=-1, former=True)
        self._spans = Spans()
        self._events: deque[tuple[int, wire_pb2.Event]] = deque(maxlen=EVENTS_KEPT)
        self._is_told = False

    def retire(self, incarnation: int, life: _Incarnation) -> None:
        """Take in the life after those that are here."""
        counts = life.counts or TaskReport(task=self.counts.task)
        counts.incarnation = incarnation
        self.counts = add_up([self.counts, counts])
        for span in life.spans.since(0):
            self._spans.take(span)
        self._events.extend((incarnation, event) for event in life.events)
        self._is_told = False

    def news(self) -> Iterator[TaskReport]:
        if self._is_told:
            return
        for incarnation, event in self._events:
            yield TaskReport(task=self.counts.task, incarnation=incarnation, events=[event])
        yield from split_report(self.counts, self._spans.since(0), ())
        self._is_told = True

    def on_new_listener(self) -> None:
        self._is_told = False


class Reports:
    """The reports of a container's tasks, kept for whoever listens. Nothing is lost between the two; a new listener is told all."""

    def __init__(self) -> None:
        self._incarnations: dict[tuple[int, int], _Incarnation] = {}
        self._former: dict[int, _Former] = {}

    def take(self, report: TaskReport) -> bool:
        """Take in a part of a report; whether the listener should hear of it at once."""
        former = self._former.get(report.task)
        if former and report.incarnation <= former.counts.incarnation:
            return False
        life = self._incarnations.setdefault((report.task, report.incarnation), _Incarnation())
        before = _urgent(life.counts)
        life.take(report)
        self._retire(report.task)
        return _urgent(life.counts) != before

    def _retire(self, task: int) -> None:
        """Add the oldest lives up, where there are more than are kept."""
        lives = sorted(key for key in self._incarnations if key[0] == task)
        for key in lives[:-INCARNATIONS_KEPT]:
            self._former.setdefault(task, _Former(task)).retire(key[1], self._incarnations.pop(key))

    def news(self) -> Iterator[TaskReport]:
        """What the listener has not heard of, failures first; exhaust it, or call `on_new_listener`."""
        yield from (life.counts for life in self._incarnations.values() if life.counts and life.counts.failed)
        for life in self._list_told():
            yield from life.news()

    def newest(self) -> Iterator[TaskReport]:
        """Of each task the counts of its present life."""
        for task, incarnation in dict(sorted(self._incarnations)).items():
            if counts := self._incarnations[task, incarnation].counts:
                yield counts

    def on_new_listener(self) -> None:
        """The listener knows nothing (any more)."""
        for life in self._list_told():
            life.on_new_listener()

    def _list_told(self) -> list[_Former | _Incarnation]:
        return [*self._former.values(), *self._incarnations.values()]


def _urgent(counts: TaskReport | None) -> tuple[object, ...]:
    """A task has finished, failed, come to rest, or heard of a plan."""
    told = counts or TaskReport()
    epochs = told.generation, told.needs_restore, told.taken, told.saved.epoch, told.epoch_failed
    return told.finished, told.failed, told.pause, told.plan, epochs
