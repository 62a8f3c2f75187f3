"""What is told of a topology by hand whose parts do not fit together, and of rows that go to no task."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel.errors import OuzelError, PlanError, QueryError, TopologyError

N = ouzel.schema(n=int)


class Numbers(ouzel.Spout):
    """The numbers below 4 in one batch."""

    def __init__(self, emit: Callable[[Any, pl.DataFrame], object] | None = None) -> None:
        self.emit = emit or (lambda collector, frame: collector.emit(frame, message_id=1))

    def next_batch(self, collector: ouzel.Collector) -> bool:
        self.emit(collector, pl.DataFrame({"n": [0, 1, 2, 3]}))
        return False


class Same(ouzel.BasicBolt):
    """Right."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame]


class Doing(ouzel.Bolt):
    """Does something with a batch, and acks it."""

    def __init__(self, do: Callable[[ouzel.Batch, Any], object]) -> None:
        self.do = do

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> Any:
        made = self.do(batch, collector)
        collector.ack(batch)
        return made


class Rows(ouzel.RowSpout):
    """One row, whatever it is."""

    fields: Any = ("n",)

    def __init__(self, row: Any) -> None:
        self.pending = iter([row])

    def next_row(self) -> Any:
        return next(self.pending, None)


class Twice(Rows):
    """Names a column twice."""

    fields = ("n", "n")


class Plain:
    """Comes of nothing."""


def wired(wire: Callable[[ouzel.TopologyBuilder], object], spout: ouzel.Spout | None = None) -> ouzel.Topology:
    """A spout `s`, and what else is wired."""
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("s", spout or Numbers(), N)
    wire(builder)
    return builder.build()


def without_a_spout() -> object:
    builder = ouzel.TopologyBuilder("t")
    builder.set_bolt("a", Same(), N).shuffle_grouping("b")
    builder.set_bolt("b", Same(), N).shuffle_grouping("a")
    return builder.build()


def in_a_loop(builder: ouzel.TopologyBuilder) -> None:
    builder.set_bolt("a", Same(), N).shuffle_grouping("s").shuffle_grouping("c")
    builder.set_bolt("c", Same(), N).shuffle_grouping("b")
    builder.set_bolt("b", Same(), N).shuffle_grouping("a")


def bolt(builder: ouzel.TopologyBuilder, bolt: Any = None, **more: Any) -> Any:
    return builder.set_bolt("b", bolt or Same(), N, **more)


def chosen(chooser: Any) -> Callable[[], object]:
    return lambda: answer(lambda builder: bolt(builder, parallelism=2).custom_grouping("s", chooser))


def answer(wire: Callable[[ouzel.TopologyBuilder], object], spout: ouzel.Spout | None = None) -> pl.DataFrame:
    return ouzel.table(wired(wire, spout), "memory", of="b")


def through(do: Callable[[ouzel.Batch, Any], object]) -> Callable[[], object]:
    return lambda: answer(lambda builder: bolt(builder, Doing(do)).shuffle_grouping("s"))


