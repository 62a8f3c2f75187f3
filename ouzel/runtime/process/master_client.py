"""How processes find and call the topology master: who leads, and where it listens, stands in the state manager."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread
from typing import Any

import grpc

from ouzel.runtime.cluster.state import StateManager, open_state
from ouzel.runtime.process.job import MASTERS, RunDescription
from ouzel.runtime.process.leading import MasterNote, leader_path
from ouzel.runtime.process.limits import start_thread
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

_RETRY_S, _LOOK_S, _LOOK_MOST_S, _LOOKS_GROW = 0.05, 0.01, 0.1, 1.2
_MOVED_S = 0.5


def find_master(state: StateManager, job: str) -> MasterNote | None:
    """What the topology master that leads says of itself; None if none leads."""
    newest = state.leadership(leader_path(job))
    return MasterNote.parse(newest.data) if newest is not None and newest.is_held else None


class MasterFinder:
    """Looks up the topology master; keeps its connection to the state manager.

    A thread does so, for a state manager that is away may keep it waiting. With a standby it looks again and again: a topology master that
    stands still, and leads no more, keeps its connections.

    Attributes:
        on_moved: called, in that thread, when another topology master leads than the one that was found.
    """

    def __init__(self, job: RunDescription) -> None:
        self._job = job
        self._looks_on_s = _MOVED_S if job.topology.settings.topology_master_standby else None
        self._changed = Condition()
        self._master: MasterNote | None = None
        self._closing = False
        self._thread: Thread | None = None
        self.on_moved: Callable[[], object] = lambda: None

    def find(self, timeout_s: float | None) -> str | None:
        """The address as soon as there is one; None if that takes too long."""
        with self._changed:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="finder", daemon=True)
                start_thread(self._thread)
            self._master = None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._master is not None, timeout_s)
            return self._master.address if self._master is not None else None

    def has_moved(self, address: str) -> bool:
        """Whether another one is known to lead by now; always False without a standby."""
        with self._changed:
            return self._master is not None and self._master.address != address

    @property
    def process(self) -> str:
        """The name of the process that was found last."""
        with self._changed:
            return self._master.name if self._master is not None else MASTERS[0]

    def close(self) -> None:
        """Let go of the state manager."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def _run(self) -> None:
        state: StateManager | None = None
        look_s = _LOOK_S
        while not self._closing:
            with suppress(Exception):  # of the disk, or of the state manager's client: it may come back
                state = state or open_state(self._job.topology.settings.state_manager, self._job.home)
                self._note(find_master(state, self._job.id))
            look_s = min(_LOOKS_GROW * look_s, _LOOK_MOST_S) if self._master is None else _LOOK_S
            self._rest(look_s)
        if state is not None:
            state.close()

    def _note(self, master: MasterNote | None) -> None:
        with self._changed:
            if master is None or master == self._master:
                return
            has_moved, self._master = self._master is not None, master
            self._changed.notify_all()
        if has_moved:
            self.on_moved()

    def _rest(self, look_s: float) -> None:
        """Until it is time to look again."""
        with self._changed:
            if self._master is None:
                self._changed.wait_for(lambda: self._closing, look_s)
            else:
                self._changed.wait_for(lambda: self._closing or self._master is None, self._looks_on_s)


class MasterClient(Thread):
    """A stream manager's membership: registers, hands on each physical plan, and registers anew with every new topology master."""

    def __init__(
        self, job: RunDescription, member: wire_pb2.StreamManager, on_plan: Callable[[wire_pb2.PhysicalPlan], None]
    ) -> None:
        super().__init__(name="master", daemon=True)
        self._credentials = job.credentials
        self._finder, self._member, self._on_plan = MasterFinder(job), member, on_plan

    def run(self) -> None:
        """The thread's work."""
        while True:
            address = self._finder.find(None)
            assert address is not None
            with grpc.insecure_channel(address) as channel:
                try:
                    self._follow(address, TopologyMasterStub(channel).Join(self._member, metadata=self._credentials))
                except grpc.RpcError:
                    time.sleep(_RETRY_S)

    def _follow(self, address: str, plans: Any) -> None:
        """Hand on plans until the call ends, or another topology master leads.

        Raises:
            grpc.RpcError: it ends.
        """
        self._finder.on_moved = plans.cancel
        if self._finder.has_moved(address):
            plans.cancel()
        for plan in plans:
            self._on_plan(plan)
