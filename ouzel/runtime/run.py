"""A running topology as the command line, the tests and the benches see it, whichever engine runs it."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from datetime import datetime, timedelta
from enum import Enum
from html import escape
from numbers import Real
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, cast

from ouzel.callers import check_binding, is_looped_over, unpacked_names
from ouzel.compiler.plan import AddsWindow
from ouzel.errors import OuzelError, TopologyError
from ouzel.planner.settings import Delivery, Settings, StateLoss
from ouzel.runtime.observe.advice import Advice
from ouzel.runtime.observe.counts import RunCounts
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME, Event, Waiting
from ouzel.spans import microseconds_of
from ouzel.uncalled import UserMethod

if TYPE_CHECKING:
    import polars as pl

    from ouzel.connectors.backlog import Backlog
    from ouzel.planner.topology import Topology

_EPOCH = datetime(1970, 1, 1)


class RunState(Enum):
    """Where a run stands."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, repr=False)
class Status(RunCounts):
    """Totals since the start, over all tasks; the counts are those of RunCounts.

    Attributes:
        state: what the run is doing.
        watermark_us: the lowest of the sinks' inputs, in microseconds; None before the first.
        p50_ms: half of the rows of the last seconds took less from emit to ack.
        p99_ms: 99 in 100 of them took less.
        restarts: how many processes were started again.
        back_pressure: sources are held back.
        reason: why the run failed.
        events: what has happened, in order.
        ranges: what each spout has read and what of that is wholly acked: component -> partition id -> (first offset, end).
        times: how far event time has come at those ends, in microseconds, for partitions whose rows have one.
        watermarks: how far each spout's event time is, in microseconds: -(1 << 63) before the first, (1 << 63) - 1 at the end.
        waiting: why it does not go on.
        began: up to when a run before had closed the windows of a spout that goes on from it, in microseconds.
        lag: how many records wait in the sources behind what was read, as far as these can tell.
        lag_bytes: of how many bytes together, as far as these can tell.
        lag_ms: for how long one of these has waited, at least.
        backlogs: where most of them wait: spout -> partitions, or servers of a queue, the largest first.
        counters: the user's own: component and name with a dot between them -> count.
    """

    state: RunState
    _: KW_ONLY
    watermark_us: int | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    restarts: int = 0
    back_pressure: bool = False
    reason: str = ""
    events: tuple[Event, ...] = field(default=())
    ranges: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    times: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    began: Mapping[str, int] = field(default_factory=dict)
    lag: int | None = None
    lag_bytes: int | None = None
    lag_ms: int | None = None
    backlogs: Mapping[str, Sequence[Backlog]] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        """As of any dataclass, but that a watermark is None before the first, and `end` behind the last."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["watermarks"] = {name: _shown_time(time_us) for name, time_us in self.watermarks.items()}
        return f"Status({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "a Status has counts and no rows, for run() drops those of a SELECT; write ouzel.table(query) for its answer, "
            "or for row in ouzel.start(query)"
        )


def _shown_time(time_us: int) -> int | str | None:
    return None if time_us <= BEGINNING_OF_TIME else "end" if time_us >= END_OF_TIME else time_us


STATE_LOST, ROWS_LOST = LOSSES = "state-lost", "rows-lost"
"""Kinds of events: a task that keeps state was started again, without it; what was on its way at most once is gone."""

ROLLED_BACK = "rolled-back"
"""The kind of event that tells that all tasks went back to an epoch, for one died that keeps state."""

ASYNC_WAIT_S = 0.5
"""How long a thread waits at once for those who iterate asynchronously."""

LOOK_S = 1.0
"""How long a loop over rows waits at once; in between it hears what the run has noticed."""

DROPPED = "dropped"
"""The kind of event that tells what an end at once has dropped."""


def make_dropped_event(status: Status, topology: Topology) -> Event:
    """What a run drops that ends at once, without coming to rest; `status` is the last that is known of it."""
    in_flight = f"{status.rows_in - status.rows_acked:,} of the {status.rows_in:,} rows in were on their way"
    if topology.settings.delivery is Delivery.AT_MOST_ONCE:
        in_flight = "what was on its way when the run ended"
    return Event(DROPPED, in_flight + _torn_windows(status, topology))


def describe_lost_state(status: Status, settings: Settings) -> str:
    """Why the answer may lack rows: a task died with what it kept in memory, and the settings do not accept that. Else an empty text."""
    if settings.state_lost is StateLoss.ACCEPT:
        return ""
    return next((event.text for event in status.events if event.kind == STATE_LOST), "")


def was_cut_short(status: Status) -> bool:
    """Whether the run ended without coming to rest."""
    return any(event.kind == DROPPED for event in status.events)


def _torn_windows(status: Status, topology: Topology) -> str:
    if not any(isinstance(node, AddsWindow) for part in topology.components for node in part.chain):
        return ""
    whole = (
        "" if status.watermark_us is None else f" that end after {_EPOCH + timedelta(microseconds=status.watermark_us)}"
    )
    return f"; windows{whole} may be written in part"


def make_rest_error(timeout_s: float) -> TopologyError:
    """What to raise when a pause takes too long."""
    return TopologyError(
        f"the topology did not come to rest within {timeout_s:g} s, and runs on; what is on its way waits for a slow or dead task or sink"
    )


_ROWS = "write for row in run, or results() for what has come; table() of the query or stream gives all rows"
_END = "call stop(), which brings the run to rest, or end(), which ends it at once"
_ELSEWHERE = {
    **dict.fromkeys(
        ("rows", "table", "collect", "fetch", "fetchall", "df", "to_pandas", "show", "items", "get"), _ROWS
    ),
    **dict.fromkeys(("cancel", "kill", "terminate", "close", "shutdown"), _END),
    **dict.fromkeys(
        ("join", "await_termination", "awaitTermination", "result"), "call wait(), which waits for its end"
    ),
}
"""What handles of other libraries have, and what to write here."""


def _check_handle_call(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a handle, which says how it is called where it is given arguments that it does not take."""
    called = method.__name__

    def refuse(error: TypeError, named: dict[str, Any]) -> OuzelError:
        taken = ", ".join(name for name in inspect.signature(method).parameters if name != "self")
        instead = _SAVEPOINT if "savepoint" in named else f"write {called}({'10' if taken else ''})"
        return OuzelError(f"{called} takes {taken or 'no arguments'}: {error}; {instead}")

    def look(given: dict[str, Any]) -> None:
        seconds = given.get("timeout_s")
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, Real)):
            span_us = microseconds_of(seconds)
            shown = 10 if span_us is None else f"{span_us / 1e6:g}"
            raise OuzelError(f"{called} takes seconds, a number, and {seconds!r:.60} is none; write {called}({shown})")

    return check_binding(method, refuse, look)