def rows(spout: ouzel.Spout) -> Callable[[], object]:
    return lambda: answer(lambda builder: bolt(builder).shuffle_grouping("s"), spout)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "nothing": (
        lambda: ouzel.TopologyBuilder("t").build(),
        "nothing is set in this topology; write builder.set_spout(name, spout, ouzel.schema(word=str))",
    ),
    "no spout": (
        without_a_spout,
        "no spout brings batches in, and a, b wait for each other; write builder.set_spout(name, spout, ouzel.schema(word=str))",
    ),
    "a loop": (
        lambda: wired(in_a_loop),
        "'a' reads what comes of itself, a → b → c → a, so that its input never ends; leave one of these groupings out, or do "
        "again inside the bolt what it sent back",
    ),
    "a bolt that reads nothing": (
        lambda: wired(bolt),
        "bolt 'b' (at LINE) reads nothing; write set_bolt('b', …).shuffle_grouping('s')",
    ),
    "a component that is misspelt": (
        lambda: wired(lambda builder: bolt(builder).fields_grouping("ss", "n")),
        "'b' reads 'ss' (at LINE), and there is no such component; did you mean 's'?",
    ),
    "a component that is not there": (
        lambda: wired(lambda builder: bolt(builder).shuffle_grouping("words")),
        "'b' reads 'words' (at LINE), and there is no such component; there are s, b",
    ),
    "a column that is not there": (
        lambda: wired(lambda builder: bolt(builder).fields_grouping("s", "nosuch")),
        "'b' groups 's' by 'nosuch' (at LINE), which it does not emit; it emits n",
    ),
    "a column for a stream": (
        lambda: wired(lambda builder: bolt(builder).shuffle_grouping("s", "n")),
        "'b' reads stream 'n' of 's' (at LINE), which nobody writes; for a column write fields_grouping('s', 'n')",
    ),
    "a spout for its name": (
        lambda: wired(lambda builder: bolt(builder).shuffle_grouping(Numbers)),
        f"shuffle_grouping takes the name that set_spout or set_bolt was given, a text, and {Numbers!r:.60} is none; "
        "write shuffle_grouping('words')",
    ),
    "two of one name": (
        lambda: wired(lambda builder: (bolt(builder).shuffle_grouping("s"), bolt(builder).shuffle_grouping("s"))),
        "two components are called 'b' (at LINE and LINE); give each a name of its own",
    ),
    "a bolt for a spout": (
        lambda: ouzel.TopologyBuilder("t").set_spout("s", Same(), N),  # type: ignore[arg-type]
        "'s' is a Bolt, and set_spout takes a Spout; write set_bolt('s', Same(), …)",
    ),
    "a spout for a bolt": (
        lambda: wired(lambda builder: bolt(builder, Numbers())),
        "'b' is a Spout, and set_bolt takes a Bolt; write set_spout('b', Numbers(), …)",
    ),
    "no name": (
        lambda: ouzel.TopologyBuilder("t").set_spout(5, Numbers(), N),  # type: ignore[arg-type]
        "set_spout takes the name of a component first, a text, not 5; write set_spout('words', …)",
    ),
    "a text of tasks": (
        lambda: wired(lambda builder: bolt(builder, parallelism="2")),
        "'b' cannot have a parallelism of '2'; write a whole number, 1 or more",
    ),
    "half a task": (
        lambda: wired(lambda builder: bolt(builder, parallelism=2.5)),
        "'b' cannot have a parallelism of 2.5; write a whole number, 1 or more",
    ),
    "True tasks": (
        lambda: wired(lambda builder: bolt(builder, parallelism=True)),
        "'b' cannot have a parallelism of True; write a whole number, 1 or more",
    ),
    "a dict of resources": (
        lambda: wired(lambda builder: bolt(builder, resources={"cpu": 1})),
        "the resources of 'b' are {'cpu': 1}; write resources=ouzel.Resources(cpu=1)",
    ),
    "a text of resources": (
        lambda: wired(lambda builder: bolt(builder, resources=ouzel.Resources(cpu="1"))),  # type: ignore[arg-type]
        "'b' asks for cpu='1'; write a number above 0",
    ),
    "a column that may be None": (
        lambda: ouzel.schema(n=int | None),
        "column 'n' cannot be int | None; write n=int: a row may have None in any column",
    ),
    "a chooser that is none": (
        chosen(5),
        "custom_grouping of 'b' takes a function, not 5; write custom_grouping('s', lambda frame, tasks: frame['n'].to_numpy() % tasks)",
    ),
    "a chooser of a row": (
        chosen(lambda row: 0),
        "the chooser of a custom_grouping of 'b' takes (row), and is called with (frame, tasks); write lambda frame, tasks: …",
    ),
    "a setting that is a text": (
        lambda: ouzel.Settings(parallelism="many"),  # type: ignore[arg-type]
        "'parallelism' cannot be 'many'; write a whole number of at least 1",
    ),
    "a setting that is nothing": (
        lambda: ouzel.Settings(hang_timeout_ms=None),  # type: ignore[arg-type]
        "'hang_timeout_ms' cannot be 'None'; write a whole number of at least 1",
    ),
    "a setting below nothing": (
        lambda: ouzel.Settings(ack_timeout_ms=-1),
        "'ack_timeout_ms' cannot be '-1'; write a whole number of at least 1",
    ),
    "a setting that has names": (
        lambda: ouzel.Settings(delivery="exactly-once"),  # type: ignore[arg-type]
        "'delivery' cannot be 'exactly-once'; write effectively-once, which is exactly-once here",
    ),
}
"""What is wrong before anything runs, and the whole of what is told."""

