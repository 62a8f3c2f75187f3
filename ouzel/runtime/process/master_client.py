"""How processes find and call the topology master: its address stands in the state manager as long as it lives."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread

import grpc

from ouzel.runtime.cluster.state import StateManager, open_state
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

_RETRY_S, _LOOK_S, _LOOK_MOST_S, _LOOKS_GROW = 0.05, 0.01, 0.1, 1.2


class MasterFinder:
    """Looks up the topology master's address; keeps its connection to the state manager."""

    def __init__(self, job: RunDescription) -> None:
        self._job = job
        self._state: StateManager | None = None

    def find(self, timeout_s: float) -> str | None:
        """The address as soon as there is one; None if that takes too long."""
        if self._state is None:
            self._state = open_state(self._job.topology.settings.state_manager, self._job.home)
        deadline, look_s = time.monotonic() + timeout_s, _LOOK_S
        while (address := self._state.get(f"/tmanagers/{self._job.id}")) is None:
            if time.monotonic() > deadline:
                return None
            time.sleep(look_s)
            look_s = min(_LOOKS_GROW * look_s, _LOOK_MOST_S)
        return address.decode()

    def close(self) -> None:
        """Let go of the state manager."""
        if self._state is not None:
            self._state.close()


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
            address = self._finder.find(float("inf"))
            assert address is not None
            with grpc.insecure_channel(address) as channel:
                try:
                    for plan in TopologyMasterStub(channel).Join(self._member, metadata=self._credentials):
                        self._on_plan(plan)
                except grpc.RpcError:
                    time.sleep(_RETRY_S)
