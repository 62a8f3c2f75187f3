"""A metrics manager: collects what the processes of its container report, and hands what has changed to the topology master."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

import grpc

from ouzel.runtime.observe.reports import Reports, batches
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import Life
from ouzel.runtime.process.master_client import MasterFinder
from ouzel.runtime.process.pace import REST_REPORT_MS, Pace
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.process.report_stream import ReportReceiver
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

_LIMITS = 4
"""A topology master may take so many times the hang timeout for a report: by then one that hangs has long been killed."""


class MetricsManager:
    """Keeps what the tasks of every incarnation have reported, for a topology master that is new."""

    def __init__(self, job: RunDescription, container: int, life: Life) -> None:
        self._job, self._container, self._life = job, container, life
        self._finder = MasterFinder(job)
        self._reports = Reports()
        self._manager = wire_pb2.StreamManagerReport()
        self._table = ProcessTable(job.container(container))
        self._patience_s = job.topology.settings.hang_timeout_ms / 4e3  # for what hangs must not make this one seem to
        self._channel: grpc.Channel | None = None
        self._told: wire_pb2.ContainerReport | None = None
        self._tell_at = 0.0
        self._pace = Pace()
        self._receiver = ReportReceiver(job.container(container))

    def run(self) -> None:
        """Until the process is killed."""
        next_publish = 0.0
        while True:
            self._life.beat()
            urgent = self._collect(max(0.001, next_publish - time.monotonic()))
            if urgent or time.monotonic() >= next_publish:
                next_publish = time.monotonic() + self._pace.interval_s
                self._publish()

    def _collect(self, wait_s: float) -> bool:
        """Take in reports for so long; True as soon as one has news."""
        deadline = time.monotonic() + wait_s
        urgent = False
        while not urgent and (left := deadline - time.monotonic()) > 0:
            for report in self._receiver.receive(left):
                if not report.HasField("stream_manager"):
                    urgent |= self._reports.take(report.task)
                elif report.stream_manager.incarnation >= self._manager.incarnation:
                    self._manager = report.stream_manager
        return urgent

    def _publish(self) -> None:
        """Hand on what the topology master has not heard of; one that does not answer, and the one after it, will be told all again."""
        channel = self._to_master()
        if channel is None:
            return
        try:
            for message in self._messages():
                self._hand_on(channel, message)
        except grpc.RpcError as error:
            print(f"the topology master did not take a report: {error}", file=sys.stderr)
            channel.close()
            self._channel = None

    def _hand_on(self, channel: grpc.Channel, message: wire_pb2.ContainerReport) -> None:
        """Wait until the topology master has it: one that is slow is told nothing twice, one that hangs is killed, which ends the call.

        Raises:
            grpc.RpcError: it does not take it.
        """
        limit_s = _LIMITS * self._job.topology.settings.hang_timeout_ms / 1e3
        call = TopologyMasterStub(channel).Publish.future(message, timeout=limit_s, metadata=self._job.credentials)
        taken = False
        while not taken:
            with contextlib.suppress(grpc.FutureTimeoutError):
                call.result(self._patience_s)
                taken = True
            self._life.beat()

    def _messages(self) -> Iterator[wire_pb2.ContainerReport]:
        """What is new of the tasks, in messages of bounded size, and how the container stands, which is said now and then in any case."""
        stands, now = self._describe(), time.monotonic()
        news = list(batches(self._reports.news()))
        if not news and stands == self._told and now < self._tell_at:
            return
        self._told, self._tell_at = stands, now + REST_REPORT_MS / 1e3
        for tasks in news or [[]]:
            message = wire_pb2.ContainerReport(tasks=tasks)
            message.MergeFrom(stands)
            yield message

    def _describe(self) -> wire_pb2.ContainerReport:
        return wire_pb2.ContainerReport(
            container=self._container,
            stream_managers=[self._manager] if self._manager.container else [],
            restarts=self._table.restarts(),
            failed=self._table.failed,
            deaths=self._table.deaths,
        )

    def _to_master(self) -> grpc.Channel | None:
        if self._channel is None:
            address = self._finder.find(self._patience_s)
            if address is not None:
                self._reports.again()
                self._told = None
                self._channel = grpc.insecure_channel(address)
        return self._channel


def run_metrics_manager(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    """The main function of a metrics manager's process."""
    with contextlib.suppress(KeyboardInterrupt):
        MetricsManager(job, container, life).run()
