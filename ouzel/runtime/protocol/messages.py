"""What tasks say to each other, and what a task's state machine tells its shell to do.

A message has one destination task. Stream managers route by it and never look inside a payload.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from ouzel.runtime.protocol.trace_span import TraceSpan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

END_OF_TIME = (1 << 63) - 1
"""The watermark of an input that has finished."""

BEGINNING_OF_TIME = -(1 << 63)
"""The watermark of an input that has said nothing yet."""


UNKNOWN_FIELD = "unknown-field"
"""The kind of event that tells of a column that no record has: most likely its name is written otherwise there."""

RESUMED = "resumed"
"""The kind of event that tells where a source goes on from that keeps offsets between runs, if not simply where it was."""


ADVICE = "advice"
"""The kind of event that tells of what is likely a mistake of the program, though it runs; who follows the run hears at once."""


class Root(NamedTuple):
    """A tracked batch: who holds it, its number there (it grows, also over restarts of the task), and which try this is.

    `settled` tells receivers that all of that task's batches numbered lower are wholly acked.
    """

    task: int
    sequence: int
    attempt: int
    settled: int = 0


@dataclass(slots=True, eq=False)
class Data:
    """Rows on their way from one task to another.

    `id` is 64 bits and the same in every attempt, so that a stateful receiver knows a replay; `roots` are the tracked batches it came of,
    none at most once. `edges` says what stands for it in the tree of each root, if that is not its id (see anchors.edges). `stream`
    numbers the topology's outputs (see groupings.stream_numbers). `spans` says for each root in which span the frame was made, 0 if the
    root is not traced; it is empty if none is (see tracing).
    """

    stream: int
    source: int
    destination: int
    id: int
    roots: tuple[Root, ...]
    frame: pl.DataFrame
    edges: tuple[int, ...] = ()
    spans: tuple[int, ...] = ()

    @property
    def leaves(self) -> Iterable[tuple[Root, int]]:
        """Each root with what stands for this frame in its tree."""
        return zip(self.roots, self.edges or (self.id,) * len(self.roots), strict=True)


@dataclass(slots=True)
class Ack:
    """`xor` of the ids handled and made under one root (Storm's acker; Toshniwal et al., SIGMOD 2014, section 2.3.1)."""

    destination: int
    root: Root
    xor: int


@dataclass(slots=True)
class Fail:
    """Something under this root failed: its holder is to replay it; sequence 0 means everything that it holds (a task came up anew)."""

    destination: int
    root: Root


class TimeStatus(IntEnum):
    """Whether an input holds time back: ACTIVE does; IDLE does not, it is silent; FINISHED never will again.

    PAUSED holds it back too, and says that nothing more is on its way until the topology is resumed. FOLLOWING is silent as IDLE is, but
    its event time follows the wall clock: when no other holds time back, this one's time counts.
    """

    ACTIVE = 0
    IDLE = 1
    FINISHED = 2
    PAUSED = 3
    FOLLOWING = 4


@dataclass(slots=True)
class Watermark:
    """No row older than `time_us` is still to come from `source`; repeated now and then, since it may be lost.

    `pause` is the number of the pause that a PAUSED source is in.
    """

    source: int
    destination: int
    time_us: int
    status: TimeStatus
    pause: int = 0


@dataclass(slots=True)
class Stalled:
    """What the sink `source` writes to keeps it waiting, now: what waits for the sink is not lost. Repeated while it lasts."""

    source: int
    destination: int


Message = Data | Ack | Fail | Watermark | Stalled


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a source's event time does not go on: `partition`, and so many `others` like it, and the reason in words.

    Or why a task does not go on: then `partition` is the table that it asks.

    Wall clock, microseconds UTC: `since_us` it has been so, `until_us` time waits for it (then it is IDLE); 0 if there is no such time.
    """

    component: str
    partition: str
    others: int
    reason: str
    since_us: int = 0
    until_us: int = 0


@dataclass(slots=True)
class Send:
    """Instruction: give this message to the stream manager."""

    message: Message


@dataclass(slots=True, eq=False)
class Write:
    """Instruction: give these rows to the task's sink, after all that was to be written before; nobody waits for it."""

    batch_id: int
    frame: pl.DataFrame


@dataclass(slots=True)
class Flush:
    """Instruction: make all that was written before durable, then call the machine's `flushed` with this number; numbers grow."""

    number: int


class MarkEpoch(NamedTuple):
    """Order to a sink: all before this belongs to epochs up to this one, and nobody goes back behind `kept`; then call `then`."""

    epoch: int
    kept: int
    then: Callable[[], None]


class KeepUpTo(NamedTuple):
    """Order to a sink: epochs up to this one are kept, and may be published; 0: none is yet."""

    epoch: int


class Place(NamedTuple):
    """Where a successor of a task reads on in a partition, and the newest event time (us) of the rows before that.

    So many records were before that, as the task and those before it in this run count them: `read`, `acked` and `bad`.
    """

    offset: int
    newest_us: int
    read: int = 0
    acked: int = 0
    bad: int = 0


@dataclass(slots=True)
class Commit:
    """Instruction: keep these places, by partition id, for this task's successor; `TaskMachine.on_committed` says when they are."""

    places: dict[str, Place]
    number: int


@dataclass(slots=True)
class Event:
    """Instruction: something worth telling the user: kind is bad-record, late-rows, state-lost, rows-lost, replayed, note, and
    unknown-field, advice and resumed, of which whoever follows the run hears at once.

    Whoever adds up reports knows of which task it is, and how far event time had come in the sinks when that task was heard of before.
    The process that tells it notes when that is: `at_us`, wall clock, microseconds UTC; it is no part of what the event is.
    """

    kind: str
    text: str
    count: int = 1
    task: int | None = None
    since_us: int | None = None
    at_us: int | None = field(default=None, compare=False)


@dataclass(slots=True)
class Finished:
    """Instruction: this task has handled everything there will ever be."""


@dataclass(slots=True)
class Failed:
    """Instruction: the topology must stop; `reason` is one sentence."""

    reason: str


Instruction = Send | Write | Flush | Commit | Event | Finished | Failed | TraceSpan
