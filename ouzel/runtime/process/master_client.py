"""How processes find and call the topology master: its address stands in the state manager as long as it lives."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread

import grpc

from ouzel.runtime.cluster.state import open_state
from ouzel.runtime.process.job import Job
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

_RETRY_S = 0.05


def find_master(job: Job, timeout_s: float = float("inf")) -> str | None:
    """The topology master's address, as soon as it has one; None if that takes too long."""
    state = open_state(job.topology.settings.state_manager, job.home)
    deadline = time.monotonic() + timeout_s
    try:
        while (address := state.get(f"/tmanagers/{job.id}")) is None:
            if time.monotonic() > deadline:
                return None
            time.sleep(_RETRY_S / 5)
        return address.decode()
    finally:
        state.close()


class MasterClient(Thread):
    """A stream manager's membership: registers, hands on each physical plan, and registers anew with every new topology master."""

    def __init__(
        self, job: Job, member: wire_pb2.StreamManager, planned: Callable[[wire_pb2.PhysicalPlan], None]
    ) -> None:
        super().__init__(name="master", daemon=True)
        self._job, self._member, self._planned = job, member, planned

    def run(self) -> None:
        """The thread's work."""
        while True:
            address = find_master(self._job)
            assert address is not None
            with grpc.insecure_channel(address) as channel:
                try:
                    for plan in TopologyMasterStub(channel).Join(self._member):
                        self._planned(plan)
                except grpc.RpcError:
                    time.sleep(_RETRY_S)
