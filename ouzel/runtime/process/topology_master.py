"""The topology master: who belongs to the topology, how it stands, and when it ends. Rows never pass through it.

It can die at any time: rows keep flowing, and the one started in its place learns everything anew, for stream managers register again
and reports are cumulative. What must not be forgotten (that the topology is to drain, or is paused) stands in the state manager.
"""

from __future__ import annotations

import hmac
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Condition
from typing import Any

import grpc

from ouzel.errors import TopologyError
from ouzel.planner.settings import Delivery
from ouzel.runtime.cluster.state import StateManager, open_state
from ouzel.runtime.observe.ending import Ending
from ouzel.runtime.observe.reports import status_parts
from ouzel.runtime.observe.totals import ReportedUpTo, Totals
from ouzel.runtime.process.job import MASTER_CONTAINER, TOKEN, RunDescription
from ouzel.runtime.process.life import Life, now_ms
from ouzel.runtime.process.pace import Pace
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.membership import Member, Membership
from ouzel.runtime.run import LOSSES, RunState
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterServicer, add_TopologyMasterServicer_to_server

ENDED = 3
"""Exit code of a topology master whose topology has ended: nobody is to start it again."""

STATUS_FILE = "status"
_REPEAT_PLAN_S = 1.0
_THREADS = 256
_FAREWELL_S = 0.5
_HOLD_S = 10.0


