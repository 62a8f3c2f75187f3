"""The topology master's machine: who belongs to the topology, how it stands, and when it ends.

Invariant: a topology master can die at any time and the next one loses nothing. Stream managers register again, metrics managers hand in
all reports again (reports are cumulative), and what users have asked is stored outside (`execution_state`). So versions of the plan must
not be used twice: the first version comes from outside, and must be higher than that of any topology master before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ouzel.planner.settings import Delivery
from ouzel.runtime.observe.ending import Ending
from ouzel.runtime.observe.totals import ReportedUpTo, Totals
from ouzel.runtime.protocol.cluster.epochs import IN_VAIN_MAX, EpochsMachine, Generation, Phase
from ouzel.runtime.protocol.cluster.membership import Member, Membership
from ouzel.runtime.protocol.cluster.placement import Placement
from ouzel.runtime.run import LOSSES, ROLLED_BACK, RunState
from ouzel.runtime.wire import wire_pb2

_ENDED = (RunState.FINISHED, RunState.FAILED, RunState.STOPPED)


class ClientRequest(Enum):
    """What clients ask: pause, and end when at rest; pause; go on; have all tasks report anew."""

    STOP = "stop"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    LOOK = "look"


@dataclass(frozen=True)
class Refuse:
    """Instruction: who registers does not belong here; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True)
class SendPlan:
    """Instruction: the plan has changed; send `TopologyMasterMachine.plan` to all members."""


@dataclass(frozen=True)
class StoreRequest:
    """Instruction: store `TopologyMasterMachine.execution_state` where the next topology master finds it, then answer the request."""


@dataclass(frozen=True)
class TellClients:
    """Instruction: tell those who watch how the topology stands now."""


MasterInstruction = Refuse | SendPlan | StoreRequest | TellClients


