"""The topology API: what an engineer writes by hand, and what SQL compiles to. Batches first, rows for convenience.

The nouns are Storm's and Heron's: a Spout brings batches in, a Bolt takes them and emits others, anchored to what they came from, and
acks or fails its input; a TopologyBuilder wires them with groupings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ouzel.callers import users_line
from ouzel.compiler.types import (
    Schema,
)
from ouzel.compiler.user_code import check_plain
from ouzel.errors import PlanError
from ouzel.planner.declarer import BoltDeclarer
from ouzel.planner.elsewhere import NoSpec, advise_of_builder
from ouzel.planner.epochs import check_epochs, with_own_interval
from ouzel.planner.methods import (
    advise_of_object,
    check_asked,
    check_call,
    check_component_call,
    check_number,
    check_takes,
    warn_of_late_emits,
    warn_of_no_acks,
    warn_of_no_end,
    warn_of_shared,
    warn_of_uncalled,
)
from ouzel.planner.metrics import UserMetrics
from ouzel.planner.own_state import KeepsState
from ouzel.planner.schemas import declared_outputs
from ouzel.planner.settings import Settings
from ouzel.planner.topology import DEFAULT_STREAM, Component, Output, Resources, Topology
from ouzel.planner.wiring import SetComponent, check_part, check_wiring

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Context:
    """What a task knows of itself: component, task id, index among the component's tasks, how many they are, and its counters."""

    component: str
    task: int
    index: int
    parallelism: int
    metrics: UserMetrics = field(default_factory=UserMetrics)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Batch:
    """Rows that arrived together from one task on one stream."""

    frame: pl.DataFrame
    component: str
    stream: str
    task: int

    def __len__(self) -> int:
        return self.frame.height

    if not TYPE_CHECKING:

        def __getitem__(self, place: object) -> object:
            """A loop over it comes here, too, and so do no columns of a frame."""
            raise TypeError(
                "a batch holds its rows as a Polars frame; write batch.frame[…] for its columns, "
                "and for row in batch.frame.iter_rows() for its rows"
            )


class Collector(Protocol):
    """Where a spout or bolt puts what it makes."""

    def emit(
        self,
        frame: pl.DataFrame,
        *,
        stream: str = DEFAULT_STREAM,
        anchors: Sequence[Batch] = (),
        message_id: object = None,
        task: int | None = None,
    ) -> None:
        """Emit a batch: a bolt anchors it to its inputs; a spout gives it a message id (any value), so that it is tracked.

        `task` is the index of the receiving task, for a stream that is read with the direct grouping.
        """

    def ack(self, batch: Batch) -> None:
        """The batch has been handled."""

    def fail(self, batch: Batch) -> None:
        """The batch could not be handled: its source replays it."""

    def progress(self) -> None:
        """To be called now and then in a call that takes long: without it a call counts as a hang after `hang.timeout.ms`, or three times
        that of CPU time if it computes."""

    def monotonic_ms(self) -> float:
        """Milliseconds on a clock that never goes back."""


class Spout(KeepsState):
    """Brings batches in. The runtime holds what was emitted with a message id until it is acked, and replays it otherwise."""

    if not TYPE_CHECKING:
        spec = NoSpec("set_spout('lines', {}(), ouzel.schema(line=str))")

    def open(self, context: Context) -> None:
        """Called once in the task, before anything else."""

    def next_batch(self, collector: Collector) -> bool | None:
        """Emit at most a few batches; True when there may be more now, None when there is nothing now, False when there never will be."""
        raise NotImplementedError

    def watermark(self) -> datetime | None:
        """The event time that no row emitted from now on is older than; None if rows have none. Asked for after each `next_batch`."""
        return None

    def ack(self, message_id: object) -> None:
        """Every batch that came of this message has been handled."""

    def fail(self, message_id: object) -> None:
        """Something that came of this message failed or timed out; the runtime replays it."""

    def activate(self) -> None:
        """The topology runs again after a pause."""

    def deactivate(self) -> None:
        """The topology pauses."""

    def close(self) -> None:
        """The task ends."""


