"""Windows of days by the clock of a zone, around each change of clocks since 1970, against Python's own reading of the same rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as quick
from hypothesis import strategies as st

from ouzel.compiler.functions.zones import is_zone
from ouzel.compiler.plan import AssignWindow, WindowKind
from ouzel.compiler.plan.window_grid import FixedGrid
from ouzel.compiler.types import BIGINT, TIMESTAMP, TIMESTAMP_LTZ
from ouzel.runtime.operators.base import Operator
from tests.effort import examples
from tests.functions.test_zones import NEAR, SHARES, ZONES, changes
from tests.operators.nodes import chain, table

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
US = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1)
NAMED = (
    "Europe/Berlin",
    "America/Sao_Paulo",  # changed at midnight
    "Asia/Beirut",  # changes at midnight
    "Australia/Lord_Howe",  # changes by half an hour
    "America/St_Johns",  # changed a minute after midnight, so that a midnight came twice
    "Antarctica/Casey",  # went back by three hours over midnight
    "Pacific/Apia",  # skipped 2011-12-30
    "Pacific/Kwajalein",  # skipped 1993-08-21
)


def assigned(zone: str, days: int = 1, slide: int = 0, offset: timedelta = timedelta(0)) -> AssignWindow:
    kind = WindowKind.HOP if slide else WindowKind.TUMBLE
    size, step = days * DAY // US, (slide or days) * DAY // US
    return AssignWindow(table(False, at=TIMESTAMP, v=BIGINT), kind, "at", size, step, offset // US, zone=zone)


def windows(operator: Operator, times: Sequence[datetime]) -> list[tuple[int, datetime, datetime]]:
    """(the number of the time, start, end) of all that comes out."""
    frame = pl.DataFrame({"at": pl.Series(times, dtype=pl.Datetime("us")), "v": range(len(times))})
    out = operator.process(frame)
    assert out is not None
    return list(zip(out["v"], out["window_start"], out["window_end"], strict=True))


def begin_of(day: int, zone: str, offset: timedelta = timedelta(0)) -> datetime:
    """When a day of this number since 1970 begins, in UTC: Python reads a midnight that occurs twice as the first."""
    return (EPOCH + day * DAY + offset).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)


def window_of(time: datetime, zone: str) -> tuple[datetime, datetime]:
    """Found by looking at the days around."""
    near = (time - EPOCH) // DAY
    begins = [begin_of(day, zone) for day in range(near - 3, near + 5)]
    place = bisect_right(begins, time)
    return begins[place - 1], begins[place]


def clock(time: datetime, zone: str) -> datetime:
    return time.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def check_zone(zone: str) -> None:
    """Each time lies in the window that Python finds, which begins when clocks first show another date."""
    times = sorted({at + near for at in changes(zone) for near in NEAR})
    found = windows(chain(assigned(zone)).operators[0], times) if times else []
    wrong = [
        (time, start, end)
        for (_, start, end), time in zip(found, times, strict=True)
        if (start, end) != window_of(time, zone)
    ]
    assert not wrong, f"{zone}: {wrong[:3]} of {len(wrong)}"
    for start in {start for _, start, _ in found}:
        assert clock(start, zone).date() > clock(start - US, zone).date(), f"{zone}: {start}"


@pytest.mark.parametrize("zone", NAMED)
def test_days_around_changes_of_clocks(zone: str) -> None:
    check_zone(zone)


@pytest.mark.parametrize("share", range(SHARES))
def test_days_of_all_zones(share: int) -> None:
    for zone in filter(is_zone, ZONES[share::SHARES]):
        check_zone(zone)


@pytest.mark.parametrize(
    ("zone", "noon", "start", "hours"),
    [
        ("Europe/Berlin", datetime(2026, 3, 29, 10), datetime(2026, 3, 28, 23), 23),
        ("Europe/Berlin", datetime(2026, 10, 25, 11), datetime(2026, 10, 24, 22), 25),
        ("Europe/Berlin", datetime(2026, 7, 1, 10), datetime(2026, 6, 30, 22), 24),
        ("America/Sao_Paulo", datetime(2018, 11, 4, 14), datetime(2018, 11, 4, 3), 23),
        ("America/Sao_Paulo", datetime(2018, 2, 17, 14), datetime(2018, 2, 17, 2), 25),
        ("Australia/Lord_Howe", datetime(2026, 4, 4, 20), datetime(2026, 4, 4, 13), 24.5),
        ("Pacific/Apia", datetime(2011, 12, 30, 9), datetime(2011, 12, 29, 10), 24),
        ("Pacific/Apia", datetime(2011, 12, 30, 11), datetime(2011, 12, 30, 10), 24),
    ],
)
def test_how_long_days_are(zone: str, noon: datetime, start: datetime, hours: float) -> None:
    assert windows(chain(assigned(zone)).operators[0], [noon]) == [(0, start, start + hours * HOUR)]


@quick(max_examples=examples(60), deadline=None)
@given(
    batches=st.lists(
        st.lists(st.datetimes(datetime(1880, 1, 1), datetime(2500, 1, 1)), min_size=1, max_size=5), min_size=1, max_size=4
    ),
    zone=st.sampled_from(NAMED),
    days=st.integers(1, 8),
    offset=st.timedeltas(timedelta(0), DAY - US),
)  # fmt: skip
def test_windows_follow_each_other_and_each_time_lies_in_one(
    batches: list[list[datetime]], zone: str, days: int, offset: timedelta
) -> None:
    """Of whatever was asked before: what is remembered of a batch changes no answer."""
    operator = chain(assigned(zone, days, offset=offset)).operators[0]
    for times in batches:
        found = windows(operator, times)
        assert [number for number, *_ in found] == list(range(len(times)))
        for (_, start, end), time in zip(found, times, strict=True):
            assert start <= time < end
            assert windows(operator, [end])[0][1] == end
            assert windows(operator, [start - US])[0][2] == start
            assert (days - 1) * DAY < end - start < (days + 1) * DAY + US


@quick(max_examples=examples(60), deadline=None)
@given(
    times=st.lists(st.datetimes(datetime(2011, 12, 20), datetime(2012, 1, 10)), min_size=1, max_size=5),
    zone=st.sampled_from(NAMED),
    slide=st.integers(1, 3),
    count=st.integers(1, 4),
)  # fmt: skip
def test_hops_of_days(times: list[datetime], zone: str, slide: int, count: int) -> None:
    found = windows(chain(assigned(zone, slide * count, slide)).operators[0], times)
    expected = []
    for number, time in enumerate(times):
        steps = range((time - EPOCH) // DAY // slide - 3 - count, (time - EPOCH) // DAY // slide + 4)
        spans = [(begin_of(step * slide, zone), begin_of((step + count) * slide, zone)) for step in steps]
        expected += [(number, start, end) for start, end in spans if start <= time < end]
    assert sorted(found) == sorted(expected)


def test_times_of_all_ages_in_one_batch() -> None:
    """So far apart that not all days between them are computed."""
    times = [datetime(1, 1, 2), datetime(2026, 3, 29, 10), datetime(9999, 12, 30), datetime(2026, 3, 29, 23)]
    found = windows(chain(assigned("Europe/Berlin")).operators[0], times)
    assert [end - start for _, start, end in found] == [DAY, 23 * HOUR, DAY, DAY]
    assert all(start <= time < end for (_, start, end), time in zip(found, times, strict=True))


def test_an_instant_lies_in_the_same_window_as_its_time_of_utc() -> None:
    node = AssignWindow(
        table(False, at=TIMESTAMP_LTZ), WindowKind.TUMBLE, "at", DAY // US, DAY // US, zone="Asia/Beirut"
    )
    out = chain(node).process(
        pl.DataFrame({"at": [datetime(2026, 3, 29, 9, tzinfo=UTC)]}, {"at": pl.Datetime("us", "UTC")})
    )
    assert out is not None
    assert dict(out.schema) == node.schema.polars()
    assert out.row(0)[1:3] == window_of(datetime(2026, 3, 29, 9), "Asia/Beirut")
    assert out.row(0)[3] == out.row(0)[2].replace(tzinfo=UTC) - timedelta(milliseconds=1)


@quick(max_examples=examples(60), deadline=None)
@given(
    time=st.datetimes(datetime(2011, 12, 20), datetime(2012, 1, 10)),
    zone=st.sampled_from(NAMED),
    slide=st.integers(1, 2),
    count=st.integers(1, 3),
)  # fmt: skip
def test_a_grid_says_which_windows_reach_how_far(time: datetime, zone: str, slide: int, count: int) -> None:
    node = assigned(zone, slide * count, slide)
    grid, at_us = node.window_grid, (time - EPOCH) // US
    spans = sorted((start, end) for _, start, end in windows(chain(node).operators[0], [time]))
    assert grid.first_start(at_us) == (spans[0][0] - EPOCH) // US
    assert grid.last_end(at_us) == (spans[-1][1] - EPOCH) // US
    assert all((end - start) // US <= grid.longest_us for start, end in spans)


@quick(max_examples=examples(60), deadline=None)
@given(at=st.integers(-50, 50), size=st.integers(1, 12), grid=st.integers(1, 12), offset=st.integers(0, 5))
def test_a_grid_of_fixed_lengths_says_so_too(at: int, size: int, grid: int, offset: int) -> None:
    made = FixedGrid(size, grid, grid, offset)
    starts = np.arange(offset - 60 * grid, 200, grid)
    assert made.first_start(at) == min(starts[starts + size > at])
    assert made.last_end(at) == max(starts[starts <= at]) + size
    assert made.longest_us == size