class TopologyMasterMachine:
    """One topology master, from its start.

    Args:
        placement: the topology and its packing plan.
        version: the plan's first version.
        execution_state: what the topology master before this one had stored; empty if there was none.
        started_from: the generation that is stored, and the epoch that it went on from.
        kept: the newest epoch that is kept.
        leadership: the number of this topology master's leadership; its plans carry it.
        leaves_epochs: whether somebody may go on from an epoch when the topology has been stopped, so that one more is taken then.
        returning: the tasks whose rows a client takes.
    """

    def __init__(
        self,
        placement: Placement,
        version: int,
        execution_state: bytes = b"",
        started_from: Generation = Generation(),
        kept: int = 0,
        leadership: int = 0,
        leaves_epochs: bool = True,
        returning: frozenset[int] = frozenset(),
    ) -> None:
        settings = placement.topology.settings
        self._containers, self._sinks = placement.containers, placement.sinks()
        self._everyone = frozenset(task.id for task in placement.topology.tasks())
        self._membership = Membership(self._containers, version)
        untracked = settings.delivery is Delivery.AT_MOST_ONCE
        self._totals = Totals(placement.spouts(), self._sinks, frozenset(LOSSES if untracked else ()))
        self._ending = Ending(self._sinks, self._everyone, settings.hang_timeout_ms)
        self._reports: dict[int, wire_pb2.ContainerReport] = {}
        self._draining, self._pause = _parse_request(execution_state)
        self._publishes = settings.delivery.publishes
        self._ends_with_epoch = settings.has_epochs and leaves_epochs
        self._is_over = False
        self.epochs = EpochsMachine(
            settings.checkpoint_interval_ms,
            self._everyone,
            started_from,
            kept,
            self._publishes,
            leadership,
            returning,
        )
        self._leadership = leadership
        self.state = RunState.STARTING
        self.reason = ""

    # What happens.

    def on_register(self, member: Member) -> list[MasterInstruction]:
        """A stream manager says that it is there."""
        if not self._membership.register(member):
            return [Refuse(f"there is no container {member.container} in this topology")]
        return [SendPlan()]

    def on_leave(self, member: Member) -> list[MasterInstruction]:
        """The connection of a stream manager is lost."""
        self._membership.remove(member)
        return [SendPlan()]

    def on_report(self, report: wire_pb2.ContainerReport, now_ms: float) -> list[MasterInstruction]:
        """A container reports. The totals take its tasks over; the rest of the report is kept."""
        before = self.news
        for task in report.tasks:
            self.epochs.on_report(task)
            self._totals.take(task)
        del report.tasks[:]
        self._reports[report.container] = report
        instructions: list[MasterInstruction] = []
        if self._totals.is_holding_back:
            # A loss is told when all spouts have reported behind it, so each is asked to report anew.
            instructions = self._announce(now_ms)
            self._totals.hold_back_until(self.version)
        self._move_on(now_ms)
        return instructions if self.news == before else [*instructions, TellClients()]

    def on_tick(self, now_ms: float) -> list[MasterInstruction]:
        """Some time has passed: an epoch may be due, or a step of one."""
        runs = self.state is RunState.RUNNING and not self._pause
        last_pause = 0 if self.has_ended else self._find_last_pause()
        moved = self.epochs.on_tick(now_ms, runs, self.version + 1, last_pause)
        self._tell_problem()
        return self._announce(now_ms) if moved else []

    def on_epoch_kept(self, epoch: int, now_ms: float) -> list[MasterInstruction]:
        """This epoch is whole. Tasks hear of the first one, for sources may commit from then on, and of the others with the next plan.

        Sinks that publish with epochs hear of each one at once.
        """
        tells = not self.epochs.kept or self._publishes
        self.epochs.on_kept(epoch)
        self._move_on(now_ms)
        return self._announce(now_ms) if tells else [TellClients()]

    def on_epoch_lost(self, epoch: int, reason: str) -> list[MasterInstruction]:
        """This epoch cannot be made whole."""
        self.epochs.on_not_kept(epoch, reason)
        return [TellClients()]

    def on_gone_back(self, generation: Generation, problems: Sequence[str], now_ms: float) -> list[MasterInstruction]:
        """All tasks go back to an epoch, and that is stored; `problems` say why it is not a newer one."""
        told = (
            f"all tasks went back to epoch {generation.restore}"
            if generation.restore
            else "all tasks began anew, for no epoch was kept yet"
        )
        self._totals.tell(ROLLED_BACK, f"{told}: {self.epochs.lost}; rows since then are read again")
        for problem in problems:
            self._totals.tell("epoch-failed", problem)
        self.epochs.on_found(generation)
        self._is_over = False
        if self.epochs.in_vain > IN_VAIN_MAX:
            told = f"all tasks went back to epoch {generation.restore} {IN_VAIN_MAX} times, and no other was kept in between"
            self.state, self.reason = RunState.FAILED, f"{told}: {self.epochs.lost}; see its log for why it dies"
        return self._announce(now_ms)

    def on_nothing_to_go_back_to(self, problems: Sequence[str]) -> list[MasterInstruction]:
        """There are epochs, but none can be read. The topology fails: it never starts empty where state was."""
        self.state, self.reason = RunState.FAILED, f"no epoch can be read: {'; '.join(problems)}"
        return [TellClients()]

    def on_own_report(self, report: wire_pb2.ContainerReport) -> None:
        """The report of the topology master's own container: shown in the status, without further effect."""
        self._reports[report.container] = report

    def on_request(self, request: ClientRequest, now_ms: float) -> list[MasterInstruction]:
        """A client asks something; the answer is `version`, the plan that says so."""
        match request:
            case ClientRequest.STOP | ClientRequest.DEACTIVATE:
                self._draining = self._draining or request is ClientRequest.STOP
                self._pause = self._pause or self.epochs.pause or self.version + 1
            case ClientRequest.ACTIVATE:
                self._pause = self._pause if self._draining else 0
            case ClientRequest.LOOK:
                return self._announce(now_ms)
        return [StoreRequest(), *self._announce(now_ms)]

    # How it stands.

    @property
    def version(self) -> int:
        """The version of the plan."""
        return self._membership.version

    @property
    def plan(self) -> wire_pb2.PhysicalPlan:
        """The present members, and whether the topology is paused."""
        managers = [
            wire_pb2.StreamManager(
                container=member.container,
                incarnation=member.incarnation,
                address=wire_pb2.Address(host=member.host, port=member.port, path=member.path),
            )
            for member in self._membership.members
        ]
        epochs = self.epochs
        return wire_pb2.PhysicalPlan(
            version=self.version,
            stream_managers=managers,
            pause=self._pause or epochs.pause,
            epoch=epochs.number if epochs.phase is Phase.DRAINING else 0,
            generation=epochs.generation,
            restore=epochs.restore,
            kept=epochs.kept,
            leadership=self._leadership,
        )

    @property
    def execution_state(self) -> bytes:
        """How the topology has ended, or else what users have asked, for the topology master after this one."""
        if self.has_ended:
            return self.state.value.encode()
        pausing = b"draining %d" if self._draining else b"paused %d"
        return pausing % self._pause if self._pause else b"running"

    @property
    def has_ended(self) -> bool:
        """Whether the topology has ended."""
        return self.state in _ENDED

    @property
    def news(self) -> tuple[object, ...]:
        """A value that changes when clients are to be notified at once."""
        return self.state, self._totals.plan_heard_of(self._everyone)

    @property
    def known(self) -> ReportedUpTo:
        """What a client knows once it has received `status` now."""
        return self._totals.reported

    def status(self, now_ms: float, known: ReportedUpTo = ReportedUpTo()) -> wire_pb2.TopologyStatus:
        """How the topology stands; of ranges and events what is not known."""
        if self.has_ended:
            self._totals.release_all()
        status = self._totals.status(now_ms, known)
        status.state, status.reason = self.state.value, self.reason
        status.plan = self._totals.plan_heard_of(self._everyone)
        reports = [self._reports[container] for container in sorted(self._reports)]
        status.restarts = sum(report.restarts for report in reports)
        status.deaths.extend(death for report in reports for death in report.deaths)
        managers = [one for report in reports for one in report.stream_managers]
        status.back_pressure = any(manager.slow for manager in managers)
        return status

    def _find_last_pause(self) -> int:
        """The pause in which the topology is to end: the one that was asked for, or one in which the last rows are published."""
        if self._draining:
            return self._pause if self._ends_with_epoch else 0
        return self.version + 1 if self._is_over and self._publishes else 0

    def _announce(self, now_ms: float) -> list[MasterInstruction]:
        """A new plan for everyone, although the members are the same: each task answers it with a report."""
        self._membership.version += 1
        self._move_on(now_ms)
        return [SendPlan(), TellClients()]

    def _tell_problem(self) -> None:
        """Tell users why an epoch is not kept."""
        if problem := self.epochs.take_problem():
            self._totals.tell("epoch-failed", problem)

    def _move_on(self, now_ms: float) -> None:
        """The state by the latest reports. An end is final, so events that led to it are told first."""
        self._tell_problem()
        if self.has_ended:
            return
        failed = self._totals.failed or next((one.failed for one in self._reports.values() if one.failed), "")
        if failed:
            self.state, self.reason = RunState.FAILED, failed
        elif self._is_over or self._ending.is_over(self._totals, now_ms):
            self._is_over = True
            if not self._publishes or self.epochs.is_last_kept:
                self.state = RunState.FINISHED
        elif self._pause and self._totals.have_paused(self._everyone, self._pause):
            if not self._draining:
                self.state = RunState.PAUSED
            elif not self._ends_with_epoch or self.epochs.is_last_kept:
                self.state = RunState.STOPPED
        elif self._reports.keys() >= self._containers:
            self.state = RunState.RUNNING


def _parse_request(execution_state: bytes) -> tuple[bool, int]:
    """Whether the topology is to end when it has come to rest, and the number of the pause that it is in."""
    state, _, pause = execution_state.partition(b" ")
    return state == b"draining", int(pause) if state in (b"draining", b"paused") else 0