class Bolt(KeepsState):
    """Handles batches. Override `execute`."""

    if not TYPE_CHECKING:
        spec = NoSpec("set_bolt('words', {}(), ouzel.schema(word=str)).shuffle_grouping('lines')")

    tick_ms = 100
    """How often `tick` is called, at most."""

    def open(self, context: Context) -> None:
        """Called once in the task, before anything else."""

    def execute(self, batch: Batch, collector: Collector) -> None:
        """Handle one batch: emit anchored to it, then ack or fail it."""
        raise NotImplementedError

    def tick(self, collector: Collector) -> None:
        """Called about every `tick_ms` between batches, whether or not there are any."""

    def advance(self, time: datetime, collector: Collector) -> None:
        """Event time has passed this, in UTC: of all inputs nothing older will come. What is emitted here is held until it is acked."""

    def finish(self, collector: Collector) -> None:
        """All inputs have ended and everything has been handled; what is emitted here goes out before the task ends."""

    def close(self) -> None:
        """The task ends."""


class BasicBolt(Bolt):
    """A bolt without bookkeeping: `process` returns frames, which are anchored and acked for it."""

    def process(self, frame: pl.DataFrame) -> Iterable[pl.DataFrame]:
        """The frames that come of this one."""
        raise NotImplementedError

    def execute(self, batch: Batch, collector: Collector) -> None:
        import polars as pl

        made = self.process(batch.frame)
        if not isinstance(made, Iterable) or isinstance(made, pl.DataFrame):
            raise TypeError(
                f"process returned a {type(made).__name__}; return a list of frames: [frame], or [] for nothing"
            )
        for out in made:
            collector.emit(out, anchors=(batch,))
        collector.ack(batch)


class Nothing(Enum):
    """What `RowSpout.next_row` gives instead of a row."""

    NOW = "nothing now"


class RowSpout(Spout):
    """A spout for convenience: `next_row` gives one row at a time; `rows` of them, or those of `flush_ms`, make a batch."""

    rows = 1_000
    flush_ms = 100
    fields: Sequence[str] = ()

    NOTHING_NOW: Final = Nothing.NOW

    def next_row(self) -> Sequence[Any] | Nothing | None:
        """The next row; `self.NOTHING_NOW` when there is none now, None when there never will be one again."""
        raise NotImplementedError

    def next_batch(self, collector: Collector) -> bool | None:
        if not isinstance(self.rows, int):
            raise TypeError(
                f"self.rows of a RowSpout says how many rows make a batch, and is {self.rows!r:.60}; call yours self.pending"
            )
        rows: list[Sequence[Any]] = []
        until = collector.monotonic_ms() + self.flush_ms
        row = self.next_row()
        while row is not None and not isinstance(row, Nothing):
            rows.append(row)
            if len(rows) >= self.rows or collector.monotonic_ms() >= until:
                break
            row = self.next_row()
        if rows:
            collector.emit(_make_frame(rows, self.fields, "next_row"), message_id=object())
        return None if isinstance(row, Nothing) else row is not None


class RowBolt(BasicBolt):
    """A bolt for convenience: `handle` maps one row to rows of the output's columns, in order."""

    fields: Sequence[str] = ()

    def handle(self, *row: Any) -> Iterable[Sequence[Any]]:
        """The rows that come of this one."""
        raise NotImplementedError

    __progress: Callable[[], None] = staticmethod(lambda: None)

    def execute(self, batch: Batch, collector: Collector) -> None:
        self.__progress = collector.progress
        super().execute(batch, collector)

    def _call_handle(self, row: tuple[Any, ...]) -> Iterable[Sequence[Any]]:
        self.__progress()
        made = self.handle(*row)
        if not isinstance(made, Iterable):
            raise TypeError(
                f"handle returned a {type(made).__name__}; return a list of rows: [(value,)], or [] for nothing"
            )
        if isinstance(made, tuple) and made and not any(isinstance(one, tuple | list) for one in made):
            raise TypeError(f"handle returned {made!r:.60}, one row and no list of rows; return [{made!r:.60}]")
        return made

    def process(self, frame: pl.DataFrame) -> Iterable[pl.DataFrame]:
        rows = [out for row in frame.iter_rows() for out in self._call_handle(row)]
        return [_make_frame(rows, self.fields, "handle")] if rows else []


