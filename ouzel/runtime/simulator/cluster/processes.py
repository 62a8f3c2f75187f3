"""The processes of a simulated cluster, each with the machines and shells of the real one. `step` is one round of its main loop."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ouzel.errors import OuzelError
from ouzel.planner.topology import Task
from ouzel.runtime.process.epoch_keeper import EpochKeeper
from ouzel.runtime.process.epochs import TaskEpochs
from ouzel.runtime.process.instance import Clocks, Instance
from ouzel.runtime.process.leading import leader_path, try_to_lead
from ouzel.runtime.process.pasts import PastKeepers, Pasts
from ouzel.runtime.process.reporter import Reporter
from ouzel.runtime.process.topology_master import RequestStore, TopologyMaster, take_over_topology
from ouzel.runtime.protocol.cluster.leadership import Candidate, Deposed, Leader
from ouzel.runtime.protocol.cluster.membership import Member
from ouzel.runtime.protocol.cluster.metrics_manager import MetricsManagerMachine
from ouzel.runtime.protocol.cluster.stream_manager import LINK_LIMIT, StreamManagerMachine
from ouzel.runtime.protocol.pace import TICK_MS, Pace
from ouzel.runtime.simulator.cluster.coroutine import Coroutine
from ouzel.runtime.simulator.cluster.disk import SimulatedStore
from ouzel.runtime.simulator.cluster.ports import (
    Delays,
    SimulatedGateway,
    SimulatedOffsets,
    SimulatedSender,
    SimulatedSink,
    SimulatedSnapshots,
)
from ouzel.runtime.simulator.cluster.state_manager import StateConnection
from ouzel.runtime.simulator.cluster.wires import SimulatedHub, Wire
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import pack_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from ouzel.connectors.writing import SinkWriter
    from ouzel.runtime.checkpoints.store import CheckpointStore
    from ouzel.runtime.cluster.state import StateManager
    from ouzel.runtime.cluster.state.manager import Leadership
    from ouzel.runtime.process.sink_thread import Sink
    from ouzel.runtime.protocol.cluster.processes import Processes
    from ouzel.runtime.simulator.cluster.cluster import Cluster

TOKEN = b"token"
_LOOK_MS, _LEADS_MS, _REPEAT_PLAN_MS, _MOVED = 100.0, 200.0, 1_000.0, 0.05
"""How often a candidate looks who leads, and a leader whether it still does; when a plan is sent again; how often it is asked who leads."""


FRAME_BYTES = 8 << 10
"""No frame of a simulation is larger."""


class Process(Protocol):
    """What the cluster starts, gives its turns and kills."""

    def step(self) -> None:
        """A round of its main loop."""

    def end(self) -> None:
        """It dies here."""


class TaskProcess:
    """An instance."""

    def __init__(self, cluster: Cluster, container: int, task: Task, incarnation: int) -> None:
        self._cluster, self._container, self.task, self._incarnation = cluster, container, task, incarnation
        self.gateway = SimulatedGateway(self._connect, cluster.job.topology.settings.low_watermark_bytes)
        self.instance: Instance | None = None
        self.sink: SimulatedSink | None = None
        self._offsets: list[SimulatedOffsets] = []
        self._snapshots: list[SimulatedSnapshots] = []
        self._has_failed = False

    def step(self) -> None:
        if self.instance is None:
            if self._cluster.state.is_away:
                return
            self.instance = self._make()
        self.gateway.carry(self._cluster.now_ms)
        for offsets in self._offsets[-1:]:
            offsets.work()
        for snapshots in self._snapshots:
            snapshots.work()
        if self.sink is not None:
            self.sink.work()
        if self.gateway.has_room:
            self._step(self.instance)

    def end(self) -> None:
        self.gateway.hang_up()
        if self.sink is not None:
            self.sink.abandon()

    def _step(self, instance: Instance) -> None:
        if self._has_failed:
            instance.rest()
            return
        try:
            instance.step()
        except OuzelError as error:
            self._fail(instance, str(error))
        except Exception as error:
            if isinstance(error, OSError) and self._cluster.state.is_away:
                return  # a real one waits until the state manager answers, and does nothing else
            self._cluster.errors.append(error)
            self._fail(instance, repr(error))

    def _fail(self, instance: Instance, reason: str) -> None:
        self._has_failed = True
        instance.fail(reason)

    def _make(self) -> Instance:
        """What `run_instance` makes."""
        cluster, state = self._cluster, StateConnection(self._cluster.state)
        job = cluster.job
        store = SimulatedStore(job.local_checkpoints, cluster.disk)
        epochs = None
        if job.topology.settings.has_epochs:
            epochs = TaskEpochs(job, self._container, self.task, state, self._make_snapshots, store, cluster.clock)
        keepers = PastKeepers(
            self._open_offsets, cluster.open_journal, lambda _, task: cluster.results.of(task.id), cluster.load_program
        )
        pasts = Pasts(job, self._container, self.task, state, epochs, keepers)
        sender = SimulatedSender(lambda: cluster.find_metrics_manager(self._container))
        reporter = Reporter(sender, self.task, self._incarnation + pasts.generation)
        reporter.epochs = epochs
        clocks = Clocks(cluster.clock, lambda: cluster.wall_zero_us, lambda: 0.0)
        return Instance(job, self.task, self.gateway, reporter, pasts, self._incarnation, clocks, self._make_sink)

    def _connect(self) -> tuple[Wire, Wire] | None:
        manager = self._cluster.find_stream_manager(self._container)
        if manager is None:
            return None
        hello = wire_pb2.Hello(task=self.task.id, incarnation=self._incarnation, token=TOKEN)
        greeting = pack_header(wire_pb2.HELLO, 0, wire_pb2.Header(hello=hello))
        return manager.hub.accept(greeting, self._cluster.wire_bytes, self._cluster.now_ms)

    def _make_sink(self, writer: SinkWriter, done: Callable[[], None]) -> Sink:
        cluster = self._cluster
        self.sink = SimulatedSink(writer, done, Delays(cluster.random, cluster.delay_ms), cluster.clock)
        return self.sink

    def _open_offsets(self, state: StateManager, path: str) -> SimulatedOffsets:
        cluster = self._cluster
        offsets = SimulatedOffsets(state, path, Delays(cluster.random, cluster.commit_ms), cluster.clock)
        self._offsets.append(offsets)
        return offsets

    def _make_snapshots(self, store: CheckpointStore) -> SimulatedSnapshots:
        cluster = self._cluster
        snapshots = SimulatedSnapshots(store, Delays(cluster.random, cluster.delay_ms), cluster.clock)
        self._snapshots = [*self._snapshots[-1:], snapshots]
        return snapshots


class StreamManagerProcess:
    """A stream manager: its machine, its connections, and its membership."""

    def __init__(self, cluster: Cluster, container: int, incarnation: int) -> None:
        self._cluster, self._container, self._incarnation = cluster, container, incarnation
        self.pid = cluster.next_pid()
        self.machine = StreamManagerMachine(cluster.job.placement, container, self.pid, TOKEN, cluster.random.randbytes)
        self.hub = SimulatedHub(self.machine, cluster.random, cluster.draw_latency)
        self._member = Member(container, self.pid, "host", 0, "")
        self._found: MasterProcess | None = None
        self._master: MasterProcess | None = None
        self._version, self._repeat_at, self._tick_at = -1, 0.0, 0.0
        self._plans: deque[tuple[float, wire_pb2.PhysicalPlan]] = deque()

    def step(self) -> None:
        now = self._cluster.now_ms
        self._follow_master(now)
        while self._plans and self._plans[0][0] <= now:
            self.machine.on_plan(self._plans.popleft()[1])
        busy = self.hub.read(now)
        self.hub.write(now, busy)
        if now >= self._tick_at:
            self._tick_at = now + TICK_MS
            self._tick(now)

    def end(self) -> None:
        for session in list(self.hub.ends):
            self.hub.close(session, self._cluster.random.choice([0, 100, 1 << 30]))
        self.leave()

    def leave(self) -> None:
        """The topology master hears that the connection to it is lost, if it hears anything."""
        if self._master is not None and self._master.master is not None and self._master.is_alive:
            self._cluster.later(partial(self._master.master.on_leave, self._member))
        self._master = None

    def _tick(self, now: float) -> None:
        for dial in self.machine.next_dials():
            other = self._cluster.find_stream_manager(dial.container)
            self.hub.dial(dial, None if other is None else other.hub, self._cluster.wire_bytes, now)
        self.hub.carry_out(self.machine.on_tick(now, ()))
        self.hub.write(now, busy=False)
        report = self.machine.report_if_due(self.hub.received_bytes, now)
        manager = self._cluster.find_metrics_manager(self._container)
        if report is not None:
            self._check_bounds(report)
        if report is not None and manager is not None:
            report.incarnation = self._incarnation
            manager.on_report(wire_pb2.Report(stream_manager=report))

    def _check_bounds(self, report: wire_pb2.StreamManagerReport) -> None:
        """What waits must stay within the limits of its links."""
        placement, settings = self._cluster.job.placement, self._cluster.job.topology.settings
        links = len(placement.tasks_in(self._container)) + len(placement.containers) - 1
        most = links * (LINK_LIMIT * settings.high_watermark_bytes + FRAME_BYTES)
        assert report.waiting_bytes <= most, f"{report.waiting_bytes} bytes wait in {links} links, which hold {most}"

    def _follow_master(self, now: float) -> None:
        """Register with whoever leads, as it was when that was asked last, and take its plans, each some time after it was made."""
        if self._master is not None and not self._master.is_alive:
            self._master = None
        if self._found is None or not self._found.is_alive or self._cluster.random.random() < _MOVED:
            self._found = self._cluster.find_leader(self._found, (self._container, "stream-manager"))
        found = self._found
        if (
            found is not self._master
            and found is not None
            and found.master is not None
            and self._cluster.is_acting(found.key)
        ):
            self.leave()
            self._master, self._version = found, -1
            found.master.on_register(self._member)
        leader = self._master
        if leader is None or leader.master is None or not self._cluster.is_acting(leader.key):
            return
        if leader.master.version != self._version or now >= self._repeat_at:
            self._version, self._repeat_at = leader.master.version, now + _REPEAT_PLAN_MS
            after = self._plans[-1][0] if self._plans else 0.0
            due_ms = max(after, now + self._cluster.random.random() * self._cluster.delay_ms)
            self._plans.append((due_ms, leader.master.plan))


class MetricsManagerProcess:
    """A metrics manager: reports are handed on as often as it does so."""

    def __init__(self, cluster: Cluster, container: int) -> None:
        self._cluster, self._container = cluster, container
        self.machine = MetricsManagerMachine(container)
        self._master: MasterProcess | None = None
        self._pace, self._publish_at = Pace(lambda: cluster.now_ms / 1e3), 0.0

    def step(self) -> None:
        now = self._cluster.now_ms
        if now < self._publish_at:
            return
        self._publish_at = now + 1e3 * self._pace.interval_s
        master = self._cluster.find_leader(self._master)
        if master is not self._master:
            self._master = master
            self.machine.on_new_master()
        if master is not None and master.master is not None and self._cluster.is_acting(master.key):
            self._publish(master.master, self._cluster.table_of(self._container), now)

    def end(self) -> None:
        pass

    def _publish(self, master: TopologyMaster, table: Processes, now: float) -> None:
        for message in self.machine.messages(table, now):
            master.Publish(wire_pb2.ContainerReport.FromString(message.SerializeToString()), None)
            if self._cluster.random.random() < self._cluster.lost_calls:  # it was taken, and nobody knows
                self.machine.on_new_master()
                return


class MasterProcess:
    """A topology master: it waits until it leads, takes over, and then keeps epochs. What may wait runs in a coroutine."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster, self.key = cluster, (0, name)
        self.number = cluster.next_pid()
        self.master: TopologyMaster | None = None
        self.leadership = 0
        self.is_alive = True
        self.beat_ms = cluster.now_ms
        self._wakes_at = self._look_at = 0.0
        self._state = StateConnection(cluster.state, self._turn)
        self._work = Coroutine(self._live)

    def step(self) -> None:
        now = self._cluster.now_ms
        if now - self.beat_ms > _LEADS_MS:  # it stood still, and goes on in the midst of its wait for the next look
            self._look_at = now + self._cluster.random.random() * _LEADS_MS
        self.beat_ms = now
        if self.master is not None and now >= self._look_at:
            self._look_at = now + _LEADS_MS
            led = self._cluster.state.led.get(leader_path(self._cluster.job.id))
            if not self._cluster.state.is_away and led is not None and led.number > self.leadership:
                self._cluster.exit(self.key, self)
                return
        if now >= self._wakes_at:
            self._wakes_at = now
            try:
                self._work.go_on()
            except Deposed:
                self._cluster.exit(self.key, self)

    def end(self) -> None:
        self.is_alive = False
        self._work.kill()
        self._state.close()

    def _live(self) -> None:
        """What `run_topology_master` does."""
        cluster, job = self._cluster, self._cluster.job
        self.leadership = self._campaign()
        store = SimulatedStore(job.local_checkpoints, cluster.disk, self._turn)
        requests = RequestStore(self._state, job.id, self.leadership, self._end_deposed)
        keeper = EpochKeeper(job, self._state, self.leadership, store, self._sleep)
        own = partial(wire_pb2.ContainerReport, container=0)
        self.master = take_over_topology(job, requests, keeper, own, cluster.clock, self._sleep)
        keeper.run(self.master)

    def _campaign(self) -> int:
        candidate = Candidate(self._cluster.job.topology.settings.hang_timeout_ms)
        path, data = leader_path(self._cluster.job.id), str(self.number).encode()
        while True:
            try:
                number = try_to_lead(
                    self._state, path, data, candidate, self._describe, lambda _: None, self._cluster.now_ms
                )
            except OSError:
                number = None
            if number is not None:
                return number
            self._sleep(_LOOK_MS / 1e3)

    def _describe(self, newest: Leadership) -> Leader:
        other = self._cluster.masters.get(int(newest.data))
        had_standby = other is not None and other.key == self.key and self._cluster.has_standby
        runs, beat_ms = (other.is_alive, other.beat_ms) if other is not None else (False, 0.0)
        return Leader(newest.number, newest.is_held, runs, beat_ms, had_standby)

    def _end_deposed(self, error: Deposed) -> None:
        raise error

    def _sleep(self, seconds: float) -> None:
        self._wakes_at = self._cluster.now_ms + 1e3 * seconds
        self._work.pause()

    def _turn(self) -> None:
        """Others may run now, for a moment or for long."""
        if self._work.is_running and self._cluster.random.random() < self._cluster.interleaves:
            self._sleep(self._cluster.random.choice([0.0, 0.02, 0.2]))
