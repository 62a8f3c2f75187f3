"""What is told of groupings, spouts, settings and copies that are wrong, and of a stream's time and values that are missing."""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import ouzel
from ouzel import Source
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import PlanError, QueryError, TopologyError
from tests.servers.waiting import wait_until

N = ouzel.schema(n=int)


class Numbers(ouzel.RowSpout):
    """Two rows of one column."""

    fields = ("n",)

    def open(self, context: ouzel.Context) -> None:
        self.pending = iter([(1,), (2,)])

    def next_row(self) -> Any:
        return next(self.pending, None)


class Same(ouzel.BasicBolt):
    """Right."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame]


def answer(bolt: Any) -> pl.DataFrame:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", Numbers(), N)
    builder.set_bolt("b", bolt, N).shuffle_grouping("numbers")
    return ouzel.table(builder.build(), "memory", of="b")


GROUPED: dict[str, tuple[Any, str]] = {
    "an expression": (ouzel.col("n"), "not the expression n; write fields_grouping('numbers', 'n')"),
    "an expression of Polars": (pl.col("n"), "; write fields_grouping('numbers', 'column')"),
    "a list": (["n", "m"], "not the list ['n', 'm']; write fields_grouping('numbers', 'n', 'm')"),
    "a place": (0, "not the int 0; write fields_grouping('numbers', 'column')"),
}
"""What is given instead of a column's name, and the end of what is told."""


@pytest.mark.parametrize("name", GROUPED)
def test_columns_of_a_grouping_are_given_by_their_names(name: str) -> None:
    given, told = GROUPED[name]
    bolt = ouzel.TopologyBuilder("t").set_bolt("b", Same(), N)
    with pytest.raises(PlanError, match="^fields_grouping takes names of columns, .*" + re.escape(told) + "$"):
        bolt.fields_grouping("numbers", given)
    with pytest.raises(PlanError, match=r"^partial_key_grouping takes names of columns"):
        bolt.partial_key_grouping("numbers", given)


class NeverEnds(ouzel.Spout):
    """Has no `return`."""

    def next_batch(self, collector: ouzel.Collector) -> bool | None:  # type: ignore[return]
        collector.emit(pl.DataFrame({"n": [1]}), message_id=1)


class Fails(ouzel.Spout):
    """Ends by an error."""

    def next_batch(self, collector: ouzel.Collector) -> bool | None:
        raise ValueError


class PassesOn(ouzel.Spout):
    """Returns what another says."""

    def next_batch(self, collector: ouzel.Collector) -> bool | None:
        return Numbers().next_batch(collector)


def test_a_spout_that_never_returns_anything_is_warned_of() -> None:
    builder = ouzel.TopologyBuilder("t")
    with pytest.warns(QueryWarning) as caught:
        builder.set_spout("lines", NeverEnds(), N)
    told = (
        "next_batch of 'lines' never returns anything, so its run does not end; "
        "return True while there may be more, and False at the end"
    )
    assert [(str(one.message), one.filename) for one in caught] == [(told, __file__)]


@pytest.mark.parametrize("spout", [Fails(), PassesOn(), Numbers()], ids=lambda spout: type(spout).__name__)
def test_a_spout_that_may_end_is_not_warned_of(spout: ouzel.Spout, recwarn: pytest.WarningsRecorder) -> None:
    ouzel.TopologyBuilder("t").set_spout("lines", spout, N)
    assert not list(recwarn)


class Holding(Same):
    """Holds what no task can have a copy of."""

    def __init__(self) -> None:
        self.limit = 5
        self.lock = threading.Lock()


def test_what_cannot_be_copied_is_named_without_a_traceback_of_the_copy() -> None:
    with pytest.raises(TopologyError) as caught:
        answer(Holding())
    told = (
        "'b' cannot be copied to its tasks: its attribute 'lock' is a lock, which cannot be copied; make it in open()"
    )
    assert str(caught.value) == told
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("max_spout_pending", "write max_pending_rows"),
        ("message_timeout_secs", "write ack_timeout_ms"),
        ("num_workers", "write containers"),
        ("paralelism", "did you mean 'parallelism'?"),
    ],
)
def test_a_setting_of_storm_says_what_it_is_called_here(name: str, told: str) -> None:
    with pytest.raises(QueryError, match=re.escape(f"there is no setting '{name}'; {told}")):
        ouzel.Settings(**{name: 1})
    with pytest.raises(QueryError, match=re.escape(f"there is no setting '{name}'; {told}")):
        Source.of([1]).job(**{name: 1})


class Dated(NamedTuple):
    ts: datetime
    city: str


