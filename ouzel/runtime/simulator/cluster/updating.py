"""An update of a simulated topology: the command that carries it out, which may die at any point, and whoever starts what it has left."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ouzel.errors import OuzelError, TopologyError
from ouzel.planner.former import Former
from ouzel.planner.topology import Topology
from ouzel.runtime.cluster.submitted.revisions import describe_revision, go_back, has_begun, note_begun
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.protocol.cluster.topology_master import ClientRequest
from ouzel.runtime.protocol.cluster.updating import UpdateMachine, UpdateStep
from ouzel.runtime.simulator.cluster.coroutine import Coroutine
from ouzel.runtime.simulator.cluster.disk import SimulatedStore
from ouzel.runtime.simulator.cluster.state_manager import StateConnection
from ouzel.runtime.wire import wire_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

    from ouzel.runtime.simulator.cluster.cluster import Cluster

START_MS = 60_000.0
"""How long it is waited until all tasks of an updated topology have begun."""

_LOOK_MS, _ASK_AGAIN_MS, _START_AFTER_MS = 20.0, 5_000.0, 300.0
"""How often a command looks how the topology stands; when it asks again; how long nobody starts one that was left."""


@dataclass(frozen=True)
class ClusterUpdate:
    """What a topology is to be.

    Attributes:
        topology: all of it; its settings are those of the present one.
        formers: by component, what it goes on from; one that is not there goes on from the component of its name.
    """

    topology: Topology
    formers: Mapping[str, Former] = field(default_factory=dict)

    def describe(self, former: RunDescription) -> RunDescription:
        """The description of the run from then on, as `ouzel update` makes it."""
        topology = replace(self.topology, settings=former.topology.settings)
        described = describe_revision(former, topology, self.formers, former.revision + 1)
        return replace(described, returning=topology.components[-1].name)


class SimulatedCommand:
    """A command that changes the topology, or starts it: one at a time.

    Args:
        cluster: whose topology.
        work: what it does; it is given the command, and calls its `sleep`, or uses connections of it, where it may lose its turn.
    """

    def __init__(self, cluster: Cluster, work: Callable[[SimulatedCommand], object]) -> None:
        self.cluster = cluster
        self.state = StateConnection(cluster.state, self._turn)
        self.step: UpdateStep | None = None
        self._wakes_at, self._is_dead = 0.0, False
        self._work = Coroutine(lambda: work(self))

    @property
    def has_ended(self) -> bool:
        """Whether it is done, or dead."""
        return self._is_dead or self._work.has_ended

    @property
    def store(self) -> SimulatedStore:
        """The epochs, as this command sees them."""
        return SimulatedStore(self.cluster.job.local_checkpoints, self.cluster.disk, self._turn)

    def go_on(self) -> None:
        """It has its turn."""
        if self.cluster.now_ms >= self._wakes_at:
            self._work.go_on()

    def die(self) -> None:
        """It is killed where it is."""
        self._is_dead = True
        self._work.kill()
        self.state.close()

    def sleep(self, for_ms: float = _LOOK_MS) -> None:
        """Others run for so long."""
        self._wakes_at = self.cluster.now_ms + for_ms
        self._work.pause()

    def _turn(self) -> None:
        if self._work.is_running and self.cluster.random.random() < self.cluster.interleaves:
            self.sleep(self.cluster.random.choice([0.0, 20.0, 200.0]))


def update_topology(update: ClusterUpdate, fails_after_ms: float | None, command: SimulatedCommand) -> None:
    """What `ouzel update` does; if it `fails_after_ms`, some task of the new revision cannot begin."""
    cluster, former = command.cluster, command.cluster.job
    following, machine = update.describe(former), UpdateMachine()
    command.step = UpdateStep.STOP
    kept = max(command.store.epochs(), default=0)
    status = _stop(command)
    condition = Condition(status.state)
    cluster.end_processes(is_down=condition is Condition.STOPPED)
    is_kept = max(command.store.epochs(), default=0) > kept
    machine.on_stopped(condition, "" if is_kept else "no last epoch was kept")
    steps: dict[UpdateStep, Callable[[], object]] = {
        UpdateStep.REPLACE: partial(cluster.replace, following),
        UpdateStep.START: partial(start_stopped_run, command),
        UpdateStep.AWAIT: partial(_await_tasks, fails_after_ms, command),
        UpdateStep.END: partial(cluster.end_processes, is_down=True),
        UpdateStep.RESTORE: partial(cluster.replace, former),
        UpdateStep.START_FORMER: partial(start_stopped_run, command),
    }
    while (step := machine.to_do) is not None:
        command.step = step
        try:
            steps[step]()
        except (OuzelError, OSError) as error:
            machine.on_failed(str(error))
        else:
            machine.on_done()
        command.sleep(0.0)
    command.step = None


def start_stopped_run(command: SimulatedCommand) -> None:
    """What `ouzel start` does with a run that goes on.

    Raises:
        StateError: there is no epoch to go on from.
        OSError: the state manager is away.
    """
    cluster = command.cluster
    job, state = cluster.job, command.state
    if not has_begun(state, job):
        go_back(job, state, command.store)
        cluster.forget_journals()
        note_begun(state, job.id, job.revision)
    state.delete(f"/executionstate/{job.id}")
    cluster.start()


def start_what_was_left(command: SimulatedCommand) -> None:
    """Some time after a topology was left, somebody starts it; while that cannot be, again and again."""
    while True:
        command.sleep(_START_AFTER_MS)
        with suppress(OSError):
            start_stopped_run(command)
            return


def _stop(command: SimulatedCommand) -> wire_pb2.TopologyStatus:
    """Have it stop, and wait for that. A topology master that cannot store it, and dies, takes it along: so it is asked again."""
    cluster, asks_at = command.cluster, 0.0
    while (status := cluster.said_at_end) is None:
        if cluster.now_ms >= asks_at and cluster.ask(ClientRequest.STOP):
            asks_at = cluster.now_ms + _ASK_AGAIN_MS
        command.sleep()
    return status


def _await_tasks(fails_after_ms: float | None, command: SimulatedCommand) -> None:
    """Return when every task has begun, or all is over.

    Raises:
        TopologyError: one cannot.
    """
    cluster, limit_ms = command.cluster, START_MS if fails_after_ms is None else fails_after_ms
    began_ms, plan = cluster.now_ms, None
    while plan is None or cluster.heard_of < plan:
        if cluster.said_at_end is not None:
            return
        if cluster.now_ms - began_ms > limit_ms:
            raise TopologyError("some task does not begin")
        plan = plan or cluster.look()
        command.sleep()
