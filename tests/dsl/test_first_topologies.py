"""Spouts and bolts that are wrong as those of a first week are, and what a stream's source or an earlier step did wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import ouzel
from ouzel import Source
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import OuzelError, PlanError, QueryError, TopologyError

N = ouzel.schema(n=int)


class Numbers(ouzel.RowSpout):
    """Two rows of one column."""

    fields = ("n",)
    given: tuple[Any, ...] = ((1,), (2,))

    def open(self, context: ouzel.Context) -> None:
        self.pending = iter(self.given)

    def next_row(self) -> Any:
        return next(self.pending, None)


def answer(bolt: Any, spout: Any = None) -> pl.DataFrame:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", Numbers() if spout is None else spout, N)
    builder.set_bolt("b", bolt, N).shuffle_grouping("numbers")
    return ouzel.table(builder.build(), "memory", of="b")


class Same(ouzel.BasicBolt):
    """Right."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame]


class NextTuple(ouzel.Spout):
    """Storm's name."""

    def next_tuple(self) -> None: ...


class ProcessOfBolt(ouzel.Bolt):
    """What BasicBolt calls."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame]


class ProcessOfRows(ouzel.RowBolt):
    """streamparse's name."""

    fields = ("n",)

    def process(self, tup: Any) -> Any:
        return [tup.values]


class Nothing(ouzel.Bolt):
    """Has no method at all."""


class NoCollector(ouzel.Bolt):
    """Lacks an argument."""

    def execute(self, batch: Any) -> Any:  # type: ignore[override]
        return [batch.frame]


class WholeRow(ouzel.RowBolt):
    """Takes the row as one argument, of a stream of two columns."""

    fields = ("n",)

    def handle(self, row: Any) -> Any:
        return [row]


class NeverAcks(ouzel.Bolt):
    """Counts, and leaves its input unhandled."""

    n = 0

    def execute(self, batch: ouzel.Batch, collector: Any) -> None:
        self.n += len(batch)
        collector.emit(batch.frame, anchors=(batch,))

    def finish(self, collector: Any) -> None:
        collector.emit(pl.DataFrame({"n": [self.n]}))


ASKED: dict[str, tuple[Callable[[], Any], str]] = {
    "next_tuple": (
        lambda: answer(Same(), NextTuple()),
        "'numbers' is a Spout and has no method next_batch; write def next_batch(self, collector) in NextTuple instead of next_tuple",
    ),
    "process of a Bolt": (
        lambda: answer(ProcessOfBolt()),
        "'b' is a Bolt and has no method execute; write def execute(self, batch, collector) in ProcessOfBolt instead of process, or "
        "derive it from ouzel.BasicBolt, which calls process",
    ),
    "process of a RowBolt": (
        lambda: answer(ProcessOfRows()),
        "'b' is a RowBolt and has no method handle; write def handle(self, *row) in ProcessOfRows instead of process, or derive it from "
        "ouzel.BasicBolt, which calls process",
    ),
    "nothing": (
        lambda: answer(Nothing()),
        "'b' is a Bolt and has no method execute; write def execute(self, batch, collector) in Nothing",
    ),
    "without collector": (
        lambda: answer(NoCollector()),
        "execute of 'b' takes (batch), and is called with (batch, collector); write def execute(self, batch, collector)",
    ),
    "outputs as names": (
        lambda: ouzel.TopologyBuilder("t").set_spout("numbers", Numbers(), ["n"]),  # type: ignore[arg-type]
        "the outputs of 'numbers' are ['n'], and no schema; write ouzel.schema(n=str)",
    ),
    "outputs as types": (
        lambda: ouzel.TopologyBuilder("t").set_spout("numbers", Numbers(), {"n": int}),  # type: ignore[dict-item]
        "the outputs of 'numbers' are {'n': <class 'int'>}, and no schema; write ouzel.schema(n=int)",
    ),
}


class Rows(ouzel.RowBolt):
    """Emits as bolts of streamparse do."""

    fields = ("n",)

    def handle(self, *row: Any) -> Any:
        self.emit(list(row))  # type: ignore[attr-defined]


class Selecting(ouzel.Bolt):
    """Takes a batch for a frame."""

    def execute(self, batch: Any, collector: Any) -> None:
        collector.emit(batch.select("n"), anchors=(batch,))
        collector.ack(batch)


class Looping(ouzel.Bolt):
    """Takes a batch for rows."""

    def execute(self, batch: Any, collector: Any) -> None:
        for _ in batch:
            collector.ack(batch)


class Tuples(ouzel.Bolt):
    """Takes a batch for a tuple of Storm."""

    def execute(self, batch: Any, collector: Any) -> None:
        collector.ack(batch.getValue(0))


