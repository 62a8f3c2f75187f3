"""Stream managers' machines in one process, with wires between them that hold bytes, and can be cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

from ouzel.planner.settings import Settings
from ouzel.runtime.protocol.cluster.links import Link, Session
from ouzel.runtime.protocol.cluster.placement import Placement
from ouzel.runtime.protocol.cluster.stream_manager import (
    Close,
    Dial,
    SayNow,
    StreamManagerInstruction,
    StreamManagerMachine,
)
from ouzel.runtime.simulator.cluster.wires import Wire, flush, receive
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame, Inbound, pack_header
from tests.process.topologies import numbers, packed

TOKEN = b"token"


def frame(number: int, kind: int = wire_pb2.DATA, size: int = 0, destination: int = 1, source: int = 0) -> Frame:
    """A frame that is known by its number."""
    header = wire_pb2.Header(id=number, source=source)
    return Frame(
        kind, destination, memoryview(pack_header(cast(wire_pb2.Kind, kind), destination, header, size) + bytes(size))
    )


class Far:
    """The far end of a link."""

    def __init__(self, room: float = math.inf) -> None:
        self._wire, self._inbound = Wire(room), Inbound()

    def numbers(self, link: Link) -> list[int]:
        """Have the link written; the numbers of the frames that have arrived since the last call."""
        flush(link, self._wire)
        found: list[int] = []
        while not self._wire.is_empty:
            found += [one.header().id for one in receive(self._wire, self._inbound)]
        return found


class End:
    """One end of a connection, at a stream manager."""

    def __init__(self, machine: StreamManagerMachine, session: Session, incoming: Wire, outgoing: Wire) -> None:
        self.machine, self.session, self.incoming, self.outgoing = machine, session, incoming, outgoing
        self.inbound = Inbound()


class TaskEnd:
    """A task's end of its connection, and all that it was sent."""

    def __init__(self, incoming: Wire, outgoing: Wire) -> None:
        self.incoming, self.outgoing, self.inbound = incoming, outgoing, Inbound()
        self.frames: list[Frame] = []

    def send(self, *frames: Frame) -> None:
        """Give these to the stream manager."""
        self.outgoing.sendmsg([one.view for one in frames])

    def read(self) -> None:
        """Take what has come; nothing more comes from a stream manager that has hung up."""
        try:
            while frames := receive(self.incoming, self.inbound):
                self.frames += frames
        except Closed:
            self.frames.append(Frame(-1, 0, memoryview(b"")))

    def ids(self, kind: int = wire_pb2.DATA) -> list[int]:
        """The numbers of the frames of a kind that have come."""
        return [one.header().id for one in self.frames if one.kind == kind]

    def kinds(self) -> list[int]:
        """Of what kind the frames were, but for plans; -1 for the end."""
        return [one.kind for one in self.frames if one.kind != wire_pb2.PLAN]


