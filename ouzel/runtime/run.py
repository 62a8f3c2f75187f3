"""A running topology as the command line, the tests and the benches see it, whichever engine runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from ouzel.errors import TopologyError
from ouzel.runtime.protocol.messages import Event

if TYPE_CHECKING:
    import polars as pl


class RunState(Enum):
    """Where a run stands."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Status:
    """Totals since the start, over all tasks.

    `rows_in` counts rows that sources read; `rows_acked` and `rows_failed` those wholly handled and replayed; `watermark_us` is the lowest
    of the sinks' inputs, None before the first; latencies are complete ones (emit to ack) in milliseconds over the last seconds;
    `restarts` counts processes started again; `reason` is why the run failed; `ranges` says of each spout what it has read and what of that
    is wholly acked: component -> partition id -> (first offset, end); `times` how far event time has come at those ends, in microseconds,
    for partitions whose rows have one.
    """

    state: RunState
    rows_in: int = 0
    rows_acked: int = 0
    rows_failed: int = 0
    rows_out: int = 0
    rows_late: int = 0
    rows_bad: int = 0
    watermark_us: int | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    restarts: int = 0
    back_pressure: bool = False
    reason: str = ""
    events: tuple[Event, ...] = field(default=())
    ranges: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    times: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def not_at_rest(timeout_s: float) -> TopologyError:
    """What to raise when a pause takes too long."""
    return TopologyError(
        f"the topology did not come to rest within {timeout_s:g} s, and runs on; what is on its way waits for a slow or dead task or sink"
    )


class Handle(Protocol):
    """A run in progress."""

    def results(self) -> list[pl.DataFrame]:
        """Frames of the `result` sink that arrived since the last call, in order; with plan.WEIGHT if the query retracts."""

    def status(self) -> Status:
        """How it stands now."""

    def wait(self, timeout_s: float) -> bool:
        """Return as soon as there are results or the run has ended, at the latest after `timeout_s`; True once it has ended."""

    def look(self, timeout_s: float) -> Status:
        """How every task stands at some moment after this call; all that has reached the result by then is in `results`.

        So whatever that status has closed (`watermark_us`) is there, and a later look's `ranges` hold all rows that it came of.

        Raises:
            TopologyError: some task did not say within `timeout_s`.
        """

    def pause(self, timeout_s: float) -> Status:
        """Sources stop reading, what is on its way is handled, sinks flush; then the state is PAUSED. Windows stay open.

        A run that ends meanwhile just ends. Event time stands still in a pause, however silent a source is.

        Raises:
            TopologyError: it did not come to rest within `timeout_s`, and runs on.
        """

    def resume(self) -> None:
        """Read on; harmless when it is not paused."""

    def stop(self) -> Status:
        """Stop cleanly: sources stop, what is on its way is handled, sinks flush; the final status. Harmless when it has ended."""
