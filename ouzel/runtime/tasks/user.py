"""Tasks of the topology API: an engineer's own spout or bolt, with the runtime's acks, replay and time around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

import polars as pl

from ouzel.errors import OuzelError
from ouzel.planner.api import Batch, Bolt, Collector, Context, Spout
from ouzel.planner.metrics import UserMetrics
from ouzel.planner.topology import DEFAULT_STREAM, Component
from ouzel.runtime.protocol.acker import PendingBatch
from ouzel.runtime.protocol.anchors import edge, edges
from ouzel.runtime.protocol.ids import mix
from ouzel.runtime.protocol.ledger import Entry, Ledger
from ouzel.runtime.protocol.messages import ADVICE, Ack, Data, Fail, Instruction, Root, TimeStatus
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskMachine, TaskSetup
from ouzel.runtime.protocol.tracing import spans_again
from ouzel.runtime.protocol.tuner import PendingLimit
from ouzel.runtime.protocol.watermarks import FINISHED, WatermarkStatus
from ouzel.runtime.tasks.mistakes import check_anchors, check_batch, check_execute
from ouzel.runtime.tasks.own_state import UserTask
from ouzel.runtime.tasks.poison import poison_records
from ouzel.runtime.tasks.refusals import Refusals, refuse_records
from ouzel.runtime.tasks.user_code import blame_component, fit_frame, schemas

_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)


def _context(machine: TaskMachine, component: Component) -> Context:
    task = machine.task
    return Context(task.component, task.id, task.index, component.parallelism, UserMetrics(machine.counts.counters))


class UserSpout(UserTask):
    """Runs a Spout. Batches emitted with a message id are held until acked, and replayed otherwise."""

    is_spout = True

    def __init__(self, setup: TaskSetup, spout: Spout, component: Component) -> None:
        super().__init__(setup, spout)
        self.spout, self._outputs = spout, schemas(component)
        self.progress, self.monotonic_ms = setup.shell.progress, setup.shell.monotonic_ms
        self.limit = PendingLimit(setup.settings)
        self._pause = 0
        with blame_component(setup.task):
            spout.open(_context(self, component))

    def poll(self, now_ms: float) -> list[Instruction]:
        """Ask the spout for its next batches, if there is room."""
        self._begin(now_ms)
        self.limit.observe(self.counts.rows_acked, now_ms)
        if self.limit.has_room(self.acker) and not (self.acker.is_behind(now_ms) or self._ended or self._pause):
            with blame_component(self.task), self.shell.outside():
                self._ended = _is_last(self.spout.next_batch(self))
                self._follow_watermark(self.spout.watermark())
        self._end_if_done()
        self._release()
        return self._take()

    def emit(
        self, frame: pl.DataFrame, *, stream: str = DEFAULT_STREAM, anchors: Sequence[Batch] = (),
        message_id: object = None, task: int | None = None,
    ) -> None:  # fmt: skip
        """Collector.emit for a spout: with a message id the batch is tracked."""
        frame = fit_frame(self._outputs, stream, frame)
        self.counts.rows_in += frame.height
        if message_id is not None:
            self.emit_root([(stream, frame)], frame.height, message_id, index=task)
            return
        self._emissions = mix(self._emissions)
        self._send(self.route(stream, frame, self._emissions, (), task))

    def ack(self, batch: Batch) -> None:
        """A spout has no input to ack."""

    def fail(self, batch: Batch) -> None:
        """A spout has no input to fail."""

    @property
    def is_exhausted(self) -> bool:
        """Whether the spout has said that it has no more."""
        return self._ended

    def deactivate(self, pause: int, now_ms: float, *, for_epoch: bool = False) -> None:
        """Ask the spout for no more until `activate`; the spout is told once."""
        if not self._pause:
            self.spout.deactivate()
        self._pause = pause

    def activate(self, now_ms: float) -> None:
        """Ask the spout again."""
        if self._pause:
            self._pause = 0
            self.limit.restart(self.counts.rows_acked, now_ms)
            self.spout.activate()

    def _tick(self) -> None:
        self._end_if_done()

    def _end_if_done(self) -> None:
        if self.finished:
            return
        moment = FINISHED if self._ended else self._unended
        if moment != self._reached:
            self._reached = moment
            self.pass_time(moment)

    def _follow_watermark(self, moment: object) -> None:
        if moment is None:
            return
        if not isinstance(moment, datetime):
            raise TypeError(f"watermark returned {moment!r:.60}, which is no datetime; return a datetime, or None")
        plain = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        self._time_us = max(self._time_us, (plain - _EPOCH) // _MICROSECOND)

    @property
    def _unended(self) -> WatermarkStatus:
        status = TimeStatus.PAUSED if self._pause else TimeStatus.ACTIVE
        return WatermarkStatus(self._time_us, status, self._pause)

    def _on_completion(self, held: PendingBatch) -> None:
        if held.token is not None:
            self.spout.ack(held.token)

    def _fail(self, message: Fail) -> None:
        held = self.acker.pending.get(message.root.sequence)
        if held is not None and held.token is not None:
            self.spout.fail(held.token)
        super()._fail(message)

    def close(self) -> None:
        """Close the spout."""
        self.spout.close()


@dataclass(slots=True, weakref_slot=True)
class _Opened:
    """A batch that was handed to a bolt and is neither acked nor failed: what its ack will say under each root, and what came of it."""

    message: Data
    since_ms: float
    xors: dict[Root, int] = field(init=False)
    made: list[Data] = field(default_factory=list)
    first: Data = field(init=False)
    """The attempt that was handed over."""

    def __post_init__(self) -> None:
        self.first = self.message
        self.on_replay(self.message)

    def on_replay(self, message: Data) -> None:
        """It will be acked under the roots of this attempt, with what came of it so far; its rows are there already."""
        self.message = replace(self.message, roots=message.roots, edges=message.edges, spans=message.spans)
        self.xors = dict(message.leaves)
        for frame in self.made:
            self._answer_for(frame)

    def anchor(self, frame: Data) -> None:
        """A frame came of it."""
        self.made.append(frame)
        self._answer_for(frame)

    def _answer_for(self, frame: Data) -> None:
        for root, leaf in self.message.leaves:
            self.xors[root] ^= edge(frame.id, leaf)


@dataclass(slots=True)
class _Cut:
    """A suspected batch, whose rows the bolt gets in parts: what the bolt says of a part it says of the batch.

    So many parts are `unacked`, and one more while not all have been handed over. What comes of each part is emitted as one: the first
    frames of all parts together, then the second ones, so that it is what would have come of the whole. `made` are frames so far, by
    place, stream, task and anchors.
    """

    batch: Batch
    unacked: int = 1
    place: int = 0
    made: dict[tuple[int, str, int | None, tuple[Batch, ...]], list[pl.DataFrame]] = field(default_factory=dict)


class UserBolt(UserTask):
    """Runs a Bolt, frame by frame. What it emits is anchored to the batches it names; each is open until acked or failed.

    One that the bolt has let go of can never be acked: it is forgotten, with its rows, and its source sends it again. One that comes again
    while it is open, or after it was acked, is not handed to the bolt again: what came of it is sent again.
    """

    def __init__(
        self, setup: TaskSetup, bolt: Bolt, component: Component, streams: dict[int, tuple[str, str]],
        quarantine: Quarantine, refusals: Refusals,
    ) -> None:  # fmt: skip
        super().__init__(setup, bolt)
        self.progress, self.monotonic_ms = setup.shell.progress, setup.shell.monotonic_ms
        self.bolt, self._streams, self._outputs = bolt, streams, schemas(component)
        self._quarantine, self._refusals = quarantine, refusals
        self._open: WeakKeyDictionary[Batch, _Opened] = WeakKeyDictionary()
        self._open_ids: WeakValueDictionary[int, _Opened] = WeakValueDictionary()
        self._ledger = Ledger() if self.tracked else None
        self._cuts: WeakKeyDictionary[Batch, _Cut] = WeakKeyDictionary()
        self._cut: _Cut | None = None
        self._acked: WeakSet[Batch] = WeakSet()
        self._tells_of_acked = self.tracked and not self.settings.has_epochs
        self._unanswered = 0
        self._told_of_open = False
        self._ticked_ms = -math.inf
        with blame_component(setup.task):
            bolt.open(_context(self, component))

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way, and the bolt has nothing that it does by the clock."""
        return super().is_at_rest and type(self.bolt).tick is Bolt.tick

    def _work(self, arrived: list[Data]) -> None:
        for message in arrived:
            if not self._has_handled(message):
                self._take_in(message)

    def _take_in(self, message: Data) -> None:
        component, stream = self._streams[message.stream]
        batch = Batch(message.frame, component, stream, message.source)
        self._open[batch] = self._open_ids[message.id] = _Opened(message, self.now_ms)
        self._unanswered += 1
        self.counts.rows_in += message.frame.height
        began_us = self.tracer.begin([message], self.now_ms) if self.tracer.is_on else 0
        rows_out = self.counts.rows_out
        self._hand_over(batch, message)
        if began_us:
            self._out += self.tracer.end([message], began_us, message.id, self.counts.rows_out - rows_out)

    def _hand_over(self, batch: Batch, message: Data) -> None:
        if self._quarantine.is_suspected(message.id):
            self._execute_in_parts(batch, message.id)
        else:
            with self._quarantine.in_flight([message.id], 0, message.frame.height):
                self._execute(batch)

    def _has_handled(self, message: Data) -> bool:
        """Whether the bolt has the batch, or has acked it: then what came of it may be what was lost."""
        if self._ledger is None:
            return False
        opened, entry = self._open_ids.get(message.id), self._ledger.recall(message)
        if opened is not None:
            opened.on_replay(message)
            self._send(_again(opened.made, message))
        elif entry is not None:
            self._emit_again(message, entry)
        return opened is not None or entry is not None

    def _emit_again(self, message: Data, entry: Entry) -> None:
        outputs = _again(entry.outputs, message)
        self._send(outputs)
        self.answer([message], outputs)

    def _execute_in_parts(self, batch: Batch, batch_id: int) -> None:
        poison = self._quarantine.poison_of(batch_id)
        if poison and self._refusals.is_fatal:  # refuse before the rest is handled: other rows may be poison, too
            self._refuse(batch, poison)
            return
        self._cut = cut = _Cut(batch)
        for start, end in self._quarantine.parts(batch_id, batch.frame.height):
            part = Batch(batch.frame[start:end], batch.component, batch.stream, batch.task)
            self._cuts[part] = cut
            cut.unacked, cut.place = cut.unacked + 1, 0
            with self._quarantine.in_flight([batch_id], start, end):
                self._execute(part)
        self._cut = None
        self._quarantine.on_handled(batch_id)
        self._refuse(batch, poison)
        for (_, stream, task, anchors), frames in sorted(cut.made.items(), key=lambda made: made[0][0]):
            self.emit(pl.concat(frames), stream=stream, anchors=anchors, task=task)
        self._ack_part(cut)

    def _execute(self, batch: Batch) -> None:
        with blame_component(self.task):
            execute: Callable[[Batch, Collector], object] = self.bolt.execute
            check_execute(execute(batch, self))

    def _ack_part(self, cut: _Cut) -> None:
        cut.unacked -= 1
        if not cut.unacked:
            self.ack(cut.batch)

    def _refuse(self, batch: Batch, poison: Mapping[int, int]) -> None:
        name = self.task.component
        try:
            refuse_records(self, self._refusals, poison_records(poison, batch.frame, f"'{name}'", lambda _: name))
        except OuzelError as error:
            self.give_up(f"{name}: {error}")

    def emit(
        self, frame: pl.DataFrame, *, stream: str = DEFAULT_STREAM, anchors: Sequence[Batch] = (),
        message_id: object = None, task: int | None = None,
    ) -> None:  # fmt: skip
        """Collector.emit for a bolt."""
        frame = self.fit(stream, frame)
        check_anchors(anchors)
        if self._tells_of_acked and any(batch in self._acked for batch in anchors):
            raise TypeError(
                "it is anchored to a batch that was acked before, so that nothing replays it; emit first, then ack"
            )
        anchors = tuple(dict.fromkeys(self._whole(batch) for batch in anchors))
        if self._cut:
            self._cut.made.setdefault((self._cut.place, stream, task, anchors), []).append(frame)
            self._cut.place += 1
            return
        opened = [self._open[batch] for batch in anchors if batch in self._open]
        if (
            not opened and self.settings.has_epochs
        ):  # its state has gone on, so nobody makes these rows again: the task holds them
            self.emit_root([(stream, frame)], frame.height, index=task)
            return
        if not opened:
            self._emissions = mix(self._emissions)
            self._send(self.route(stream, frame, self._emissions, (), task))
            return
        frames = [one.message for one in opened]
        roots = tuple({root: None for message in frames for root in message.roots})
        frame_id = mix(*(message.id for message in frames), len(opened[0].made))
        messages = self.route(stream, frame, frame_id, roots, task)
        for message in messages:
            message.edges = edges(message.id, roots, frames)
            message.spans = self.tracer.spans_handling([one.first for one in opened], roots)
            for one in opened:
                one.anchor(message)
        self._send(messages)

    def fit(self, stream: str, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame as the component declares the stream."""
        return fit_frame(self._outputs, stream, frame)

    def ack(self, batch: Batch) -> None:
        """Collector.ack: the batch and what was anchored to it."""
        check_batch(batch, "ack")
        self._acked.add(batch)
        cut = self._cuts.pop(batch, None)
        if cut:
            self._ack_part(cut)
            return
        opened = self._close(batch)
        if opened is not None:
            self._send(Ack(root.task, root, xor) for root, xor in opened.xors.items())
            if self._ledger is not None:
                self._ledger.note([opened.message], opened.made)

    def fail(self, batch: Batch) -> None:
        """Collector.fail: whoever holds its roots replays them."""
        check_batch(batch, "fail")
        opened = self._close(self._whole(batch))
        if opened is not None:
            self._send(Fail(root.task, root) for root in opened.message.roots)

    def _whole(self, batch: Batch) -> Batch:
        """The batch that it is a part of, or itself."""
        cut = self._cuts.get(batch)
        return cut.batch if cut else batch

    def _close(self, batch: Batch) -> _Opened | None:
        opened = self._open.pop(batch, None)
        if opened is not None:
            self._unanswered -= 1
            self._open_ids.pop(opened.message.id, None)
        return opened

    def _tick(self) -> None:
        if self.now_ms - self._ticked_ms >= self.bolt.tick_ms and not self._is_at_rest:
            self._ticked_ms = self.now_ms
            with blame_component(self.task):
                self.bolt.tick(self)
        if self.tracked and not self._told_of_open:
            self._tell_of_open()

    @property
    def _is_at_rest(self) -> bool:
        """Whether it may have been snapshotted: then what it did in a tick would be done again by whoever goes on from there."""
        return self.settings.has_epochs and (self.finished or self.paused > 0)

    def _tell_of_open(self) -> None:
        """What is neither acked nor failed is sent again by its source, and again: say so once."""
        limit = self.settings.ack_timeout_ms
        oldest = next(iter(self._open.values()), None)
        if self._unanswered > len(self._open):
            what = "has let go of a batch that it had neither acked nor failed"
        elif oldest is not None and self.now_ms - oldest.since_ms >= limit:
            what = "has neither acked nor failed a batch for longer than that"
        else:
            return
        self._told_of_open = True
        again = f"what is not acked within ack.timeout.ms = {limit} is sent again"
        name = f"'{self.task.component}' (task {self.task.id})"
        self.tell_user(
            ADVICE, f"{again}, and {name} {what}; call collector.ack(batch) or collector.fail(batch) for each"
        )

    def _on_time(self, moment: WatermarkStatus) -> None:
        with blame_component(self.task):
            if moment.status is TimeStatus.FINISHED:
                self._finish_bolt()
            elif moment.time_us > self._time_us:
                self._time_us = moment.time_us
                self.bolt.advance(_EPOCH + moment.time_us * _MICROSECOND, _Last(self))

    def _finish_bolt(self) -> None:
        """The end of the input is answered once, though a task that goes on from an epoch after it hears of it again."""
        if not self._ended:
            self._ended = True
            self.bolt.finish(_Last(self))

    def close(self) -> None:
        """Close the bolt."""
        self.bolt.close()


def _is_last(answer: object) -> bool:
    """Whether `next_batch` says that there will never be more.

    Raises:
        TypeError: it gave rows.
    """
    if isinstance(answer, Iterable):
        raise TypeError(
            f"next_batch returned a {type(answer).__name__}; write collector.emit(frame, message_id=1) in it, "
            "and return True while there may be more, and False at the end"
        )
    return answer is not None and not answer


def _again(made: Iterable[Data], message: Data) -> list[Data]:
    """What came of a batch, under the roots of another attempt."""
    return [
        replace(
            old, roots=message.roots, edges=edges(old.id, message.roots, [message]), spans=spans_again(old, message)
        )
        for old in made
    ]


class _Last:
    """The collector of `advance` and `finish`: nothing stands behind these frames, so the task holds them itself."""

    def __init__(self, machine: UserBolt) -> None:
        self._machine, self.progress, self.monotonic_ms = machine, machine.progress, machine.monotonic_ms

    def emit(
        self, frame: pl.DataFrame, *, stream: str = DEFAULT_STREAM, anchors: Sequence[Batch] = (),
        message_id: object = None, task: int | None = None,
    ) -> None:  # fmt: skip
        """Emit a frame that this task holds until it is acked."""
        frame = self._machine.fit(stream, frame)
        self._machine.emit_root([(stream, frame)], frame.height, index=task)

    def ack(self, batch: Batch) -> None:
        """Ack a batch that was still open."""
        self._machine.ack(batch)

    def fail(self, batch: Batch) -> None:
        """Fail a batch that was still open."""
        self._machine.fail(batch)