class Anchoring(ouzel.Bolt):
    """Anchors as Storm does."""

    def execute(self, batch: Any, collector: Any) -> None:
        collector.emit(batch, batch.frame)
        collector.ack(batch)


class Directly(ouzel.Bolt):
    """Calls what the collector of Storm has."""

    def execute(self, batch: Any, collector: Any) -> None:
        collector.emit_direct(batch.frame)
        collector.ack(batch)


class Acking(ouzel.BasicBolt):
    """Acks by itself."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        self.ack(frame)  # type: ignore[attr-defined]
        return [frame]


class Pandas(ouzel.BasicBolt):
    """Takes the frame for one of pandas."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame.groupby("n").sum()]  # type: ignore[attr-defined]


class Prepared(ouzel.BasicBolt):
    """Is prepared by nobody."""

    def prepare(self, conf: Any, context: Any) -> None:
        self.times = 2

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame] * self.times


WRITTEN_ELSEWHERE = {
    Rows: "AttributeError: 'Rows' object has no attribute 'emit' (in handle, PLACE); return the rows from handle: return [(value,)]",
    Selecting: "AttributeError: 'Batch' object has no attribute 'select' (in execute, PLACE); write batch.frame.select: a batch holds its "
    "rows as a Polars frame",
    Looping: "TypeError: a batch holds its rows as a Polars frame; write batch.frame[…] for its columns, and for row in "
    "batch.frame.iter_rows() for its rows (in execute, PLACE)",
    Tuples: "AttributeError: 'Batch' object has no attribute 'getValue' (in execute, PLACE); write for row in batch.frame.iter_rows(), or "
    "derive the bolt from ouzel.RowBolt, whose handle is called with each row",
    Anchoring: "TypeError: collector.emit() takes 2 positional arguments but 3 were given (in execute, PLACE); write "
    "collector.emit(frame, anchors=(batch,)): a frame, and all else by its name",
    Directly: "AttributeError: 'Collector' object has no attribute 'emit_direct' (in execute, PLACE); a collector has emit, ack, fail, "
    "progress and monotonic_ms",
    Acking: "AttributeError: 'Acking' object has no attribute 'ack' (in process, PLACE); leave it out: what process or handle has returned "
    "is acked",
    Pandas: "AttributeError: 'DataFrame' object has no attribute 'groupby' (in process, PLACE); write group_by(…).agg(…)",
    Prepared: "AttributeError: 'Prepared' object has no attribute 'times' (in process, PLACE); nothing calls prepare here: write def "
    "open(self, context) in Prepared",
}  # fmt: skip


@pytest.mark.parametrize("bolt", WRITTEN_ELSEWHERE, ids=lambda bolt: bolt.__name__)
def test_a_bolt_that_is_written_as_elsewhere_is_told_what_to_write(
    bolt: type[ouzel.Bolt], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TopologyError) as caught:
        answer(bolt())
    told = re.sub(r"/[^ :]*/test_first_topologies.py:\d+", "PLACE", str(caught.value))
    assert told == f"'b' (task 2) failed: {WRITTEN_ELSEWHERE[bolt]}"
    assert "/ouzel/runtime/" not in capfd.readouterr().err, "the traceback begins with a call of ours"


def test_the_traceback_of_a_bolt_begins_with_its_own_call(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TopologyError):
        answer(Selecting())
    assert re.search(r"Traceback [^\n]*\n  File [^\n]*test_first_topologies.py", capfd.readouterr().err)


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda one: one.setBolt, "a topology builder has no setBolt; did you mean set_bolt?"),
        (lambda one: one.create_topology(), "a topology builder has no create_topology; write build()"),
        (lambda one: one.set_bolt("b", Same(), N).shuffle("n"), "a bolt that is set has no shuffle; write shuffle_grouping('name')"),
        (
            lambda one: one.set_bolt("b", Same(), N).set_bolt("c", Same()),
            "a bolt that is set has no set_bolt; write builder.set_bolt(…) on a line of its own: set_bolt gives the bolt alone",
        ),
    ],
)  # fmt: skip
def test_a_builder_says_what_others_call_its_methods(write: Callable[[Any], Any], told: str) -> None:
    with pytest.raises(AttributeError) as caught:
        write(ouzel.TopologyBuilder("t"))
    assert str(caught.value) == told


