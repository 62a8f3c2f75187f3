"""The state machine of one task, whatever it runs: messages in, instructions out; no sockets, no clock.

The subclasses in runtime/tasks say what the task does with rows; here is what all of them share: acks and replay, time, and the way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from ouzel.planner.settings import Settings
from ouzel.planner.topology import Task
from ouzel.runtime.observe.counts import COUNTS, TaskCounts, count_of
from ouzel.runtime.observe.histogram import bucket_of
from ouzel.runtime.protocol.acker import EVERYTHING, Acker, PendingBatch
from ouzel.runtime.protocol.groupings import OutputStream
from ouzel.runtime.protocol.ids import mix, name_id
from ouzel.runtime.protocol.messages import (
    BEGINNING_OF_TIME,
    Ack,
    Data,
    Event,
    Fail,
    Failed,
    Finished,
    Instruction,
    Message,
    Root,
    Send,
    Stalled,
    TimeStatus,
    Waiting,
    Watermark,
)
from ouzel.runtime.protocol.pieces import pieces
from ouzel.runtime.protocol.shell import Shell, TakesFrames
from ouzel.runtime.protocol.tracing import EMIT, READ, Tracer
from ouzel.runtime.protocol.watermarks import Gate, InputClock, WatermarkStatus
from ouzel.runtime.state.task_snapshot import TaskSnapshot

if TYPE_CHECKING:
    from ouzel.connectors.backlog import Backlog
    from ouzel.connectors.writing import SinkWriter
    from ouzel.runtime.observe.state_summaries import StateSummary
    from ouzel.runtime.state.summary import StateSize

REPEAT_MS, REPEAT_MOST_MS = 500, 4_000
"""A watermark may be lost with a connection, so the last one is sent again after the first, then later and later, up to the second."""


@dataclass(slots=True)
class TaskMetrics(TaskCounts):
    """Counts of a task since its start.

    Attributes:
        pending_rows: rows sent and not yet acked.
        watermark_us: the task's watermark; None before the first.
        latency_us: complete latency by rows, in log buckets (see observe.histogram).
        ranges: what of a source's partitions has been read and wholly acked: partition id -> (first offset, end).
        times: how far event time has come at those ends, in microseconds.
        waiting: what a source's event time waits for.
        lag: how many records wait in the source behind what was read; None if that is not known.
        lag_bytes: of how many bytes together, where that is known.
        lag_ms: for how long one of these has waited, at least.
        backlogs: where most of them wait.
        began_us: how far a run before had closed windows, when this one goes on from it.
        carries: rows_in, rows_acked and rows_bad count all lives of the task, so that what is read again is counted once.
        restored: all counts are those of all lives up to an epoch, and of this one since.
        counters: the user's own.
        states: how much its operators with state keep, by name.
    """

    pending_rows: int = 0
    watermark_us: int | None = None
    latency_us: dict[int, int] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    lag: int | None = None
    lag_bytes: int | None = None
    lag_ms: int | None = None
    backlogs: Sequence[Backlog] = ()
    began_us: int | None = None
    carries: bool = False
    restored: bool = False
    counters: dict[str, int] = field(default_factory=dict)
    states: dict[str, StateSize] = field(default_factory=dict)


_OWN = "counters."


def counts_to_keep(counts: TaskMetrics) -> dict[str, int]:
    """What a task has counted, by name, for a successor that goes on from here."""
    own = {f"{_OWN}{name}": count for name, count in counts.counters.items()}
    return {name: count_of(counts, name) for name in COUNTS} | own


def carry_counts(counts: TaskMetrics, kept: Mapping[str, int]) -> None:
    """Count on from there; what a source carries by its places stays."""
    counts.restored = True
    for name, count in kept.items():
        if name.startswith(_OWN):
            counts.counters[name.removeprefix(_OWN)] = count
        elif name in COUNTS and not (counts.carries and COUNTS[name].carried):
            setattr(counts, name, count)


class Port(NamedTuple):
    """The number of an input, and the tasks that write one of its streams."""

    number: int
    writers: tuple[int, ...]


@dataclass(frozen=True)
class Links:
    """Who a task hears from and who it speaks to: source tasks of its inputs, its outlets, and every task upstream of it.

    A sink tells `spouts` how far it has written: those of whose rows the topology keeps windows. They hear that of their `sinks`.
    `ports` says of each stream that is read, by its number, which input of the component it is, and which tasks write it.
    """

    sources: tuple[int, ...]
    outlets: dict[str, OutputStream]
    upstream: frozenset[int]
    spouts: tuple[int, ...] = ()
    sinks: tuple[int, ...] = ()
    ports: Mapping[int, Port] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskSetup:
    """What every machine is given, whatever its task does.

    Attributes:
        task: which task of which component.
        links: whom it hears from and speaks to.
        settings: those of the topology.
        incarnation: how often the task was started before.
        shell: what it may ask of whoever runs it.
        counts: what the machine and its parts count, and the shell reports.
    """

    task: Task
    links: Links
    settings: Settings
    incarnation: int = 0
    shell: Shell = Shell()
    counts: TaskMetrics = field(default_factory=TaskMetrics)

    @property
    def tracked(self) -> bool:
        """Whether batches are held until they are acked."""
        return self.settings.delivery.tracks


class TaskMachine:
    """One task. The shell calls these from one thread and carries out what they return, in order.

    `now_ms` is any monotonic clock in milliseconds, the same in every call. One that `commits` tells its acker what is committed: until
    then receivers remember what it acked.
    """

    stateful = False
    """Whether the task keeps what dies with it: then it must not handle a frame twice."""

    is_spout = False

    _take_sample: TakesFrames | None = None

    def __init__(self, setup: TaskSetup, commits: bool = False) -> None:
        task, links, settings, incarnation = setup.task, setup.links, setup.settings, setup.incarnation
        self.task, self.links, self.settings = task, links, settings
        self.shell, self.counts, self.tracked = setup.shell, setup.counts, setup.tracked
        self.acker = Acker(task.id, incarnation, settings.ack_timeout_ms, self.tracked, commits)
        self.clock = InputClock(links.sources)
        self.gate = Gate()
        self.tracer = Tracer(task.id, settings.trace_sample, setup.shell)
        self.finished = False
        self.now_ms = 0.0
        self._out: list[Instruction] = []
        self._told: WatermarkStatus | None = None
        self._reached = WatermarkStatus()
        self._repeat_at, self._repeat_ms = 0.0, float(REPEAT_MS)
        self._came_up_anew = incarnation > 0
        self._emissions = mix(name_id(f"{task.component}/{task.index}"), incarnation)

    # What the shell calls.

    def handle(self, messages: Sequence[Message], now_ms: float) -> list[Instruction]:
        """Take what has arrived, all of it at once: a stateful task handles the rows together, up to `handle_rows`."""
        self._begin(now_ms)
        arrived: list[Data] = []
        for message in messages:
            match message:
                case Data():
                    arrived.append(message)
                case Ack():
                    self._complete(self.acker.on_ack(message, now_ms))
                case Fail():
                    self._fail(message)
                case Watermark():
                    self._observe(message)
                case Stalled():
                    self.acker.on_stall(now_ms)
        if arrived:
            self.counts.batches_in += len(arrived)
            self._work(arrived)
        self._follow_time()
        return self._take()

    @property
    def writer(self) -> SinkWriter | None:
        """The task's sink, if it has one: for the shell, which carries out Write and Flush. The machine never calls it."""
        return None

    def poll(self, now_ms: float) -> list[Instruction]:
        """A spout reads and emits at most one batch, if pending rows allow; empty when there is nothing to do now."""
        return []

    @property
    def is_exhausted(self) -> bool:
        """Whether `poll` has nothing to read any more, unless a tick finds something."""
        return self.finished

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way, held back or due soon: then it needs few ticks."""
        return not self.acker.pending and not len(self.gate)

    def tick(self, now_ms: float) -> list[Instruction]:
        """To be called every 50 ms or so, every 200 ms while it `is_at_rest`: timeouts, EMIT AFTER DELAY, flushes, repeated watermarks."""
        self._begin(now_ms)
        self._resend(self.acker.take_overdue(now_ms))
        self._tick()
        self._follow_time()
        if self._told and now_ms >= self._repeat_at:
            self._tell(self._told)
        return self._take()

    def flush_on_pause(self, now_ms: float) -> list[Instruction]:
        """Emit rows that are held back only to be sent together with later ones; a snapshot of the task's state comes after that."""
        return []

    def on_flushed(self, number: int, now_ms: float) -> list[Instruction]:
        """The sink has flushed what was written before the instruction Flush(number)."""
        return []

    def on_reconnected(self, now_ms: float) -> list[Instruction]:
        """The connection to the stream manager is back after a loss: messages in flight, in either direction, may be lost."""
        self._begin(now_ms)
        if not self.tracked:
            self.tell_user(
                "rows-lost", f"{self.task.component} (task {self.task.id}): a connection broke, with what was on it"
            )
        self.acker.on_fail(Root(self.task.id, EVERYTHING, 0), now_ms)
        self._ask_upstream()
        if self._told:
            self._tell(self._told)
        return self._take()

    def on_starved(self, waited_ms: float, now_ms: float) -> None:
        """The task waited so long for a core since the last call of this. No timeout runs meanwhile: others have no core either."""
        self.acker.on_starved(waited_ms, now_ms)

    def on_committed(self, number: int, now_ms: float) -> None:
        """The offsets of the Commit of that number are kept: a successor of this task starts there, or later."""

    def deactivate(self, pause: int, now_ms: float, *, for_epoch: bool = False) -> None:
        """Read no more until `activate`; event time stands still meanwhile.

        Args:
            pause: numbers the pauses of a topology, and grows.
            now_ms: milliseconds.
            for_epoch: whether the pause is that of an epoch, in which the topology does not end.
        """

    def activate(self, now_ms: float) -> None:
        """Read on."""

    @property
    def paused(self) -> int:
        """The pause in which this task and all before it have handled, and flushed, whatever was read before; 0 if there is none."""
        told = self._told
        return told.pause if told is not None and not len(self.gate) else 0

    def is_at_rest_in(self, pause: int) -> bool:
        """Whether nothing of it, and of those before it, changes any more until that pause ends: it may be snapshotted."""
        return self.finished or self.paused == pause

    def on_epoch_kept(self) -> None:
        """An epoch of the topology is kept: it does not start from its beginning any more, whatever happens."""

    def snapshot(self, whole: bool) -> TaskSnapshot:
        """What it keeps while it rests: all, or what has changed since the last call where that is known and `whole` is false."""
        told_us = self._told.time_us if self._told else BEGINNING_OF_TIME
        return TaskSnapshot(self.task.component, self.task.index, time_us=told_us, counts=counts_to_keep(self.counts))

    def metrics(self) -> TaskMetrics:
        """Counts so far."""
        self.counts.pending_rows = self.acker.pending_rows
        return self.counts

    @property
    def operator_names(self) -> list[str]:
        """The operators of SQL that it is made of; none of a spout or bolt written by hand."""
        return []

    def sample_into(self, take: TakesFrames | None) -> None:
        """From now on show frames that pass to `take`, with the name of what has made them; None for nobody."""
        self._take_sample = take

    def summarize_states(self) -> list[StateSummary]:
        """What it keeps, by operator and table, in short: for whoever asks, never while rows wait."""
        return []

    def close(self) -> None:
        """Let go of readers and writers."""

    # What a kind of task fills in.

    def _observe(self, message: Watermark) -> None:
        """Take in the watermark of an input."""
        self.clock.observe(message.source, WatermarkStatus(message.time_us, message.status, message.pause))

    def _work(self, arrived: list[Data]) -> None:
        """Handle what has arrived."""

    def _on_time(self, moment: WatermarkStatus) -> None:
        """The watermark of the inputs is `moment` now: emit what it closes."""

    def _tick(self) -> None:
        """Act on the time that has passed."""

    def _on_completion(self, held: PendingBatch) -> None:
        """This batch and everything derived from it has been handled."""

    def _on_rest(self) -> None:
        """All that was read before a pause has been handled and flushed: the topology may end here."""

    # The way out.

    def emit_root(
        self, frames: Iterable[tuple[str, pl.DataFrame]], rows: int, token: object = None, frame_id: int = 0,
        index: int | None = None,
    ) -> None:  # fmt: skip
        """Emit frames, of a stream one at most, as one tracked batch that this task holds until it is wholly acked.

        `index` is the task that a direct grouping sends them to.
        """
        self._emissions = mix(self._emissions)
        root = self.acker.next_root()
        is_traced = self.tracer.is_on and self.tracer.is_traced(root.sequence)
        roots = (root,) if self.tracked or is_traced else ()
        base = frame_id or self._emissions
        messages = [message for stream, frame in frames for message in self.route(stream, frame, base, roots, index)]
        if is_traced:
            self._trace_emission(root.sequence, rows, messages)
        done = self.acker.hold(root, messages, rows, token, self.now_ms)
        self._send(messages)
        self._complete(done)

    def route(
        self, stream: str, frame: pl.DataFrame, frame_id: int, roots: tuple[Root, ...], index: int | None = None
    ) -> list[Data]:
        """The messages that a frame becomes, one for each task that gets any of it; not yet sent."""
        outlet = self.links.outlets.get(stream)
        if outlet is None or not frame.height:
            return []
        if self._take_sample is not None:
            self._take_sample(f"sent into {stream}", frame)
        self.counts.rows_out += frame.height
        return [
            Data(outlet.number, self.task.id, task, mix(frame_id, outlet.number, task, *part), roots, rows)
            for task, dealt in outlet.route(frame, frame_id, index)
            for part, rows in pieces(dealt)
        ]

    def _trace_emission(self, sequence: int, rows: int, messages: Sequence[Data]) -> None:
        sent = sum(message.frame.height for message in messages)
        span = self.tracer.end_first(sequence, READ if self.is_spout else EMIT, self.now_ms, rows, sent)
        for message in messages:
            message.spans = (span.id,)
        self._out.append(span)

    def answer(self, handled: Iterable[Data], made: Iterable[Data]) -> None:
        """Ack `handled`, each under all its roots, together with what was made under the same roots."""
        if not self.tracked:
            return
        xors: dict[Root, int] = {}
        for message in handled:
            for root, leaf in message.leaves:
                xors[root] = xors.get(root, 0) ^ leaf
        for message in made:
            for root, leaf in message.leaves:
                if root in xors:
                    xors[root] ^= leaf
        self._out.extend(Send(Ack(root.task, root, xor)) for root, xor in xors.items())

    def tell_user(self, kind: str, text: str, count: int = 1) -> None:
        """Report something to the user."""
        self._out.append(Event(kind, text, count))

    def give_up(self, reason: str) -> None:
        """The topology must stop."""
        self._out.append(Failed(reason))

    def _send(self, messages: Iterable[Message]) -> None:
        self._out.extend(map(Send, messages))

    def _resend(self, batches: Iterable[PendingBatch]) -> None:
        for held in batches:
            self.counts.rows_failed += held.rows
            self._send(held.messages)

    def _fail(self, message: Fail) -> None:
        self._resend(self.acker.on_fail(message.root, self.now_ms))
        if message.root.sequence == EVERYTHING:
            self._repeat_at, self._repeat_ms = 0.0, REPEAT_MS / 2

    def _complete(self, held: PendingBatch | None) -> None:
        if held is None:
            return
        if self.tracked:
            self.counts.rows_acked += held.rows
            slot = bucket_of((self.now_ms - held.emitted_ms) * 1000)
            self.counts.latency_us[slot] = self.counts.latency_us.get(slot, 0) + held.rows
            if self.tracer.is_on and self.tracer.is_traced(held.sequence):
                self._out.append(self.tracer.end_wait(held.sequence, held.emitted_ms, self.now_ms, held.attempt))
        self._on_completion(held)

    @property
    def wall_us(self) -> int:
        """The wall clock now, in microseconds UTC."""
        return self.shell.wall_zero_us() + int(self.now_ms * 1000)

    def _begin(self, now_ms: float) -> None:
        self.now_ms = now_ms
        if self._came_up_anew:
            self._came_up_anew = False
            self._ask_upstream()

    def _ask_upstream(self) -> None:
        """Whoever holds batches upstream: what was on its way to this task may be lost, so send it again."""
        if self.tracked:
            self._send(Fail(task, Root(task, EVERYTHING, 0)) for task in sorted(self.links.upstream))

    def _follow_time(self) -> None:
        moment = self.clock.now
        if moment != self._reached and self.links.sources:
            self._reached = moment
            self._on_time(moment)
            self.pass_time(moment)
        self._release()

    def pass_time(self, moment: WatermarkStatus) -> None:
        """Send this watermark downstream as soon as everything emitted so far is acked."""
        self.gate.push(self.acker.newest if self.acker.pending else 0, moment)

    def _release(self) -> None:
        moment = self.gate.release(self._settled)
        if moment is None:
            return
        self.counts.watermark_us = moment.time_us
        self._tell(moment)
        if moment.status is TimeStatus.FINISHED:
            self._finish()
        elif moment.status is TimeStatus.PAUSED:
            self._on_rest()

    @property
    def _settled(self) -> int:
        """The sequence number below which every batch is wholly acked; the gate releases watermarks by it."""
        return self.acker.settled

    def _finish(self) -> None:
        if not self.finished:
            self.finished = True
            self._out.append(Finished())

    def _tell(self, moment: WatermarkStatus) -> None:
        self._repeat_ms = min(2 * self._repeat_ms, float(REPEAT_MOST_MS)) if moment == self._told else REPEAT_MS
        self._told, self._repeat_at = moment, self.now_ms + self._repeat_ms
        for task in sorted(self._downstream):
            self._out.append(Send(Watermark(self.task.id, task, moment.time_us, moment.status, moment.pause)))

    @cached_property
    def _downstream(self) -> frozenset[int]:
        return frozenset().union(*(outlet.destinations for outlet in self.links.outlets.values()))

    def _take(self) -> list[Instruction]:
        taken, self._out = self._out, []
        return taken
