"""A run that has read a table whole is not compared over another content of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.errors import QueryError
from ouzel.reconcile.comparing.holding import check_sources
from ouzel.reconcile.recording.record import read_record
from ouzel.reconcile.recording.recorder import record_run
from ouzel.session import load_text

QUERY = """
CREATE TABLE flights (id BIGINT, origin VARCHAR)
WITH ('connector' = 'file', 'path' = 'flights.csv', 'format' = 'csv', 'csv.header' = 'true');
CREATE TABLE airports (code VARCHAR, city VARCHAR)
WITH ('connector' = 'file', 'path' = 'airports*.csv', 'format' = 'csv', 'csv.header' = 'true');
SELECT /*+ BROADCAST(a) */ id, city FROM flights AS f LEFT JOIN airports AS a ON f.origin = a.code;
"""


def test_a_side_table_that_has_changed_since_the_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "flights.csv").write_text("id,origin\n1,JFK\n2,LGA\n")
    airports, more = tmp_path / "airports.csv", tmp_path / "airports-more.csv"
    airports.write_text("code,city\nJFK,New York\n")
    job = load_text(QUERY, tmp_path, "placed")
    record_run(job, "memory", tmp_path / "record")
    record, (sink,) = read_record(tmp_path / "record"), job.program.sinks
    check_sources(sink, record)
    more.write_text("code,city\nLGA,New York\n")
    airports.write_text("code,city\nJFK,Newark\n")
    told = rf"the input is not what the run has read: {more} was added since the run began, {airports} was edited since"
    with pytest.raises(QueryError, match=told):
        check_sources(sink, record)
    more.unlink()
    airports.unlink()
    with pytest.raises(QueryError, match=rf"{airports} is gone since the run began"):
        check_sources(sink, record)
