"""What is told of groupings, spouts, settings and copies that are wrong, and of a stream's time and values that are missing."""

from __future__ import annotations

import re
import threading
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl
import pytest

import ouzel
from ouzel import Source
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import PlanError, QueryError, TopologyError

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
    with pytest.raises(TopologyError, match="late may be None: leave such records out with filter before, or test it"):
        late.table("memory")