def _make_frame(rows: Sequence[Any], fields: Sequence[str], verb: str) -> pl.DataFrame:
    """The frame of rows that a method of the user's gave."""
    import polars as pl

    twice = next((name for name in fields if list(fields).count(name) > 1), "")
    if twice and not isinstance(fields, str):
        raise TypeError(f"fields names {twice!r} twice; give each column a name of its own")
    advice = "return rows as tuples: [(value,)]" if verb == "handle" else "return a row as a tuple: (value,)"
    kinds = (tuple, list) if verb == "handle" else (tuple, list, dict)
    plain = next((row for row in rows if not isinstance(row, kinds)), None)
    if plain is not None:
        shown = f"{plain!r:.60}" if not isinstance(plain, pl.DataFrame | pl.Series) else f"a {type(plain).__name__}"
        raise TypeError(f"{verb} gave {shown}, which is no row; {advice}")
    other = next(
        (row for row in rows if isinstance(row, dict) and row.keys() - set(fields) and set(fields) - row.keys()), None
    )
    if other is not None and fields:
        raise TypeError(
            f"{verb} gave a dict with {', '.join(map(str, other))}, and the fields are {', '.join(fields)}; write these as its keys"
        )
    if isinstance(fields, str):
        raise TypeError(f"fields is the text {fields!r}; write fields = ({fields!r},) in the class")
    if not fields:
        raise TypeError(f"{verb} gave {rows[0]!r:.60}, and the class names no fields; write fields = ('name', …) in it")
    other = next((row for row in rows if not isinstance(row, dict) and len(row) != len(fields)), None)
    if other is not None:
        raise TypeError(
            f"{verb} gave a row of {len(other)} values, and there are {len(fields)} fields, {', '.join(fields)}: {other!r:.60}"
        )
    return pl.DataFrame(rows, schema=list(fields), orient="row")


class TopologyBuilder:
    """Wires spouts and bolts into a Topology."""

    def __init__(self, name: str, settings: Settings | None = None) -> None:
        if settings is not None and not isinstance(settings, Settings):
            raise PlanError(
                f"the settings of a topology are no {type(settings).__name__}; "
                f"write ouzel.TopologyBuilder({name!r}, ouzel.Settings(parallelism=2))"
            )
        self.name, self.settings = name, with_own_interval(settings or Settings())
        self._parts: list[_Part] = []

    def __repr__(self) -> str:
        parts = ", ".join(part.name for part in self._parts)
        return f"<topology builder {self.name}: {parts or 'nothing yet'}; build() gives the topology>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise AttributeError(advise_of_builder(name, dir(type(self))))

    @check_component_call
    def set_spout(
        self,
        name: str,
        spout: Spout,
        outputs: Schema | dict[str, Schema],
        parallelism: int = 1,
        resources: Resources = Resources(),
    ) -> None:
        """Add a spout; `outputs` is the schema of its default stream, or one for each stream.

        Raises:
            QueryError: one of its methods is an `async def`.
            PlanError: it lacks the method that its base asks for, one takes other arguments, or `outputs` is no schema.
        """
        check_part(name, parallelism, resources, "set_spout")
        _check_kind(name, spout, Spout)
        _check_methods(name, spout)
        self._parts.append(
            _Part(
                name, spout, parallelism, declared_outputs(name, outputs), BoltDeclarer(name), resources, users_line()
            )
        )

    @check_component_call
    def set_bolt(
        self,
        name: str,
        bolt: Bolt,
        outputs: Schema | dict[str, Schema] | None = None,
        parallelism: int = 1,
        resources: Resources = Resources(),
    ) -> BoltDeclarer:
        """Add a bolt; say what it reads on the declarer that comes back.

        Raises:
            QueryError: one of its methods is an `async def`.
            PlanError: it lacks the method that its base asks for, one takes other arguments, or `outputs` is no schema.
        """
        check_part(name, parallelism, resources, "set_bolt")
        _check_kind(name, bolt, Bolt)
        _check_methods(name, bolt)
        declarer = BoltDeclarer(name)
        self._parts.append(
            _Part(name, bolt, parallelism, declared_outputs(name, outputs or {}), declarer, resources, users_line())
        )
        return declarer

    def build(self) -> Topology:
        """The topology.

        Raises:
            PlanError: two components share a name, one reads what is not there or what comes of itself, or there is no spout.
        """
        found = [part.as_set() for part in self._parts]
        check_wiring(found)
        components = tuple(one.component for one in found)
        check_epochs(components, self.settings)
        written = {(one.name, output.stream): output.schema.names for one in components for output in one.outputs}
        for one in components:
            if isinstance(one.user, RowBolt) and type(one.user).process is RowBolt.process:
                for link in one.inputs:
                    check_call(one.name, one.user.handle, "handle", written[link.component, link.stream])
        return Topology(self.name, components, self.settings)


