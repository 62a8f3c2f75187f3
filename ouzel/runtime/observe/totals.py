"""Reports of tasks, added up to how the topology stands. Reports are cumulative and may be lost, repeated, or come late."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from ouzel.connectors.backlog import largest
from ouzel.runtime.observe.counts import add_up_counts
from ouzel.runtime.observe.histogram import Histogram
from ouzel.runtime.observe.reports import INCARNATIONS_KEPT, Spans, add_up, is_newer
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME
from ouzel.runtime.wire import wire_pb2

LATENCY_WINDOW_MS = 5_000.0
_SNAPSHOT_MS = 500.0
_EVENTS_KEPT = 1_000


class ReportedUpTo(NamedTuple):
    """How much a listener knows: changes of ranges, and events."""

    ranges: int = 0
    events: int = 0


class Totals:
    """All tasks of a topology, those of former incarnations included.

    Args:
        spouts: tasks that read.
        sinks: tasks that write.
        held: kinds of events that are told only when all spouts have reported anew, for reports of two tasks may overtake each other:
            whoever hears of a loss then knows how far had been read before it.
    """

    def __init__(self, spouts: frozenset[int], sinks: frozenset[int], held: frozenset[str] = frozenset()) -> None:
        self._spouts, self._sinks, self._held_kinds = spouts, sinks, held
        self._reports: dict[tuple[int, int], wire_pb2.TaskReport] = {}
        self._former: dict[int, wire_pb2.TaskReport] = {}
        self._newest: dict[int, int] = {}
        self._told = 0
        self._spans = Spans()
        self._events: dict[tuple[int, int, int], wire_pb2.Event] = {}
        self._held: dict[tuple[int, int, int], tuple[wire_pb2.Event, int | None]] = {}
        self._latencies: deque[tuple[float, dict[int, int]]] = deque()
        self._watermark_us: int | None = None
        self._reached: dict[int, tuple[int | None, int | None]] = {}

    def take(self, report: wire_pb2.TaskReport) -> None:
        """Take in a report of one task, or a part of it."""
        key = (report.task, report.incarnation)
        self._newest[report.task] = max(report.incarnation, self._newest.get(report.task, 0))
        for event in report.events:
            self._keep((*key, event.sequence), event)
        if report.task in self._spouts:
            for span in report.ranges:
                self._spans.take(span)
        if not self._put(key, report):
            return
        self._move_watermark()
        _, before = self._reached.get(report.task, (None, None))
        self._reached[report.task] = before, self._watermark_us
        if self._held:
            heard = self.plan_heard_of(self._spouts)
            self._release([key for key, (_, plan) in self._held.items() if plan is not None and heard >= plan])

    @property
    def is_holding_back(self) -> bool:
        """Whether an event waits for a plan of which all spouts are to hear, and nobody has said of which."""
        return any(plan is None for _, plan in self._held.values())

    def hold_back_until(self, plan: int) -> None:
        """Tell these events when all spouts, as they run now, have reported after they heard of this version of the plan."""
        self._held = {key: (event, plan if known is None else known) for key, (event, known) in self._held.items()}

    def release_all(self) -> None:
        """There will be no more reports: hold nothing back."""
        self._release(list(self._held))

    def _keep(self, key: tuple[int, int, int], event: wire_pb2.Event) -> None:
        if key in self._events or key in self._held or len(self._events) + len(self._held) >= _EVENTS_KEPT:
            return
        placed = self._place(event, key[0])
        if event.kind in self._held_kinds:
            self._held[key] = placed, None
        else:
            self._events[key] = placed

    def _release(self, keys: Iterable[tuple[int, int, int]]) -> None:
        for key in keys:
            self._events[key], _ = self._held.pop(key)

    def note(self, task: int, kind: str, text: str) -> None:
        """Add an event about a task that the task itself could not report."""
        key = (task, self._newest.get(task, 0), 0)
        self._events.setdefault(key, self._place(wire_pb2.Event(kind=kind, text=text, count=1), task))

    def tell(self, kind: str, text: str) -> None:
        """Add an event of the whole topology."""
        if len(self._events) >= _EVENTS_KEPT:
            return
        self._told += 1
        self._events[-1, 0, self._told] = wire_pb2.Event(sequence=self._told, kind=kind, text=text, count=1)

    def _put(self, key: tuple[int, int], report: wire_pb2.TaskReport) -> bool:
        """Keep the counts of a life, if they are news; those of many lives ago are added up."""
        task, incarnation = key
        former = self._former.get(task)
        if report.former:
            if former is None or (incarnation, report.batches_in) >= (former.incarnation, former.batches_in):
                self._retire(task, incarnation, [report])
            return False
        if (former and incarnation <= former.incarnation) or not is_newer(report, self._reports.get(key)):
            return False
        self._reports[key] = report
        lives = sorted(life for life in self._reports if life[0] == task)
        if len(lives) > INCARNATIONS_KEPT:
            told = [self._reports[life] for life in lives[:-INCARNATIONS_KEPT]]
            self._retire(task, told[-1].incarnation, [former, *told] if former else told)
        return True

    def _retire(self, task: int, incarnation: int, lives: list[wire_pb2.TaskReport]) -> None:
        """Have the sum of these in place of all lives up to this one."""
        self._former[task] = add_up(lives)
        for key in [key for key in self._reports if key[0] == task and key[1] <= incarnation]:
            del self._reports[key]

    @property
    def failed(self) -> str:
        """Why a task failed; empty if none did."""
        return next((report.failed for report in self._current() if report.failed), "")

    def have_finished(self, tasks: frozenset[int]) -> bool:
        """Whether each of these tasks, as it runs now, has finished."""
        return not self.find_unfinished(tasks)

    def find_unfinished(self, tasks: frozenset[int]) -> frozenset[int]:
        """Those of these tasks that, as they run now, have not said that they have finished."""
        return tasks - {report.task for report in self._current() if report.finished}

    def have_paused(self, tasks: frozenset[int], pause: int) -> bool:
        """Whether each of these tasks, as it runs now, has come to rest in that pause, or has finished."""
        return tasks <= {report.task for report in self._current() if report.finished or report.pause == pause}

    def plan_heard_of(self, tasks: frozenset[int]) -> int:
        """The version of the plan that each of these tasks, as it runs now, had heard of when it reported; 0 if one has not."""
        heard = {report.task: report.plan for report in self._current()}
        return min((heard.get(task, 0) for task in tasks), default=0)

    @property
    def reported(self) -> ReportedUpTo:
        """What `status` has to say now that grows without end."""
        return ReportedUpTo(self._spans.version, len(self._events))

    def status(self, now_ms: float, known: ReportedUpTo = ReportedUpTo()) -> wire_pb2.TopologyStatus:
        """Everything added up, of ranges and events what is new; state, restarts and back-pressure are for the caller to fill in."""
        everyone = self._everyone()
        spouts = [report for report in everyone if report.task in self._spouts]
        sinks = [report for report in everyone if report.task in self._sinks]
        status = wire_pb2.TopologyStatus(
            events=islice(self._events.values(), known.events, None), ranges=self._spans.since(known.ranges)
        )
        for name, count in add_up_counts(spouts, sinks, everyone).items():
            setattr(status, name, count)
        self._put_lag(status)
        for report in everyone:
            for name, count in report.counters.items():
                status.counters[f"{report.component}.{name}"] += count
        self._put_watermarks(status)
        self._put_latency(status, spouts, now_ms)
        return status

    def _everyone(self) -> list[wire_pb2.TaskReport]:
        """The counts of each task, over all its lives."""
        lives: dict[int, list[wire_pb2.TaskReport]] = {task: [report] for task, report in self._former.items()}
        for (task, _), report in sorted(self._reports.items(), key=itemgetter(0)):
            lives.setdefault(task, []).append(report)
        return [add_up(reports) if len(reports) > 1 else reports[0] for reports in lives.values()]

    def _current(self) -> Iterable[wire_pb2.TaskReport]:
        return (self._reports[key] for key in self._newest.items() if key in self._reports)

    def _place(self, event: wire_pb2.Event, task: int) -> wire_pb2.Event:
        """The event with its task, and what the sinks had reached by the task's last report but one: what happened to it came later.

        (The last one may have been on its way for as long as there is between two, and the sinks' may have overtaken it.)
        """
        placed = wire_pb2.Event()
        placed.CopyFrom(event)
        placed.task = task
        since_us, _ = self._reached.get(task, (None, None))
        if since_us is not None:
            placed.since_us = since_us
        return placed

    def _move_watermark(self) -> None:
        sinks = [report for report in self._current() if report.task in self._sinks]
        if len(sinks) == len(self._sinks) > 0 and all(report.HasField("watermark_us") for report in sinks):
            lowest = min(report.watermark_us for report in sinks)
            if BEGINNING_OF_TIME < lowest < END_OF_TIME:
                self._watermark_us = lowest

    def _put_watermarks(self, status: wire_pb2.TopologyStatus) -> None:
        """That of the sinks, and of each spout the least of its tasks'; and what tasks wait for."""
        if self._watermark_us is not None:
            status.watermark_us = self._watermark_us
        for report in self._current():
            if report.task in self._spouts:
                time_us = report.watermark_us if report.HasField("watermark_us") else BEGINNING_OF_TIME
                known_us = status.watermarks.get(report.component, END_OF_TIME)
                status.watermarks[report.component] = min(time_us, known_us)
            status.waiting.extend(report.waiting)

    def _put_lag(self, status: wire_pb2.TopologyStatus) -> None:
        """That of all spouts together, and of each where most waits."""
        backlogs: dict[str, list[wire_pb2.Backlog]] = {}
        for report in self._current():
            if report.HasField("lag"):
                status.lag += report.lag
            if report.HasField("lag_bytes"):
                status.lag_bytes += report.lag_bytes
            if report.HasField("lag_ms"):
                status.lag_ms = max(status.lag_ms, report.lag_ms)
            for backlog in report.backlogs:
                backlogs.setdefault(backlog.component, []).append(backlog)
        for known in backlogs.values():
            status.backlogs.extend(largest(known))

    def _put_latency(self, status: wire_pb2.TopologyStatus, spouts: list[wire_pb2.TaskReport], now_ms: float) -> None:
        histogram = Histogram()
        for report in spouts:
            histogram.merge(report.latency_us)
        while len(self._latencies) > 1 and now_ms - self._latencies[1][0] >= LATENCY_WINDOW_MS:
            self._latencies.popleft()
        recent = histogram.since(self._latencies[0][1]) if self._latencies else histogram
        recent = recent if recent.buckets else histogram
        if not self._latencies or now_ms - self._latencies[-1][0] >= _SNAPSHOT_MS:
            self._latencies.append((now_ms, dict(histogram.buckets)))
        p50, p99 = recent.quantile(0.5), recent.quantile(0.99)
        if p50 is not None and p99 is not None:
            status.p50_ms, status.p99_ms = p50 / 1e3, p99 / 1e3
