"""What a topology keeps of acked rows: which of them lie in windows that are closed is said exactly, and never too early."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.compiler.plan.window_grid import FixedGrid, LocalGrid, WindowGrid
from ouzel.planner.keeping import Keeps
from ouzel.session import load_text

TABLE = """
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'rows' = '1');
"""
TUMBLED = "SELECT window_end, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
HOPPED = TUMBLED.replace("TUMBLE(", "HOP(").replace("INTERVAL '5'", "INTERVAL '2' SECOND, INTERVAL '6'")
BY_WINDOW = " GROUP BY window_start, window_end"

DAY_US = 86_400_000_000


def fixed(size: int, slide: int, offset: int) -> FixedGrid:
    return FixedGrid(size, slide, slide, offset)


spans = st.builds(fixed, st.integers(1, 40), st.integers(1, 40), st.integers(-5, 5))


def last_end(windows: WindowGrid, time: int) -> int | None:
    """Where the last window ends that holds that time."""
    begin = time - (time - windows.offset_us) % windows.slide_us
    return begin + windows.size_us if begin + windows.size_us > time else None


@given(spans, st.integers(-100, 100), st.integers(-200, 200))
def test_a_row_is_answered_when_its_last_window_is_closed(windows: WindowGrid, closed: int, time: int) -> None:
    end = last_end(windows, time)
    answered = time < Keeps(frozenset([(windows,)])).answered_before(closed)
    if end is not None:
        assert answered == (end - 1 <= closed)


@given(spans, spans, st.integers(-5_000, 5_000), st.integers(-6_000, 6_000))
def test_a_window_of_windows_keeps_what_went_into_it(
    first: WindowGrid, second: WindowGrid, closed: int, time: int
) -> None:
    scaled = [fixed(w.size_us * 1_000, w.slide_us * 1_000, w.offset_us * 1_000) for w in (first, second)]
    if time >= Keeps(frozenset([tuple(scaled)])).answered_before(closed):
        return
    inner = last_end(scaled[0], time)
    if inner is not None:
        assert inner - 1 <= closed
        outer = last_end(scaled[1], inner - 1_000)
        assert outer is None or outer - 1 <= closed


def test_days_by_the_clock_are_answered_when_they_are_over() -> None:
    keeps = Keeps(frozenset([(LocalGrid(DAY_US, DAY_US, DAY_US, 0, zone="Europe/Berlin"),)]))
    begin, end = (
        int(datetime(2026, 3, day, hour, tzinfo=UTC).timestamp()) * 1_000_000 for day, hour in ((28, 23), (29, 22))
    )
    assert keeps.answered_before(end - 2) == begin
    assert keeps.answered_before(end - 1) == end


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("SELECT n FROM ticks;", ""),
        (TUMBLED + BY_WINDOW + ";", "5000000/5000000+0"),
        (HOPPED + BY_WINDOW + ";", "6000000/2000000+0"),
        (
            TUMBLED.replace("'5' SECOND", "'1' DAY, 'Europe/Berlin'") + BY_WINDOW + ";",
            "86400000000/86400000000+0 Europe/Berlin",
        ),
        (f"SELECT MAX(many) AS most FROM ({TUMBLED}{BY_WINDOW}) AS counted EMIT CHANGES;", "for ever"),
        ("SELECT COUNT(*) AS many FROM ticks EMIT CHANGES;", "for ever"),
        ("SELECT n, COUNT(*) AS many FROM ticks GROUP BY n EMIT CHANGES;", "for ever"),
        (f"{TUMBLED}{BY_WINDOW} UNION ALL {HOPPED}{BY_WINDOW};", "5000000/5000000+0; 6000000/2000000+0"),
    ],
)
def test_the_plan_says_what_is_kept(query: str, kept: str) -> None:
    job = load_text(TABLE + query, Path(), "ticks", (("parallelism", "2"),))
    found = {part.keeps for part in job.topology.components if part.is_spout}
    assert {"for ever" if keeps.forever else str(keeps) for keeps in found} == {kept}