def test_event_time_of_records_that_have_lost_it_says_where_to_call_it() -> None:
    pairs = Source.of([Dated(datetime(2026, 1, 1), "Bern")]).map(lambda one: (one.city, 1))
    told = "tuple[str, int] has no 'ts'; call event_time('ts', …) before this map, where Dated has 'ts'"
    with pytest.raises(QueryError, match=re.escape(told)):
        pairs.event_time("ts")


class Flown(NamedTuple):
    carrier: str
    late: float | None


def test_fields_that_are_none_are_named_where_a_function_computes_with_them() -> None:
    late = Source.of([Flown("UA", 1.0), Flown("B6", None)]).map(lambda one: one.late + 1, returns=float)  # type: ignore[operator]
    with pytest.raises(
        TopologyError, match=r"one\.late is None in this record: empty, NULL, or without a match; write filter"
    ):
        late.table("memory")


class Ticking(ouzel.BasicBolt):
    """A span of time for a number."""

    tick_ms: Any = "1s"

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame]


class Yielding(ouzel.Spout):
    """A generator for what emits."""

    def next_batch(self, collector: Any) -> Any:
        yield pl.DataFrame({"n": [1]})


class Needy(ouzel.RowBolt):
    """Asks for something when it is made."""

    def __init__(self, path: str) -> None:
        self.path = path

    def handle(self, *row: Any) -> Any:
        return [row]


def _built(bolt: Any, **given: Any) -> ouzel.TopologyBuilder:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", Numbers(), N)
    builder.set_bolt("b", bolt, N, **given)
    return builder


WIRED: dict[str, tuple[Callable[[], object], str]] = {
    "a grouping by nothing": (
        lambda: ouzel.TopologyBuilder("t").set_bolt("b", Same(), N).fields_grouping("numbers"),
        "fields_grouping of 'numbers' names no column, so that nothing says which task gets a row; "
        "write fields_grouping('numbers', 'column'), or shuffle_grouping('numbers')",
    ),
    "a dict of settings": (
        lambda: ouzel.TopologyBuilder("t", {"topology.workers": 2}),  # type: ignore[arg-type]
        "the settings of a topology are no dict; write ouzel.TopologyBuilder('t', ouzel.Settings(parallelism=2))",
    ),
    "names of columns": (
        lambda: ouzel.schema("word", "line"),
        "a schema has types by the names of columns, not 'word'; write ouzel.schema(word=str, line=str)",
    ),
    "a span between ticks": (
        lambda: _built(Ticking()),
        "tick_ms of 'b' is '1s', and no number; write tick_ms = 1000 in Ticking",
    ),
    "a class": (
        lambda: _built(Needy).build(),
        f"'b' is no Bolt but {Needy!r}; pass an object of the class: Needy(…)",
    ),
    "a function": (
        lambda: _built(len).build(),
        "'b' is no Bolt but <built-in function len>; write a class of ouzel.RowBolt, whose handle is called with each row",
    ),
    "an argument of streamparse": (
        lambda: _built(Same(), par=2),
        "set_bolt of a topology builder: got an unexpected keyword argument 'par'; "
        "write set_bolt(name, bolt, ouzel.schema(word=str), parallelism=2)",
    ),
    "a spec of a spout": (
        lambda: Numbers.spec(),
        "Numbers has no spec(): a builder wires it; write builder = ouzel.TopologyBuilder('name'), and "
        "builder.set_spout('lines', Numbers(), ouzel.schema(line=str))",
    ),
    "a spec of a bolt": (
        lambda: Same.spec(inputs=[Numbers]),
        "Same has no spec(): a builder wires it; write builder = ouzel.TopologyBuilder('name'), and "
        "builder.set_bolt('words', Same(), ouzel.schema(word=str)).shuffle_grouping('lines')",
    ),
    "a spout that yields": (
        lambda: ouzel.TopologyBuilder("t").set_spout("s", Yielding(), N),
        "next_batch of 's' has a `yield`, so that its call computes nothing and counts as true; give a value by `return`",
    ),
}
"""What is wrong before anything runs, and the whole of what is told."""


@pytest.mark.parametrize("name", WIRED)
def test_what_is_wired_wrongly_is_told_what_to_write(name: str) -> None:
    wrong, told = WIRED[name]
    with pytest.raises((PlanError, QueryError, AttributeError)) as caught:
        wrong()
    assert str(caught.value) == told


class Gives(ouzel.Spout):
    """Returns its batch."""

    def next_batch(self, collector: Any) -> Any:
        return pl.DataFrame({"n": [1]})


def test_a_spout_that_returns_its_rows_is_told_to_emit_them() -> None:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("s", Gives(), N)
    with pytest.raises(
        TopologyError, match=r"next_batch returned a DataFrame; write collector\.emit\(frame, message_id=1\)"
    ):
        ouzel.table(builder.build(), "memory", of="s")


