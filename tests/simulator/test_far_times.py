"""Times that Python has none for, after the year 9999: rows of a run hold them as text, and no row is lost for them."""

from __future__ import annotations

import datetime as dt

import ouzel

QUERY = """SELECT n, TIMESTAMP '9999-12-31 23:00:00' + n * INTERVAL '1' HOUR AS at, DATE '9999-12-31' + INTERVAL '1' DAY AS day
FROM (VALUES (0), (2)) AS t (n);"""


def test_rows_of_a_run_hold_far_times_as_text() -> None:
    with ouzel.start(QUERY, "memory") as run:
        rows = sorted(run, key=lambda row: row["n"])
    assert [row["at"] for row in rows] == [dt.datetime(9999, 12, 31, 23), "+10000-01-01 01:00:00"]
    assert [row["day"] for row in rows] == ["+10000-01-01", "+10000-01-01"]
