"""A run that goes on, compared again and again. The run is played: its records are prefixes of one that has ended."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import TopologyError
from ouzel.reconcile import Class, Cut, watch
from ouzel.reconcile.comparing.answers import choose_sink
from ouzel.reconcile.comparing.cut import EARLIEST_US, EPOCH
from ouzel.reconcile.comparing.horizon import Frontier, delays
from ouzel.reconcile.comparing.timeline import Timeline
from ouzel.reconcile.recording import standing
from ouzel.reconcile.recording.marks import describe_edit, mark_of
from ouzel.reconcile.recording.record import RESULTS, RunRecord, read_record, replace_file
from ouzel.reconcile.watch import Watch
from ouzel.session import load_text
from ouzel.spark.lowering.job import JobRanges
from tests.reconcile.planting import DAYS, FIRST, ORIGINS, TABLE, edit, flights, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
START_US = (FIRST - EPOCH) // timedelta(microseconds=1)


def horizon(query: str = DAYS, cut: Cut = Cut(), table: str = TABLE) -> Frontier:
    """Of the trailing SELECT."""
    return Frontier(choose_sink(load_text(table + query, Path(), "q").program), cut)


def at(hours: float, end: int = 0, **changes: object) -> RunRecord:
    """A record whose windows have closed up to so many hours after the first flight, and whose one partition has come as far."""
    closed = START_US + int(hours * HOUR_US)
    record = RunRecord(
        "q", "", "", "memory", "at-least-once", {"flights": {"p": (0, end)}}, closed, times={"flights": {"p": closed}}
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def ends(ranges: JobRanges) -> tuple[int, int]:
    """The range of the one partition."""
    return ranges["flights"]["p"]


def test_each_window_is_compared_once() -> None:
    watch = horizon()
    assert watch.following(at(0, closed_us=EARLIEST_US)) is None
    first = watch.following(at(30))
    assert first == Cut(None, START_US + 24 * HOUR_US)
    watch.on_compared(at(30), first)
    assert watch.following(at(47.9)) is None  # the second day has not closed
    second = watch.following(at(50))
    assert second == Cut(START_US + 24 * HOUR_US, START_US + 48 * HOUR_US)
    watch.on_compared(at(50), second)
    rest = watch.following(at(0, closed_us=None))
    assert rest == Cut(START_US + 48 * HOUR_US, None)


@given(
    st.lists(st.floats(0, 240), max_size=6).map(sorted),
    st.integers(0, 3),
    st.sampled_from([Cut(), Cut(START_US + DAY_US, START_US + 3 * DAY_US)]),
)
def test_each_window_is_compared_once_however_often_its_run_is_looked_at(
    hours: list[float], ended: int, cut: Cut
) -> None:
    """A run whose input has ended still answers until it has stopped: a watch may see its end twice."""
    watch, compared = horizon(cut=cut), Counter[int]()
    looks = [at(each) for each in hours] + [at(0, closed_us=None)] * ended
    for look in looks:
        part = watch.following(look)
        if part is not None:
            watch.on_compared(look, part)
            compared.update(day for day in range(12) if _holds(part, day))
    last = 12 if ended else int(max(hours, default=0) + 1 / HOUR_US) // 24
    assert compared == Counter(day for day in range(last) if _holds(cut, day))


def _holds(part: Cut, day: int) -> bool:
    """Whether the window of that day lies wholly in it."""
    first, last = START_US + day * DAY_US, START_US + (day + 1) * DAY_US
    return (part.from_us is None or part.from_us <= first) and (part.to_us is None or last <= part.to_us)


def test_windows_that_slide_differently_are_none_of_them_skipped() -> None:
    """Both end at each other's middle: the second kind begins where no window of the first does."""
    hop = "SELECT window_end, COUNT(*) AS n FROM HOP(flights, ts, INTERVAL '{}' HOUR, INTERVAL '12' HOUR) GROUP BY window_start, window_end"
    watch = horizon(f"{hop.format(12)} UNION ALL {hop.format(4)};")
    first = watch.following(at(15))
    assert first is not None
    watch.on_compared(at(15), first)
    second = watch.following(at(17))
    assert second == Cut(START_US + 3 * HOUR_US + 2, START_US + 17 * HOUR_US + 1)  # the one from 4 to 16 is in it


