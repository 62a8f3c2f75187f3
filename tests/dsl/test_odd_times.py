"""Times that show a mistaken unit, and batches that are never acked, are told of while a run goes on; what may be meant is not."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import polars as pl
import pytest

import ouzel
from ouzel import Source, Stream, monoid
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import TopologyError

MS = 1_700_000_000_001
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


class Event(NamedTuple):
    """When and how much."""

    at: datetime
    amount: int


def at_ms(ms: float) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None)


def windows(times: Sequence[datetime], delay: timedelta = SECOND, size: timedelta = MINUTE) -> Stream[Any]:
    """The sums of windows of records of these times."""
    events = Source.of([Event(at, 1) for at in times]).event_time("at", delay)
    return events.map(lambda event: ("all", event.amount)).sum_by_window(monoid.Sum(), size)


def told(stream: Stream[Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stream.table("memory")
    return [str(one.message) for one in caught if issubclass(one.category, QueryWarning)]


def test_milliseconds_that_are_divided_twice_are_told_of() -> None:
    stream = windows([at_ms((MS + n * 1_000) / 1000) for n in range(5)])
    with pytest.warns(
        QueryWarning, match=r"records: the first event times of 'at' are of January 1970, as 1970-01-20"
    ) as caught:
        stream.table("memory")
    assert caught[0].filename == __file__
    assert "a thousand times that is 2023-11-14 22:13:20: leave a division by 1000 out" in str(caught[0].message)


def test_who_loops_over_the_rows_of_a_run_is_told_too() -> None:
    stream = windows([at_ms((MS + n * 1_000) / 1000) for n in range(5)])
    with pytest.warns(QueryWarning, match="of January 1970"), stream.start("memory") as run:
        assert sum(row["value"] for row in run) == 5


def test_what_is_written_by_hand_or_counted_from_nothing_is_not_told_of() -> None:
    epoch = datetime(1970, 1, 1)
    assert not told(windows([epoch + timedelta(milliseconds=n) for n in range(5)]))
    assert not told(windows([datetime(1970, 1, 15, 12, n) for n in range(5)]))
    assert not told(windows([epoch + timedelta(days=5 * n, milliseconds=3) for n in range(5)]))
    assert not told(windows([at_ms(MS + n) for n in range(5)]))


def test_spans_below_a_second_are_told_of_where_times_are_whole_seconds() -> None:
    whole = [at_ms(MS - 1 + n * 1_000) for n in range(5)]
    assert told(windows(whole, timedelta(milliseconds=5), timedelta(milliseconds=60))) == [
        "records: the delay of the event time is 5 ms, and its first times are all of whole seconds, so that none is so little late; "
        "5 s may be meant",
        "records: the windows are of 60 ms, and the first times are all of whole seconds, each of which has windows of its own; 60 s may "
        "be meant",
    ]


def test_spans_below_a_second_are_right_of_finer_times() -> None:
    fine, short = [at_ms(MS + n * 500) for n in range(5)], timedelta(milliseconds=60)
    whole = [at_ms(MS - 1 + n * 1_000) for n in range(5)]
    assert not told(windows(fine, short, short))
    assert not told(windows(whole, timedelta(milliseconds=1)))
    assert not told(windows(whole[:2], short, short))


class Numbers(ouzel.Spout):
    """One batch."""

    def next_batch(self, collector: ouzel.Collector) -> bool:
        collector.emit(pl.DataFrame({"n": [1]}), message_id=1)
        return False


class NeverAcks(ouzel.Bolt):
    """Acks what does not come, and gives up after a while, so that the test ends."""

    def __init__(self) -> None:
        self.ticks = 0

    def execute(self, batch: ouzel.Batch, collector: ouzel.Collector) -> None:
        collector.emit(batch.frame, anchors=(batch,))
        if batch.frame["n"][0] > 1:
            collector.ack(batch)

    def tick(self, collector: ouzel.Collector) -> None:
        self.ticks += 1
        if self.ticks > 5:
            raise RuntimeError("enough")


def test_a_bolt_that_never_acks_is_told_of_while_it_runs() -> None:
    builder = ouzel.TopologyBuilder("t")
    builder.set_spout("numbers", Numbers(), ouzel.schema(n=int))
    builder.set_bolt("b", NeverAcks(), ouzel.schema(n=int)).shuffle_grouping("numbers")
    with (
        pytest.warns(
            QueryWarning,
            match=r"'b' \(task 2\) has let go of a batch that it had neither acked nor failed; call collector\.ack",
        ),
        pytest.raises(TopologyError, match="enough"),
    ):
        ouzel.table(builder.build(), "memory", of="b")
