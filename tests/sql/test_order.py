"""ORDER BY of a result that is all columns of a table."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.session import load
from tests.law.engines import folded, run_to_end

TABLE = "CREATE TABLE t (x INT, y VARCHAR) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv', 'csv.header' = 'true');\n"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM t ORDER BY x DESC", [(3, "a"), (2, "b"), (1, "c")]),
        ("SELECT *, x * 2 AS twice FROM t ORDER BY y DESC, x LIMIT 2", [(1, "c", 2), (2, "b", 4)]),
        ("SELECT * FROM t ORDER BY -x LIMIT 1", [(3, "a")]),
    ],
)
def test_a_star_has_what_it_is_ordered_by(tmp_path: Path, query: str, expected: list[tuple[object, ...]]) -> None:
    pl.DataFrame({"x": [2, 3, 1], "y": ["b", "a", "c"]}).write_csv(tmp_path / "t.csv")
    (tmp_path / "q.sql").write_text(f"{TABLE}{query};")
    job = load(tmp_path / "q.sql")
    rows = folded(job, run_to_end(job, "memory")[0])
    assert sorted(rows.rows(), key=str) == sorted(expected, key=str)
    assert job.program.result is not None
    assert bool(job.program.result.sorted_by) == ("-x" not in query), "what is not shown orders nothing on the screen"