class Numpy(ouzel.Spout):
    """Ends with a False of NumPy, which is not False itself."""

    def next_batch(self, collector: Any) -> Any:
        collector.emit(pl.DataFrame({"n": [1]}), message_id=1)
        return np.bool_(False)


def test_a_spout_may_end_with_a_false_of_numpy() -> None:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("s", Numpy(), N)
    assert ouzel.table(builder.build(), "memory", of="s").rows() == [(1,)]


class Emitting(ouzel.Bolt):
    """Emits what a function makes of a batch."""

    def __init__(self, execute: Callable[[Any, Any], object]) -> None:
        self.does = execute

    def execute(self, batch: Any, collector: Any) -> None:
        self.does(batch, collector)
        collector.ack(batch)


def _emit_late(batch: Any, collector: Any) -> None:
    collector.ack(batch)
    collector.emit(batch.frame, anchors=(batch,))


EMITTED: dict[str, tuple[Callable[[Any, Any], object], str]] = {
    "another name": (
        lambda batch, collector: collector.emit(batch.frame.rename({"n": "m"})),
        r"'b' \(task 2\) emits columns m, and declares n \(in <lambda>, .*test_told_topologies.py:\d+\); "
        r"write frame.rename\({'m': 'n'}\)",
    ),
    "a column more": (
        lambda batch, collector: collector.emit(batch.frame.with_columns(m=1)),
        r"emits columns n, m, and declares n \(in .*\); write frame.select\('n'\), or declare m in ouzel.schema\(…\), too",
    ),
    "no column": (
        lambda batch, collector: collector.emit(pl.DataFrame()),
        r"emits columns none, and declares n \(in .*\); add n to the frame, or declare ouzel.schema\(…\) without",
    ),
    "another stream": (
        lambda batch, collector: collector.emit(batch.frame, stream="errors"),
        r"emits the stream 'errors', which it does not declare: it declares 'default' \(in .*\); "
        r"write set_bolt\(name, bolt, {'default': ouzel.schema\(…\), 'errors': ouzel.schema\(…\)}\), or leave stream= out",
    ),
    "after the ack": (
        _emit_late,
        r"it is anchored to a batch that was acked before, so that nothing replays it; emit first, then ack \(in _emit_late, ",
    ),
    "by itself": (
        lambda batch, collector: collector.collector.emit(batch.frame),
        r"a collector has emit, ack, fail, progress and monotonic_ms",
    ),
}


@pytest.mark.parametrize("name", EMITTED)
def test_what_is_emitted_wrongly_is_told_with_its_line(name: str) -> None:
    wrong, told = EMITTED[name]
    with pytest.raises(TopologyError, match=told):
        answer(Emitting(wrong))


class WithTicks(Same):
    """Streamparse calls this."""

    def process_tick(self, tup: Any) -> None: ...


class SettingUp(Same):
    """Calls its own method."""

    def open(self, context: ouzel.Context) -> None:
        self.setup()

    def setup(self) -> None: ...


def test_a_method_that_only_others_call_is_warned_of() -> None:
    with pytest.warns(
        QueryWarning, match=r"nothing calls process_tick of 'b'; write def tick\(self, collector\)"
    ) as caught:
        _built(WithTicks())
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_a_method_that_a_bolt_calls_itself_is_right() -> None:
    _built(SettingUp())


class Closing(Same):
    """Emits when it is too late."""

    def close(self) -> None:
        self.collector.emit(pl.DataFrame({"n": [1]}))  # type: ignore[attr-defined]


def test_a_bolt_that_emits_when_it_is_closed_is_warned_of() -> None:
    with pytest.warns(QueryWarning, match=r"close of 'b' emits .* write def finish\(self, collector\), and emit there"):
        _built(Closing())


def _is_awaited() -> bool:
    """Whether the program waits for results: before that Ctrl-C ends it as it is being started."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_code.co_name != "wait_for_results":
        frame = frame.f_back
    return frame is not None


class Interrupting(ouzel.Bolt):
    """Presses Ctrl-C, and acks nothing; `held` keeps the batches, so that nothing replays them."""

    def open(self, context: ouzel.Context) -> None:
        self.held: list[Any] = []

    def execute(self, batch: Any, collector: Any) -> None:
        self.held.append(batch)
        if len(self.held) == 1:  # a second one would interrupt what the first is answered with
            wait_until(_is_awaited)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        if len(self.held) > 1_000:
            collector.ack(self.held.pop())


def test_a_run_that_is_interrupted_ends_with_a_word() -> None:
    with pytest.raises(KeyboardInterrupt, match=r"^the run was ended by Ctrl-C, with "):
        answer(Interrupting())
