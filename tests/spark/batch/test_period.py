"""`--from` and `--to`: which part of time a batch reads."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.plan import (
    Aggregate,
    ApplyPython,
    AsofJoin,
    AssignSession,
    AssignWindow,
    Filter,
    FinalAggregate,
    Gather,
    GatherElements,
    IntervalJoin,
    Join,
    LateRows,
    Node,
    Over,
    PartialAggregate,
    PartialTopN,
    Project,
    Scan,
    Served,
    SetOperation,
    SideJoin,
    Sink,
    TopN,
    Union,
    Unnest,
    Watermark,
)
from ouzel.compiler.plan.tables import node_classes
from ouzel.errors import NotSupported, QueryError
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.session import Job
from ouzel.spark.batch.period import Period, read_period, widen_period
from ouzel.spark.batch.run import BatchRun, batch_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = Period(1_704_067_200_000_000, 1_704_153_600_000_000)  # 2024-01-01
KAFKA = "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 'k', 'format' = 'json', 'start' = 'latest'"


def kafka(columns: str) -> str:
    return f"CREATE TABLE k ({columns}) WITH ({KAFKA}); SELECT a FROM k;"


def test_moments_are_iso_and_utc_unless_they_name_a_zone() -> None:
    assert read_period("2024-01-01", "2024-01-02T00:00:00Z") == DAY
    assert read_period("2024-01-01T01:00:00+01:00", None) == Period(DAY.from_us, None)
    assert not read_period(None, None)
    assert str(DAY) == "from 2024-01-01 00:00:00 to just before 2024-01-02 00:00:00"


@pytest.mark.parametrize(
    ("begin", "end", "sentence"),
    [
        ("yesterday", None, "--from cannot be 'yesterday'; write a time such as 2024-01-31 or 2024-01-31T12:00:00"),
        ("2024-01-02", "2024-01-02", "nothing lies between --from 2024-01-02 and --to 2024-01-02; write the earlier"),
    ],
)
def test_what_is_no_period_is_refused(begin: str, end: str | None, sentence: str) -> None:
    with pytest.raises(QueryError) as refused:
        read_period(begin, end)
    assert sentence in str(refused.value)


def test_a_table_without_any_time_is_refused_by_name(job: Callable[[str], Job]) -> None:
    text = "CREATE TABLE words (a VARCHAR) WITH ('connector' = 'file', 'path' = 'w', 'format' = 'raw'); SELECT a FROM words;"
    with pytest.raises(NotSupported, match="table 'words' has no event time, so that --from and --to mean nothing"):
        batch_run(job(text), None, DAY)


def test_a_total_that_is_there_even_of_no_rows_is_in_every_part_of_time(job: Callable[[str], Job]) -> None:
    text = kafka("a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts").replace("latest", "earliest")
    asked = text.replace("SELECT a FROM k;", "SELECT a, COUNT(*) AS n FROM k GROUP BY ROLLUP (a);")
    assert batch_run(job(asked), None, DAY).program != job(asked).program


T = """CREATE TABLE t (a BIGINT, ts TIMESTAMP(3), l ARRAY<BIGINT>, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'file', 'path' = 't.parquet', 'format' = 'parquet');
"""
LATE = "CREATE TABLE late (a BIGINT) WITH ('connector' = 'file', 'path' = 'late', 'format' = 'json');"
TUMBLED = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '6' HOUR))"

MEETING: Mapping[type[Node], tuple[str, str]] = {
    Join: ("joins", "SELECT x.a FROM t AS x LEFT JOIN t AS y ON x.a = y.a;"),
    IntervalJoin: (
        "joins",
        "SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '1' HOUR;",
    ),
    AsofJoin: ("joins", "SELECT x.a FROM t AS x ASOF LEFT JOIN t AS y ON x.a = y.a AND x.ts >= y.ts;"),
    Over: ("OVER", "SELECT LAG(a) OVER (ORDER BY ts) AS b FROM t;"),
    AssignSession: (
        "session windows",
        "SELECT COUNT(*) AS n FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;",
    ),
    SetOperation: ("EXCEPT", "SELECT a FROM t EXCEPT SELECT a + 1 FROM t;"),
}
"""What needs rows from beyond the cut: how it is called, and a query that has it."""

PARTS: Mapping[type[Node], str] = {
    Project: "SELECT a, ts FROM t;",
    Filter: "SELECT a FROM t WHERE a % 2 = 0;",
    Unnest: "SELECT a, x FROM t, UNNEST(l) AS u(x);",
    GatherElements: "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.l) AS u (x) WHERE x > t.a);",
    Union: "SELECT a FROM t UNION ALL SELECT -a FROM t;",
    Aggregate: "SELECT a % 3 AS k, COUNT(*) AS n, MIN(ts) AS first FROM t GROUP BY a % 3;",
    TopN: "SELECT a FROM t ORDER BY a DESC LIMIT 3;",
    Gather: "SELECT a FROM t EMIT AFTER DELAY '1' SECOND;",
}
"""What is of the period what it is of all time: a query that has each."""

WINDOWS: Mapping[type[Node], str] = {
    AssignWindow: f"SELECT window_start, a FROM {TUMBLED};",
    Over: f"SELECT window_start, a, RANK() OVER (PARTITION BY window_start, window_end ORDER BY a) AS r FROM {TUMBLED};",
    LateRows: f"{LATE} SELECT window_start, COUNT(*) AS n FROM {TUMBLED} GROUP BY window_start, window_end "
    "EMIT AFTER WATERMARK LATE INTO late;",
}
"""The same of what has a window in each row."""

ELSEWHERE = {
    Scan, Watermark, Sink,  # in all of these
    SideJoin, PartialAggregate, FinalAggregate, PartialTopN,  # made by rules of topologies
    ApplyPython, Served,  # of the DSL, and row by row
}  # fmt: skip


def test_every_node_says_whether_it_meets_rows_from_beyond_the_cut() -> None:
    ours = {kind for kind in node_classes() if kind.__module__.startswith("ouzel.compiler.plan.")}
    assert ours == {*MEETING, *PARTS, *WINDOWS} | ELSEWHERE, "put it where it belongs"


@pytest.mark.parametrize("kind", MEETING, ids=lambda kind: kind.__name__)
def test_rows_near_the_cut_do_not_lose_the_others_in_silence(kind: type[Node], job: Callable[[str], Job]) -> None:
    words, query = MEETING[kind]
    made = job(T + query)
    assert any(type(node) is kind for node in Dag(made.program.sinks).nodes())
    with pytest.raises(NotSupported, match=f"of a query with {words}: each table is cut by its own time"):
        batch_run(made, None, DAY)


def test_all_that_would_miss_rows_is_named(job: Callable[[str], Job]) -> None:
    query = "SELECT a FROM t INTERSECT SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a;"
    with pytest.raises(NotSupported, match="with joins and INTERSECT"):
        batch_run(job(T + query), None, DAY)


@pytest.mark.parametrize("words", ["EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"])
def test_the_second_input_of_a_set_operation_is_not_cut_by_its_own_time(words: str, job: Callable[[str], Job]) -> None:
    named = words.removesuffix(" ALL")
    with pytest.raises(NotSupported, match=f"of a query with {named}: each table is cut by its own time"):
        batch_run(job(T + f"SELECT a FROM t {words} SELECT a FROM t WHERE a > 5;"), None, DAY)


def test_days_by_the_clock_are_read_whole(job: Callable[[str], Job]) -> None:
    days = TUMBLED.replace("INTERVAL '6' HOUR", "INTERVAL '1' DAY, 'Europe/Berlin'")
    program = job(T + f"SELECT window_start, COUNT(*) AS n FROM {days} GROUP BY window_start, window_end;").program
    wide = widen_period(program, DAY)
    assert str(wide) == "from 2023-12-31 23:00:00 to just before 2024-01-02 23:00:00"


class Neighbours(Filter):
    """A node of whose class nobody has heard: it says of itself that it sets rows beside others."""

    meets_other_rows = "neighbours"


def test_what_is_refused_is_what_a_node_says_of_itself(job: Callable[[str], Job]) -> None:
    made = job(T + PARTS[Filter])

    def meet(node: Node, inputs: tuple[Node, ...]) -> Node:
        node = with_inputs(node, inputs)
        return Neighbours(node.input, node.predicate) if isinstance(node, Filter) else node

    assert batch_run(made, None, DAY).program != made.program
    other = replace(made, program=replace(made.program, sinks=Dag(made.program.sinks).rebuilt(meet).sinks))
    with pytest.raises(NotSupported, match="of a query with neighbours: each table is cut by its own time"):
        batch_run(other, None, DAY)


def test_event_time_is_a_filter_that_one_can_read(job: Callable[[str], Job]) -> None:
    columns = "a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    with pytest.raises(NotSupported, match="starts at its latest record"):
        batch_run(job(kafka(columns)), None, DAY)
    made = batch_run(job(kafka(columns).replace("latest", "earliest")), None, DAY)
    lines = made.text()
    assert '(F.col("ts") >= F.lit("2024-01-01 00:00:00").cast("timestamp_ntz"))' in lines
    assert '(F.col("ts") < F.lit("2024-01-02 00:00:00").cast("timestamp_ntz"))' in lines
    assert "-- Only what happened from 2024-01-01 00:00:00 to just before 2024-01-02 00:00:00." in lines
    assert '"start": "earliest"' in lines


def test_records_of_kafka_have_times_of_their_own(job: Callable[[str], Job]) -> None:
    text = batch_run(job(kafka("a BIGINT")), None, DAY).text()
    assert '"start": "timestamp",\n            "start.timestamp": "2024-01-01 00:00:00",' in text
    assert '"end": "timestamp",\n            "end.timestamp": "2024-01-02 00:00:00",' in text
    assert ".where" not in text


def test_where_event_time_is_the_records_own_only_what_surely_lies_before_is_passed_over(
    job: Callable[[str], Job],
) -> None:
    columns = "a BIGINT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts"
    text = batch_run(job(kafka(columns)), None, DAY).text()
    assert '"start.timestamp": "2024-01-01 00:00:00"' in text
    assert "end.timestamp" not in text, "an older record may come after a newer one"
    assert '(F.col("ts") < F.lit("2024-01-02 00:00:00").cast("timestamp"))' in text


@pytest.mark.spark
def test_the_period_reaches_the_reader_and_is_half_open(
    job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    times = [
        datetime(2023, 12, 31, 23, 59, 59, 999999),
        datetime(2024, 1, 1),
        datetime(2024, 1, 1, 12),
        datetime(2024, 1, 2),
        None,
    ]
    pl.DataFrame({"a": range(5), "ts": times}).write_parquet(tmp_path / "t.parquet")
    text = """CREATE TABLE t (a BIGINT, at BIGINT METADATA FROM 'row', ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'file', 'path' = 't.parquet', 'format' = 'parquet'); SELECT a, at FROM t;"""
    for period, expected in [(DAY, [(1, 2), (2, 3)]), (Period(DAY.to_us, None), [(3, 4)])]:
        made: BatchRun = batch_run(job(text), None, period)
        rows = made.run(spark)
        assert rows is not None
        assert sorted(rows.rows()) == expected


WINDOWED = """CREATE TABLE t (a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH ('connector' = 'file', 'path' = 't.parquet', 'format' = 'parquet');
SELECT window_start, COUNT(*) AS n, SUM(a) AS total FROM TABLE(WINDOW) GROUP BY window_start, window_end;"""
TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '6' HOUR)"
HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '4' HOUR, INTERVAL '12' HOUR)"
NOON = Period(DAY.from_us + 9 * 3_600_000_000, DAY.from_us + 13 * 3_600_000_000)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("window", "starts", "read"),
    [
        (TUMBLE, ["06:00", "12:00"], "from 2024-01-01 06:00:00 to just before 2024-01-01 18:00:00"),
        (HOP, ["00:00", "04:00", "08:00", "12:00"], "from 2024-01-01 00:00:00 to just before 2024-01-02 00:00:00"),
    ],
)
@pytest.mark.spark
def test_windows_that_reach_into_the_period_are_whole_and_no_others_are_there(
    window: str, starts: list[str], read: str, job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    times = [datetime(2024, 1, 1) + number * timedelta(minutes=30) for number in range(-48, 96)]
    pl.DataFrame({"a": range(len(times)), "ts": times}).write_parquet(tmp_path / "t.parquet")
    query = job(WINDOWED.replace("WINDOW", window))
    made = batch_run(query, None, NOON)
    assert made.note == f"No window is cut: for those that reach beyond it rows are read {read}"
    assert f"-- {made.note}." in made.text()
    part, whole = made.run(spark), batch_run(query).run(spark)
    assert part is not None
    assert whole is not None
    expected = whole.filter(pl.col("window_start").dt.strftime("%m-%d %H:%M").is_in([f"01-01 {at}" for at in starts]))
    assert part.sort("window_start").equals(expected.sort("window_start"))


def test_windows_of_windows_need_all_of_those_that_they_are_made_of(job: Callable[[str], Job]) -> None:
    inner = (
        f"SELECT window_time AS ts, COUNT(*) AS n FROM TABLE({TUMBLE}) GROUP BY window_start, window_end, window_time"
    )
    text = WINDOWED.split("SELECT")[0] + (
        f"CREATE VIEW six AS {inner}; SELECT window_start, SUM(n) AS n FROM TABLE(TUMBLE(TABLE six, DESCRIPTOR(ts), INTERVAL '1' DAY))"
        " GROUP BY window_start, window_end;"
    )
    assert batch_run(job(text), None, NOON).note.endswith(f"are read {DAY}")


def test_what_ends_at_the_windows_own_times_is_read_as_it_was_asked_for(job: Callable[[str], Job]) -> None:
    made = batch_run(job(WINDOWED.replace("WINDOW", TUMBLE)), None, DAY)
    assert made.note == ""
    assert "No window is cut" not in made.text()


@pytest.mark.spark
def test_a_period_of_what_meets_no_other_rows_is_the_answer_to_its_rows(
    job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    start = datetime(2024, 1, 1)
    times = [start + number * timedelta(minutes=30) for number in range(-48, 96)]
    rows = pl.DataFrame({"a": range(len(times)), "ts": times, "l": [[at, at + 1] for at in range(len(times))]})
    noon = rows.filter(pl.col("ts").is_between(start.replace(hour=9), start.replace(hour=13), closed="left"))
    for kind, query in [*PARTS.items(), *WINDOWS.items()]:
        rows.write_parquet(tmp_path / "t.parquet")
        asked = job(T + query)
        assert any(type(node) is kind for node in Dag(asked.program.sinks).nodes()), kind
        part = batch_run(asked, None, NOON).run(spark)
        shutil.rmtree(tmp_path / "late", ignore_errors=True)
        whole = batch_run(asked).run(spark)
        assert part is not None
        assert whole is not None
        if kind in PARTS:
            noon.write_parquet(tmp_path / "t.parquet")
            whole = batch_run(asked).run(spark)
            assert whole is not None
        else:
            whole = whole.filter(pl.col("window_start").is_between(start.replace(hour=6), start.replace(hour=12)))
        assert part.height
        assert sorted(map(str, part.rows())) == sorted(map(str, whole.rows())), kind


@pytest.mark.spark
def test_what_a_window_reads_more_is_not_read_by_others(
    job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    """The same table, once row by row and once in windows."""
    times = [datetime(2024, 1, 1) + number * timedelta(hours=1) for number in range(24)]
    pl.DataFrame({"a": range(24), "ts": times, "l": [[0]] * 24}).write_parquet(tmp_path / "t.parquet")
    query = f"SELECT 'row' AS kind, a FROM t UNION ALL SELECT 'window', COUNT(*) FROM {TUMBLED} GROUP BY window_start, window_end;"
    part = batch_run(job(T + query), None, NOON).run(spark)
    assert part is not None
    assert sorted(part.rows()) == [*(("row", at) for at in range(9, 13)), ("window", 6), ("window", 6)]
