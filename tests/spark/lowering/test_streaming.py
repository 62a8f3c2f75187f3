"""Streaming queries: their output modes, what is left for each micro-batch, and what is refused before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel import Source
from ouzel.cli.main import app
from ouzel.errors import NotSupported
from ouzel.session import load_text
from ouzel.spark.lowering.streaming import OutputMode, StreamingQuery, streaming_queries
from tests.dsl.verbs import Reading, write_inputs

TABLES = """
CREATE TABLE events (
  id BIGINT, ts TIMESTAMP(3), kind VARCHAR, amount DOUBLE, price DECIMAL(30, 2), labels MAP<VARCHAR, VARCHAR>,
  share AS 100 / COALESCE(id, 0),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'file', 'path' = 'events.parquet', 'format' = 'parquet');
CREATE TABLE words (word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.txt', 'format' = 'raw');
"""

MINUTES = "FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"


def queries(text: str) -> tuple[StreamingQuery, ...]:
    return streaming_queries(load_text(TABLES + text, Path("/data"), "asked").program, Path("/data"), "asked")


def query(text: str) -> StreamingQuery:
    (made,) = queries(text)
    return made


@pytest.mark.parametrize(
    ("text", "mode", "keys"),
    [
        ("SELECT word FROM words WHERE word > 'm';", "append", ()),
        ("SELECT DISTINCT word FROM words;", "append", ()),
        ("SELECT DISTINCT word FROM words UNION ALL SELECT kind FROM events;", "append", ()),
        (f"SELECT window_start, COUNT(*) AS n {MINUTES};", "append", ()),
        (f"SELECT window_start, COUNT(*) AS n {MINUTES} HAVING COUNT(*) > 3;", "append", ()),
        ("SELECT word, COUNT(*) AS n FROM words GROUP BY word;", "update", ("word",)),
        ("SELECT COUNT(*) AS n, word AS what FROM words GROUP BY word;", "update", ("what",)),
        ("SELECT COUNT(*) AS n FROM words;", "update", ()),
        (f"SELECT window_start, window_end AS e, COUNT(*) AS n {MINUTES} EMIT CHANGES;", "update", ("window_start", "e")),
        (f"SELECT window_start, COUNT(*) AS n {MINUTES} EMIT CHANGES;", "complete", ()),
        ("SELECT UPPER(word) AS big, COUNT(*) AS n FROM words GROUP BY word;", "complete", ()),
        ("SELECT word, COUNT(*) AS n FROM words GROUP BY word HAVING COUNT(*) > 3;", "complete", ()),
        ("SELECT COUNT(*) AS n FROM (SELECT DISTINCT word FROM words) AS w;", "complete", ()),
    ],
)  # fmt: skip
def test_a_query_is_in_the_mode_that_keeps_least(text: str, mode: str, keys: tuple[str, ...]) -> None:
    made = query(text)
    assert (made.mode.value, made.keys) == (mode, keys)
    assert bool(made.after) == (made.mode is OutputMode.COMPLETE)
    compile(made.text, "text", "exec")
    compile(made.after, "after", "exec")


def test_what_comes_after_the_lowest_aggregate_is_left_to_the_micro_batch() -> None:
    made = query(
        "SELECT n, COUNT(*) AS words FROM (SELECT word, COUNT(*) AS n FROM words GROUP BY word) AS c GROUP BY n;"
    )
    assert made.text.count(".groupBy(") == made.after.count(".groupBy(") == 1
    assert '.groupBy("word")' in made.text
    assert '.groupBy("n")' in made.after
    assert made.after.startswith("def finish(batch):\n    ")
    assert made.after.endswith("    return result\n")


def test_several_aggregates_are_one_of_what_they_read_together() -> None:
    made = query(
        "SELECT kind, COUNT(*) AS n FROM events GROUP BY kind UNION ALL SELECT word, COUNT(*) FROM words GROUP BY word;"
    )
    assert made.mode is OutputMode.COMPLETE
    assert made.text.count(".groupBy(") == 1
    assert '.groupBy("`$branch`", "`0$kind`", "`1$word`")' in made.text
    assert made.after.count('.where(F.col("$branch") == ') == 2


def test_one_query_for_each_sink_reads_no_more_than_it_needs() -> None:
    sinks = "".join(
        f"CREATE TABLE {name} (k VARCHAR, n BIGINT) WITH ('connector' = 'blackhole');\n" for name in ("here", "there")
    )
    made = queries(
        f"{sinks} INSERT INTO here SELECT kind, id FROM events; INSERT INTO there SELECT word, CHAR_LENGTH(word) FROM words;"
    )
    assert [(each.sink.table, each.frame) for each in made] == [("here", "here"), ("there", "there")]
    assert ["words" in each.text for each in made] == [False, True]


def test_the_end_of_a_table_moves_time_beyond_all_windows() -> None:
    text = query(f"SELECT window_start, COUNT(*) AS n, MAX(share) AS most {MINUTES};").text
    end, mark, gone = (
        text.index(part) for part in ('end_mark="$end"', '.withWatermark("`$time`"', '.drop("$time", "$end")')
    )
    assert end < mark < gone
    assert 'F.when(F.col("`$end`"), F.lit(None)' in text, "what a table computes is not computed of the end mark"
    assert '"$end"' not in query("SELECT kind, COUNT(*) AS n FROM events GROUP BY kind;").text


LOG = "CREATE TABLE log (kind VARCHAR, n BIGINT) WITH ('connector' = 'file', 'path' = 'log.jsonl', 'format' = 'debezium-json');"
TWICE = "FROM events AS a JOIN events AS b ON a.kind = b.kind"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"SELECT a.id, b.amount {TWICE};", None),
        (f"SELECT a.id, b.amount {TWICE} AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' MINUTE;", "forgets by the watermark"),
        (f"SELECT a.id, b.amount {TWICE.replace('JOIN', 'LEFT JOIN')};", "inner ones alone"),
        ("SELECT word FROM words WHERE word IN (SELECT kind FROM events);", "inner ones alone"),
        ("SELECT /*+ BROADCAST(words) */ kind FROM events JOIN words ON kind = word;", None),
        ("SELECT /*+ BROADCAST(words) */ kind FROM events LEFT ANTI JOIN words ON kind = word;", None),
        ("SELECT kind, n FROM (SELECT kind, COUNT(*) AS n FROM events GROUP BY kind) ORDER BY n DESC LIMIT 3;", "no first rows"),
        ("SELECT word FROM words EXCEPT SELECT kind FROM events;", "INTERSECT and EXCEPT"),
        ("SELECT kind, SUM(amount) OVER (PARTITION BY kind ORDER BY ts) AS total FROM events;", "no windows over rows"),
        ("SELECT kind, id AS n FROM events UNION ALL SELECT kind, COUNT(*) FROM events GROUP BY kind;", "one output mode"),
        (f"CREATE VIEW minutes AS SELECT COUNT(*) AS n {MINUTES}; SELECT MAX(n) AS busiest FROM minutes;", "one output mode"),
        ("SELECT kind, SUM(DISTINCT price) AS total FROM events GROUP BY kind;", "one output mode"),
        (f"SELECT SUM(DISTINCT price) AS total {MINUTES};", "would lose digits"),
        (f"SELECT COUNT(*) AS n {MINUTES} EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' HOUR;", "no rows of a window that has closed"),
        (f"{LOG} SELECT kind, COUNT(*) AS n FROM log GROUP BY kind;", "takes no rows back"),
        (f"{LOG} SELECT id FROM events WHERE id > (SELECT MAX(n) FROM log);", "inner ones alone"),
    ],
)  # fmt: skip
def test_what_spark_has_not_our_operators_do_and_the_query_says_why(text: str, why: str | None) -> None:
    made = query(text)
    compile(made.functions + made.text, "text", "exec")
    assert made.mode is OutputMode.APPEND
    assert bool(made.ours) == bool(why)
    if why is not None:
        assert any(why in reason for reason in made.ours.values()), made.ours
        assert "in_state(" in made.text


LATE_TABLE = "CREATE TABLE late (kind VARCHAR, id INT) WITH ('connector' = 'print');"


def test_a_statement_and_its_late_rows_are_one_query_that_reads_each_table_once() -> None:
    counted = f"SELECT COUNT(*) AS n {MINUTES} EMIT AFTER WATERMARK LATE INTO late"
    written = "CREATE TABLE other (n BIGINT) WITH ('connector' = 'print'); INSERT INTO other SELECT id FROM events;"
    other, made = queries(f"{LATE_TABLE.replace('INT', 'BIGINT')} {written} {counted};")
    assert (other.sink.table, other.late) == ("other", None)
    assert made.late is not None
    assert (made.sink.table, made.late.table, made.mode) == ("result", "late", OutputMode.APPEND)
    compile(made.functions + made.text, "text", "exec")
    assert (made.text.count("read_stream("), made.text.count("in_state(")) == (1, 2)
    assert all(name in made.text for name in ('"0$n"', '"1$kind"', '"1$id"'))
    assert any("gives none of them away" in why for why in made.ours.values())


@pytest.mark.parametrize(
    ("text", "operator", "why"),
    [
        (f"SELECT a.id, b.amount {TWICE.replace('JOIN', 'LEFT JOIN')};", "Join LEFT on kind", "has inner ones alone"),
        ("SELECT SUM(amount) OVER (PARTITION BY kind ORDER BY ts) AS total FROM events;", "Over (PARTITION BY", "no windows over"),
    ],
)  # fmt: skip
def test_explain_says_which_operators_are_ours_and_why(tmp_path: Path, text: str, operator: str, why: str) -> None:
    (tmp_path / "asked.sql").write_text(TABLES + text)
    done = CliRunner().invoke(app, ["explain", "--engine", "spark", str(tmp_path / "asked.sql")])
    said = " ".join(done.output.split("# asked:")[0].split())
    assert done.exit_code == 0
    assert "in Spark's append mode" in said
    assert operator in said
    assert why in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "CREATE TABLE here (id BIGINT) WITH ('connector' = 'memory', 'name' = 'here'); SELECT id FROM here;",
            "table 'here': Structured Streaming cannot read connector 'memory', which lives in one process; use 'file', or --engine heron",
        ),
        (
            "CREATE TABLE queue (id BIGINT) WITH ('connector' = 'kestrel', 'servers' = 'a:1', 'queue' = 'q', 'format' = 'json'); "
            "SELECT id FROM queue;",
            "table 'queue': Structured Streaming goes by offsets, and connector 'kestrel' is acknowledged item by item; "
            "run it on --engine heron",
        ),
    ],
)  # fmt: skip
def test_what_spark_cannot_run_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(NotSupported) as refused:
        queries(text)
    assert str(refused.value) == said


def test_event_time_above_an_operator_of_ours_is_refused(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    read = Source.file(str(tmp_path / "readings.parquet"), Reading, format="parquet")
    joined = read.sql("SELECT a.at, b.value FROM this AS a LEFT JOIN this AS b ON a.place = b.place").event_time("at")
    window = "TABLE(TUMBLE(TABLE this, DESCRIPTOR(event_time), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
    job = joined.sql(f"SELECT window_start, COUNT(*) AS n FROM {window} EMIT AFTER WATERMARK").job()
    with pytest.raises(NotSupported, match="would not hear of the end of its tables; declare the time of its tables"):
        streaming_queries(job.program, job.directory, "joined")
