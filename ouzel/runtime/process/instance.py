"""An instance: the process of one task. The gateway thread carries frames; the main thread runs the task's machine."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ouzel.compiler.user_code import describe_raised
from ouzel.connectors.writing import InstantWriter, SinkWriter
from ouzel.errors import OuzelError, TopologyError
from ouzel.exits import in_user_code, leave
from ouzel.planner.topology import Task
from ouzel.runtime.observe.trace_files import TraceWriter
from ouzel.runtime.process.asks import TaskAsks
from ouzel.runtime.process.direct_sink import DirectSink
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import now_ms, wall_zero_us
from ouzel.runtime.process.offset_writer import Offsets
from ouzel.runtime.process.pasts import Pasts
from ouzel.runtime.process.reporter import Reporter
from ouzel.runtime.process.sink_thread import Sink, SinkThread
from ouzel.runtime.process.starting import StartWatch
from ouzel.runtime.process.usage import OwnWait
from ouzel.runtime.protocol.back_pressure import Pause
from ouzel.runtime.protocol.cluster.follower import PlanEffect, PlanFollower
from ouzel.runtime.protocol.messages import (
    Commit,
    Event,
    Failed,
    Finished,
    Flush,
    Instruction,
    KeepUpTo,
    MarkEpoch,
    Message,
    Send,
    Stalled,
    Write,
)
from ouzel.runtime.protocol.pace import Pace, Polls, Portions, Rhythm
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.protocol.watchdog import Watchdog
from ouzel.runtime.run import ROWS_LOST, STATE_LOST
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.frames import MESSAGES, Codec
from ouzel.runtime.wire.stream import Frame

if TYPE_CHECKING:
    from ouzel.runtime.protocol.task import TaskMachine

LOG = logging.getLogger("ouzel.instance")
_SLOW_MS = 5_000.0
_BUSY_MS = 500.0
"""While a call lasts longer than this, tasks upstream are told again and again that what it handles is not lost."""
_AT_ONCE = 0.05
"""So much of the hang timeout a task should take for what it is given at once."""


class _WentBack(Exception):
    """The plan says that all go back to an epoch."""


class Frames(Protocol):
    """What carries an instance's frames; see `Gateway`."""

    def take(self, timeout_s: float) -> list[Frame]:
        """All frames that have arrived; waits for the first at most so long. One of kind RECONNECTED marks a lost connection."""

    def send(self, buffers: Sequence[memoryview]) -> None:
        """Send these; waits while too much is unsent."""

    def say(self, buffers: Sequence[memoryview]) -> None:
        """As `send`, and never waits."""

    def wake(self) -> None:
        """Make `take` return."""


def make_sink(writer: SinkWriter, done: Callable[[], None]) -> Sink:
    """What carries out the orders of a task for its sink, in a thread of its own if the sink may wait for anything."""
    is_instant = isinstance(writer, InstantWriter) and writer.instant
    return (DirectSink if is_instant else SinkThread)(writer, done)


@dataclass(frozen=True)
class Clocks:
    """What an instance knows of time.

    Attributes:
        now_ms: milliseconds, monotonic.
        wall_zero_us: what the wall clock shows, in microseconds UTC, when `now_ms` is 0.
        take_wait: how long the thread waited for a core since the last call, in milliseconds.
    """

    now_ms: Callable[[], float]
    wall_zero_us: Callable[[], int]
    take_wait: Callable[[], float]