RUN: dict[str, tuple[Callable[[], object], str]] = {
    "a list that execute returns": (
        through(lambda batch, collector: [batch.frame]),
        "'b' (task 2) failed: TypeError: execute returned a list, which nobody reads; write collector.emit(frame, anchors=(batch,)) for "
        "each frame, and then collector.ack(batch), or derive the bolt from ouzel.BasicBolt, whose process returns a list of frames",
    ),
    "a frame that is acked": (
        through(lambda batch, collector: collector.ack(batch.frame)),
        "'b' (task 2) failed: TypeError: collector.ack takes the batch that execute was given, not a DataFrame; write "
        "collector.ack(batch) (in <lambda>, LINE)",
    ),
    "a frame that is an anchor": (
        through(lambda batch, collector: collector.emit(batch.frame, anchors=(batch.frame,))),
        "'b' (task 2) failed: TypeError: anchors are the batches that execute was given, not a DataFrame; write anchors=(batch,) "
        "(in <lambda>, LINE)",
    ),
    "nothing that is acked": (
        through(lambda batch, collector: collector.ack()),
        "'b' (task 2) failed: TypeError: collector.ack() missing 1 required positional argument: 'batch' (in <lambda>, LINE); "
        "write collector.ack(batch)",
    ),
    "a column as an attribute": (
        through(lambda batch, collector: batch.frame.n),  # type: ignore[attr-defined]
        "'b' (task 2) failed: AttributeError: 'DataFrame' object has no attribute 'n' (in <lambda>, LINE); write frame['n']",
    ),
    "a dict with other keys": (
        rows(Rows({"m": 1})),
        "'s' (task 1) failed: TypeError: next_row gave a dict with m, and the fields are n; write these as its keys",
    ),
    "a frame for a row": (
        rows(Rows(pl.DataFrame({"n": [1]}))),
        "'s' (task 1) failed: TypeError: next_row gave a DataFrame, which is no row; return a row as a tuple: (value,)",
    ),
    "a column that is named twice": (
        rows(Twice((1, 2))),
        "'s' (task 1) failed: TypeError: fields names 'n' twice; give each column a name of its own",
    ),
    "a task that is not there": (
        chosen(lambda frame, tasks: frame["n"]),
        "'s' (task 1) failed: ValueError: the chooser of the custom_grouping of 'b' gave 2, and its tasks are 0 to 1; write … % tasks "
        "(in <lambda>, LINE)",
    ),
    "one number for all rows": (
        chosen(lambda frame, tasks: 0),
        "'s' (task 1) failed: ValueError: the chooser of the custom_grouping of 'b' gave 0, and is to give a whole number for each of "
        "4 rows; write lambda frame, tasks: frame['n'].to_numpy() % tasks (in <lambda>, LINE)",
    ),
    "no task for a direct grouping": (
        lambda: answer(lambda builder: bolt(builder, parallelism=2).direct_grouping("s")),
        "'s' (task 1) failed: ValueError: 'b' reads by direct_grouping, and no task is named; write collector.emit(frame, task=…) with a "
        "number from 0 to 1 (in <lambda>, LINE)",
    ),
    "a task of a direct grouping that is not there": (
        lambda: answer(
            lambda builder: bolt(builder).direct_grouping("s"),
            Numbers(lambda collector, frame: collector.emit(frame, message_id=1, task=1)),
        ),
        "'s' (task 1) failed: ValueError: 'b' reads by direct_grouping, and task=1 is none of its 1; write collector.emit(frame, task=…) "
        "with 0 (in <lambda>, LINE)",
    ),
}
"""What fails in a run, and the whole of what is told."""


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_together_is_told_before_it_runs(name: str) -> None:
    wrong, told = WRONG[name]
    with pytest.raises((PlanError, QueryError)) as caught:
        wrong()
    assert _shown(caught.value) == told


@pytest.mark.parametrize("name", RUN)
def test_what_a_task_does_wrongly_is_told_when_it_does(name: str) -> None:
    wrong, told = RUN[name]
    with pytest.raises(TopologyError) as caught:
        wrong()
    assert _shown(caught.value) == told


def _shown(error: OuzelError) -> str:
    return re.sub(r"[^\s(]*/test_wiring\.py:\d+", "LINE", str(error))


def test_what_is_plain_is_no_bolt() -> None:
    with pytest.raises(
        PlanError, match=r"'b' is no Bolt but <.*>; pass an object of one, as of a class of ouzel\.RowBolt"
    ):
        wired(lambda builder: bolt(builder, Plain()))


def test_dicts_may_lack_what_is_none_or_have_more() -> None:
    assert rows(Rows({"n": 1, "other": 2}))().rows() == [(1,)]  # type: ignore[attr-defined]
    assert rows(Rows({}))().rows() == [(None,)]  # type: ignore[attr-defined]


def test_settings_are_read_as_queries_read_them() -> None:
    settings = ouzel.Settings(delivery="at-most-once", checkpoint_interval_ms=timedelta(seconds=5), trace_sample=1)  # type: ignore[arg-type]
    assert settings.delivery is ouzel.Delivery.AT_MOST_ONCE
    assert (settings.checkpoint_interval_ms, settings.trace_sample) == (5_000, 1)