class Cluster:
    """The stream managers of `numbers` in two containers: spout 1, bolt 3 and sink 5 in the first, spout 2 and bolt 4 in the second."""

    def __init__(self, settings: Settings = Settings(), containers: int = 2, seed: int = 0) -> None:
        topology = replace(numbers(Path()), settings=settings)  # whatever its tasks keep
        self.placement = Placement(topology, packed(topology, containers))
        self.now = 1_000.0
        self._random, self.gives = Random(seed), 1 << 30
        self._started = 0
        self.ends: list[End] = []
        self.machines: dict[int, StreamManagerMachine] = {}
        self.hung: set[StreamManagerMachine] = set()
        for container in sorted(self.placement.containers):
            self.start(container)

    def start(self, container: int) -> StreamManagerMachine:
        """Start a stream manager, in place of the one before; its connections end."""
        if container in self.machines:
            self.cut(self.machines[container])
        self._started += 1
        random_bytes = self._random.randbytes
        self.machines[container] = StreamManagerMachine(self.placement, container, self._started, TOKEN, random_bytes)
        return self.machines[container]

    def send_plan(self, pause: int = 0, version: int = 1, leadership: int = 0) -> None:
        """The topology master of that leadership tells all who is there."""
        managers = [wire_pb2.StreamManager(container=container) for container in self.machines]
        for machine in self.machines.values():
            machine.on_plan(
                wire_pb2.PhysicalPlan(version=version, pause=pause, stream_managers=managers, leadership=leadership)
            )

    def dial_all(self) -> None:
        """Each dials whom it wants to."""
        for machine in self.machines.values():
            for dial in machine.next_dials():
                self.dial(machine, dial)

    def dial(self, machine: StreamManagerMachine, dial: Dial) -> None:
        """Connect two stream managers."""
        machine.on_dialling(dial.container, self.now)
        there, back = Wire(gives=self.gives), Wire(gives=self.gives)
        end = self._open(machine, back, there)
        machine.on_dialled(dial, end.session)
        there.sendmsg([memoryview(pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=dial.hello)))])
        self._open(self.machines[dial.container], there, back)

    def connect(self, container: int, greeting: bytes, room: float = math.inf) -> TaskEnd:
        """Somebody connects and says this."""
        there, back = Wire(), Wire(room)
        there.sendmsg([memoryview(greeting)])
        self._open(self.machines[container], there, back)
        return TaskEnd(back, there)

    def connect_task(self, task: int, room: float = math.inf) -> TaskEnd:
        """A task connects to its stream manager."""
        hello = wire_pb2.Hello(task=task, token=TOKEN)
        container = self.placement.places()[task]
        return self.connect(container, pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=hello)), room)

    def cut(self, machine: StreamManagerMachine, most: int = 1 << 30) -> None:
        """All connections of a stream manager are lost, with all but `most` bytes of what is in each."""
        for end in [one for one in self.ends if one.machine is machine]:
            end.incoming.lose(0)
            end.outgoing.lose(most)
            self._close(end)

    def cut_between(self, one: int, other: int, most: int = 1 << 30) -> None:
        """The connections between two stream managers are lost, with all but `most` bytes of what is in each.

        One side notices at once; the other when it has read what is left, which may be after it was dialled anew.
        """
        machines = (self.machines[one], self.machines[other])
        for end in [end for end in self.ends if end.machine in machines]:
            if any(end.incoming is far.outgoing for far in self.ends):
                end.outgoing.lose(most)
                if end.session.dialer:
                    self._close(end)

    def touch(self, container: int, task: int) -> None:
        """The socket of a task's connection takes more."""
        machine = self.machines[container]
        link = machine._tasks[task]
        end = next(one for one in self.ends if one.session is link.session)
        flush(link, end.outgoing)
        machine.on_flushed([link], self.now)

    def run(self, busy: bool = False, rounds: int = 1 << 30) -> None:
        """Until nothing moves any more, or for so many rounds; in each all connections are read once, in any order."""
        moved = True
        while moved and (rounds := rounds - 1) >= 0:
            ends = [end for end in self._random.sample(self.ends, len(self.ends)) if end.machine not in self.hung]
            moved = any([self._read(end) for end in ends])  # noqa: C419, for each is to be read
            for machine in self.machines.values():
                moved |= machine not in self.hung and self._write(machine, busy)

    def tick(self, by_ms: float = 50.0, arriving: Sequence[int] = ()) -> None:
        """Time passes, then all are ticked."""
        self.now += by_ms
        for machine in self.machines.values():
            self._carry_out(machine.on_tick(self.now, arriving))
        self.run()

    def _open(self, machine: StreamManagerMachine, incoming: Wire, outgoing: Wire) -> End:
        end = End(machine, machine.on_connected(self.now), incoming, outgoing)
        self.ends.append(end)
        return end

    def _read(self, end: End) -> bool:
        if end.incoming.is_empty and not end.incoming.is_cut:
            return False
        try:
            frames = receive(end.incoming, end.inbound)
        except Closed:
            self._close(end)
            return True
        if frames and end in self.ends:
            self._carry_out(end.machine.on_frames(end.session, frames, self.now))
        return True

    def _write(self, machine: StreamManagerMachine, busy: bool) -> bool:
        due = machine.take_due(self.now, busy)
        before = sum(link.waiting for link in due)
        for link in due:
            end = next((one for one in self.ends if one.session is link.session), None)
            if end is not None:
                try:
                    flush(link, end.outgoing)
                except Closed:
                    self._close(end)
        machine.on_flushed(due, self.now)
        return sum(link.waiting for link in due) < before

    def _carry_out(self, instructions: Iterable[StreamManagerInstruction]) -> None:
        for instruction in instructions:
            end = next(one for one in self.ends if one.session is instruction.session)
            match instruction:
                case SayNow(_, text):
                    if not end.outgoing.is_cut:
                        end.outgoing.sendmsg([memoryview(text)])
                case Close():
                    self._close(end)

    def _close(self, end: End) -> None:
        self.ends = [one for one in self.ends if one is not end]
        end.incoming.lose(0)
        end.outgoing.lose()
        end.machine.on_closed(end.session)
