"""The operators of one component, fused: a chain that may branch, and that writes a stream wherever a branch ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import NamedTuple

import polars as pl

from ouzel.planner.topology import DEFAULT_STREAM
from ouzel.runtime.observe.state_summaries import StateSummary, summarize_states
from ouzel.runtime.operators.base import Counters, Operator, RefusedRow
from ouzel.runtime.protocol.ids import mix
from ouzel.runtime.protocol.lag import Sight
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME
from ouzel.runtime.protocol.shell import TakesFrames
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.summary import StateSize

Streams = list[tuple[str, pl.DataFrame]]
"""What a component writes: the name of a stream, and rows for it."""


class Edges(NamedTuple):
    """Where the rows of one operator go: to the operators at these places, each by its only port, and into these streams.

    Those that it drops as late go to the operators at the places `late`.
    """

    readers: tuple[int, ...] = ()
    streams: tuple[str, ...] = ()
    late: tuple[int, ...] = ()


class Chain:
    """The operators of one component, each after the one that it reads; itself used like an operator.

    The component's inputs are the ports of the first operator. `edges` says where the rows of each operator go; without it they go from
    one to the next, and from the last into the default stream. After `process` of a chain with a Watermark, `sight` is what that batch
    showed of event time, or None. What comes out of a `consolidated` chain is ready for an upsert sink: of each key one row. One that
    `is_ticked` lets rows out by the clock.
    """

    consolidated = False

    watch: Callable[[int, pl.DataFrame], None] | None = None
    """Is shown each frame that an operator has made, with the operator's place."""

    def __init__(self, operators: list[Operator], edges: Sequence[Edges] | None = None) -> None:
        self.operators = operators
        self.edges = list(edges) if edges is not None else _straight(len(operators))
        self._pushed = [0] * len(operators)
        self.stateful = any(operator.stateful for operator in operators)
        self.is_ticked = any(type(operator).tick is not Operator.tick for operator in operators)
        self.is_timed = any(operator.is_timed for operator in operators)

    @property
    def sight(self) -> Sight | None:
        """What the chain's watermark operator saw in the last batch."""
        return next((operator.sight for operator in self.operators if operator.is_timed), None)

    def process(self, frame: pl.DataFrame, port: int = 0) -> Streams:
        """Push a batch of one input through all operators."""
        made: Streams = []
        self._push(self.operators[0].process(frame, port), 0, made)
        return made

    def advance_port(self, port: int, watermark_us: int) -> Streams:
        """Event time of one of the component's inputs has reached `watermark_us`."""
        return self._each(lambda operator: operator.advance_port(port, watermark_us), self.operators[:1])

    def advance(self, watermark_us: int) -> Streams:
        """Advance each operator in turn to this event time of all inputs; what one emits passes through those after it."""
        first, *others = self.operators
        made = self._each(lambda operator: operator.advance(watermark_us), [first])
        passed_us = self.output_time(watermark_us)
        return made + self._each(lambda operator: operator.advance(passed_us), others, begin=1)

    def output_time(self, watermark_us: int) -> int:
        """The event time that the output has reached when all inputs have reached this: it may be behind by as much as the first
        operator says, unless it is the beginning or the end."""
        bounded = BEGINNING_OF_TIME < watermark_us < END_OF_TIME
        return watermark_us - self.operators[0].delay_us if bounded else watermark_us

    def tick(self, now_ms: int) -> Streams:
        """As `advance`, for processing time."""
        return self._each(lambda operator: operator.tick(now_ms))

    def flush_on_pause(self) -> Streams:
        """As `advance`, when the topology pauses."""
        return self._each(lambda operator: operator.flush_on_pause())

    def finish(self) -> Streams:
        """As `advance`, at the end of input."""
        return self._each(lambda operator: operator.finish())

    @property
    def states(self) -> list[StateContext]:
        """The operators' state, in their order. A snapshot is taken after `flush_on_pause`, so it holds no rows that wait to be emitted."""
        return [operator.state for operator in self.operators if operator.state is not None]

    def on_restored(self) -> None:
        """Called after all `states` have been restored."""
        for operator in self.operators:
            operator.on_restored()

    def tell_apart(self, frame_id: int) -> int:
        """The id of what has been made since the last call, if it came of a frame of this id alone; of that and of what others answered
        when they were asked, another: computed again with other answers it is not what was handled before."""
        for operator in self.operators:
            if operator.answers:
                frame_id, operator.answers = mix(frame_id, operator.answers), 0
        return frame_id

    def take_refused(self) -> list[RefusedRow]:
        """The rows refused since the last call."""
        taken = [row for operator in self.operators for row in operator.refused]
        for operator in self.operators:
            operator.refused.clear()
        return taken

    def take_notes(self) -> list[str]:
        """What the rows have shown since the last call that is likely a mistake of the program."""
        taken = [note for operator in self.operators for note in operator.notes]
        for operator in self.operators if taken else ():
            operator.notes.clear()
        return taken

    def take_late(self) -> list[pl.DataFrame]:
        """The rows dropped as late since the last call, as they reached the operator that dropped them."""
        taken = [frame for operator in self.operators for frame in operator.late_frames]
        for operator in self.operators:
            operator.late_frames.clear()
        self._pushed = [0] * len(self.operators)
        return taken

    def leave_out(self, before_us: int, read_before: bool) -> None:
        """Drop what is older than that from now on: a run before has answered for it, or if it had not read it, it is late."""
        for operator in self.operators:
            operator.leave_out(before_us, read_before)

    @property
    def answered(self) -> int:
        """Rows so dropped."""
        return sum(operator.counters.answered for operator in self.operators)

    @property
    def late(self) -> int:
        """Rows dropped as late so far."""
        return sum(operator.counters.late for operator in self.operators)

    def count_into(self, counters: dict[str, int]) -> None:
        """Have the user's functions count there."""
        for operator in self.operators:
            operator.counters.own = counters

    def sample_into(self, take: TakesFrames | None) -> None:
        """Show each frame that an operator has made to `take`, with the operator's name; None for nobody."""
        names = self.operator_names
        self.watch = (lambda place, frame: take(names[place], frame)) if take else None

    def measure_states(self) -> dict[str, StateSize]:
        """How much each operator with state keeps, by its name."""
        return {name: state.measure() for name, state in self._named_states()}

    def summarize_states(self) -> list[StateSummary]:
        """What each operator keeps, in short."""
        return summarize_states(self._named_states())

    def _named_states(self) -> list[tuple[str, StateContext]]:
        operators = zip(self.operator_names, self.operators, strict=True)
        return [(name, operator.state) for name, operator in operators if operator.state is not None]

    @property
    def operator_names(self) -> list[str]:
        """What each operator is called where people look at it."""
        return [f"{place} {type(operator).__name__}" for place, operator in enumerate(self.operators, 1)]

    def trial(self) -> Chain:
        """The same chain up to its operators with state, to compute rows once more with; it has refused and counted nothing."""
        operators = [_Stop() if operator.stateful else _anew(operator) for operator in self.operators]
        return Chain(operators, self.edges)

    def _push(self, frame: pl.DataFrame | None, place: int, made: Streams) -> None:
        """Hand on what the operator at `place` has made."""
        readers, streams, late = self.edges[place]
        if late:
            self._push_late(place, late, made)
        if frame is None:
            return
        if self.watch is not None:
            self.watch(place, frame)
        for reader in readers:
            self._push(self.operators[reader].process(frame), reader, made)
        made.extend((stream, frame) for stream in streams)

    def _push_late(self, place: int, readers: tuple[int, ...], made: Streams) -> None:
        """Hand on what the operator at `place` has dropped since."""
        dropped = self.operators[place].late_frames
        fresh, self._pushed[place] = dropped[self._pushed[place] :], len(dropped)
        for reader in readers:
            for frame in fresh:
                self._push(self.operators[reader].process(frame), reader, made)

    def _each(
        self,
        let_out: Callable[[Operator], pl.DataFrame | None],
        operators: Sequence[Operator] | None = None,
        begin: int = 0,
    ) -> Streams:
        made: Streams = []
        for place, operator in enumerate(self.operators if operators is None else operators, begin):
            self._push(let_out(operator), place, made)
        return [(stream, frame) for stream, frame in made if frame.height]


class _Stop(Operator):
    """Stands where an operator with state would be."""

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        return None


def _straight(operators: int) -> list[Edges]:
    return [Edges((place,)) for place in range(1, operators)] + [Edges((), (DEFAULT_STREAM,))]


def merge_streams(parts: Iterable[Streams]) -> Streams:
    """What came of several batches as one frame for each stream, in the order in which the streams came."""
    frames: dict[str, list[pl.DataFrame]] = {}
    for stream, frame in (pair for part in parts for pair in part):
        frames.setdefault(stream, []).append(frame)
    return [(stream, pl.concat(each) if len(each) > 1 else each[0]) for stream, each in frames.items()]


def _anew(operator: Operator) -> Operator:
    made = copy(operator)
    made.refused, made.notes, made.counters = [], [], Counters()
    return made
