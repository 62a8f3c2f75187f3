"""The topology master's process: a gRPC service around its machine. Rows never pass through it.

gRPC calls its methods in threads: one for each stream manager that has registered, one for each client that watches.
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
from threading import Condition, Lock
from typing import Any

import grpc

from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.cluster.state.fenced import check_leads, take_over, write_fenced
from ouzel.runtime.observe.reports import status_parts
from ouzel.runtime.observe.totals import ReportedUpTo
from ouzel.runtime.process.epoch_keeper import EpochKeeper
from ouzel.runtime.process.job import MASTER_CONTAINER, TOKEN, RunDescription
from ouzel.runtime.process.leading import (
    Campaigner,
    MasterNote,
    end_deposed,
    leader_path,
    watch_successors,
)
from ouzel.runtime.process.life import Life, now_ms
from ouzel.runtime.process.patience import await_state, keep_alive, when_it_answers
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.epochs import Generation, GoBack, KeepEpoch, Phase
from ouzel.runtime.protocol.cluster.leadership import Deposed
from ouzel.runtime.protocol.cluster.membership import Member
from ouzel.runtime.protocol.cluster.topology_master import (
    ClientRequest,
    MasterInstruction,
    Refuse,
    StoreRequest,
    TopologyMasterMachine,
)
from ouzel.runtime.protocol.pace import Pace
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterServicer, add_TopologyMasterServicer_to_server

ENDED = 3
"""Exit code of a topology master whose topology has ended: nobody is to start it again."""

STATUS_FILE = "status"
_REPEAT_PLAN_S = 1.0
_PLANS_BITS = 32
"""A leadership has fewer plans than 2 to the power of this."""

_THREADS = 256
_FAREWELL_S = 0.5


class TopologyMaster(TopologyMasterServicer):
    """The service; its methods run in threads of gRPC's, and share the machine under one lock.

    Args:
        machine: what decides everything.
        store: keeps a text for the topology master after this one; may be slow, and raise OSError.
        own_report: how this process's own container stands.
        clock: milliseconds.
    """

    def __init__(
        self,
        machine: TopologyMasterMachine,
        store: Callable[[bytes], None],
        own_report: Callable[[], wire_pb2.ContainerReport],
        clock: Callable[[], float],
    ) -> None:
        self._machine, self._store, self._own_report, self._clock = machine, store, own_report, clock
        self._changed, self._storing = Condition(), Lock()
        self._pace = Pace(lambda: clock() / 1e3)
        self.has_told_end = False

    def Join(self, request: wire_pb2.StreamManager, context: Any) -> Iterator[wire_pb2.PhysicalPlan]:
        address = request.address
        member = Member(request.container, request.incarnation, address.host, address.port, address.path)
        for instruction in self.on_register(member):
            if isinstance(instruction, Refuse):
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, instruction.reason)
        context.add_callback(lambda: self.on_leave(member))
        version = None
        while context.is_active():
            with self._changed:
                self._changed.wait_for(partial(self._has_other_version, version), _REPEAT_PLAN_S)
                version, plan = self._machine.version, self._machine.plan
            yield plan

    def Publish(self, request: wire_pb2.ContainerReport, context: Any) -> wire_pb2.Published:
        self._tell(lambda: self._machine.on_report(request, self._clock()))
        return wire_pb2.Published()

    def Watch(self, request: wire_pb2.WatchRequest, context: Any) -> Iterator[wire_pb2.TopologyStatus]:
        seen, known = None, ReportedUpTo()
        while context.is_active() and not self.has_told_end:
            with self._changed:
                interval_s = max(self._pace.interval_s, request.every_ms / 1e3)
                self._changed.wait_for(partial(self._has_other_news, seen), interval_s)
                seen, status, known = self._machine.news, self._status(known), self._machine.known
            yield from status_parts(status)
            self.has_told_end = self._machine.has_ended

    def Stop(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        return self.answer(ClientRequest.STOP)

    def Deactivate(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        return self.answer(ClientRequest.DEACTIVATE)

    def Activate(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        return self.answer(ClientRequest.ACTIVATE)

    def Look(self, request: wire_pb2.PlanRequest, context: Any) -> wire_pb2.PlanReply:
        return self.answer(ClientRequest.LOOK)

    def status(self) -> wire_pb2.TopologyStatus:
        """How the topology stands, all of it."""
        with self._changed:
            return self._status(ReportedUpTo())

    def wait_for_end(self, life: Life, beat_s: float) -> None:
        """Return when the topology has ended."""
        while not self._machine.has_ended:
            life.beat()
            with self._changed:
                self._changed.wait_for(lambda: self._machine.has_ended, beat_s)

    def on_register(self, member: Member) -> list[MasterInstruction]:
        """A stream manager says that it is there."""
        return self._tell(lambda: self._machine.on_register(member))

    def on_leave(self, member: Member) -> None:
        """The connection of a stream manager is lost."""
        self._tell(lambda: self._machine.on_leave(member))

    @property
    def has_ended(self) -> bool:
        """Whether the topology has."""
        return self._machine.has_ended

    @property
    def version(self) -> int:
        """That of the present plan."""
        return self._machine.version

    @property
    def phase(self) -> Phase:
        """What is being done about epochs."""
        return self._machine.epochs.phase

    @property
    def plan(self) -> wire_pb2.PhysicalPlan:
        """The present one."""
        with self._changed:
            return self._machine.plan

    def tick(self) -> KeepEpoch | GoBack | None:
        """Some time has passed; what is to be done now for epochs by whoever has a disk."""
        self._tell(lambda: self._machine.on_tick(self._clock()))
        return self._machine.epochs.to_do

    def on_epoch_kept(self, epoch: int) -> None:
        """An epoch is whole."""
        self._tell(lambda: self._machine.on_epoch_kept(epoch, self._clock()))

    def on_epoch_lost(self, epoch: int, reason: str) -> None:
        """An epoch cannot be made whole."""
        self._tell(lambda: self._machine.on_epoch_lost(epoch, reason))

    def on_gone_back(self, generation: Generation, problems: list[str]) -> None:
        """It is stored that all go back to an epoch."""
        self._tell(lambda: self._machine.on_gone_back(generation, problems, self._clock()))

    def on_nothing_to_go_back_to(self, problems: list[str]) -> None:
        """None of the epochs that there are can be read."""
        self._tell(lambda: self._machine.on_nothing_to_go_back_to(problems))

    def store(self) -> None:
        """Store what the topology master after this one is to know: not under the lock, for what takes it may be slow or away.

        What is stored is read when its turn has come, so the last text stored is the newest.

        Raises:
            OSError: it cannot be stored.
        """
        with self._storing:
            self._store(self._machine.execution_state)

    def _tell(self, event: Callable[[], list[MasterInstruction]]) -> list[MasterInstruction]:
        with self._changed:
            instructions = event()
            if instructions:
                self._changed.notify_all()
        return instructions

    def answer(self, request: ClientRequest) -> wire_pb2.PlanReply:
        """Do what a client asks, and keep it for another topology master."""
        instructions = self._tell(lambda: self._machine.on_request(request, self._clock()))
        version = self._machine.version
        if StoreRequest() in instructions:
            try:
                self.store()
            except OSError as error:  # all that run now do it all the same
                print(f"what was asked cannot be kept for another topology master: {error}", file=sys.stderr)
        return wire_pb2.PlanReply(version=version)

    def _status(self, known: ReportedUpTo) -> wire_pb2.TopologyStatus:
        self._machine.on_own_report(self._own_report())
        return self._machine.status(self._clock(), known)

    def _has_other_version(self, version: object) -> bool:
        return self._machine.version != version

    def _has_other_news(self, news: object) -> bool:
        return self._machine.news != news


class Guard(grpc.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """Refuses calls that do not carry the job's token."""

    def __init__(self, job: RunDescription) -> None:
        ((_, self._token),) = job.credentials
        self._refusal = grpc.unary_unary_rpc_method_handler(_refuse)

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """Let a call with the token through, and answer any other with UNAUTHENTICATED."""
        shown = dict(handler_call_details.invocation_metadata).get(TOKEN, "")
        if hmac.compare_digest(str(shown).encode(), self._token.encode()):
            return continuation(handler_call_details)
        return self._refusal