def test_a_builder_is_shown_by_what_it_holds() -> None:
    builder = ouzel.TopologyBuilder("t")
    assert repr(builder) == "<topology builder t: nothing yet; build() gives the topology>"
    bolt = builder.set_bolt("b", Same(), N)
    assert repr(bolt) == "<bolt b: reads nothing yet>"
    assert repr(bolt.shuffle_grouping("numbers")) == "<bolt b: reads numbers by shuffle>"
    assert repr(builder) == "<topology builder t: b; build() gives the topology>"
    with pytest.raises(QueryError, match=r"is no topology yet; give what builder.build\(\) gives"):
        ouzel.table(builder)  # type: ignore[arg-type]


def test_a_table_of_a_topology_asks_whose_rows_are_meant() -> None:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", Numbers(), N)
    builder.set_bolt("b", Same(), N).shuffle_grouping("numbers")
    with pytest.raises(PlanError) as caught:
        ouzel.table(builder.build(), "memory")
    assert str(caught.value) == (
        "a topology has no answer of its own; say whose rows are meant: ouzel.table(topology, of=…) with one of numbers, b"
    )


@pytest.mark.parametrize("name", ASKED)
def test_what_cannot_be_called_is_refused_before_anything_runs(name: str) -> None:
    program, told = ASKED[name]
    with pytest.raises(PlanError) as caught:
        program()
    assert str(caught.value) == told


def test_a_bolt_that_acks_nothing_is_warned_of_with_the_line_that_sets_it() -> None:
    builder = ouzel.TopologyBuilder("t")
    with pytest.warns(QueryWarning) as caught:
        builder.set_bolt("b", NeverAcks(), N)
    assert [(str(one.message), one.filename) for one in caught] == [
        (
            "'b' neither acks nor fails a batch, so that its run does not end; write collector.ack(batch) at the end of execute, or derive "
            "it from ouzel.BasicBolt, which acks what process has handled",
            __file__,
        )
    ]


def test_handle_takes_the_columns_that_it_reads() -> None:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("orders", Numbers(), ouzel.schema(customer=str, amount=float))
    builder.set_bolt("b", WholeRow(), N).shuffle_grouping("orders")
    told = "handle of 'b' takes (row), and is called with (customer, amount); write def handle(self, customer, amount)"
    with pytest.raises(PlanError, match=re.escape(told)):
        builder.build()


class Handing(ouzel.Bolt):
    """Acks in a function that it hands its collector to."""

    def execute(self, batch: ouzel.Batch, collector: Any) -> None:
        settle(collector, batch)


def settle(collector: Any, batch: ouzel.Batch) -> None:
    collector.emit(batch.frame, anchors=(batch,))
    collector.ack(batch)


class Later(ouzel.Bolt):
    """Acks in another method."""

    def open(self, context: ouzel.Context) -> None:
        self.kept: list[ouzel.Batch] = []

    def execute(self, batch: ouzel.Batch, collector: Any) -> None:
        self.kept.append(batch)

    def tick(self, collector: Any) -> None:
        for batch in self.kept:
            collector.emit(batch.frame, anchors=(batch,))
            collector.ack(batch)
        self.kept = []


class OwnExecute(ouzel.RowBolt):
    """Has no need of handle."""

    def execute(self, batch: ouzel.Batch, collector: Any) -> None:
        settle(collector, batch)


class Slotted(Same):
    """Has no dictionary of its own, and takes more than it is given, by default."""

    __slots__ = ()

    def process(self, frame: pl.DataFrame, times: int = 1) -> list[pl.DataFrame]:
        return [frame] * times


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bolt", [Handing, Later, OwnExecute, Slotted])
def test_what_is_right_is_not_refused(bolt: type[ouzel.Bolt]) -> None:
    assert answer(bolt()).rows() == [(1,), (2,)]


def spout(**attributes: Any) -> ouzel.RowSpout:
    return type("Given", (Numbers,), attributes)()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"given": ("a b",)}, "next_row gave 'a b', which is no row; return a row as a tuple: (value,)"),
        ({"given": ((1,), (2, 3))}, "next_row gave a row of 2 values, and there are 1 fields, n: (2, 3)"),
        ({"fields": ()}, "next_row gave (1,), and the class names no fields; write fields = ('name', …) in it"),
        ({"fields": "n"}, "fields is the text 'n'; write fields = ('n',) in the class"),
        (
            {"rows": [(1,)]},
            "self.rows of a RowSpout says how many rows make a batch, and is [(1,)]; call yours self.pending",
        ),
    ],
)
def test_rows_that_do_not_fit_are_told_of_by_the_method_that_gave_them(given: dict[str, Any], told: str) -> None:
    with pytest.raises(TopologyError, match=re.escape(f"'numbers' (task 1) failed: TypeError: {told}")):
        answer(Same(), spout(**given))


def test_a_row_may_be_a_dictionary() -> None:
    assert answer(Same(), spout(given=({"n": 1}, {"n": 2}))).rows() == [(1,), (2,)]