class TopologyMaster(TopologyMasterServicer):
    """The service; its methods run in threads of gRPC's and share one lock. `clock` gives milliseconds."""

    def __init__(self, job: RunDescription, state: StateManager, clock: Callable[[], float]) -> None:
        self._job, self._state_manager, self._clock = job, state, clock
        self._changed = Condition()
        self._membership = Membership(frozenset(one.id for one in job.packing.containers), version=time.time_ns())
        tasks = job.topology.tasks()
        self._everyone, self._sinks = frozenset(task.id for task in tasks), job.sinks()
        self._spouts = frozenset(task.id for task in tasks if job.topology.component(task.component).is_spout)
        untracked = job.topology.settings.delivery is Delivery.AT_MOST_ONCE
        self._totals = Totals(self._spouts, self._sinks, frozenset(LOSSES if untracked else ()))
        self._ending = Ending(self._sinks, self._everyone, job.topology.settings.hang_timeout_ms)
        self._containers: dict[int, wire_pb2.ContainerReport] = {}
        self._draining, self._pause = _recall_request(state.get(f"/executionstate/{job.id}") or b"")
        self._table = ProcessTable(job.container(MASTER_CONTAINER))
        self._pace = Pace(lambda: clock() / 1e3)
        self.state = RunState.STARTING
        self.reason = ""
        self.told_of_end = False

    def Join(self, request: wire_pb2.StreamManager, context: Any) -> Iterator[wire_pb2.PhysicalPlan]:
        """See wire.proto."""
        address = request.address
        member = Member(request.container, request.incarnation, address.host, address.port, address.path)
        with self._changed:
            if not self._membership.registered(member):
                context.abort(
                    grpc.StatusCode.FAILED_PRECONDITION, f"there is no container {member.container} in this topology"
                )
            self._changed.notify_all()
        context.add_callback(lambda: self._on_leave(member))
        version = None
        while context.is_active():
            with self._changed:
                self._changed.wait_for(partial(self._differs, version), _REPEAT_PLAN_S)
                version, plan = self._membership.version, self._plan()
            yield plan

    def Publish(self, request: wire_pb2.ContainerReport, context: Any) -> wire_pb2.Published:
        """See wire.proto."""
        with self._changed:
            before = self._news()
            for report in request.tasks:
                self._totals.take(report)
            del request.tasks[:]
            self._containers[request.container] = request
            if self._totals.holds:
                self._totals.hold_until(self._announce().version)
            self._move_on()
            if self._news() != before:
                self._changed.notify_all()
        return wire_pb2.Published()

    def Watch(self, request: wire_pb2.WatchRequest, context: Any) -> Iterator[wire_pb2.TopologyStatus]:
        """See wire.proto."""
        seen, known = None, ReportedUpTo()
        while context.is_active() and not self.told_of_end:
            with self._changed:
                self._changed.wait_for(partial(self._differs_from, seen), self._pace.interval_s)
                seen, status, known = self._news(), self.status(known), self._totals.told
            yield from status_parts(status)
            self.told_of_end = self.has_ended

    def Stop(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        """See wire.proto."""
        with self._changed:
            self._draining = True
            self._pause = self._pause or self._membership.version + 1
            return self._note_request()

    def Deactivate(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        """See wire.proto."""
        with self._changed:
            self._pause = self._pause or self._membership.version + 1
            return self._note_request()

    def Activate(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        """See wire.proto."""
        with self._changed:
            self._pause = self._pause if self._draining else 0
            return self._note_request()

    def Look(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        """See wire.proto."""
        with self._changed:
            return self._announce()

    @property
    def has_ended(self) -> bool:
        """Whether the topology has."""
        return self.state in (RunState.FINISHED, RunState.FAILED, RunState.STOPPED)

    def status(self, known: ReportedUpTo = ReportedUpTo()) -> wire_pb2.TopologyStatus:
        """How the topology stands; of ranges and events what is not known."""
        if self.has_ended:
            self._totals.tell_all()
        status = self._totals.status(self._clock(), known)
        status.state, status.reason = self.state.value, self.reason
        status.plan = self._totals.heard_of(self._everyone)
        status.restarts = self._table.restarts() + sum(report.restarts for report in self._containers.values())
        status.deaths.extend(self._table.deaths)
        status.deaths.extend(death for report in self._containers.values() for death in report.deaths)
        managers = [one for report in self._containers.values() for one in report.stream_managers]
        status.back_pressure = any(manager.slow for manager in managers)
        return status

    def wait_for_end(self, life: Life, beat_s: float) -> None:
        """Return when the topology has ended."""
        while not self.has_ended:
            life.beat()
            with self._changed:
                self._changed.wait_for(lambda: self.has_ended, beat_s)

    def _note_request(self) -> wire_pb2.PlanReply:
        """Keep what was asked, for the topology master after this one, and tell all."""
        pausing = b"draining %d" if self._draining else b"paused %d"
        asked = pausing % self._pause if self._pause else b"running"
        try:
            self._state_manager.put(f"/executionstate/{self._job.id}", asked)
        except OSError as error:  # better asked of all that run now than of nobody
            print(f"what was asked cannot be kept for another topology master: {error}", file=sys.stderr)
        return self._announce()

    def _announce(self) -> wire_pb2.PlanReply:
        """A new plan for everyone, although the members are the same."""
        self._membership.version += 1
        self._move_on()
        self._changed.notify_all()
        return wire_pb2.PlanReply(version=self._membership.version)

    def _on_leave(self, member: Member) -> None:
        with self._changed:
            self._membership.left(member)
            self._changed.notify_all()

    def _move_on(self) -> None:
        """The state that the latest reports lead to."""
        if self.has_ended:
            return
        failed = self._totals.failed or next((one.failed for one in self._containers.values() if one.failed), "")
        if failed:
            self.state, self.reason = RunState.FAILED, failed
        elif self._ending.is_over(self._totals, self._clock()):
            self.state = RunState.FINISHED
        elif self._pause and self._totals.have_paused(self._everyone, self._pause):
            self.state = RunState.STOPPED if self._draining else RunState.PAUSED
        elif self._containers.keys() >= {one.id for one in self._job.packing.containers}:
            self.state = RunState.RUNNING

    def _differs(self, version: object) -> bool:
        return self._membership.version != version

    def _differs_from(self, news: object) -> bool:
        return self._news() != news

    def _news(self) -> tuple[object, ...]:
        """What a client should hear of at once."""
        return self.state, self._totals.heard_of(self._everyone)

    def _plan(self) -> wire_pb2.PhysicalPlan:
        managers = [
            wire_pb2.StreamManager(
                container=member.container,
                incarnation=member.incarnation,
                address=wire_pb2.Address(host=member.host, port=member.port, path=member.path),
            )
            for member in self._membership.members
        ]
        return wire_pb2.PhysicalPlan(version=self._membership.version, stream_managers=managers, pause=self._pause)


class Guard(grpc.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """Refuses calls that do not carry the job's token."""

    def __init__(self, job: RunDescription) -> None:
        ((_, self._token),) = job.credentials
        self._refusal = grpc.unary_unary_rpc_method_handler(_refuse)

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """See grpc.ServerInterceptor."""
        shown = dict(handler_call_details.invocation_metadata).get(TOKEN, "")
        if hmac.compare_digest(str(shown).encode(), self._token.encode()):
            return continuation(handler_call_details)
        return self._refusal


def _refuse(_request: bytes, context: Any) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call does not carry the token of this topology")


def _recall_request(execution_state: bytes) -> tuple[bool, int]:
    """Whether the topology is to end when it has come to rest, and the pause that it is in, as former topology masters left word."""
    state, _, pause = execution_state.partition(b" ")
    return state == b"draining", int(pause) if state in (b"draining", b"paused") else 0


def run_topology_master(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    """The main function of the topology master's process."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    state = open_state(job.topology.settings.state_manager, job.home)
    master = TopologyMaster(job, state, now_ms)
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="master")
    server = grpc.server(pool, interceptors=[Guard(job)])
    add_TopologyMasterServicer_to_server(master, server)
    address = f"unix:{job.home / f'master-{incarnation}.sock'}"
    server.add_insecure_port(address)
    server.start()
    _hold(state, f"/tmanagers/{job.id}", address.encode(), life)
    master.wait_for_end(life, job.topology.settings.heartbeat_ms / 2e3)
    try:
        (job.home / STATUS_FILE).write_bytes(master.status().SerializeToString())
        state.put(f"/executionstate/{job.id}", master.state.value.encode())
    except OSError as error:  # a client that watches is told all the same
        (job.home / STATUS_FILE).unlink(missing_ok=True)
        print(f"how the topology ended cannot be noted: {error}", file=sys.stderr)
    deadline = time.monotonic() + _FAREWELL_S
    while not master.told_of_end and time.monotonic() < deadline:
        time.sleep(0.005)
    sys.stderr.flush()
    os._exit(ENDED)


def _hold(state: StateManager, path: str, address: bytes, life: Life) -> None:
    """Announce the address; a topology master that died a moment ago may still be known."""
    deadline = time.monotonic() + _HOLD_S
    while not state.hold(path, address):
        life.beat()
        if time.monotonic() > deadline:
            raise TopologyError(f"another topology master holds {path}; end it first")
        time.sleep(0.02)
