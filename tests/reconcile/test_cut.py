"""The cut: which rows belong to a part of time, what is refused, and that a batch reads no more than it needs for it."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.plan import AssignWindow, Filter, Sink, walk
from ouzel.errors import NotSupported
from ouzel.reconcile import Class, Cut, reconcile
from ouzel.reconcile.comparing.answers import batch_answer, choose_sink
from ouzel.reconcile.comparing.cut import EPOCH, check_cut, restrict_sink, rows_within, skip_answered_windows
from ouzel.reconcile.comparing.extent import Extent, extent
from ouzel.reconcile.comparing.lineage import DAY_US
from ouzel.reconcile.recording.record import RunRecord
from ouzel.session import load_text
from ouzel.spark.batch.run import collect_rows
from tests.reconcile.planting import DAYS, FIRST, ORIGINS, ROWS, TABLE, classes, edit, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR_US = 3_600_000_000
HOURS = "FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time"
SIX_WINDOWS = HOURS.replace("TUMBLE(", "HOP(").replace("(ts), ", "(ts), INTERVAL '10' MINUTE, ")


def sink_of(query: str) -> Sink:
    """Of the trailing SELECT."""
    return choose_sink(load_text(TABLE + query, Path(), "q").program)


def us(*parts: int) -> int:
    """A moment in microseconds since the epoch."""
    return int((datetime(*parts) - EPOCH).total_seconds()) * 1_000_000  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "column", "shift", "size", "windows"),
    [
        (DAYS, "departure_day", 0, DAY_US, True),
        (f"SELECT window_end AS e, COUNT(*) AS n {HOURS};", "e", -HOUR_US, HOUR_US, True),
        (f"SELECT window_time AS t, COUNT(*) AS n {HOURS};", "t", 1_000 - HOUR_US, HOUR_US, True),
        (f"SELECT CAST(window_start AS DATE) AS d, window_start, COUNT(*) AS n {HOURS};", "window_start", 0, HOUR_US, True),
        (f"SELECT CAST(window_start AS DATE) AS d, COUNT(*) AS n {HOURS};", "d", 0, DAY_US, False),
        ("SELECT id, ts, delay FROM flights;", "ts", 0, 1, False),
        ("SELECT CAST(ts AS DATE) AS d, COUNT(*) AS n FROM flights GROUP BY CAST(ts AS DATE) EMIT CHANGES;", "d", 0, DAY_US, False),
    ],
)  # fmt: skip
def test_a_row_stands_for_its_window_or_its_moment(
    query: str, column: str, shift: int, size: int, windows: bool
) -> None:
    found = extent(sink_of(query))
    assert found is not None
    assert (found.column, found.shift_us, found.size_us, bool(found.windows)) == (column, shift, size, windows)


PER_HOUR = "SELECT window_start, window_end, origin, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, origin"  # noqa: E501
"""What joins of windows read."""
LONG = PER_HOUR.replace("flights,", "long,")
OF_LONG = "CREATE VIEW long AS SELECT * FROM flights WHERE miles > 900;"


def joined(kind: str, on: str) -> str:
    """Windows of all flights beside those of long ones."""
    columns = "a.window_start, a.origin, a.n" + ("" if "ANTI" in kind else ", b.n AS m")
    return (
        f"{OF_LONG} SELECT {columns} FROM ({PER_HOUR}) AS a {kind} JOIN ({LONG}) AS b ON {on} AND a.origin = b.origin;"
    )


SAME_WINDOW, NEXT_WINDOW = "a.window_start = b.window_start", "a.window_start = b.window_end"


@pytest.mark.parametrize("kind", ["", "LEFT", "LEFT ANTI"])
def test_a_row_of_a_join_of_windows_stands_for_the_window_by_which_they_are_joined(kind: str) -> None:
    same, other = (extent(sink_of(joined(kind, on))) for on in (SAME_WINDOW, NEXT_WINDOW))
    assert same is not None
    assert other is not None
    assert (same.column, same.shift_us, same.size_us, len(same.windows)) == ("window_start", 0, HOUR_US, 2)
    assert other == Extent("window_start", 0, HOUR_US)
    with pytest.raises(NotSupported, match="window_end to its SELECT, and to the ON of its joins"):
        check_cut(sink_of(joined(kind, NEXT_WINDOW)), Cut(closed_only=True))


def test_a_time_that_a_join_may_pad_says_of_no_row_when_it_is() -> None:
    both = "FROM flights AS a {} JOIN flights AS b ON a.id = b.id;"
    assert extent(sink_of(f"SELECT a.ts {both.format('LEFT')}")) == Extent("ts")
    assert extent(sink_of(f"SELECT b.ts {both.format('LEFT')}")) is None
    assert extent(sink_of(f"SELECT a.ts {both.format('FULL')}")) is None


def test_windows_that_a_run_before_had_answered_are_not_compared() -> None:
    hourly = sink_of(f"SELECT window_start, COUNT(*) AS n {HOURS};")
    hopping = sink_of(f"SELECT window_start, COUNT(*) AS n {SIX_WINDOWS};")
    record = RunRecord("q", "", "", "heron", "at-least-once", {}, began={"flights": us(2013, 1, 1, 5) - 1})
    assert skip_answered_windows(Cut(), hourly, record).from_us == us(2013, 1, 1, 5), (
        "the watermark of its last microsecond closes a window"
    )
    assert skip_answered_windows(Cut(), hopping, record).from_us == us(2013, 1, 1, 4, 10)
    assert skip_answered_windows(Cut(from_us=us(2014, 1, 1)), hourly, record).from_us == us(2014, 1, 1)
    assert skip_answered_windows(Cut(), sink_of(ORIGINS), record) == Cut()


@pytest.mark.parametrize(
    "query", [ROWS, ORIGINS, "SELECT origin, MAX(ts) AS latest FROM flights GROUP BY origin EMIT CHANGES;"]
)
def test_rows_without_time_have_no_cut(query: str) -> None:
    assert extent(sink_of(query)) is None
    with pytest.raises(NotSupported, match="none of its columns says when a row is"):
        check_cut(sink_of(query), Cut(from_us=0))
    check_cut(sink_of(query), Cut())


def test_closed_windows_need_windows_that_can_be_seen() -> None:
    with pytest.raises(NotSupported, match="has no windows"):
        check_cut(sink_of("SELECT id, ts FROM flights;"), Cut(closed_only=True))
    hidden = sink_of("SELECT origin, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
                     " GROUP BY window_start, window_end, origin;")  # fmt: skip
    with pytest.raises(NotSupported, match=r"do not say which window.*; add window_start or window_end"):
        check_cut(hidden, Cut(to_us=0))
    with pytest.raises(NotSupported, match="do not say which window"):
        check_cut(sink_of(f"SELECT CAST(window_start AS DATE) AS d, COUNT(*) AS n {HOURS};"), Cut(closed_only=True))


def test_closed_is_where_the_watermark_of_the_run_stood() -> None:
    def stood(at: int | None) -> RunRecord:
        return RunRecord("q", "", "", "memory", "at-least-once", {}, at)

    assert Cut(closed_only=True).at(stood(99)) == Cut(to_us=100)
    assert Cut(5, 50, True).at(stood(99)) == Cut(5, 50)
    assert Cut(5, 500, True).at(stood(99)) == Cut(5, 100)
    assert Cut(5, closed_only=True).at(stood(None)) == Cut(5)  # the input has ended: all windows have closed
    assert str(Cut(us(2013, 1, 1), us(2013, 1, 2, 3))) == "from 2013-01-01 00:00:00 to 2013-01-02 03:00:00"


def test_the_batch_job_is_given_only_rows_of_the_cut() -> None:
    sink, cut = sink_of(DAYS), Cut(us(2013, 1, 3), us(2013, 1, 5))
    (window,) = (node for node in walk(restrict_sink(sink, cut)) if isinstance(node, AssignWindow))
    predicates = [str(node.predicate) for node in walk(window.input) if isinstance(node, Filter)]
    assert "ge(ts, 2013-01-03 00:00:00)" in " ".join(predicates)
    assert "lt(ts, 2013-01-05 00:00:00)" in " ".join(predicates)
    assert restrict_sink(sink, Cut()) is sink
    moments = sink_of("SELECT id, ts FROM flights;")  # Spark moves a filter on a plain column by itself
    assert restrict_sink(moments, cut) is moments


def test_extents_of_a_union_must_agree() -> None:
    both = sink_of(f"SELECT window_end, COUNT(*) AS n {HOURS} UNION ALL SELECT window_end, COUNT(*) AS n {HOURS};")
    found = extent(both)
    assert found is not None
    assert (found.shift_us, found.size_us, len(found.windows)) == (-HOUR_US, HOUR_US, 2)
    mixed = sink_of(
        f"SELECT window_end, COUNT(*) AS n {HOURS} UNION ALL SELECT ts AS window_end, id AS n FROM flights;"
    )
    assert extent(mixed) == Extent("window_end")


LOCAL_DAYS = (
    "FROM TUMBLE(flights, ts, INTERVAL '1' DAY, 'America/New_York') GROUP BY window_start, window_end, window_time"
)


@pytest.mark.parametrize(
    ("column", "first", "last"),
    [
        ("window_start", us(2013, 3, 10, 5), us(2013, 3, 12, 4) - 1),
        ("window_end", us(2013, 3, 11, 4), us(2013, 3, 12, 4)),
        ("window_time", us(2013, 3, 11, 4) - 1_000, us(2013, 3, 12, 4) - 1_000),
    ],
)
def test_days_by_the_clock_are_cut_where_they_begin(column: str, first: int, last: int) -> None:
    """2013-03-10 had 23 hours in New York, from 05:00 to 04:00 UTC."""
    found = extent(sink_of(f"SELECT {column}, COUNT(*) AS n {LOCAL_DAYS};"))
    assert found is not None
    assert found.zone == "America/New_York"
    assert found.first_value(us(2013, 3, 9, 6)) == first
    assert found.first_value(us(2013, 3, 10, 5)) == first
    assert found.last_value(us(2013, 3, 12, 4)) == last
    assert found.last_value(us(2013, 3, 13, 3, 59)) == last


def test_days_by_the_clock_that_a_run_before_had_answered_are_not_compared() -> None:
    sink = sink_of(f"SELECT window_start, COUNT(*) AS n {LOCAL_DAYS};")
    for answered, first in ((us(2013, 3, 11, 4), us(2013, 3, 11, 4)), (us(2013, 3, 11, 4) - 1, us(2013, 3, 10, 5))):
        record = RunRecord("q", "", "", "heron", "at-least-once", {}, began={"flights": answered - 1})
        assert skip_answered_windows(Cut(), sink, record).from_us == first


def test_extents_of_days_by_two_clocks_do_not_agree() -> None:
    union = "SELECT window_start, COUNT(*) AS n {} UNION ALL SELECT window_start, COUNT(*) AS n {};"
    same, other = (
        extent(sink_of(union.format(LOCAL_DAYS, LOCAL_DAYS.replace("America/New_York", zone))))
        for zone in ("America/New_York", "Asia/Beirut")
    )
    assert same is not None
    assert len(same.windows) == 2
    assert other == Extent("window_start")


def test_a_date_of_days_by_the_clock_is_a_moment() -> None:
    found = extent(sink_of(f"SELECT DATE(window_start) AS d, COUNT(*) AS n {LOCAL_DAYS};"))
    assert found is not None
    assert not found.windows


@pytest.mark.spark
def test_whole_windows_are_compared(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run(DAYS, tmp_path)
    edit(home, lambda frame: frame.filter(frame["departure_day"] != date(2013, 1, 7)))
    cut = Cut(us(2013, 1, 3, 1), us(2013, 1, 6, 23))  # of the third and the sixth there is only a part
    found = reconcile(job, home, spark, cut=cut)
    assert found.stream_rows == found.batch_rows == 2 * 4
    assert set(found.counts) <= {Class.FLOAT}
    assert 'F.lit("2013-01-03 01:00:00")' in found.job
    wider = reconcile(job, home, spark, cut=Cut(from_us=us(2013, 1, 7)))
    assert classes(wider)[Class.ONLY_BATCH] == 4
    assert wider.stream_rows == 13 * 4


SEVENS = """SELECT window_end, origin, COUNT(*) AS n, ROUND(SUM(miles)) AS miles
FROM TABLE(HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '7' HOUR, INTERVAL '21' HOUR)) GROUP BY window_start, window_end, origin;"""


@pytest.mark.spark
@pytest.mark.parametrize(
    "query", [SEVENS, joined("LEFT", SAME_WINDOW), joined("LEFT", NEXT_WINDOW)], ids=["one", "joined", "shifted"]
)
def test_less_input_gives_the_same_rows(query: str, tmp_path: Path, spark: SparkSession) -> None:
    """The restricted job's answer is the whole job's, cut."""
    job, home = run(query, tmp_path)
    sink, cut = choose_sink(job.program), Cut(us(2013, 1, 3, 1), us(2013, 1, 6, 22))
    answers = [
        rows_within(batch_answer(job, each, {}, spark, {}), sink, cut) for each in (sink, restrict_sink(sink, cut))
    ]
    shown = [name for name in answers[0].columns if not name.startswith("_key_")]
    whole, part = (collect_rows(answer.select(*shown), sink).sort(pl.all()) for answer in answers)
    assert whole.equals(part)
    assert part.height > 0
    assert reconcile(job, home, spark, cut=cut).stream_rows == part.height


@pytest.mark.spark
def test_moments_are_half_open(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run("SELECT id, ts FROM flights;", tmp_path)
    found = reconcile(job, home, spark, cut=Cut(us(2013, 1, 1), us(2013, 1, 2)))
    assert (found.matched, found.stream_rows, found.differing) == (200, 200, 0)
    assert datetime(2013, 1, 1) == FIRST
