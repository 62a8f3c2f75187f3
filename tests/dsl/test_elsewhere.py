"""Names of other libraries where a program has others: of a stream, a run, a compiled query, and of `ouzel` itself."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

import ouzel
from ouzel import Source
from ouzel.dsl.elsewhere import ELSEWHERE, SESSIONS, advise_of_sessions
from ouzel.errors import QueryError


def _looped_over() -> None:
    async def loop() -> None:
        async for _ in Source.of([1]):  # type: ignore[attr-defined]
            pass

    asyncio.run(loop())


class Flown(NamedTuple):
    """A record whose field is called as a verb elsewhere."""

    delay: int


SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "PyFlink's sink": (lambda: Source.of([1]).sink_to("x"), "a stream has no sink_to(); call write(Sink.file(…))"),  # type: ignore[attr-defined]
    "pandas' columns": (
        lambda: Source.of([1]).columns,  # type: ignore[attr-defined]
        "a stream has no columns(); call explain(), which shows its columns, or table().schema for those of the answer",
    ),
    "Spark's count by key": (
        lambda: Source.of([("a", 1)]).countByKey(),  # type: ignore[attr-defined]
        "a stream has no countByKey(); map to (key, 1), and call sum_by_key(monoid.Sum())",
    ),
    "Kafka Streams' branch": (
        lambda: Source.of([1]).branch(bool),  # type: ignore[attr-defined]
        "a stream has no branch(); call filter(condition) once for each branch",
    ),
    "a loop of coroutines": (
        _looped_over,
        "a stream is a plan, and holds no records to iterate over; write async for change in stream.changes()",
    ),
    "a source by itself": (
        lambda: Source("orders.csv"),  # type: ignore[call-arg]
        "a source is made by its connector, and not by Source itself; "
        "write Source.file('orders.csv', format='csv'), with the connector's name, or Source.of([...]) for records of the program",
    ),
    "a table of a query": (
        lambda: ouzel.query("SELECT 1 AS a").table(),  # type: ignore[attr-defined]
        "a compiled query has no table; write ouzel.table(query)",
    ),
    "SQL of the module": (
        lambda: ouzel.sql("SELECT 1"),  # type: ignore[attr-defined]
        "module 'ouzel' has no attribute 'sql'; write ouzel.table(query) for its answer, or ouzel.start(query) for its changes",
    ),
    "the sum of sessions": (
        lambda: Source.of([("a", 1)]).sum_by_session(1),  # type: ignore[attr-defined]
        "a stream has no sum_by_session(); sessions are written in SQL: call event_time(column, delay), and behind it "
        'sql("SELECT key, window_start, window_end, SUM(value) AS total FROM SESSION(this PARTITION BY key, '
        "DESCRIPTOR(event_time), INTERVAL '30' MINUTE) GROUP BY key, window_start, window_end\")",
    ),
    "Spark's mean": (
        lambda: Source.of([1]).mean(),  # type: ignore[attr-defined]
        "a stream has no mean(); map to pairs of one key, map(lambda record: (0, record.field)), and call sum_by_key(monoid) with the "
        "monoid of that name",
    ),
    "what is a field, too": (
        lambda: Source.of([Flown(3)]).delay,  # type: ignore[attr-defined]
        "a stream has no delay(); call event_time(column, delay); for the field write lambda record: record.delay",
    ),
    "Kafka Streams' key": (
        lambda: Source.of([1]).selectKey(str),  # type: ignore[attr-defined]
        "a stream has no selectKey(); call map(lambda record: (key, record))",
    ),
    "Spark's state": (
        lambda: Source.of([1]).updateStateByKey(str),  # type: ignore[attr-defined]
        "a stream has no updateStateByKey(); map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid)",
    ),
    "the plan of a query": (
        lambda: ouzel.query("SELECT 1 AS a").plan(),  # type: ignore[attr-defined]
        "a compiled query has no plan; call explain(), which shows its plan",
    ),
    "a bolt of Storm": (
        lambda: ouzel.BaseRichBolt,  # type: ignore[attr-defined]
        "module 'ouzel' has no attribute 'BaseRichBolt'; write class Words(ouzel.Bolt), with execute(self, batch, collector)",
    ),
    "a session": (
        lambda: ouzel.SparkSession,  # type: ignore[attr-defined]
        "module 'ouzel' has no attribute 'SparkSession'; write ouzel.Source.file('path', format='csv') or another connector; "
        "there is no session to make",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_another_library_has_is_told_by_its_name_here(name: str) -> None:
    wrong, told = SAID[name]
    with pytest.raises((AttributeError, TypeError)) as caught:
        wrong()
    assert str(caught.value) == told


def test_the_sessions_that_are_told_run() -> None:
    clicks = Source.of([("a", 1, datetime(2026, 1, 1, 0, minute)) for minute in (0, 20, 55)])
    timed = clicks.event_time("f2", timedelta(0))
    told = advise_of_sessions(["f0", "f1"])
    totals = timed.sql(told.partition('sql("')[2].removesuffix('")')).table("memory")
    assert totals["total"].to_list() == [2, 1]


def test_a_compiled_query_explains_itself() -> None:
    assert "result" in ouzel.query("SELECT 1 AS a").explain()


def test_no_verb_of_ours_is_told_to_be_of_another_library() -> None:
    stream = Source.of([("a", 1)])
    assert not [verb for verb in (*ELSEWHERE, *SESSIONS) if verb in dir(type(stream))]


USED: dict[str, tuple[Callable[[Any], object], str]] = {
    "an attribute": (
        lambda pairs: pairs.table.sort("value"),
        "table is a method, and is not called here: write table().sort",
    ),
    "a step": (lambda pairs: pairs.map.filter(len), "map is a method, and is not called here: write map(…).filter"),
    "a place": (lambda pairs: pairs.memory[0], "memory is a method, and is not called here: write memory()[0]"),
    "a loop": (
        lambda pairs: list(pairs.changes),
        "changes is a method, and is not called here: write for one in changes()",
    ),
    "a length": (lambda pairs: len(pairs.keys), "keys is a method, and is not called here: write len(keys())"),
    "a context": (
        lambda pairs: pairs.start.__enter__(),
        "start is a method, and is not called here: write with start() as …",
    ),
    "a stream": (
        lambda pairs: pairs.merge(pairs.swap),
        "a stream is merged with a stream, and <the method swap, which is not called: write swap()> is none; "
        "to compute something of each record write stream.map(function)",
    ),
}
"""Methods of a stream that are used as what they give."""


@pytest.mark.parametrize("name", USED)
def test_a_method_that_is_not_called_says_how_it_is(name: str) -> None:
    wrong, told = USED[name]
    with pytest.raises((AttributeError, TypeError, QueryError)) as caught:
        wrong(Source.of([("a", 1)]))
    assert str(caught.value) == told


def test_a_method_is_one_for_whoever_looks_at_it() -> None:
    stream = Source.of([1])
    assert list(inspect.signature(stream.map).parameters) == ["function", "returns"]
    assert stream.map.__doc__ == type(stream).map.__doc__
    assert inspect.isfunction(type(stream).map)
    assert stream.map


def test_results_is_a_method_and_says_so() -> None:
    with Source.of([1, 2]).start("memory") as run:
        with pytest.raises(TypeError, match=r"results is a method, .* write for one in results\(\); or for row in run"):
            for _ in run.results:  # type: ignore[attr-defined]
                pass
        run.wait()
        assert sum(frame.height for frame in run.results()) == 2