def _refuse(_request: bytes, context: Any) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call does not carry the token of this topology")


def _describe(table: ProcessTable) -> wire_pb2.ContainerReport:
    """How the topology master's own container stands."""
    return wire_pb2.ContainerReport(container=MASTER_CONTAINER, restarts=table.restarts(), deaths=table.deaths)


def run_topology_master(name: str, job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    """The main function of a topology master's process: it waits until it leads, and then does."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    beat_s = job.topology.settings.heartbeat_ms / 2e3
    socket = f"{name.removeprefix('topology-')}-{incarnation}.sock"
    address = f"unix:{job.home / socket}"
    master = keep_alive(life, beat_s, partial(_begin_to_lead, job, MasterNote.of_this_process(name, address)))
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="master")
    server = grpc.server(pool, interceptors=[Guard(job)])
    add_TopologyMasterServicer_to_server(master, server)
    server.add_insecure_port(address)
    server.start()
    master.wait_for_end(life, beat_s)
    try:
        master.store()
        (job.home / STATUS_FILE).write_bytes(master.status().SerializeToString())
    except OSError as error:  # a client that watches is told all the same
        (job.home / STATUS_FILE).unlink(missing_ok=True)
        print(f"how the topology ended cannot be noted: {error}", file=sys.stderr)
    deadline = time.monotonic() + _FAREWELL_S
    while not master.has_told_end and time.monotonic() < deadline:
        time.sleep(0.005)
    sys.stderr.flush()
    os._exit(ENDED)


def make_machine(
    job: RunDescription, asked: bytes, generation: Generation, kept: int, leadership: int
) -> TopologyMasterMachine:
    """The machine of a run, which goes on from what those before it have stored.

    Its plans have later versions than those of earlier leaderships, and so have its pauses: what a clock shows may be set back.
    """
    returning = frozenset(task.id for task in job.topology.tasks() if task.component == job.returning)
    return TopologyMasterMachine(
        job.placement, leadership << _PLANS_BITS, asked, generation, kept, leadership, job.leaves_epochs, returning
    )


def _begin_to_lead(job: RunDescription, note: MasterNote) -> TopologyMaster:
    """A topology master that leads, and goes on from where the one before it was."""
    state = await_state(job)
    leadership = Campaigner(job, state, note).campaign()
    watch_successors(state, job.id, leadership)
    keeper = EpochKeeper(job, state, leadership) if job.topology.settings.has_epochs else None
    table = ProcessTable(job.container(MASTER_CONTAINER))
    store = RequestStore(state, job.id, leadership, end_deposed)
    master = take_over_topology(job, store, keeper, partial(_describe, table), now_ms)
    if keeper:
        keeper.start(master)
    return master


class RequestStore:
    """What users have asked of a topology, for the topology master after this one.

    Args:
        state: where it stands.
        job: the topology's id.
        leadership: of the topology master that stores.
        on_deposed: what ends it when another leads.
    """

    def __init__(self, state: StateManager, job: str, leadership: int, on_deposed: Callable[[Deposed], object]) -> None:
        self._state, self._job, self.leadership, self._on_deposed = state, job, leadership, on_deposed
        self._path = f"/executionstate/{job}"

    def take_over(self) -> bytes:
        """What those before have stored; no earlier one changes it from now on."""
        return take_over(self._state, self._path, self.leadership) or b""

    def check_leads(self) -> None:
        """See that no later leadership has begun.

        Raises:
            Deposed: one has.
        """
        check_leads(self._state, leader_path(self._job), self.leadership)

    def __call__(self, text: bytes) -> None:
        write_fenced(self._state, self._path, text, self.leadership)
        try:
            self.check_leads()
        except Deposed as error:
            self._on_deposed(error)


def take_over_topology(
    job: RunDescription,
    store: RequestStore,
    keeper: EpochKeeper | None,
    own_report: Callable[[], wire_pb2.ContainerReport],
    clock: Callable[[], float],
    sleep: Callable[[float], object] = time.sleep,
) -> TopologyMaster:
    """A topology master whose leadership has begun, from what those before it have stored.

    Raises:
        Deposed: another leads by now, and what was read may be of its time.
    """
    generation, kept = when_it_answers(keeper.take_over, "to take over", sleep) if keeper else (Generation(), 0)
    asked = when_it_answers(store.take_over, "to take over", sleep)
    when_it_answers(store.check_leads, "to lead", sleep)
    machine = make_machine(job, asked, generation, kept, store.leadership)
    return TopologyMaster(machine, store, own_report, clock)
