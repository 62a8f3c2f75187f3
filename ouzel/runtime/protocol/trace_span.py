"""What a task tells its shell of a batch that is traced."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TraceSpan:
    """Instruction: keep what was done for a traced batch.

    Attributes:
        root_task: which task holds the batch.
        sequence: the number of the batch there; with the task it names the trace.
        doing: read, emit (what no batch that came in gave rise to, as a window that closes), compute, write, or await acks.
        id: of the span, in the trace.
        parents: the spans in which that was made which this one took; none of the first span of a trace.
        began_us: wall clock, microseconds UTC.
        ended_us: the same, no earlier.
        attempt: how often the batch was sent again.
        rows_in: how many rows were taken, of all that was handled together, whatever batch they came of.
        rows_out: how many came of it.
    """

    root_task: int
    sequence: int
    doing: str
    id: int
    parents: tuple[int, ...]
    began_us: int
    ended_us: int
    attempt: int = 0
    rows_in: int = 0
    rows_out: int = 0
