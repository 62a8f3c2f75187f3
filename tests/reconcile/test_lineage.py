"""What the plan says of a sink's rows, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.plan import Aggregate, FinalAggregate, Project
from ouzel.errors import NotSupported, QueryError
from ouzel.reconcile import check
from ouzel.reconcile.comparing.answers import choose_sink
from ouzel.reconcile.comparing.lineage import CARRIED, Direction, Lineage, Padded, batch_sink, lineage
from ouzel.reconcile.comparing.timeline import MOST_SLICES, slice_width
from ouzel.reconcile.explaining.late import by_component, find_maker
from ouzel.session import load_text
from ouzel.spark.lowering import spark_job
from tests.reconcile.planting import DAYS, ORIGINS, ROWS, TABLE

TUMBLE = "FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR))"


def facts(query: str) -> Lineage:
    """Of the trailing SELECT."""
    return lineage(choose_sink(load_text(TABLE + query, Path(), "q").program))


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (DAYS, ("departure_day", "origin")),
        (ORIGINS, ("origin",)),
        (ROWS, ()),
        (f"SELECT COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end;", ()),
        (f"SELECT window_end, COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end;", ("window_end",)),
        (f"SELECT window_end, COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end, origin;", ()),
        (f"SELECT origin, COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end, origin;", ()),
        ("SELECT UPPER(origin) AS o, SUM(delay) AS s FROM flights GROUP BY origin EMIT CHANGES;", ("o",)),
        ("SELECT DISTINCT origin FROM flights EMIT CHANGES;", ("origin",)),
        ("SELECT COUNT(*) AS n FROM flights EMIT CHANGES;", ()),
    ],
)
def test_keys_are_the_group_keys_that_survive(query: str, keys: tuple[str, ...]) -> None:
    assert facts(query).keys == keys


RANKED = """SELECT {} FROM (SELECT *, {}() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place FROM (
  SELECT window_start, window_end, origin, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY))
  GROUP BY window_start, window_end, origin)) WHERE place <= 2;"""


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (RANKED.format("window_start, window_end, origin, place, n", "RANK"), ("window_start", "window_end", "origin")),
        (
            RANKED.format("window_start, window_end, place, origin, n", "ROW_NUMBER"),
            ("window_start", "window_end", "origin"),
        ),
        (RANKED.format("window_start, window_end, place, n", "ROW_NUMBER"), ("window_start", "window_end", "place")),
        (RANKED.format("window_start, window_end, place, n", "RANK"), ()),
        (
            "SELECT *, SUM(n) OVER (ORDER BY origin) AS s FROM (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin);",
            ("origin",),
        ),
        ("SELECT origin, delay FROM flights EXCEPT SELECT origin, delay FROM flights WHERE delay > 5;", ()),
        (
            "SELECT n, id FROM (SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin) AS a JOIN flights AS b USING (origin);",
            (),
        ),
    ],
)
def test_what_is_ranked_keeps_its_keys(query: str, keys: tuple[str, ...]) -> None:
    assert facts(query).keys == keys


def test_directions_follow_the_aggregates() -> None:
    found = facts(
        "SELECT origin, COUNT(*) AS n, CAST(COUNT(*) AS INT) AS m, COUNT(DISTINCT delay) AS d, MAX(delay) AS hi, MIN(delay) AS lo,"
        " SUM(miles) AS s, AVG(miles) AS a, COUNT(*) - COUNT(delay) AS x, COUNT(delay) AS c, CAST(COUNT(*) AS VARCHAR) AS t,"
        " COUNT(*) FILTER (WHERE delay > 0) AS f"
        " FROM flights GROUP BY origin EMIT CHANGES;"
    )
    assert found.directions == {
        "origin": Direction.FREE, "n": Direction.ROWS, "m": Direction.ROWS, "d": Direction.DISTINCT, "hi": Direction.RISING,
        "lo": Direction.FALLING, "s": Direction.SUM, "a": Direction.FREE, "x": Direction.FREE,
        "c": Direction.COUNT, "t": Direction.FREE, "f": Direction.COUNT,
    }  # fmt: skip


HOP = "FROM TABLE(HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '6' HOUR))"


@pytest.mark.parametrize(
    ("query", "single", "copies"),
    [
        (ORIGINS, True, 1),
        (DAYS, True, 1),
        (f"SELECT window_end, COUNT(*) AS n {HOP} GROUP BY window_start, window_end;", True, 6),
        (f"SELECT n, COUNT(*) AS m FROM (SELECT COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end) GROUP BY n EMIT CHANGES;",
         False, 1),
        ("SELECT o, COUNT(*) AS n FROM flights CROSS JOIN UNNEST(ARRAY[origin, 'x']) AS w (o) GROUP BY o EMIT CHANGES;", False, 1),
        ("SELECT o, COUNT(*) AS n FROM (SELECT origin AS o FROM flights UNION ALL SELECT 'x' FROM flights) GROUP BY o EMIT CHANGES;",
         False, 1),
    ],
    ids=["changes", "windows", "windows that overlap", "aggregate of aggregates", "unnested", "union"],
)  # fmt: skip
def test_a_row_sent_again_counts_once_in_so_many_groups(query: str, single: bool, copies: int) -> None:
    found = facts(query)
    assert (found.single, found.copies) == (single, copies)


def test_time_and_its_step() -> None:
    assert (facts(DAYS).time, facts(DAYS).step_us, facts(DAYS).window_end) == (
        "departure_day",
        86_400_000_000,
        "window_end",
    )
    hourly = facts(f"SELECT window_start, COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end;")
    assert (hourly.time, hourly.step_us) == ("window_start", 3_600_000_000)
    assert facts(ORIGINS).time is None
    assert facts("SELECT id, ts FROM flights;").time == "ts"


def test_the_batch_job_carries_the_group_keys_through_having_and_select() -> None:
    query = f"SELECT COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end, origin HAVING COUNT(*) > 1;"
    program = load_text(TABLE + query, Path(), "q").program
    (sink,) = program.sinks
    carrying = batch_sink(sink)
    assert carrying.input.schema.names == ("n", *(f"{CARRIED}{name}" for name in lineage(sink).carried.names))
    assert CARRIED in spark_job(type(program)((carrying,)), Path())
    assert sink.input.schema.names == ("n",)


def test_rows_without_an_aggregate_carry_nothing() -> None:
    (sink,) = load_text(TABLE + ROWS, Path(), "q").program.sinks
    assert batch_sink(sink) is sink
    assert not any(isinstance(node, Aggregate) for node in (sink.input,))
    assert isinstance(sink.input, Project)


OTHERS = "SELECT id AS other, miles AS far, origin AS start FROM flights"


def join(kind: str, columns: str) -> str:
    """Flights beside flights."""
    return f"SELECT {columns} FROM flights AS a {kind} JOIN ({OTHERS}) AS b ON a.id = b.other;"


@pytest.mark.parametrize(
    ("kind", "columns", "matched", "padded"),
    [
        ("", "id, far", (), ()),
        ("LEFT SEMI", "id", (), ()),
        ("LEFT", "id, far AS f, start", ("other",), (Padded(("f", "start"), ("id",)),)),
        ("RIGHT", "id, far", ("id",), (Padded(("id",), ("far",)),)),
        ("FULL", "id, far", ("id", "other"), (Padded(("id",), ("far",)), Padded(("far",), ("id",)))),
        ("LEFT", "id", ("other",), ()),
        ("LEFT", "id, COALESCE(far, 0) AS far", ("other",), ()),
    ],
)
def test_a_row_without_a_match_is_known_by_its_nulls(
    kind: str, columns: str, matched: tuple[str, ...], padded: tuple[Padded, ...]
) -> None:
    found = facts(join(kind, columns))
    assert found.joined is not None
    assert set(found.joined.matched) == set(matched)
    assert set(found.joined.padded) == set(padded)
    assert set(matched) | {"id"} <= set(found.carried.names) | ({"id"} if kind == "RIGHT" else set())


@pytest.mark.parametrize(
    "query",
    [join("LEFT ANTI", "id"), "SELECT a.id, b.origin FROM flights a LEFT JOIN flights b ON a.id < b.id;", ROWS, DAYS],
)
def test_what_other_rows_have_lost_is_not_known_by_them(query: str) -> None:
    assert facts(query).joined is None


def test_each_join_is_found_in_the_component_that_makes_it() -> None:
    query = (
        TABLE
        + "SELECT a.id, b.delay, c.miles FROM flights a JOIN flights b ON a.id = b.id LEFT JOIN flights c ON a.origin = c.origin;"
    )
    job = load_text(query, Path(), "q", (("parallelism", "2"),))
    component, dealt = find_maker(job.program, job.topology, choose_sink(job.program))
    assert component == "join_by_origin"
    assert dealt == ("origin",)
    assert set(dealt) <= set(lineage(choose_sink(job.program)).carried.names)


@pytest.mark.parametrize(
    ("statements", "kind", "words"),
    [
        ("CREATE TABLE p (o VARCHAR) WITH ('connector' = 'print'); INSERT INTO p SELECT origin FROM flights;",
         NotSupported, "what connector 'print' has been given cannot be read back; end the query with a SELECT"),
        ("CREATE TABLE d (i BIGINT) WITH ('connector' = 'datagen'); SELECT i FROM d;",
         NotSupported, "has no end"),
        ("CREATE TABLE a (o VARCHAR) WITH ('connector' = 'file', 'path' = 'a', 'format' = 'parquet');"
         "INSERT INTO a SELECT origin FROM flights; INSERT INTO a SELECT UPPER(origin) FROM flights;",
         NotSupported, "table 'a' is written by several statements, .* write it by one INSERT INTO with UNION ALL"),
    ],
    ids=["sink", "endless source", "two statements"],
)  # fmt: skip
def test_what_cannot_be_reconciled_is_refused_before_the_run(
    statements: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        check(load_text(TABLE + statements, Path(), "q"))


def test_one_of_several_tables_has_to_be_chosen() -> None:
    into = "CREATE TABLE {0} (o VARCHAR) WITH ('connector' = 'file', 'path' = '{0}', 'format' = 'parquet');"
    both = "INSERT INTO a SELECT origin FROM flights; INSERT INTO b SELECT origin FROM flights;"
    job = load_text(TABLE + into.format("a") + into.format("b") + both, Path(), "q")
    with pytest.raises(QueryError, match="writes several tables; choose one of a, b with --table"):
        check(job)
    with pytest.raises(QueryError, match="no table 'c' is written; choose one of a, b"):
        check(job, "c")
    check(job, "b")


@pytest.mark.parametrize("span_days", [0, 1, 20, 365, 40_000, 10_000_000])
def test_slices_are_few_and_not_narrower_than_the_step(span_days: int) -> None:
    day = 86_400_000_000
    width = slice_width(span_days * day, day)
    assert width >= day
    assert span_days * day // width + 1 <= MOST_SLICES


BOTH = f"""
SELECT k, MAX(n) AS n FROM (
  SELECT origin AS k, window_start, COUNT(*) AS n {TUMBLE} GROUP BY window_start, window_end, origin
  UNION ALL
  SELECT 'all', window_start, COUNT(DISTINCT origin) {TUMBLE} GROUP BY window_start, window_end
) GROUP BY k EMIT CHANGES;
"""


@pytest.mark.parametrize("query", [DAYS, ORIGINS, ROWS, BOTH], ids=["windows", "changes", "rows", "three"])
def test_each_aggregate_is_found_in_the_component_that_computes_it(query: str) -> None:
    job = load_text(TABLE + query, Path(), "q", (("parallelism", "2"),))
    pairs = [
        (made.aggregate if isinstance(made, FinalAggregate) else made, node)
        for _, made, node in by_component(job.program, job.topology)
    ]
    assert len(pairs) == query.count("GROUP BY")
    assert all(
        isinstance(made, Aggregate) and made.keys == node.keys for made, node in pairs if isinstance(node, Aggregate)
    )
