"""A metrics manager: collects what the processes of its container report, in datagrams, and hands it to the topology master."""

from __future__ import annotations

import contextlib
import socket
import time

import grpc

from ouzel.runtime.process.job import Job
from ouzel.runtime.process.life import Life
from ouzel.runtime.process.master_client import MasterFinder
from ouzel.runtime.process.pace import Pace
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

_DATAGRAM_BYTES = 1 << 20


class MetricsManager:
    """Keeps the last report of every process and incarnation."""

    def __init__(self, job: Job, container: int, life: Life) -> None:
        self._job, self._container, self._life = job, container, life
        self._finder = MasterFinder(job)
        self._tasks: dict[tuple[int, int], wire_pb2.TaskReport] = {}
        self._managers: dict[int, wire_pb2.StreamManagerReport] = {}
        self._table = ProcessTable(job.container(container))
        self._patience_s = (
            job.topology.settings.hang_timeout_ms / 4e3
        )  # a master that hangs must not make this one seem to
        self._stub: TopologyMasterStub | None = None
        self._pace = Pace()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = job.container(container) / "metrics-manager.sock"
        path.unlink(missing_ok=True)
        self._socket.bind(str(path))

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
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                report = wire_pb2.Report.FromString(self._socket.recv(_DATAGRAM_BYTES))
            except TimeoutError:
                return False
            if report.HasField("stream_manager"):
                self._managers[report.stream_manager.incarnation] = report.stream_manager
            elif self._take(report.task):
                return True
        return False

    def _take(self, report: wire_pb2.TaskReport) -> bool:
        key = (report.task, report.incarnation)
        known = self._tasks.get(key)
        self._tasks[key] = report
        return _news(report) != _news(known or wire_pb2.TaskReport())

    def _publish(self) -> None:
        restarts = self._table.restarts()
        newest = max(self._managers, default=None)
        report = wire_pb2.ContainerReport(
            container=self._container,
            tasks=self._tasks.values(),
            stream_managers=[] if newest is None else [self._managers[newest]],
            restarts=restarts,
            failed=self._table.failed,
            deaths=self._table.deaths,
        )
        try:
            if self._stub is None:
                self._find_master()
            if self._stub is not None:
                self._stub.Publish(report, timeout=self._patience_s)
        except grpc.RpcError:
            self._stub = None

    def _find_master(self) -> None:
        address = self._finder.find(self._patience_s)
        if address is not None:
            self._stub = TopologyMasterStub(grpc.insecure_channel(address))


def _news(report: wire_pb2.TaskReport) -> tuple[object, ...]:
    """What the topology master should hear of at once: a task has finished, failed, come to rest, or heard of a plan."""
    return report.finished, report.failed, report.pause, report.plan


def run_metrics_manager(job: Job, container: int, incarnation: int, life: Life) -> None:
    """The main function of a metrics manager's process."""
    with contextlib.suppress(KeyboardInterrupt):
        MetricsManager(job, container, life).run()
