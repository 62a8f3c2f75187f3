"""What a task notes of batches that are traced: a span for each thing that it does for one.

Whoever holds a batch decides by a hash of its root whether it is traced (Dapper's sampling at the root; Sigelman et al., Google, 2010).
A frame of a traced batch says in which span it was made, and so all below know, and know the parent of their own span. The roots that name
the trace travel anyway. Frames of other batches carry nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ouzel.runtime.protocol.ids import mix, name_id
from ouzel.runtime.protocol.messages import Data, Root
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.protocol.trace_span import TraceSpan

READ, EMIT, COMPUTE, WRITE, AWAIT_ACKS = "read", "emit", "compute", "write", "await acks"

_DRAW = name_id("trace.sample")


class Tracer:
    """Makes the spans of one task.

    Args:
        task: its id.
        share: of the batches that it holds so many are traced, from 0 to 1.
        shell: knows the time.
    """

    def __init__(self, task: int, share: float, shell: Shell) -> None:
        self.is_on = share > 0
        self._task, self._shell = task, shell
        self._below = int(share * (1 << 64))

    def is_traced(self, sequence: int) -> bool:
        """Whether the batch that the task holds under this number is traced."""
        return mix(_DRAW, self._task, sequence) < self._below

    def at_us(self, now_ms: float) -> int:
        """The wall clock, in microseconds UTC, at a time of the task's clock."""
        return self._shell.wall_zero_us() + int(now_ms * 1000)

    def now_us(self, began_us: int) -> int:
        """The wall clock now, no earlier than that."""
        return max(began_us, self.at_us(self._shell.monotonic_ms()))

    def end_first(self, sequence: int, doing: str, now_ms: float, rows_in: int, rows_out: int) -> TraceSpan:
        """The first span of a trace: a batch that the task holds was made, in a call that began at `now_ms`."""
        began_us = self.at_us(now_ms)
        ended_us, first = self.now_us(began_us), self._first(sequence)
        return TraceSpan(self._task, sequence, doing, first, (), began_us, ended_us, 0, rows_in, rows_out)

    def end_wait(self, sequence: int, emitted_ms: float, now_ms: float, attempt: int) -> TraceSpan:
        """A batch that the task holds, and has emitted in a call that began then, is wholly acked now."""
        first = self._first(sequence)
        began_us, ended_us = self.at_us(emitted_ms), self.at_us(now_ms)
        return TraceSpan(self._task, sequence, AWAIT_ACKS, mix(first), (first,), began_us, ended_us, attempt)

    def begin(self, handled: Iterable[Data], now_ms: float) -> int:
        """When the task began to handle these, in microseconds UTC; 0 if none of them is traced."""
        return self.now_us(self.at_us(now_ms)) if any(message.spans for message in handled) else 0

    def end(self, handled: Sequence[Data], began_us: int, frame_id: int, rows_out: int) -> list[TraceSpan]:
        """What the task has done with these, whose ids make up `frame_id`: a span in each trace that any of them is part of."""
        ended_us, rows_in = self.now_us(began_us), sum(message.frame.height for message in handled)
        return [
            TraceSpan(
                root.task, root.sequence, COMPUTE, self.span_of(frame_id, root), parents, began_us, ended_us,
                root.attempt, rows_in, rows_out,
            )
            for root, parents in _find_parents(handled).items()
        ]  # fmt: skip

    def span_of(self, frame_id: int, root: Root) -> int:
        """The span in which the task handles what comes of a root, and is of that id."""
        return mix(self._task, frame_id, root.attempt)

    def spans_handling(self, handled: Iterable[Data], roots: Iterable[Root]) -> tuple[int, ...]:
        """The spans in which the task handled these, each alone, in the trace of each root; nothing if none is traced."""
        if not self.is_on:
            return ()
        known: dict[tuple[int, int], int] = {}
        for one in handled:
            for root, span in zip(one.roots, one.spans, strict=False):
                if span:
                    known.setdefault((root.task, root.sequence), self.span_of(one.id, root))
        spans = tuple(known.get((root.task, root.sequence), 0) for root in roots)
        return spans if any(spans) else ()

    def _first(self, sequence: int) -> int:
        return mix(self._task, sequence)


def _find_parents(handled: Iterable[Data]) -> dict[Root, tuple[int, ...]]:
    """The spans in which these frames were made, in each trace."""
    found: dict[tuple[int, int], tuple[Root, dict[int, None]]] = {}
    for message in handled:
        for root, span in zip(message.roots, message.spans, strict=False):
            if span:
                found.setdefault((root.task, root.sequence), (root, {}))[1][span] = None
    return {root: tuple(spans) for root, spans in found.values()}


def spans_under(roots: Iterable[Root], made_in: Iterable[TraceSpan]) -> tuple[int, ...]:
    """What frames under these roots say that were made in these spans."""
    known = {(span.root_task, span.sequence): span.id for span in made_in}
    return tuple(known.get((root.task, root.sequence), 0) for root in roots)


def spans_again(old: Data, message: Data) -> tuple[int, ...]:
    """What a frame says that comes again because `message` has: where it was made, or where that was if it was of no trace then."""
    known = {(root.task, root.sequence): span for root, span in zip(old.roots, old.spans, strict=False)}
    return tuple(
        span and (known.get((root.task, root.sequence)) or span)
        for root, span in zip(message.roots, message.spans, strict=False)
    )


def write_span(computed: TraceSpan, flushed_us: int) -> TraceSpan:
    """What was computed then was written by now."""
    own = mix(computed.id, name_id(WRITE))
    return TraceSpan(
        computed.root_task, computed.sequence, WRITE, own, (computed.id,), computed.ended_us,
        max(computed.ended_us, flushed_us), computed.attempt, computed.rows_out,
    )  # fmt: skip
