"""A bolt of SQL: a chain of operators, and at its end perhaps a sink."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors.dead_letters import append_lines
from ouzel.errors import OuzelError
from ouzel.runtime.operators.chain import Chain, Streams, merge_streams
from ouzel.runtime.protocol.anchors import edges
from ouzel.runtime.protocol.ids import mix
from ouzel.runtime.protocol.ledger import Entry, Ledger
from ouzel.runtime.protocol.messages import (
    BEGINNING_OF_TIME,
    Data,
    Instruction,
    Root,
    Stalled,
    TimeStatus,
    Watermark,
)
from ouzel.runtime.protocol.quarantine import IN_FLIGHT_MAX, Quarantine
from ouzel.runtime.protocol.task import Links, TaskSetup, carry_counts
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.protocol.tracing import spans_again, spans_under, write_span
from ouzel.runtime.protocol.watermarks import InputClock, WatermarkStatus
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.chain_task import ChainTask, SinkEnd
from ouzel.runtime.tasks.late import late_lines, standing_line
from ouzel.runtime.tasks.poison import name_task, poison_records, process_in_parts
from ouzel.runtime.tasks.refusals import Refusals, refuse_records, take_uncomputed
from ouzel.runtime.tasks.restoring import restore_states

TELL_SPOUTS_MS = 100
"""At most so often a sink says upstream how far it has written, or that it is stalled."""


class ChainBolt(ChainTask[Data]):
    """One task of a bolt that SQL made.

    A chain without state handles frame by frame, so that what it emits for a frame is the same in every attempt; one with state gathers
    what has arrived and handles it as one, input by input, and remembers what it has handled. `columns` are those of each input, in the
    order of the ports, with WEIGHT if it retracts.
    """

    def __init__(
        self, setup: TaskSetup, chain: Chain, columns: Sequence[Sequence[str]], refusals: Refusals,
        quarantine: Quarantine, sink: SinkEnd[Data] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(setup, chain, sink)
        self.refusals, self.quarantine = refusals, quarantine
        chain.count_into(self.counts.counters)
        self.stateful = chain.stateful
        self._columns = [list(names) for names in columns]
        self._port_clocks = _port_clocks(setup.links) if len(columns) > 1 else []
        self._port_times = [BEGINNING_OF_TIME] * len(self._port_clocks)
        self._tell_spouts_at = self._tell_stalled_at = 0.0
        self._late = 0
        self._unwritten: dict[int, list[TraceSpan]] = {}
        self._ledger = Ledger() if self.tracked and (chain.stateful or sink) else None

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way, held back or due soon."""
        return super().is_at_rest and not self.chain.is_ticked

    def _work(self, arrived: list[Data]) -> None:
        fresh, again = self._sort(arrived)
        try:
            for group in self._groups(fresh):
                self._handle(group)
            self._count_late()
            for message in again:
                self._see(message)
        except OuzelError as error:
            self.give_up(f"{self.task.component}: {error}")
        self._flush_if_due()

    def _sort(self, arrived: list[Data]) -> tuple[list[Data], list[Data]]:
        """The frames to handle, and repeated attempts of those; frames handled before are answered at once."""
        if self._ledger is None:
            return arrived, []
        fresh: dict[int, Data] = {}
        again: list[Data] = []
        for message in arrived:
            if message.id in fresh:
                again.append(message)
            elif not self._see(message):
                fresh[message.id] = message
        return list(fresh.values()), again

    def _groups(self, fresh: list[Data]) -> Iterable[list[Data]]:
        if not self.chain.stateful:
            yield from ([message] for message in fresh)
            return
        group: list[Data] = []
        rows = 0
        for message in fresh:
            if self.quarantine.is_suspected(message.id):
                yield [message]
                continue
            if len(group) == IN_FLIGHT_MAX or (group and rows + message.frame.height > self.settings.handle_rows):
                yield group
                group, rows = [], 0
            group.append(message)
            rows += message.frame.height
        if group:
            yield group

    def _handle(self, group: list[Data]) -> None:
        began_us = self.tracer.begin(group, self.now_ms) if self.tracer.is_on else 0
        self.counts.rows_in += sum(message.frame.height for message in group)
        made = self._compute(group)
        refuse_records(self, self.refusals, take_uncomputed(self, self.chain))
        written = self.sink.written if self.sink else 0
        frame_id = mix(*(message.id for message in group))
        roots = tuple({root: None for message in group for root in message.roots})
        messages = self._let_out(made, frame_id, roots)
        if any(message.edges for message in group):
            for message in messages:
                message.edges = edges(message.id, roots, group)
        traced = self._trace(group, began_us, frame_id, made, messages) if began_us else []
        if self._ledger is not None:
            self._ledger.note(group, messages)
        self._send(messages)
        if self.sink and self.sink.written > written:
            self.sink.unflushed.extend(group)
            if traced:
                self._unwritten[group[-1].id] = traced
        else:
            self.answer(group, messages)

    def _trace(
        self, group: list[Data], began_us: int, frame_id: int, made: Streams, messages: Sequence[Data]
    ) -> list[TraceSpan]:
        traced = self.tracer.end(group, began_us, frame_id, sum(frame.height for _, frame in made))
        self._out += traced
        for message in messages:
            message.spans = spans_under(message.roots, traced)
        return traced

    def _compute(self, group: list[Data]) -> Streams:
        if len(group) > 1:
            with self.quarantine.in_flight([message.id for message in group]):
                return merge_streams(self.chain.process(frame, port) for port, frame in self._by_port(group))
        (message,) = group
        port = self._port(message)
        frame = self._align(message.frame, port)
        if self.refusals.is_fatal:  # refuse before the rest is handled: other rows of the batch may be poison, too
            self._refuse_poison(message, frame)
        parts = process_in_parts(self.quarantine, message.id, frame, lambda rows: self.chain.process(rows, port))
        self._refuse_poison(message, frame)
        return merge_streams(parts)

    def _refuse_poison(self, message: Data, frame: pl.DataFrame) -> None:
        poison, place = self.quarantine.poison_of(message.id), self.task.component
        refuse_records(self, self.refusals, poison_records(poison, frame, name_task(self, self.chain), lambda _: place))

    def _by_port(self, group: list[Data]) -> Iterable[tuple[int, pl.DataFrame]]:
        """The rows of each input as one frame; between inputs there is no order."""
        for port in range(len(self._columns)):
            frames = [self._align(message.frame, port) for message in group if self._port(message) == port]
            if frames:
                yield port, pl.concat(frames, rechunk=False)

    def _port(self, message: Data) -> int:
        return self.links.ports[message.stream].number

    def _let_out(self, made: Streams, frame_id: int, roots: tuple[Root, ...]) -> list[Data]:
        """Send the frames downstream, or write them to the sink."""
        messages: list[Data] = []
        told = self.chain.tell_apart(frame_id)
        for stream, frame in made:
            if self.sink and frame.height:
                self.counts.rows_out += frame.height
                self._out += self.sink.write(frame_id, frame)
            elif not self.sink:
                messages += self.route(stream, frame, told, roots)
        return messages

    def _see(self, message: Data) -> bool:
        entry = self._ledger.recall(message) if self._ledger is not None else None
        if entry is None:
            return False
        if self.sink:
            self.sink.unflushed.append(message)
        else:
            self._emit_again(message, entry)
        return True

    def _emit_again(self, message: Data, entry: Entry) -> None:
        """The frame was handled before; what was emitted for it may be what was lost.

        What was emitted for several frames together may come again for each: each time something else stands for it in their tree.
        """
        outputs = [
            replace(
                old,
                roots=message.roots,
                edges=edges(old.id, message.roots, [message]),
                spans=spans_again(old, message),
            )
            for old in entry.outputs
        ]
        self._send(outputs)
        self.answer([message], outputs)

    def _follow_time(self) -> None:
        try:
            for port, clock in enumerate(self._port_clocks):
                if clock.now.time_us > self._port_times[port]:
                    self._port_times[port] = clock.now.time_us
                    self._emit_all(self.chain.advance_port(port, clock.now.time_us))
        except OuzelError as error:
            self.give_up(f"{self.task.component}: {error}")
        super()._follow_time()

    def _observe(self, message: Watermark) -> None:
        """Take in the watermark of an input."""
        super()._observe(message)
        for clock in self._port_clocks:
            clock.observe(message.source, WatermarkStatus(message.time_us, message.status, message.pause))

    def _on_time(self, moment: WatermarkStatus) -> None:
        try:
            self._emit_all(self.chain.advance(moment.time_us))
            if moment.status is TimeStatus.PAUSED:
                self._emit_all(self.chain.flush_on_pause())
                self._flush()
            elif moment.status is TimeStatus.FINISHED:
                self._emit_all(self.chain.finish())
                self._flush()
            else:
                self._flush_if_due()
        except OuzelError as error:
            self.give_up(f"{self.task.component}: {error}")
        self._count_late()

    def pass_time(self, moment: WatermarkStatus) -> None:
        """A sink reports a watermark only when all results that it closed are flushed."""
        moment = replace(moment, time_us=self.chain.output_time(moment.time_us))
        if self.sink:
            self.gate.push(self.sink.written, moment)
        else:
            super().pass_time(moment)

    def _let_go(self, flushed: list[Data]) -> None:
        self.answer(flushed, ())
        if self._unwritten:
            self._trace_writes(flushed)

    def _trace_writes(self, flushed: list[Data]) -> None:
        for message in flushed:
            for computed in self._unwritten.pop(message.id, ()):
                self._out.append(write_span(computed, self.wall_us))

    def flush_on_pause(self, now_ms: float) -> list[Instruction]:
        """Emit the changes that EMIT AFTER DELAY holds back."""
        self._begin(now_ms)
        self._emit_all(self.chain.flush_on_pause())
        return self._take()

    def snapshot(self, whole: bool) -> TaskSnapshot:
        """With the state of its operators."""
        states = tuple(state.snapshot() if whole else state.changes() for state in self.chain.states)
        return replace(super().snapshot(whole), states=states)

    def restore(self, snapshots: Sequence[TaskSnapshot]) -> None:
        """Go on from what a task before this one kept: a whole snapshot, and the changes after it.

        Raises:
            StateError: it is of another chain.
        """
        restore_states(self.chain, snapshots)
        carry_counts(self.counts, snapshots[-1].counts)

    def take_late_back(self) -> None:
        """Say in the file of late rows how many stand: what was dropped behind the epoch that it goes on from is read again."""
        path = Path(self.settings.late_path)
        if self.settings.late_path and path.exists():
            append_lines(path, standing_line(self.task.component, self.task.index, self.counts.rows_late))

    def _tell(self, moment: WatermarkStatus) -> None:
        """A sink reports upstream how far it has written: periodically, and when it comes to rest."""
        super()._tell(moment)
        rests = moment.status in (TimeStatus.PAUSED, TimeStatus.FINISHED)
        if self.links.spouts and (rests or self.now_ms >= self._tell_spouts_at):
            self._tell_spouts_at = self.now_ms + TELL_SPOUTS_MS
            self._send(
                Watermark(self.task.id, spout, moment.time_us, moment.status, moment.pause)
                for spout in self.links.spouts
            )

    def _tick(self) -> None:
        try:
            self._emit_all(self.chain.tick(int(self.now_ms)))
            self._flush_if_due()
        except OuzelError as error:
            self.give_up(f"{self.task.component}: {error}")
        if self.sink and self.tracked and self.now_ms >= self._tell_stalled_at and self.sink.is_stalled(self.now_ms):
            self._tell_stalled_at = self.now_ms + TELL_SPOUTS_MS
            self._send(Stalled(self.task.id, holder) for holder in sorted(self.links.upstream))

    def _emit_all(self, made: Streams) -> None:
        """Emit rows that belong to no input frame, as tracked batches that this task holds itself."""
        refuse_records(self, self.refusals, take_uncomputed(self, self.chain))
        for stream, frame in made:
            for part in frame.iter_slices(self.settings.handle_rows):
                if self.sink:
                    self._emissions = mix(self._emissions)
                    self._let_out([(stream, part)], self._emissions, ())
                else:
                    self.emit_root([(stream, part)], part.height)

    def _align(self, frame: pl.DataFrame, port: int) -> pl.DataFrame:
        """The frame under that input's column names (a union takes columns by position), with a weight if others have one."""
        columns = self._columns[port]
        if frame.columns == columns:
            return frame
        if columns[-1] == WEIGHT and frame.columns[-1] != WEIGHT:
            frame = frame.with_columns(pl.lit(1, pl.Int64).alias(WEIGHT))
        return frame.rename(dict(zip(frame.columns, columns, strict=True)))

    def _count_late(self) -> None:
        dropped = self.chain.take_late()
        if dropped and self.settings.late_path:
            task = self.task.index if self.settings.has_epochs else None
            lines = "".join(late_lines(self.task.component, frame, task) for frame in dropped)
            append_lines(Path(self.settings.late_path), lines)
        late, self._late = self.chain.late - self._late, self.chain.late
        if late:
            self.counts.rows_late += late
            self.tell_user("late-rows", f"{self.task.component}: rows came after the watermark had passed them", late)


def _port_clocks(links: Links) -> list[InputClock]:
    """A clock for each input."""
    writers: dict[int, set[int]] = {}
    for port in links.ports.values():
        writers.setdefault(port.number, set()).update(port.writers)
    return [InputClock(sorted(writers[number])) for number in sorted(writers)]