def test_a_watch_of_a_part_of_time_stays_in_it() -> None:
    watch = horizon(cut=Cut(START_US + DAY_US, START_US + 3 * DAY_US))
    first = watch.following(at(50))
    assert first == Cut(START_US + DAY_US, START_US + 2 * DAY_US)
    watch.on_compared(at(50), first)
    last = watch.following(at(500))
    assert last is not None
    assert last.to_us == START_US + 3 * DAY_US
    watch.on_compared(at(500), last)
    assert watch.following(at(600)) is None


def test_the_batch_job_starts_where_earlier_rows_play_no_part() -> None:
    """The watermark lags an hour: at 30 h, rows up to 31 h may have been read before; the windows of the third day begin at 48 h."""
    watch = horizon()
    for hours, end, start in ((30, 300, 0), (50, 500, 0), (75, 750, 300), (100, 1_000, 500)):
        record = at(hours, end)
        part = watch.following(record)
        assert part is not None
        assert ends(watch.starts(record, part)) == (0 if hours == 30 else start, end)
        watch.on_compared(record, part)


@pytest.mark.parametrize(("hours", "start"), [(46.9, 460), (47, 0), (47.5, 0)])
def test_rows_as_late_as_the_lag_allows_are_read_again(hours: float, start: int) -> None:
    """The windows of the third day begin at 48 h: behind a watermark of 47 h, which lags an hour, there may be rows of theirs."""
    watch = horizon()
    watch.on_compared(at(hours, 460), Cut(None, START_US + DAY_US))
    assert ends(watch.starts(at(99, 999), Cut(START_US + 2 * DAY_US, None))) == (start, 999)


def test_partitions_that_come_later_are_read_from_their_start() -> None:
    watch = horizon()
    for hours in (30, 60):
        part = watch.following(at(hours))
        assert part is not None
        watch.on_compared(at(hours), part)
    late = at(90, ranges={"flights": {"p": (0, 10), "q": (5, 10)}})
    part = watch.following(late)
    assert part is not None
    assert watch.starts(late, part)["flights"]["q"] == (5, 10)


@pytest.mark.parametrize(
    "view",
    [
        "SELECT ts, id - LAG(id) OVER (PARTITION BY origin ORDER BY ts) AS gap FROM flights",
        "SELECT a.ts, a.id - b.id AS gap FROM flights AS a "
        "JOIN flights AS b ON a.id = b.id AND b.ts BETWEEN a.ts - INTERVAL '9' DAY AND a.ts",
    ],
    ids=["over", "join"],
)  # fmt: skip
def test_windows_of_rows_that_meet_earlier_ones_are_read_from_the_start(view: str) -> None:
    window = "SELECT window_start, SUM(gap) AS gaps FROM TUMBLE(gaps, ts, INTERVAL '1' DAY) GROUP BY window_start, window_end;"
    watch = horizon(f"CREATE VIEW gaps AS {view}; {window}")
    for hours, end in ((30, 300), (50, 500), (75, 750)):
        part = watch.following(at(hours, end))
        assert part is not None
        assert ends(watch.starts(at(hours, end), part)) == (0, end)
        assert "depend on others before them" in watch.why_from_the_start(at(hours, end))
        watch.on_compared(at(hours, end), part)


def test_windows_of_windows_need_earlier_rows() -> None:
    nest = """CREATE VIEW hours AS
    SELECT window_time AS t, COUNT(*) AS n FROM TUMBLE(flights, ts, INTERVAL '6' HOUR) GROUP BY window_start, window_end, window_time;
    SELECT window_start, MAX(n) AS most FROM TUMBLE(hours, t, INTERVAL '1' DAY) GROUP BY window_start, window_end;"""
    flat, nested = horizon(), horizon(nest)
    part = Cut(START_US + 2 * DAY_US, None)
    record = at(46, 460)  # with the lag up to 47 h
    for each in (flat, nested):
        each.on_compared(record, Cut(None, START_US + DAY_US))
    assert ends(flat.starts(at(99, 999), part)) == (460, 999)
    assert ends(nested.starts(at(99, 999), part)) == (0, 999)


