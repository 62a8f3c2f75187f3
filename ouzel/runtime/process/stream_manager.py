"""A stream manager: passes frames between the tasks of its container and other containers, by their destination and nothing else.

One thread. A round reads what has arrived on every connection; as soon as nothing more is there to read, every link that got something
is written to. So small frames gather while there is much to do, and an idle system sends at once. Bodies are never looked at and never
copied.
"""

from __future__ import annotations

import contextlib
import hmac
import math
import os
import secrets
import socket
from collections import deque
from collections.abc import Callable, Iterable

from ouzel.planner.settings import Delivery
from ouzel.runtime.process.hub import Connection, Hub
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import Life, now_ms
from ouzel.runtime.process.links import Link, PeerLink, TaskLink
from ouzel.runtime.process.master_client import MasterClient
from ouzel.runtime.process.report_stream import ReportSender
from ouzel.runtime.protocol.back_pressure import Pause, Pressure, Tell
from ouzel.runtime.protocol.handshake import NONCE_BYTES, Acceptor, Dialer
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, pack_header

TICK_MS, REST_TICK_MS = 50.0, 200.0
"""From one tick to the next, while frames come or wait, and while all is quiet."""
REPORT_MS, REST_REPORT_MS = 200.0, 1_000.0
_LINK_LIMIT = 4
"""A link holds at most so many times the high watermark; what comes then is dropped, and replayed by its source.

At most once nothing is replayed, neither what is dropped nor what is late: then what waits is bounded by back-pressure alone.
"""
_ACKNOWLEDGE_EVERY = 64
_DIAL_S = 0.2
_SMALL_BYTES = 16 << 10