def _of_unpacked(names: Sequence[str], columns: Sequence[str]) -> str:
    """What is told of `for word, n in run`."""
    shown = ", ".join(f"row[{name!r}]" for name in columns)
    told = f"a row of a run is a dict, and {', '.join(names)} would be names of its columns; write for row in run, and {shown}"
    if len(names) == len(columns):
        told += f"; or for {', '.join(names)} in (row.values() for row in run)"
    return told


_SAVEPOINT = "a savepoint is of a topology that was submitted: run `ouzel stop NAME --savepoint DIR`"
_CALLED_BY_USERS = (
    "wait",
    "wait_for_results",
    "fresh_status",
    "pause",
    "resume",
    "drain",
    "stop",
    "end",
    "status",
    "results",
)


class RowIteration:
    """What a Handle is besides: a context, which stops the run at its end, and an iterator over the rows of its result.

    A row is a dict; that of a query that takes rows back has a `$weight` of +1 or -1.
    """

    def __init_subclass__(cls) -> None:
        for name in _CALLED_BY_USERS:
            if inspect.isfunction(method := vars(cls).get(name)):
                gives = _ROWS.removeprefix("write ") if name == "results" else ""
                setattr(cls, name, UserMethod(_check_handle_call(method), gives))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._as_handle.stop() if error is None or isinstance(error, GeneratorExit) else self._as_handle.end()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows as they come, until the run has ended. A time outside of the years 1 to 9999, which Python has none for, is text.

        Raises:
            TopologyError: it failed.
        """
        return self._iterate(is_looped_over())

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        """As `__iter__`, and other coroutines run while none come."""
        return self._iterate_awaited(is_looped_over())

    def _iterate(self, looped: bool) -> Iterator[dict[str, Any]]:
        names, advice = unpacked_names() if looped else (), Advice()
        ended = False
        while not ended:
            ended = self._as_handle.wait_for_results(LOOK_S)
            advice.tell(self._as_handle.status().events)
            yield from self._take_rows(names)
        self._check_ended()

    async def _iterate_awaited(self, looped: bool) -> AsyncIterator[dict[str, Any]]:
        import asyncio

        names, advice = unpacked_names() if looped else (), Advice()
        ended = False
        while not ended:
            ended = await asyncio.to_thread(self._as_handle.wait_for_results, ASYNC_WAIT_S)
            advice.tell(self._as_handle.status().events)
            for row in self._take_rows(names):
                yield row
        self._check_ended()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            shown = f"; {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise AttributeError(f"a run has no {name}{shown}")

        def __getitem__(self, place: object) -> object:
            raise TypeError(f"a run gives its rows as they come, and none by place; {_ROWS}")

        def __len__(self) -> int:
            raise TypeError(f"a run gives its rows as they come, and has no length; {_ROWS}")

        def __bool__(self) -> bool:
            return True

    def __repr__(self) -> str:
        status = self._as_handle.status()
        counts = f"{status.rows_in:,} rows in, {status.rows_acked:,} acked"
        return f"<run: {', '.join(filter(None, (status.state.value, counts, status.reason)))}>"

    def _repr_html_(self) -> str:
        """How the run stands, for a notebook."""
        return f"<pre>{escape(repr(self)[1:-1])}</pre>"

    def _take_rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """What has come.

        Raises:
            TypeError: a row is unpacked into these names, which would be those of its columns.
        """
        from ouzel.connectors.formats.far_times import python_rows

        for frame in self._as_handle.results():
            if names and frame.height:
                raise TypeError(_of_unpacked(names, frame.columns))
            yield from python_rows(frame)

    def _check_ended(self) -> None:
        status = self._as_handle.status()
        if status.state is RunState.FAILED:
            raise TopologyError(status.reason)

    @property
    def _as_handle(self) -> Handle:
        return cast(Handle, self)


class Handle(Protocol):
    """A run in progress; every one of them has Rows too."""

    def __enter__(self) -> Self:
        """See Rows."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See Rows."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """See Rows."""

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        """See Rows."""

    def results(self) -> list[pl.DataFrame]:
        """Frames of the `result` sink that arrived since the last call, in order; with plan.WEIGHT if the query retracts."""

    def status(self) -> Status:
        """How it stands now."""

    def wait(self, timeout_s: float | None = None) -> bool:
        """Return when the run has ended, at the latest after `timeout_s`; True once it has ended.

        Results that come meanwhile are kept for `results`, however many they are: who waits for the end holds nothing up.
        """

    def wait_for_results(self, timeout_s: float | None = None) -> bool:
        """Return as soon as there are results or the run has ended, at the latest after `timeout_s`; True once it has ended."""

    def fresh_status(self, timeout_s: float) -> Status:
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

    def drain(self) -> None:
        """Begin to stop cleanly: as a pause does, and then the run ends (see `wait`). Results go on to come, and are to be taken."""

    def stop(self) -> Status:
        """Stop cleanly, and wait for that; the final status. What is windowed is written in whole windows: those still open are not.

        Harmless when it has ended.
        """

    def end(self) -> Status:
        """End at once: what is on its way is dropped, and an event of the final status says what that was."""