@pytest.mark.parametrize(
    ("watermark", "delay"),
    [("ts - INTERVAL '1' HOUR", HOUR_US), ("ts", 0), ("ts - INTERVAL '1' HOUR - INTERVAL '1' MINUTE", None)],
)
def test_delays_are_constants_or_nothing(watermark: str, delay: int | None) -> None:
    table = TABLE.replace("ts - INTERVAL '1' HOUR", watermark)
    sink = choose_sink(load_text(table + DAYS, Path(), "q").program)
    assert delays(sink) == (None if delay is None else {"flights": delay})
    assert bool(Frontier(sink).why_from_the_start(at(1))) is (delay is None)
    assert Frontier(sink).why_from_the_start(at(1, times={}))


def test_charts_of_two_rounds_become_one() -> None:
    from ouzel.reconcile.accumulation import _timelines

    day = Timeline(0, DAY_US, 2, {Class.LATE: (1, 2)})
    later = Timeline(3 * DAY_US, DAY_US, 1, {Class.LATE: (4,), Class.FLOAT: (5,)})
    assert _timelines(day, later, DAY_US) == Timeline(
        0, DAY_US, 4, {Class.LATE: (1, 2, 0, 4), Class.FLOAT: (0, 0, 0, 5)}
    )
    far = replace(later, first_us=200 * DAY_US)
    found = _timelines(day, far, DAY_US)
    assert found is not None
    assert (found.width_us, found.slices, found.counts[Class.LATE][0], found.counts[Class.LATE][-1]) == (
        7 * DAY_US,
        29,
        3,
        4,
    )
    assert _timelines(None, later, 0) is later


@dataclass
class Played:
    """A run that goes on as far as it is told: `rows` flights have been read, and are watermarked an hour behind the last."""

    home: Path
    whole: Path
    rows: int = 0
    pauses: list[str] = field(default_factory=list)
    live: bool = True
    finished: bool = False

    def is_live(self, home: Path) -> bool:
        return self.live

    def snapshot(self, home: Path) -> RunRecord:
        """What a run that is not paused writes."""
        if not self.live:
            raise TopologyError("the run ended while it was asked")
        record = read_record(self.whole)
        if self.finished:
            self.finish()
            return record
        closed = int((flights()["ts"][self.rows - 1] - EPOCH) / timedelta(microseconds=1)) - HOUR_US
        ranges = {table: dict.fromkeys(parts, (0, self.rows)) for table, parts in record.ranges.items()}
        times = {table: dict.fromkeys(parts, closed) for table, parts in ranges.items()}
        made = replace(record, ranges=ranges, closed_us=closed, times=times)
        table = pl.read_parquet(self.whole / RESULTS)
        day = datetime(1970, 1, 1) + timedelta(microseconds=closed + 1 - DAY_US)
        table.filter(pl.col("departure_day") <= day.date()).write_parquet(self.home / RESULTS)
        made.save(self.home)
        return made

    @contextmanager
    def paused(self, home: Path) -> Iterator[RunRecord]:
        """Resumed in the end, also on errors."""
        self.pauses.append("paused")
        try:
            yield read_record(self.home)
        finally:
            self.pauses.append("resumed")

    def end(self) -> None:
        """The input has ended, and the run has stopped."""
        self.live = False
        self.finish()

    def finish(self) -> None:
        """The input has ended; the run still answers."""
        self.finished = True
        for file in self.whole.iterdir():
            (self.home / file.name).write_bytes(file.read_bytes())


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    """A run in tmp_path/live of which tmp_path/record has the end."""
    (tmp_path / "live").mkdir()
    made = Played(tmp_path / "live", tmp_path / "record")
    for name in ("is_live", "snapshot", "paused"):
        monkeypatch.setattr(standing, name, getattr(made, name))
    return made


@pytest.mark.spark
def test_a_watch_compares_windows_as_they_close(tmp_path: Path, spark: SparkSession, played: Played) -> None:
    query = DAYS.replace(",\n  SUM(miles) AS miles", "")
    job, whole = run(query, tmp_path)
    said: list[str] = []
    watch = Watch(job, played.home, spark, say=said.append)
    played.rows = 1_000
    first = watch.round()
    assert (first.windows, first.over, watch.total and watch.total.differing) == (4, False, 0)

    edit(
        whole,
        lambda frame: frame.with_columns(
            max_delay=pl.col("max_delay") + (pl.col("departure_day").dt.day() == 7).cast(pl.Int32)
        ),
    )
    played.rows = 2_000
    second = watch.round()
    assert second.found is not None
    assert second.windows == 5
    assert set(second.found.counts) == {Class.VALUE_DIFFERS}
    assert {row.row[0].day for row in second.found.samples[Class.VALUE_DIFFERS]} == {7}
    assert ends({"flights": {"p": next(iter(second.found.record.ranges["flights"].values()))}}) == (0, 2_000)

    played.rows = 3_000
    third = watch.round()
    assert third.found is not None
    assert ends({"flights": {"p": next(iter(third.found.record.ranges["flights"].values()))}}) == (1_000, 3_000)
    assert (third.windows, third.found.differing) == (5, 0)

    played.finish()
    fourth = watch.round()
    assert (fourth.windows, fourth.over) == (6, False)

    played.end()
    last = watch.round()
    assert (last.windows, last.found, last.over) == (0, None, True)
    assert watch.total is not None
    assert watch.windows == 20
    assert watch.total.stream_rows == pl.read_parquet(whole / RESULTS).height
    assert watch.total.counts == {Class.VALUE_DIFFERS: second.found.differing}
    assert said == played.pauses == []