class StreamManager:
    """Routes frames; `run` is the process's main loop. `clock` gives milliseconds."""

    def __init__(
        self, job: RunDescription, container: int, life: Life, incarnation: int, clock: Callable[[], float]
    ) -> None:
        self._clock = clock
        settings = job.topology.settings
        self._job, self._container, self._life, self._incarnation = job, container, life, incarnation
        self._tracked = settings.delivery is Delivery.AT_LEAST_ONCE
        self._holders = job.placement.holders()
        limit = _LINK_LIMIT * settings.high_watermark_bytes if self._tracked else math.inf
        self._tasks = {task.id: TaskLink(task.id, limit) for task in job.tasks_in(container)}
        self._peers = {one.id: PeerLink(-one.id, limit) for one in job.packing.containers if one.id != container}
        remote = {task: self._peers[place] for task, place in job.placement.places().items() if place != container}
        self._routes: dict[int, Link] = {**remote, **self._tasks}
        self._pressure = Pressure(
            job.placement.feeders_by_link(container), settings.high_watermark_bytes, settings.low_watermark_bytes
        )
        self._pauses = {task: Pause() for task in self._tasks}
        self._received: dict[tuple[int, int], int] = {}
        self._dirty: set[Link] = set()
        self._plan = wire_pb2.PhysicalPlan()
        self._plans: deque[wire_pb2.PhysicalPlan] = deque()
        self._report = wire_pb2.StreamManagerReport(container=container, incarnation=incarnation)
        self._metrics = ReportSender(job.container(container))
        self._next_report = self._drained_ms = 0.0
        self._dialled_ms: dict[int, float] = {}
        self._moves, self._reported_bytes = False, -1
        self._rest_ms = min(REST_TICK_MS, settings.heartbeat_ms / 2)
        self._drain_ms = settings.cache_drain_ms
        self._hub = Hub(self._on_frames, clock)

    def run(self) -> None:
        """Until the process is killed."""
        path = self._job.container(self._container) / "stream-manager.sock"
        self._hub.listen(path)
        address = wire_pb2.Address(host=socket.gethostname(), path=str(path))
        if self._job.tcp:
            address.port = self._hub.listen_on_tcp("127.0.0.1")
        me = wire_pb2.StreamManager(
            container=self._container, incarnation=os.getpid(), pid=os.getpid(), address=address
        )
        MasterClient(self._job, me, self._on_plan).start()
        next_tick = 0.0
        while True:
            busy = self._hub.poll(0 if self._dirty else max(0.0, next_tick - self._clock()) / 1e3)
            self._moves |= busy
            while self._plans:
                self._follow(self._plans.popleft())
            now = self._clock()
            self._flush(now, busy)
            if self._moves:
                next_tick = min(next_tick, now + TICK_MS)
            if now >= next_tick:
                self._moves = False
                self._tick(now)
                next_tick = now + (TICK_MS if self._moves or self._waits else self._rest_ms)

    @property
    def _waits(self) -> bool:
        """Whether anything is held back, or for somebody who is not there yet."""
        return any(link.waiting for link in self._routes.values()) or any(
            not self._hub.is_linked(link) for link in self._peers.values()
        )

    # Frames

    def _on_frames(self, connection: Connection, frames: list[Frame]) -> None:
        if not connection.trusted or frames[0].kind >= wire_pb2.HELLO:
            frames = self._introduce(connection, frames)
        for frame in frames:
            self._route(frame)
        if connection.sender is not None:
            count = self._received[connection.sender] = self._received[connection.sender] + len(frames)
            if count - connection.acknowledged >= _ACKNOWLEDGE_EVERY:
                self._acknowledge(connection, count)

    def _route(self, frame: Frame) -> None:
        if frame.kind in (wire_pb2.SLOW, wire_pb2.RELIEVED) and frame.destination in self._tasks:
            self._pause(frame)
        link = self._routes.get(frame.destination)
        if link is not None:
            link.put(frame)
            self._dirty.add(link)

    def _flush(self, now: float, busy: bool = False) -> None:
        """Write to the links that got something. While more arrives, small frames gather, up to the drain interval."""
        if busy and now - self._drained_ms < self._drain_ms:
            due = {link for link in self._dirty if link.waiting >= _SMALL_BYTES}
        else:
            due, self._drained_ms = self._dirty, now
        if not due:
            return
        self._dirty = self._dirty - due
        self._hub.flush(due)
        for link in due:
            self._press(self._pressure.waiting(link.key, link.waiting, now))

    # Who is there

    def _introduce(self, connection: Connection, frames: list[Frame]) -> list[Frame]:
        """Handle the greetings among these frames; the others, if they come from someone who has been introduced."""
        rest: list[Frame] = []
        for frame in frames:
            if frame.kind == wire_pb2.HELLO:
                self._hello(connection, frame.header().hello)
            elif frame.kind == wire_pb2.CHALLENGE:
                self._on_challenge(connection, frame.header().hello)
            elif frame.kind == wire_pb2.PROOF:
                self._on_proof(connection, frame.header().hello)
            elif not connection.trusted:
                raise Closed
            elif frame.kind == wire_pb2.WELCOME and isinstance(connection.link, PeerLink):
                connection.link.welcomed(frame.header().hello.received, connection.socket)
                self._dirty.add(connection.link)
            else:
                rest.append(frame)
        return rest

    def _hello(self, connection: Connection, hello: wire_pb2.Hello) -> None:
        """An instance of this container shows the token; a stream manager is challenged, wherever it is."""
        link = self._tasks.get(hello.task)
        if connection.trusted or connection.acceptor:
            raise Closed
        if not hello.task:
            connection.acceptor = Acceptor(self._job.token(), secrets.token_bytes(NONCE_BYTES))
            proof = connection.acceptor.challenge(_who(hello), hello.nonce)
            if proof is None:
                raise Closed
            connection.claims = (hello.container, hello.incarnation)
            self._say(connection, wire_pb2.CHALLENGE, wire_pb2.Hello(nonce=connection.acceptor.nonce, proof=proof))
        elif link is None or not hmac.compare_digest(hello.token, self._job.token()):
            raise Closed
        else:
            connection.trust()
            connection.link = link
            link.attach(connection.socket)
            self._tell_plan((link,))
            self._dirty.add(link)

    def _on_challenge(self, connection: Connection, hello: wire_pb2.Hello) -> None:
        proof = connection.dialer.answer(hello.nonce, hello.proof) if connection.dialer else None
        if proof is None:
            raise Closed
        connection.trust()
        self._say(connection, wire_pb2.PROOF, wire_pb2.Hello(proof=proof))

    def _on_proof(self, connection: Connection, hello: wire_pb2.Hello) -> None:
        if connection.acceptor is None or not connection.acceptor.accepts(hello.proof):
            raise Closed
        connection.trust()
        connection.sender = connection.claims
        self._acknowledge(connection, self._received.setdefault(connection.sender, 0))

    @staticmethod
    def _say(connection: Connection, kind: wire_pb2.Kind, hello: wire_pb2.Hello) -> None:
        """So short a frame always fits at the beginning of a connection."""
        try:
            connection.socket.send(pack_header(kind, 0, wire_pb2.Header(hello=hello)))
        except OSError as error:
            raise Closed from error

    def _acknowledge(self, connection: Connection, count: int) -> None:
        """Tell a peer how much has arrived. So short a frame always fits, or else the next one says it."""
        connection.acknowledged = count
        header = wire_pb2.Header(hello=wire_pb2.Hello(container=self._container, received=count))
        with contextlib.suppress(OSError):
            connection.socket.send(pack_header(wire_pb2.WELCOME, 0, header))

    # The physical plan

    def _on_plan(self, plan: wire_pb2.PhysicalPlan) -> None:
        self._plans.append(plan)
        self._hub.wake()

    def _follow(self, plan: wire_pb2.PhysicalPlan) -> None:
        self._plan = plan
        self._tell_plan(self._tasks.values())
        self._connect_peers()

    def _connect_peers(self) -> None:
        """Dial those that are not linked, those that wait longest first; of many that do not answer some are left for the next tick."""
        until_ms = self._clock() + 1e3 * _DIAL_S
        for manager in sorted(self._plan.stream_managers, key=lambda one: self._dialled_ms.get(one.container, 0.0)):
            link = self._peers.get(manager.container)
            if link is not None and not self._hub.is_linked(link) and self._clock() < until_ms:
                self._dialled_ms[manager.container] = self._clock()
                with contextlib.suppress(OSError):
                    hello = wire_pb2.Hello(container=self._container, incarnation=os.getpid())
                    hello.nonce = secrets.token_bytes(NONCE_BYTES)
                    connection = self._hub.add(_dial(manager.address, hello))
                    connection.link, connection.dialer = link, Dialer(self._job.token(), _who(hello), hello.nonce)

    def _tell_plan(self, links: Iterable[Link]) -> None:
        """Tell tasks what the plan, if it is known, asks of them."""
        plan = self._plan
        if not plan.version:
            return
        asked = wire_pb2.PhysicalPlan(version=plan.version, pause=plan.pause)
        for link in links:
            link.put(_control(wire_pb2.PLAN, link.key, wire_pb2.Header(plan=asked)))
            self._dirty.add(link)

    # Back-pressure

    def _press(self, tells: Iterable[Tell]) -> None:
        for tell in tells:
            kind = wire_pb2.SLOW if tell.slow else wire_pb2.RELIEVED
            self._route(_control(kind, tell.feeder, wire_pb2.Header(source=tell.link)))

    def _pause(self, frame: Frame) -> None:
        """A local task is to pause, or to go on: its rows are held back here."""
        pause, now = self._pauses[frame.destination], self._clock()
        pause.told(frame.header().source, frame.kind == wire_pb2.SLOW, now)
        self._hold_back(frame.destination, pause.holds(now))

    def _hold_back(self, task: int, holds: bool) -> None:
        link = self._tasks[task]
        if link.paused and not holds:
            link.resume()
            self._dirty.add(link)
        link.paused = holds

    # Now and then

    def _tick(self, now: float) -> None:
        self._life.beat()
        self._connect_peers()
        self._hub.drop_strangers()
        for task, pause in self._pauses.items():
            self._hold_back(task, pause.holds(now))
        for link in self._routes.values():
            self._press(self._pressure.waiting(link.key, link.waiting, now))
        self._press(self._pressure.tick(now))
        for connection in self._hub.connections():
            if connection.sender is not None and self._received[connection.sender] > connection.acknowledged:
                self._acknowledge(connection, self._received[connection.sender])
            self._tell_of_arriving(connection)
        self._flush(now)
        if now >= self._next_report:
            quiet = self._reported_bytes == self._hub.received_bytes() and not self._pressure.slow
            self._next_report = now + (REST_REPORT_MS if quiet else REPORT_MS)
            self._send_report()

    def _tell_of_arriving(self, connection: Connection) -> None:
        """While a frame takes long to arrive, and does arrive, those who hold it are told: it is not lost."""
        destination = connection.inbound.arriving() if connection.trusted else None
        for holder in self._holders.get(destination, ()) if destination is not None and self._tracked else ():
            self._route(_control(wire_pb2.STALLED, holder, wire_pb2.Header(source=destination)))

    def _send_report(self) -> None:
        links = (*self._tasks.values(), *self._peers.values())
        report = self._report
        self._reported_bytes = self._hub.received_bytes()
        report.bytes, report.dropped = self._reported_bytes, sum(link.dropped for link in links)
        report.waiting_bytes = sum(link.waiting for link in links)
        del report.slow[:]
        report.slow.extend(sorted(self._pressure.slow))
        self._metrics.tell(lambda anew: [wire_pb2.Report(stream_manager=report)])


def _dial(address: wire_pb2.Address, hello: wire_pb2.Hello) -> socket.socket:
    connection = socket.socket(socket.AF_INET if address.port else socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_DIAL_S)
        connection.connect((address.host, address.port) if address.port else address.path)
        connection.sendall(pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=hello)))
    except OSError:
        connection.close()
        raise
    return connection


def _who(hello: wire_pb2.Hello) -> bytes:
    return b"%d/%d" % (hello.container, hello.incarnation)


def _control(kind: wire_pb2.Kind, destination: int, header: wire_pb2.Header) -> Frame:
    return Frame(kind, destination, memoryview(pack_header(kind, destination, header)))


def run_stream_manager(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    """The main function of a stream manager's process."""
    StreamManager(job, container, life, incarnation, now_ms).run()
