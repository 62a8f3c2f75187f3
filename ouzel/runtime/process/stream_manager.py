"""A stream manager's process: sockets around its machine.

One thread. A round reads what has arrived on every connection; as soon as nothing more is there to read, every link that got something
is written to. So small frames gather while there is much to do, and an idle system sends at once. Bodies are never copied.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections import deque
from collections.abc import Callable

from ouzel.runtime.process.hub import Hub
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import Life, now_ms
from ouzel.runtime.process.master_client import MasterClient
from ouzel.runtime.process.report_stream import ReportSender
from ouzel.runtime.protocol.cluster.stream_manager import StreamManagerMachine
from ouzel.runtime.protocol.pace import REST_TICK_MS, TICK_MS
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import pack_header

_DIAL_S = 0.2


class StreamManager:
    """Carries frames as its machine says; `run` is the process's main loop. `clock` gives milliseconds."""

    def __init__(
        self, job: RunDescription, container: int, life: Life, incarnation: int, clock: Callable[[], float]
    ) -> None:
        self._job, self._container, self._life, self._incarnation = job, container, life, incarnation
        self._clock = clock
        self._machine = StreamManagerMachine(job.placement, container, os.getpid(), job.token(), secrets.token_bytes)
        self._hub = Hub(self._machine, clock)
        self._plans: deque[wire_pb2.PhysicalPlan] = deque()
        self._metrics = ReportSender(job.container(container))
        self._moves = False
        self._rest_ms = min(REST_TICK_MS, job.topology.settings.heartbeat_ms / 2)

    def run(self) -> None:
        """Until the process is killed."""
        self._join()
        next_tick = 0.0
        while True:
            busy = self._hub.poll(0 if self._machine.has_due else max(0.0, next_tick - self._clock()) / 1e3)
            self._moves |= busy
            while self._plans:
                self._machine.on_plan(self._plans.popleft())
                self._dial()
            now = self._clock()
            self._flush(now, busy)
            if self._moves:
                next_tick = min(next_tick, now + TICK_MS)
            if now >= next_tick:
                self._moves = False
                self._tick(now)
                next_tick = now + (TICK_MS if self._moves or self._machine.is_waiting else self._rest_ms)

    def _join(self) -> None:
        """Listen, and have a thread register with the topology master, whichever is there."""
        path = self._job.container(self._container) / "stream-manager.sock"
        self._hub.listen(path)
        address = wire_pb2.Address(host=socket.gethostname(), path=str(path))
        if self._job.tcp:
            address.port = self._hub.listen_on_tcp("127.0.0.1")
        pid = os.getpid()
        me = wire_pb2.StreamManager(container=self._container, incarnation=pid, pid=pid, address=address)
        MasterClient(self._job, me, self._on_plan).start()

    def _on_plan(self, plan: wire_pb2.PhysicalPlan) -> None:
        """Called from the thread that has registered."""
        self._plans.append(plan)
        self._hub.wake()

    def _flush(self, now: float, busy: bool = False) -> None:
        if due := self._machine.take_due(now, busy):
            self._hub.flush(due)
            self._machine.on_flushed(due, now)

    def _dial(self) -> None:
        """Dial those that are not linked; of many that do not answer some are left for the next tick."""
        until_ms = self._clock() + 1e3 * _DIAL_S
        for dial in self._machine.next_dials():
            if self._clock() >= until_ms:
                return
            self._machine.on_dialling(dial.container, self._clock())
            with contextlib.suppress(OSError):
                self._hub.on_dialled(dial, _connect(dial.address, dial.hello))

    def _tick(self, now: float) -> None:
        self._life.beat()
        self._dial()
        self._hub.carry_out(self._machine.on_tick(now, self._hub.arriving()))
        self._flush(now)
        report = self._machine.report_if_due(self._hub.received_bytes(), now)
        if report is not None:
            report.incarnation = self._incarnation
            self._metrics.tell(lambda anew: [wire_pb2.Report(stream_manager=report)])


def _connect(address: wire_pb2.Address, hello: wire_pb2.Hello) -> socket.socket:
    connection = socket.socket(socket.AF_INET if address.port else socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_DIAL_S)
        connection.connect((address.host, address.port) if address.port else address.path)
        connection.sendall(pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=hello)))
    except OSError:
        connection.close()
        raise
    return connection


def run_stream_manager(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    """The main function of a stream manager's process."""
    StreamManager(job, container, life, incarnation, now_ms).run()