@pytest.mark.spark
def test_a_query_without_windows_is_paused(tmp_path: Path, spark: SparkSession, played: Played) -> None:
    job, whole = run(ORIGINS, tmp_path)
    for file in whole.iterdir():
        (played.home / file.name).write_bytes(file.read_bytes())
    said: list[str] = []
    found = Watch(job, played.home, spark, say=said.append).round()
    assert found.found is not None
    assert (found.found.differing, found.over) == (0, False)
    assert said == ["pausing the run", "the run goes on"]
    assert played.pauses == ["paused", "resumed"]
    assert not list(played.home.glob(".compared-*"))


def test_a_run_goes_on_after_an_error(tmp_path: Path, played: Played) -> None:
    job, whole = run(ORIGINS, tmp_path)
    for file in whole.iterdir():
        (played.home / file.name).write_bytes(file.read_bytes())
    result = choose_sink(job.program)
    sink = replace(
        result, connector="file", traits=replace(result.traits, returned=False)
    )  # what is in files is compared while the run rests

    def fail(error: type[BaseException]) -> None:
        with standing.standing(played.home, sink, False):
            assert played.pauses[-1] == "paused"
            raise error

    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error):
            fail(error)
        assert played.pauses[-1] == "resumed"
    assert not list(played.home.glob(".compared-*"))


def test_record_and_results_that_the_run_replaces_meanwhile_are_of_one_moment(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another reader has it write them anew while they are linked."""
    job, whole = run(DAYS, tmp_path)
    for file in whole.iterdir():
        (played.home / file.name).write_bytes(file.read_bytes())
    link, links = os.link, list[Path]()

    def link_amid_writing(source: Path, target: Path) -> None:
        link(source, target)
        links.append(target)
        if len(links) == 1:
            rows = pl.read_parquet(played.home / RESULTS).head(1)
            replace_file(played.home / RESULTS, rows.write_parquet)
            record = read_record(played.home)
            replace(record, answer={**record.answer, RESULTS: mark_of(played.home / RESULTS)}).save(played.home)

    monkeypatch.setattr(os, "link", link_amid_writing)
    monkeypatch.setattr(standing, "snapshot", lambda home: None)
    with standing.standing(played.home, choose_sink(job.program), True) as found:
        assert not describe_edit(str(found.home / RESULTS), read_record(found.home).answer[RESULTS])
        assert pl.read_parquet(found.home / RESULTS).height == 1
    assert len(links) == 4


def test_windows_of_a_round_that_fails_are_compared_in_the_next(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = run(DAYS, tmp_path)
    compared = list[Cut]()

    def fail(*_: object) -> int:
        raise TopologyError("Spark is gone")

    monkeypatch.setattr(watch, "reconcile", lambda *_, cut, **more: compared.append(cut))
    monkeypatch.setattr(Watch, "_windows", fail)
    played.rows = 1_000
    watching = Watch(job, played.home, cast("SparkSession", None))
    for _ in range(2):
        with pytest.raises(TopologyError, match="Spark is gone"):
            watching.round()
    assert len(compared) == 2
    assert compared[0] == compared[1]


def test_a_run_that_ends_while_it_is_asked_has_its_last_record(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = run(DAYS, tmp_path)
    answers = iter([True, False])
    played.live = False
    monkeypatch.setattr(standing, "is_live", lambda home: next(answers))
    with standing.standing(played.home, choose_sink(job.program), True) as found:
        assert found == standing.Standing(played.home, False)