class Instance:
    """The shell of one task's machine: carries out its instructions, and hands it what arrives.

    Args:
        job, task: which task of what.
        gateway: carries frames.
        reporter: tells how the task stands.
        pasts: what a machine is made from, in each generation; see `Pasts`.
        incarnation: how often the process was started before.
        clocks: the time, and how much of it others had the core.
        make_sink: what carries out orders for a writer, and calls what it is given when there is something to `take`.
    """

    def __init__(
        self,
        job: RunDescription,
        task: Task,
        gateway: Frames,
        reporter: Reporter,
        pasts: Pasts,
        incarnation: int,
        clocks: Clocks | None = None,
        make_sink: Callable[[SinkWriter, Callable[[], None]], Sink] = make_sink,
    ) -> None:
        self._job, self._task, self._gateway, self._reporter, self._pasts = job, task, gateway, reporter, pasts
        clocks = clocks or Clocks(now_ms, wall_zero_us, OwnWait().take)
        clock = self._clock = clocks.now_ms
        self._wall_zero_us, self._take_wait, self._make_sink = clocks.wall_zero_us, clocks.take_wait, make_sink
        self._codec = Codec(job.topology)
        self._is_spout = job.topology.component(task.component).is_spout
        self._pause = Pause()
        self._incarnation = incarnation
        self._follower = PlanFollower(pasts.part, may_read=incarnation == 0)
        self._rested_in = 0
        self._pace = Pace(lambda: clock() / 1e3)
        self._portions = Portions(_AT_ONCE * job.topology.settings.hang_timeout_ms)
        self._rhythm, self._polls = Rhythm(self._pace), Polls()
        self._machine: TaskMachine | None = None
        self._sink: Sink | None = None
        self._offsets: Offsets | None = None
        self._slow_since = 0.0
        self.asks: TaskAsks | None = None
        self.traces: TraceWriter | None = None
        self.watchdog = Watchdog(job.topology.settings.hang_timeout_ms, clock)
        self.start_watch = StartWatch(f"'{task.component}' (task {task.id})", clock(), self._note)
        self.running = True

    def run(self) -> None:
        """Until the process is told to end. A failure is reported, and the process stays: the topology master ends the run."""
        try:
            with in_user_code():
                while self.running:
                    self.step()
        except OuzelError as error:
            self.fail(str(error))
        except BaseException as error:  # code of the user's may end by exit(), too
            traceback.print_exc()
            self.fail(f"'{self._task.component}' (task {self._task.id}) failed: {describe_raised(error)}")
        while self.running:
            self.rest()

    def step(self) -> None:
        """One round: a wait for all to go back, if what the task kept is gone; else a step of its machine, made anew if need be."""
        if self._follower.is_waiting:
            self._await_generation()
            return
        machine = self._machine or self._begin()
        try:
            self._step(machine)
        except _WentBack:
            self._drop_machine(machine)

    def fail(self, reason: str) -> None:
        """The task cannot go on: the topology fails when that is heard of."""
        self._reporter.failed = reason
        self._reporter.report(self._machine)

    def rest(self) -> None:
        """One round of a task that has failed."""
        self._reporter.report(self._machine)
        self._gateway.take(self._pace.interval_s)

    def _await_generation(self) -> None:
        """Look for a plan that says that all go back. What else comes is of a generation that is over, or will be sent again."""
        self._reporter.report(None)
        for frame in self._gateway.take(self._pace.interval_s):
            if frame.kind == wire_pb2.PLAN:
                self._hear(frame.header().plan)

    def _hear(self, plan: wire_pb2.PhysicalPlan) -> PlanEffect:
        heard = self._follower.on_plan(plan, has_machine=self._machine is not None)
        if heard is PlanEffect.GOES_BACK and self._pasts.epochs is not None:
            self._pasts.epochs.on_gone_back()
        return heard

    def _begin(self) -> TaskMachine:
        """Make a machine, in the present generation."""
        generation = self._pasts.generation
        self._codec = Codec(self._job.topology, generation)
        self._offsets, make = self._pasts.begin()
        machine = self._machine = make(self._shell(), self._incarnation + generation)
        self._pasts.on_begun(machine.stateful)
        self.start_watch.on_started()
        if machine.writer is not None:
            self._pasts.roll_back(machine.writer)
            self._sink = self._make_sink(machine.writer, self._gateway.wake)
            self._sink.start()
        if self._incarnation and not generation:
            self._tell_of_restart(machine)
        return machine

    def _drop_machine(self, machine: TaskMachine) -> None:
        """All go back: what the machine knows is of no use any more. A sink that does not let go ends the process."""
        self._machine = None
        if self._sink is not None and not self._sink.abandon():
            leave(1)
        self._sink = None
        machine.close()
        if self._offsets is not None:
            self._offsets.close()
        self._rested_in = 0
        self._portions = Portions(_AT_ONCE * self._job.topology.settings.hang_timeout_ms)
        self._reporter.begin_anew(self._incarnation + self._pasts.generation)
        self._rhythm.hurry()

    def _shell(self) -> Shell:
        watchdog = self.watchdog
        return Shell(self._wall_zero_us, watchdog.outside, self._interject, watchdog.progress, self._clock)

    def close(self) -> None:
        """Let go of readers and writers, and keep the last offsets."""
        if self._offsets is not None:
            self._offsets.close()
        if self._sink is not None:
            self._sink.close()
        if self._machine is not None:
            if self.traces is not None:
                self.traces.write(self._machine.operator_names)
            try:
                self._machine.close()
            except Exception as error:
                self._reporter.event(Event("commit-failed", str(error)))
                self._reporter.report(self._machine)

    def tell_if_busy(self, now: float, arriving: bool) -> bool:
        """While one call, or one frame that is `arriving`, takes long, tell those upstream that nothing is lost.

        It is called from the gateway's thread, for the task's own is in that call. True if they were told.
        """
        machine = self._machine
        if machine is None or not machine.tracked or not (arriving or self.watchdog.busy_ms(now) > _BUSY_MS):
            return False
        for holder in sorted(machine.links.upstream):
            self._gateway.say(self._codec.encode(Stalled(self._task.id, holder)))
        return True

    def stop(self) -> None:
        """Leave `run` soon."""
        self.running = False

    def _tell_of_restart(self, machine: TaskMachine) -> None:
        name = f"'{self._task.component}' (task {self._task.id})"
        if not machine.tracked:
            self._reporter.event(Event(ROWS_LOST, f"{name} was started again: what was on its way to it is lost"))
        if machine.stateful and self._pasts.epochs is None:
            self._reporter.event(Event(STATE_LOST, f"{name} was started again: what it kept in memory is lost"))
        if self._is_spout:
            self._reporter.event(Event("replayed", f"{name} was started again and reads on from what was wholly acked"))

    def _note(self, text: str) -> None:
        self._reporter.event(Event("note", text))

    def _step(self, machine: TaskMachine) -> None:
        frames = self._take_arrivals(self._patience_ms(machine) / 1e3)
        self.watchdog.enter()
        now = self._clock()
        for number in self._take_flushed():
            self._carry_out(machine.on_flushed(number, now))
        self._portions.add(self._sort(machine, frames, now))
        messages = self._portions.take()
        did = bool(messages)
        if messages:
            instructions = machine.handle(messages, now)
            self._portions.record_duration(messages, self._clock() - now)
            self._carry_out(instructions)
            if machine.paused != self._rested_in:
                self._rhythm.hurry()
        if self._is_reading(machine) and not self._pause.is_on(now) and self._sink_has_room(0.0):
            read = machine.poll(now)
            did = did or bool(read)
            self._carry_out(read)
        self._polls.on_polled(now, did)
        if did or not machine.is_at_rest:
            self._rhythm.on_activity(now)
        if self._rhythm.is_tick_due(now):
            self._tick(machine, now)
        self.watchdog.leave()

    def _take_arrivals(self, patience_s: float) -> list[Frame]:
        """What has arrived; nothing while the task or its sink has enough to do, so that it waits upstream."""
        if self._portions:
            return []
        if not self._is_spout and not self._sink_has_room(patience_s):
            return []
        return self._gateway.take(patience_s)

    def _take_flushed(self) -> list[int]:
        """The flushes that are done; raises what the sink has failed with, for a spout that has read everything asks for no more room."""
        self._sink_has_room(0.0)
        return self._sink.take() if self._sink else []

    def _sink_has_room(self, patience_s: float) -> bool:
        """Whether the task's sink takes in more, if it has one."""
        try:
            return self._sink is None or self._sink.has_room(patience_s)
        except OuzelError as error:
            raise TopologyError(f"{self._task.component}: {error}") from error

    def _interject(self, instructions: Sequence[Instruction]) -> None:
        self._carry_out(instructions)
        self._reporter.report(self._machine)

    def _patience_ms(self, machine: TaskMachine) -> float:
        """How long to wait for frames: not at all while there may be more to read."""
        until_tick = self._rhythm.until_tick(self._clock())
        return min(self._polls.wait_ms, until_tick) if self._is_reading(machine) else until_tick

    def _is_reading(self, machine: TaskMachine) -> bool:
        """Whether the task is a spout that is to be polled."""
        return self._is_spout and self._follower.may_read and not machine.is_exhausted

    def _tick(self, machine: TaskMachine, now: float) -> None:
        machine.on_starved(self._take_wait(), now)
        self._tell_of_offsets(machine, now)
        self._carry_out(machine.tick(now))
        self._tell_if_sink_is_slow(now)
        self._take_snapshot_if_due(machine)
        if self.asks is not None:
            self.asks.on_tick(machine, now)
        if self.traces is not None:
            self.traces.on_tick(machine.operator_names, now)
        self._tell_of_published()
        if machine.paused != self._rested_in:
            self._rested_in = machine.paused
            self._rhythm.report_at_once()
        if self._rhythm.is_report_due(now):
            self._rhythm.on_reported(now, self._reporter.report(machine))
        self._rhythm.on_ticked(now, machine.is_at_rest)

    def _take_snapshot_if_due(self, machine: TaskMachine) -> None:
        """Take one when the plan asks for it and the task rests. It is written when the sink, which has flushed all, has its mark."""
        epochs, plan = self._pasts.epochs, self._follower.plan
        if epochs is None or not self._follower.is_snapshot_due(machine.is_at_rest_in):
            return
        write = epochs.take(plan.epoch, machine)
        self._follower.on_snapshot()
        if self._sink is not None:
            self._sink.put(MarkEpoch(plan.epoch, plan.kept, write))
        else:
            write()
        self._rhythm.report_at_once()

    def _tell_of_published(self) -> None:
        """Up to which epoch what came to this task is visible."""
        if self._follower.on_published(None if self._sink is None else self._sink.published):
            self._rhythm.report_at_once()

    def _tell_of_offsets(self, machine: TaskMachine, now: float) -> None:
        assert self._offsets is not None
        while not self._offsets.kept.empty():
            machine.on_committed(self._offsets.kept.get(), now)
        while not self._offsets.problems.empty():
            self._reporter.event(Event("commit-failed", self._offsets.problems.get()))

    def _tell_if_sink_is_slow(self, now: float) -> None:
        since = self._sink.busy_since if self._sink else now
        if now - since > _SLOW_MS and since != self._slow_since:
            self._slow_since = since
            name = f"'{self._task.component}' (task {self._task.id})"
            what = f"its sink has waited for {_SLOW_MS / 1e3:g} s and more for what it writes to; rows wait until it goes on"
            self._reporter.event(Event("note", f"{name}: {what}"))

    def _sort(self, machine: TaskMachine, frames: list[Frame], now: float) -> list[Message]:
        messages: list[Message] = []
        for frame in frames:
            if frame.kind in MESSAGES:
                if (message := self._codec.decode(frame)) is not None:
                    messages.append(message)
            else:
                self._control(machine, frame, now)
        return messages

    def _control(self, machine: TaskMachine, frame: Frame, now: float) -> None:
        if frame.kind == wire_pb2.SLOW:
            self._pause.on_pressure(frame.header().source, True, now)
        elif frame.kind == wire_pb2.RELIEVED:
            self._pause.on_pressure(frame.header().source, False, now)
        elif frame.kind == wire_pb2.RECONNECTED:
            self._carry_out(machine.on_reconnected(now))
        elif frame.kind == wire_pb2.PLAN:
            self._follow(machine, frame.header().plan, now)

    def _follow(self, machine: TaskMachine, plan: wire_pb2.PhysicalPlan, now: float) -> None:
        """Do what the physical plan asks; one that is new is answered with a report."""
        heard = self._hear(plan)
        if heard is PlanEffect.GOES_BACK:
            raise _WentBack
        if heard is PlanEffect.NOTHING:
            return
        if plan.kept:
            machine.on_epoch_kept()
        if plan.epoch and self._pasts.epochs is not None:
            self._pasts.epochs.on_asked(plan.epoch)
        if self._sink is not None and (kept := self._follower.take_kept()) is not None:
            self._sink.put(KeepUpTo(kept))
        if plan.pause:
            machine.deactivate(plan.pause, now, for_epoch=plan.epoch > 0)
        else:
            machine.activate(now)
        if plan.version != self._reporter.plan:
            LOG.debug("plan %d: pause %d, epoch %d, kept %d", plan.version, plan.pause, plan.epoch, plan.kept)
            self._reporter.plan = plan.version
            self._rhythm.hurry()

    def _carry_out(self, instructions: Sequence[Instruction]) -> None:
        buffers: list[memoryview] = []
        for instruction in instructions:
            if isinstance(instruction, Send):
                buffers += self._codec.encode(instruction.message)
            elif isinstance(instruction, Write | Flush):
                assert self._sink is not None
                self._sink.put(instruction)
            elif isinstance(instruction, Commit):
                assert self._offsets is not None
                self._offsets.note(instruction)
            elif isinstance(instruction, Event):
                self._reporter.event(instruction)
            elif isinstance(instruction, Finished):
                self._reporter.finished = True
                self._rhythm.report_at_once()
            elif isinstance(instruction, Failed):
                raise TopologyError(instruction.reason)  # nothing that comes after it may leave, nor be committed
            elif isinstance(instruction, TraceSpan) and self.traces is not None:
                self.traces.note(instruction)
        if buffers:
            with self.watchdog.outside():
                self._gateway.send(buffers)