class _Part(NamedTuple):
    """What a builder was given for one component, and the user's line that gave it."""

    name: str
    user: Spout | Bolt
    parallelism: int
    outputs: tuple[Output, ...]
    declarer: BoltDeclarer
    resources: Resources
    place: str

    def as_set(self) -> SetComponent:
        """The component as it is now."""
        inputs = tuple(self.declarer.inputs)
        made = Component(self.name, self.parallelism, inputs, self.outputs, user=self.user, resources=self.resources)
        return SetComponent(made, self.place, tuple(self.declarer.places), isinstance(self.user, Bolt))


def _check_kind(name: str, user: object, kind: type[Spout] | type[Bolt]) -> None:
    """See that a component is a spout where one is set, and a bolt where one is.

    Raises:
        PlanError: it is something else.
    """
    if isinstance(user, kind):
        return
    if isinstance(user, Spout | Bolt):
        is_, takes, verb = ("Bolt", "Spout", "set_bolt") if kind is Spout else ("Spout", "Bolt", "set_spout")
        raise PlanError(
            f"'{name}' is a {is_}, and set_{takes.lower()} takes a {takes}; write {verb}({name!r}, {type(user).__name__}(), …)"
        )
    raise PlanError(f"'{name}' is no {kind.__name__} but {user!r:.200}; {advise_of_object(user, kind.__name__)}")


ASKED: tuple[tuple[type, str, str], ...] = (
    (RowSpout, "next_row", "next_batch"), (Spout, "next_batch", "next_batch"), (RowBolt, "handle", "execute"),
    (BasicBolt, "process", "execute"), (Bolt, "execute", "execute"),
)  # fmt: skip
"""Which method each base asks for, and which one calls it: whoever has that has no need of the first. The nearest base counts."""


def _check_methods(component: str, user: Spout | Bolt) -> None:
    """See that what is called of it is there, takes what it is given, and is no `async def`, which would do nothing, nor its snapshot or
    restore a generator."""
    for base in (KeepsState, Spout, RowSpout, BasicBolt, RowBolt, Bolt):
        if isinstance(user, base):
            for name in vars(base):
                method = inspect.getattr_static(user, name)
                if inspect.isfunction(method):
                    check_plain(method, f"{name} of '{component}'", may_yield=name in ("process", "handle"))
            check_takes(component, user, base)
    for nearest, asked, called in ASKED:
        if isinstance(user, nearest):
            if inspect.getattr_static(user, called) is inspect.getattr_static(nearest, called):
                check_asked(component, user, nearest, asked)
            break
    warn_of_uncalled(component, user)
    if isinstance(user, Bolt | Spout):
        warn_of_shared(component, user)
    if isinstance(user, RowSpout):
        check_number(component, user, "flush_ms", user.flush_ms)
    if isinstance(user, Bolt):
        check_number(component, user, "tick_ms", user.tick_ms)
        warn_of_no_acks(component, user)
        warn_of_late_emits(component, user)
    if isinstance(user, Spout):
        warn_of_no_end(component, user)
