"""A metrics manager's process: a socket on which its container's processes report, calls to the topology master, and a file of history."""

from __future__ import annotations

import contextlib
import sys
import time

import grpc

from ouzel.runtime.process.container_usage import add_usage, measure_processes, sample_container
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import Life, now_ms
from ouzel.runtime.process.master_client import MasterFinder
from ouzel.runtime.process.metrics_file import MetricsWriter, sample_interval_s
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.process.publisher import Publisher
from ouzel.runtime.process.report_stream import ReportReceiver
from ouzel.runtime.protocol.cluster.metrics_manager import MetricsManagerMachine
from ouzel.runtime.protocol.pace import Pace
from ouzel.runtime.wire import wire_pb2

_LIMITS = 4
"""A topology master may take so many times the hang timeout for a report: by then one that hangs has long been killed."""


_LOOK_S = 0.2
"""How often it is looked whether a topology master that takes so long for a report still leads."""


class _Moved(Exception):
    """Another topology master leads."""


class MetricsManager:
    """Receives reports, and hands on what its machine says."""

    def __init__(self, job: RunDescription, container: int, life: Life) -> None:
        self._job, self._container, self._life = job, container, life
        self._machine = MetricsManagerMachine(container)
        self._finder = MasterFinder(job)
        self._table = ProcessTable(job.container(container))
        self._patience_s = job.topology.settings.hang_timeout_ms / 4e3  # for what hangs must not make this one seem to
        self._limit_s = _LIMITS * job.topology.settings.hang_timeout_ms / 1e3
        self._publisher: Publisher | None = None
        self._credentials, self._address, self._is_away = job.credentials, "", False
        self._pace = Pace(time.monotonic)
        self._receiver = ReportReceiver(job.container(container))
        self._history, self._began, self._next_sample = MetricsWriter(job.container(container)), time.monotonic(), 0.0

    def run(self) -> None:
        """Until the process is killed."""
        next_publish = 0.0
        while True:
            self._life.beat()
            urgent = self._collect(max(0.001, next_publish - time.monotonic()))
            if urgent or time.monotonic() >= next_publish:
                next_publish = time.monotonic() + self._pace.interval_s
                self._publish()
                self._keep_samples()

    def _keep_samples(self) -> None:
        """Keep the metrics of now, if it is time. Where there is no room for them, history has a hole."""
        if (now := time.monotonic()) < self._next_sample:
            return
        used, time_s = measure_processes(self._table), int(time.time())
        samples = add_usage(self._machine.samples(time_s), used) + sample_container(self._container, used, time_s)
        soon = max(1.0, (now - self._began) / 4)  # of what has just begun something is known after a second
        self._next_sample = now + min(soon, sample_interval_s(len(samples)))
        with contextlib.suppress(OSError):
            self._history.write(samples, time_s)

    def _collect(self, wait_s: float) -> bool:
        """Take in reports for so long; True as soon as one has news."""
        deadline = time.monotonic() + wait_s
        urgent = False
        while not urgent and (left := deadline - time.monotonic()) > 0:
            for report in self._receiver.receive(left):
                urgent |= self._machine.on_report(report)
        return urgent

    def _publish(self) -> None:
        """Hand on what the topology master has not heard of; one that does not answer, and the one after it, will be told all again."""
        publisher = self._to_master()
        if publisher is None:
            return
        try:
            self._table.read_if_changed()
            for message in self._machine.messages(self._table, now_ms()):
                self._hand_on(publisher, message)
            self._is_away = False
        except (grpc.RpcError, _Moved) as error:
            if not self._is_away:  # once until it answers again, for it is asked many times while it starts
                print(describe_refusal(error), file=sys.stderr)
            self._is_away = True
            self._hang_up()

    def _hand_on(self, publisher: Publisher, message: wire_pb2.ContainerReport) -> None:
        """Wait until the topology master has it: one that is slow is told nothing twice, one that hangs is killed, which ends the call.

        Raises:
            grpc.RpcError: it does not take it.
            _Moved: it has not answered, and another leads by now.
        """
        publisher.send(message)
        taken = False
        while not taken:
            taken = publisher.await_taken(min(self._patience_s, _LOOK_S))
            self._life.beat()
            if not taken and self._finder.has_moved(self._address):
                raise _Moved("another leads now")

    def _to_master(self) -> Publisher | None:
        if self._publisher is not None and self._finder.has_moved(self._address):
            self._hang_up()
        if self._publisher is None:
            address = self._finder.find(self._patience_s)
            if address is not None:
                self._machine.on_new_master()
                self._publisher, self._address = Publisher(address, self._credentials, self._limit_s), address
        return self._publisher

    def _hang_up(self) -> None:
        if self._publisher is not None:
            self._publisher.close()
        self._publisher = None


def describe_refusal(error: Exception) -> str:
    """A line of the log: why a topology master did not take a report. gRPC's own text has many lines, and its time and addresses."""
    why = f"gRPC says {error.code().name}" if isinstance(error, grpc.Call) else str(error)
    return f"the topology master does not take reports now, and is told later: {why}"


def run_metrics_manager(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    """The main function of a metrics manager's process."""
    with contextlib.suppress(KeyboardInterrupt):
        MetricsManager(job, container, life).run()
