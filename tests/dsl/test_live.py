"""Results while a program runs: as frames of three libraries, in a loop or asynchronously; and nothing runs on when the reader stops."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, NamedTuple

import polars as pl
import pytest

from ouzel import QueryError, Source, Stream, TopologyError, monoid
from ouzel.compiler.plan import WEIGHT

LINES = ["the river runs", "under the bridge"]


class Tick(NamedTuple):
    n: int


def totals() -> Stream[tuple[str, int]]:
    return Source.of(LINES).flat_map(str.split).map(lambda word: (word, 1)).sum_by_key(monoid.Sum())


def endless() -> Stream[Any]:
    return Source.datagen("numbers", Tick, **{"fields.n.kind": "sequence"})


def runs() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread is not threading.main_thread()}


def test_changes_and_tables_come_as_frames_of_three_libraries() -> None:
    changes = pl.concat(totals().changes("memory", batch_rows=1))
    assert sorted(changes.group_by("key", "value").agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0).rows()) == [
        (key, value, 1) for key, value in sorted(totals().memory())
    ]
    *_, last = totals().tables("memory", "pandas", batch_rows=1)
    assert last.set_index("key")["value"].to_dict() == dict(totals().memory())
    *_, arrow = totals().tables("memory", "arrow")
    assert sorted(zip(*arrow.to_pydict().values(), strict=True)) == sorted(totals().memory())
    with pytest.raises(QueryError, match="there are no frames of 'numpy'; write one of polars, pandas, arrow"):
        totals().tables(form="numpy")


def test_results_are_awaited() -> None:
    async def read() -> tuple[pl.DataFrame, list[pl.DataFrame]]:
        frames = [frame async for frame in totals().changes("memory")]
        return await totals().tables("memory"), frames

    table, frames = asyncio.run(read())
    assert sorted(table.rows()) == sorted(totals().memory())
    assert sum(frame.height for frame in frames) >= 5


def test_what_starts_while_its_reader_is_cancelled_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time limit that passed during the start left the topology running for as long as the program did."""
    starting, may_start, ended = threading.Event(), threading.Event(), list[str]()

    class Run:
        def end(self) -> None:
            ended.append("ended")

    def start(*arguments: object) -> Run:
        starting.set()
        may_start.wait()
        return Run()

    async def read() -> None:
        monkeypatch.setattr("ouzel.dsl.live.session.start", start)
        reading = asyncio.ensure_future(anext(aiter(totals().changes("memory"))))
        await asyncio.to_thread(starting.wait)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        may_start.set()

    asyncio.run(read())
    assert ended == ["ended"]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, ValueError])
def test_nothing_runs_on_when_the_reader_stops(error: type[BaseException] | None) -> None:
    before = runs()

    def read() -> None:
        for table in endless().tables("memory"):
            if table.height > 10:
                if error is not None:
                    raise error
                break

    if error is None:
        read()
    else:
        with pytest.raises(error):
            read()
    assert runs() <= before


def test_a_failure_is_told_at_the_end() -> None:
    with pytest.raises(TopologyError, match="ZeroDivisionError"):
        list(Source.of([0]).map(lambda n: 1 / n, returns=float).changes("memory"))
