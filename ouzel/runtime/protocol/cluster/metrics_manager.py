"""A metrics manager's machine: what the processes of its container have reported, and how much of it the topology master knows.

Invariant: a topology master that is new is told everything, of all incarnations of every task; the same one only what has changed. Whatever
was not taken is said again, as to a new one: reports are cumulative, so to hear one twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.runtime.observe.reports import Reports, batches
from ouzel.runtime.observe.task_metrics import MetricsSample, sample_stream_manager, sample_task
from ouzel.runtime.protocol.cluster.processes import Processes
from ouzel.runtime.protocol.pace import REST_REPORT_MS
from ouzel.runtime.wire import wire_pb2


class MetricsManagerMachine:
    """One metrics manager."""

    def __init__(self, container: int) -> None:
        self._container = container
        self._reports = Reports()
        self._stream_manager = wire_pb2.StreamManagerReport()
        self._told: wire_pb2.ContainerReport | None = None
        self._repeat_at = 0.0

    def on_report(self, report: wire_pb2.Report) -> bool:
        """A process has said how it stands; whether the topology master is to hear of it at once."""
        if not report.HasField("stream_manager"):
            return self._reports.take(report.task)
        if report.stream_manager.incarnation >= self._stream_manager.incarnation:
            self._stream_manager = report.stream_manager
        return False

    def on_new_master(self) -> None:
        """The topology master that is told from now on knows nothing."""
        self._reports.on_new_listener()
        self._told = None

    def samples(self, time_s: int) -> list[MetricsSample]:
        """The metrics of all that has reported, as of now."""
        managers = [self._stream_manager] if self._stream_manager.container else []
        tasks = [sample_task(report, time_s) for report in self._reports.newest()]
        return tasks + [sample_stream_manager(manager, time_s) for manager in managers]

    def messages(self, processes: Processes, now_ms: float) -> Iterator[wire_pb2.ContainerReport]:
        """What the topology master does not know, in messages of bounded size. Each must be taken, or `on_new_master` be called."""
        stands = self._describe(processes)
        news = list(batches(self._reports.news()))
        if not news and stands == self._told and now_ms < self._repeat_at:
            return
        self._told, self._repeat_at = stands, now_ms + REST_REPORT_MS
        for tasks in news or [[]]:
            message = wire_pb2.ContainerReport(tasks=tasks)
            message.MergeFrom(stands)
            yield message

    def _describe(self, processes: Processes) -> wire_pb2.ContainerReport:
        return wire_pb2.ContainerReport(
            container=self._container,
            stream_managers=[self._stream_manager] if self._stream_manager.container else [],
            restarts=processes.count_restarts(),
            failed=processes.failed,
            deaths=processes.deaths,
        )