class Order(NamedTuple):
    """With a time."""

    ts: datetime
    customer: str


ORDERS = Source.of([Order(datetime(2026, 3, 1), "ann")])


def test_what_a_filter_raises_on_all_is_not_said_of_the_step_behind_it() -> None:
    late = ORDERS.filter(lambda one: one.ts.startswith("2026"))  # type: ignore[attr-defined]
    with pytest.raises(QueryError) as caught:
        late.map(lambda one: one.customer)
    assert re.fullmatch(
        r"map lambda one: one.customer is given no record, for filter lambda one: one.ts.startswith\(\"2026\"\) "
        r"\(at .*test_first_topologies.py:\d+\) raises AttributeError: 'datetime.datetime' object has no attribute 'startswith' "
        r"on the first records; mend it",
        str(caught.value),
    )


@pytest.mark.parametrize("step", [lambda one: one * 1.19, lambda one: 0.5 + one])
def test_a_decimal_and_a_float_have_a_way_out(step: Callable[[Any], Any]) -> None:
    told = r"write Decimal\('0.1'\) for the float 0.1, or float\(…\) of the Decimal"
    with pytest.raises(QueryError, match=told):
        Source.of([Decimal("1.50")]).map(step)
    with pytest.raises(TopologyError, match=told):
        Source.of([Decimal("1.50")]).filter(step).table("memory")


def test_a_list_that_is_taken_for_a_text_asks_for_flat_map() -> None:
    told = "the record is a list; write flat_map instead of map before it, for each of its parts as a record"
    with pytest.raises(QueryError, match=told):
        Source.of(["to be"]).map(str.split).map(lambda word: word.lower())  # type: ignore[attr-defined]


def test_objects_have_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "clicks.jsonl"
    path.write_text('{"user": "ann"}\n', encoding="utf-8")
    with pytest.raises(OuzelError) as caught:
        Source.file(path, format="json")
    assert str(caught.value) == (
        "Source.file is given no type of its records, and format='json' gives objects with fields; write "
        f"Source.file('{path}', Order, …), where Order is a dataclass with these fields, or str for a field 'value'"
    )
    assert Source.file(path, format="json", columns=["user"]).table("memory").rows() == [("ann",)]


@ouzel.function(("BIGINT",), "BIGINT")
def thrice(n: pl.Series) -> pl.Series:
    return n * 3


QUERY = "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence'); SELECT n FROM t"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            lambda: ouzel.table(QUERY, params={"country": "DE"}),  # type: ignore[call-arg]
            "ouzel.table takes no argument params; a query has no parameters: put the values into its text, with text.format(…)",
        ),
        (
            lambda: ouzel.start(QUERY, parallelism=2),  # type: ignore[call-arg]
            "ouzel.start takes no argument parallelism; of a query write ouzel.start(ouzel.query(text, parallelism=…)), of a stream "
            "stream.start(parallelism=…), of a topology TopologyBuilder(name, ouzel.Settings(…))",
        ),
        (
            lambda: ouzel.table(QUERY, functions=[]),  # type: ignore[call-arg]
            "ouzel.table takes no argument functions; they are of the query: write ouzel.table(ouzel.query(text, functions=[…]))",
        ),
        (
            lambda: ouzel.submit(QUERY, engine="memory"),  # type: ignore[call-arg]
            "ouzel.submit takes no argument engine; what is submitted runs in processes: leave it out, or write "
            "ouzel.start(query, engine='memory')",
        ),
        (
            lambda: ouzel.table("SELECT THRICE(1) AS n"),
            "there is no function THRICE; give the query this function of the program: ouzel.query(text, functions=[thrice])",
        ),
        (
            lambda: ouzel.table("SELECT SETTLE(1) AS n"),
            "there is no function SETTLE; put @ouzel.function((str,), str), with its types, above def settle, and give the query this "
            "function of the program: ouzel.query(text, functions=[settle])",
        ),
        (
            lambda: ouzel.run(QUERY, name="numbers"),  # type: ignore[call-arg]
            "ouzel.run takes no argument name; it takes what, engine",
        ),
    ],
)
def test_an_argument_that_is_not_taken_is_told_with_where_it_belongs(program: Callable[[], Any], told: str) -> None:
    with pytest.raises(QueryError) as caught:
        program()
    assert f"{caught.value.problem}; {caught.value.instead}" == told


def test_a_status_has_no_rows() -> None:
    told = "run() drops those of a SELECT; write ouzel.table(query) for its answer, or for row in ouzel.start(query)"
    with pytest.raises(TypeError, match=re.escape(told)):
        list(ouzel.Status(ouzel.RunState.FINISHED))
