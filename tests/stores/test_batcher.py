"""Batchers keep Summingbird's laws, wherever clocks are turned."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from ouzel.errors import QueryError
from ouzel.stores.batcher import Batcher, BatchID, BatchRange, CalendarBatcher, FixedBatcher, parse_batcher
from tests.effort import seeds

TEXTS = (
    "1 day", "7 hours", "90 seconds", "0.25 seconds", "hour", "hour Asia/Kolkata", "day", "day Europe/Vienna", "day America/Sao_Paulo",
    "day Pacific/Apia", "day Africa/Cairo", "day America/Toronto", "week America/New_York", "month Europe/Vienna", "year Asia/Tokyo",
    "day until 2013-03-01T00:00:00 then 1 hour", "month until 2013-03-01T00:00:00 then day until 2013-04-01T00:00:00 then 6 hours",
)  # fmt: skip
"""Sao Paulo and Cairo turn clocks at midnight, Toronto did at a minute past it, and Apia left out the 30th of December 2011."""


def times(dice: Random) -> list[datetime]:
    """Times of all kinds, and some close to where clocks are turned."""
    turns = [datetime(2011, 12, 30, 10), datetime(2013, 3, 1), datetime(2012, 10, 21, 3), datetime(2006, 4, 2, 5, 1)]
    near = [turn + timedelta(minutes=dice.randint(-90, 90)) for turn in turns for _ in range(5)]
    far = [datetime(1905, 1, 1) + timedelta(microseconds=dice.randrange(200 * 365 * 86_400_000_000)) for _ in range(20)]
    return near + far


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", seeds())
def test_each_time_is_in_one_batch_and_numbers_grow_with_time(text: str, seed: int) -> None:
    batcher = parse_batcher(text)
    before: BatchID | None = None
    for time in sorted(times(Random(seed))):
        batch = batcher.batch_of(time)
        start, end = batcher.interval_of(batch)
        assert start <= time < end
        assert before is None or before <= batch
        assert batcher.batch_of(start) == batch
        assert batcher.batch_of(end - timedelta(microseconds=1)) == batch
        assert batcher.is_edge(start)
        assert batcher.batch_of(time.replace(tzinfo=UTC)) == batch
        before = batch


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", seeds())
def test_intervals_are_covered_by_batches_and_hold_whole_ones(text: str, seed: int) -> None:
    batcher, dice = parse_batcher(text), Random(seed)
    start = dice.choice(times(dice))
    some = batcher.batch_of(start) + dice.randrange(5)
    ends = [start + timedelta(days=dice.random() * 9), max(start, batcher.earliest_time_of(some)), start]
    for end in ends:
        cover, whole = batcher.cover(start, end), batcher.whole_in(start, end)
        if len(cover) > 100_000:
            continue
        assert (len(cover) == 0) == (start == end)
        touched = [one for one in cover if batcher.earliest_time_of(one) < batcher.earliest_time_of(one.next)]
        assert all(a < end and start < b for a, b in map(batcher.interval_of, touched[:50]))
        assert all(start <= a and b <= end for a, b in map(batcher.interval_of, whole[:50]))
        inner = sum(start <= a and b <= end for a, b in map(batcher.interval_of, cover))
        assert len(whole) == inner, "all whole ones are there"


def test_a_day_in_which_clocks_change_has_23_or_25_hours() -> None:
    vienna = CalendarBatcher("day", "Europe/Vienna")
    for day, hours in ((datetime(2024, 3, 31, 12), 23), (datetime(2024, 10, 27, 12), 25), (datetime(2024, 6, 1), 24)):
        start, end = vienna.interval_of(vienna.batch_of(day))
        assert end - start == timedelta(hours=hours)
    assert vienna.earliest_time_of(vienna.batch_of(datetime(2024, 3, 31, 12))) == datetime(2024, 3, 30, 23)
    assert CalendarBatcher("week").earliest_time_of(BatchID(0)) == datetime(1969, 12, 29)
    assert CalendarBatcher("month").earliest_time_of(BatchID(-1)) == datetime(1969, 12, 1)


@pytest.mark.parametrize("text", TEXTS)
def test_a_batcher_is_what_its_text_says(text: str) -> None:
    batcher = parse_batcher(text)
    assert str(batcher) == text
    assert parse_batcher(str(batcher)) == pickle.loads(pickle.dumps(batcher)) == batcher


def test_numbers_go_on_where_batchers_switch() -> None:
    both = parse_batcher("day until 2013-03-01 then 1 hour")
    last = both.batch_of(datetime(2013, 2, 28, 23))
    assert both.batch_of(datetime(2013, 3, 1)) == last.next
    assert both.batch_of(datetime(2013, 3, 1, 5, 30)) == last + 6
    hours: Batcher = FixedBatcher(timedelta(hours=1))
    assert len(hours.enclosing(last, both)) == 24
    assert list(both.enclosing(hours.batch_of(datetime(2013, 2, 28, 7)), hours)) == [last]


def test_batches_are_as_numbers_are() -> None:
    some = BatchRange(BatchID(3), BatchID(6))
    assert list(some) == [BatchID(3), BatchID(4), BatchID(5)]
    assert (some[0], some[-1], some[1:]) == (BatchID(3), BatchID(5), BatchRange(BatchID(4), BatchID(6)))
    assert BatchID(5) in some
    assert BatchID(6) not in some
    assert not BatchRange(BatchID(3), BatchID(3))
    assert BatchID(3).next.prev == BatchID(3) < BatchID(4) == max(BatchID(3), BatchID(4))
    assert (BatchID(7) - BatchID(4), BatchID(7) - 4) == (3, BatchID(3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fortnight", "'fortnight' says no batches; write '1 day'"),
        ("0 days", "a batch cannot be 0:00:00 long; take a length above zero"),
        ("day Mars/Olympus", "there is no time zone 'Mars/Olympus'; write one such as Europe/Vienna"),
        ("day until soon then hour", "switches at 'soon', which is no time; write 2024-03-01"),
        (
            "week until 2013-03-01 then day",
            "no batch of 'week' begins, so one would be cut; switch at 2013-02-25 00:00:00 or 2013-03-04 00:00:00",
        ),
    ],
)
def test_what_says_no_batches_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as error:
        parse_batcher(text)
    assert message in str(error.value)
