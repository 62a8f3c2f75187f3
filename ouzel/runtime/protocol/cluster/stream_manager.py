"""A stream manager's machine: passes frames on by their destination, and holds back what a slow task is not to get.

Bodies of frames are never looked at. Frames go straight into the links of those they are for, without an instruction each, for this is
the hot path: the shell asks for links that are due (`take_due`), and writes to them what their sockets take.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ouzel.runtime.protocol.back_pressure import Pause, Pressure, Tell
from ouzel.runtime.protocol.cluster.handshake import NONCE_BYTES, Acceptor, Dialer
from ouzel.runtime.protocol.cluster.leadership import Fence
from ouzel.runtime.protocol.cluster.links import STRANGERS_MAX, Link, PeerLink, Session, TaskLink
from ouzel.runtime.protocol.cluster.placement import Placement
from ouzel.runtime.protocol.pace import LATER_S, REST_REPORT_MS
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, pack_header

LINK_LIMIT = 4
"""A link holds at most so many times the high watermark; what comes then is dropped, and replayed by its source.

At most once nothing is replayed, neither what is dropped nor what is late: then what waits is bounded by back-pressure alone.
"""
_ACKNOWLEDGE_EVERY = 64
_SMALL_BYTES = 16 << 10


@dataclass(frozen=True)
class SayNow:
    """Instruction: write this short frame to the socket now, past what waits for it; nothing depends on its arrival."""

    session: Session
    frame: bytes


@dataclass(frozen=True)
class Close:
    """Instruction: close the connection, then call `on_closed`."""

    session: Session


StreamManagerInstruction = SayNow | Close


@dataclass(frozen=True)
class Dial:
    """A stream manager that is to be connected to, and what it is greeted with: see `on_dialled`."""

    container: int
    address: wire_pb2.Address
    hello: wire_pb2.Hello


class StreamManagerMachine:
    """One stream manager.

    Args:
        placement: where all tasks are.
        container: whose stream manager this is.
        incarnation: a number that no other process of this container has or had.
        token: what members of this topology know, and nobody else.
        random_bytes: gives so many bytes that nobody can guess.
    """

    def __init__(
        self,
        placement: Placement,
        container: int,
        incarnation: int,
        token: bytes,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        settings = placement.topology.settings
        self._container, self._incarnation = container, incarnation
        self._token, self._random_bytes = token, random_bytes
        self._tracked = settings.delivery.tracks
        self._drain_ms, self._drained_ms = settings.cache_drain_ms, 0.0
        self._holders = placement.holders()
        limit = LINK_LIMIT * settings.high_watermark_bytes if self._tracked else math.inf
        self._tasks = {task.id: TaskLink(task.id, limit) for task in placement.tasks_in(container)}
        self._peers = {peer: PeerLink(-peer, limit) for peer in sorted(placement.containers - {container})}
        remote = {task: self._peers[place] for task, place in placement.places().items() if place != container}
        self._routes: dict[int, Link] = {**remote, **self._tasks}
        self._pressure = Pressure(
            placement.feeders_by_link(container), settings.high_watermark_bytes, settings.low_watermark_bytes
        )
        self._pauses = {task: Pause() for task in self._tasks}
        self._sessions: dict[Session, None] = {}
        self._opened = 0
        self._received: dict[tuple[int, int], int] = {}
        self._dialled_ms: dict[int, float] = {}
        self._dirty: set[Link] = set()
        self._plan = wire_pb2.PhysicalPlan()
        self._fence = Fence()
        self._out: list[StreamManagerInstruction] = []
        self._report_at, self._reported_bytes = 0.0, -1

    # Connections

    def on_connected(self, now_ms: float) -> Session:
        """A connection is open: who is at its other end has to be found out."""
        self._opened += 1
        session = Session(now_ms, self._opened)
        self._sessions[session] = None
        return session

    def on_dialled(self, dial: Dial, session: Session) -> None:
        """The connection has been made to answer `dials`, and its greeting has been written."""
        hello = dial.hello
        session.link = self._peers[dial.container]
        session.dialer = Dialer(self._token, _who(hello), hello.nonce)

    def on_closed(self, session: Session) -> None:
        """A connection is no more; what waits for the other end stays in its link."""
        self._sessions.pop(session, None)
        if session.link is not None and session.link.session is session:
            session.link.session = None

    def next_dials(self) -> list[Dial]:
        """Whom to connect to, those that wait longest first. Who is not dialled now is named again next time."""
        linked = {session.link for session in self._sessions}
        unlinked = {container for container, link in self._peers.items() if link not in linked}
        wanted = [one for one in self._plan.stream_managers if one.container in unlinked]
        wanted.sort(key=lambda one: self._dialled_ms.get(one.container, 0.0))
        return [Dial(one.container, one.address, self._hello()) for one in wanted]

    def on_dialling(self, container: int, now_ms: float) -> None:
        """A stream manager is dialled now, be it there or not: then others come first."""
        self._dialled_ms[container] = now_ms

    def drop_strangers(self, now_ms: float) -> Sequence[StreamManagerInstruction]:
        """Close connections that are not introduced in time, and the oldest of them when there are too many."""
        strangers = [one for one in self._sessions if not one.trusted]
        too_many = len(strangers) - STRANGERS_MAX
        for session in strangers:
            if session.is_late(now_ms) or too_many > 0:
                too_many -= 1
                self._out.append(Close(session))
        return self._take_out()

    # Frames

    def on_frames(self, session: Session, frames: list[Frame], now_ms: float) -> Sequence[StreamManagerInstruction]:
        """Frames have arrived. A connection that sends rubbish, or proves nothing, is closed; nothing else happens."""
        try:
            if not session.trusted or frames[0].kind >= wire_pb2.HELLO:
                frames = self._introduce(session, frames)
            for frame in frames:
                self._route(frame, now_ms)
        except Closed:
            self._out.append(Close(session))
            return self._take_out()
        if session.sender is not None:
            count = self._received[session.sender] = self._received[session.sender] + len(frames)
            if count - session.acknowledged >= _ACKNOWLEDGE_EVERY:
                self._acknowledge(session, count)
        return self._take_out() if self._out else ()

    def take_due(self, now_ms: float, busy: bool) -> set[Link]:
        """The links to write to now. While more frames arrive (`busy`), small ones gather, up to the drain interval."""
        if busy and now_ms - self._drained_ms < self._drain_ms:
            due = {link for link in self._dirty if link.waiting >= _SMALL_BYTES}
        else:
            due, self._drained_ms = self._dirty, now_ms
        self._dirty = self._dirty - due
        return due

    def on_flushed(self, links: Iterable[Link], now_ms: float) -> None:
        """What the sockets of these links take has been written."""
        for link in links:
            self._press(self._pressure.on_waiting(link.key, link.waiting, now_ms), now_ms)

    @property
    def has_due(self) -> bool:
        """Whether anything waits to be written now."""
        return bool(self._dirty)

    @property
    def is_waiting(self) -> bool:
        """Whether anything is held back, or for somebody who is not there yet."""
        linked = {session.link for session in self._sessions}
        return any(link.waiting for link in self._routes.values()) or not linked.issuperset(self._peers.values())

    def _route(self, frame: Frame, now_ms: float) -> None:
        if frame.kind in (wire_pb2.SLOW, wire_pb2.RELIEVED) and frame.destination in self._tasks:
            self._pause(frame, now_ms)
        link = self._routes.get(frame.destination)
        if link is not None:
            link.put(frame)
            self._dirty.add(link)

    # Who is there

    def _introduce(self, session: Session, frames: list[Frame]) -> list[Frame]:
        """Handle the greetings among these frames; the others, if they come from someone who has been introduced.

        Raises:
            Closed: he has not been.
        """
        rest: list[Frame] = []
        for frame in frames:
            if frame.kind == wire_pb2.HELLO:
                self._on_hello(session, frame.header().hello)
            elif frame.kind == wire_pb2.CHALLENGE:
                self._on_challenge(session, frame.header().hello)
            elif frame.kind == wire_pb2.PROOF:
                self._on_proof(session, frame.header().hello)
            elif not session.trusted:
                raise Closed
            elif frame.kind == wire_pb2.WELCOME and isinstance(session.link, PeerLink):
                session.link.on_welcome(frame.header().hello.received, session)
                self._dirty.add(session.link)
            else:
                rest.append(frame)
        return rest

    def _on_hello(self, session: Session, hello: wire_pb2.Hello) -> None:
        """An instance of this container shows the token; a stream manager is challenged, wherever it is."""
        link = self._tasks.get(hello.task)
        if session.trusted or session.acceptor:
            raise Closed
        if not hello.task:
            session.acceptor = Acceptor(self._token, self._random_bytes(NONCE_BYTES))
            proof = session.acceptor.challenge(_who(hello), hello.nonce)
            if proof is None:
                raise Closed
            session.claims = (hello.container, hello.incarnation)
            self._say(session, wire_pb2.CHALLENGE, wire_pb2.Hello(nonce=session.acceptor.nonce, proof=proof))
        elif link is None or not hmac.compare_digest(hello.token, self._token):
            raise Closed
        elif link.session is not None and link.session.number > session.number:
            raise Closed  # a process that has died since; the one after it was read first, and would be sent nothing any more
        else:
            session.trusted, session.link = True, link
            link.on_connected(session)
            self._tell_plan((link,))
            self._dirty.add(link)

    def _on_challenge(self, session: Session, hello: wire_pb2.Hello) -> None:
        proof = session.dialer.answer(hello.nonce, hello.proof) if session.dialer else None
        if proof is None:
            raise Closed
        session.trusted = True
        self._say(session, wire_pb2.PROOF, wire_pb2.Hello(proof=proof))

    def _on_proof(self, session: Session, hello: wire_pb2.Hello) -> None:
        if session.acceptor is None or not session.acceptor.verify(hello.proof):
            raise Closed
        # What is unread on a former connection is sent again on this one: read there too, it would be handled twice.
        self._out += [Close(one) for one in self._sessions if one.sender == session.claims]
        session.trusted, session.sender = True, session.claims
        self._acknowledge(session, self._received.setdefault(session.sender, 0))

    def _acknowledge(self, session: Session, count: int) -> None:
        """Tell a peer how many of its frames have arrived. Should that be lost, the next one says it."""
        session.acknowledged = count
        self._say(session, wire_pb2.WELCOME, wire_pb2.Hello(container=self._container, received=count))

    def _say(self, session: Session, kind: wire_pb2.Kind, hello: wire_pb2.Hello) -> None:
        self._out.append(SayNow(session, pack_header(kind, 0, wire_pb2.Header(hello=hello))))

    def _hello(self) -> wire_pb2.Hello:
        nonce = self._random_bytes(NONCE_BYTES)
        return wire_pb2.Hello(container=self._container, incarnation=self._incarnation, nonce=nonce)

    # The physical plan

    def on_plan(self, plan: wire_pb2.PhysicalPlan) -> None:
        """The topology master has sent a plan: tasks hear of it at once, and `dials` says whom to connect to.

        A plan of a leadership before the one that was heard of last is dropped.
        """
        if not self._fence.admit(plan.leadership):
            return
        self._plan = plan
        self._tell_plan(self._tasks.values())

    def _tell_plan(self, links: Iterable[Link]) -> None:
        """Tell tasks what the plan, if it is known, asks of them."""
        plan = self._plan
        if not plan.version:
            return
        asked = wire_pb2.PhysicalPlan()
        asked.CopyFrom(plan)
        del asked.stream_managers[:]
        for link in links:
            link.put(_control(wire_pb2.PLAN, link.key, wire_pb2.Header(plan=asked)))
            self._dirty.add(link)

    # Back-pressure

    def _press(self, tells: Iterable[Tell], now_ms: float) -> None:
        for tell in tells:
            kind = wire_pb2.SLOW if tell.slow else wire_pb2.RELIEVED
            self._route(_control(kind, tell.feeder, wire_pb2.Header(source=tell.link)), now_ms)

    def _pause(self, frame: Frame, now_ms: float) -> None:
        """A local task is to pause, or to go on: its rows are held back here."""
        pause = self._pauses[frame.destination]
        pause.on_pressure(frame.header().source, frame.kind == wire_pb2.SLOW, now_ms)
        self._hold_back(frame.destination, pause.is_on(now_ms))

    def _hold_back(self, task: int, holds: bool) -> None:
        link = self._tasks[task]
        if link.paused and not holds:
            link.resume()
            self._dirty.add(link)
        link.paused = holds

    # Now and then

    def on_tick(self, now_ms: float, arriving: Iterable[int]) -> Sequence[StreamManagerInstruction]:
        """SayNow again what may have been lost. `arriving` are tasks for which a part of a frame is there, and the rest is coming."""
        for task, pause in self._pauses.items():
            self._hold_back(task, pause.is_on(now_ms))
        for link in self._routes.values():
            self._press(self._pressure.on_waiting(link.key, link.waiting, now_ms), now_ms)
        self._press(self._pressure.tick(now_ms), now_ms)
        for session in self._sessions:
            if session.sender is not None and self._received[session.sender] > session.acknowledged:
                self._acknowledge(session, self._received[session.sender])
        for task in arriving if self._tracked else ():
            self._tell_of_arriving(task, now_ms)
        return self.drop_strangers(now_ms)

    def _tell_of_arriving(self, task: int, now_ms: float) -> None:
        """While a frame takes long to arrive, and does arrive, those who hold it are told: it is not lost."""
        for holder in self._holders.get(task, ()):
            self._route(_control(wire_pb2.STALLED, holder, wire_pb2.Header(source=task)), now_ms)

    def report_if_due(self, received_bytes: int, now_ms: float) -> wire_pb2.StreamManagerReport | None:
        """How it stands, for the metrics manager, if that is to be said again; `received_bytes` is a total since the start."""
        if now_ms < self._report_at:
            return None
        quiet = self._reported_bytes == received_bytes and not self._pressure.slow
        self._report_at = now_ms + (REST_REPORT_MS if quiet else 1e3 * LATER_S)
        self._reported_bytes = received_bytes
        links = (*self._tasks.values(), *self._peers.values())
        return wire_pb2.StreamManagerReport(
            container=self._container,
            bytes=received_bytes,
            dropped=sum(link.dropped for link in links),
            waiting_bytes=sum(link.waiting for link in links),
            slow=sorted(self._pressure.slow),
            slow_ms=self._pressure.spent_ms(now_ms),
        )

    def _take_out(self) -> Sequence[StreamManagerInstruction]:
        out, self._out = self._out, []
        return out


def _who(hello: wire_pb2.Hello) -> bytes:
    return b"%d/%d" % (hello.container, hello.incarnation)


def _control(kind: wire_pb2.Kind, destination: int, header: wire_pb2.Header) -> Frame:
    return Frame(kind, destination, memoryview(pack_header(kind, destination, header)))
