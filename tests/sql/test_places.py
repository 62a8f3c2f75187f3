"""What the planner says of a hint or a setting points at where that was written; of what the command line says, it points nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.errors import QueryError
from ouzel.session import load_text

TABLE = "CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen', 'rows' = '1');\n"


@pytest.mark.parametrize(
    ("query", "underlined"),
    [
        ("SELECT /*+ PARALLELISM('s' = '4') */ k FROM t;", "'s' = '4'"),
        ("SELECT /*+ GROUPING('s' = 'shuffle') */ k FROM t;", "'s' = 'shuffle'"),
        ("SELECT /*+ GROUPING('count_by_k' = 'shuffle') */ k, COUNT(*) AS n FROM t GROUP BY k;", "'count_by_k' = 'shuffle'"),
        ("SELECT /*+ PARALLELISM('count_all' = '2') */ COUNT(*) AS n FROM t;", "'count_all' = '2'"),
        ("SET 'paralellism' = '2'; SELECT k FROM t;", "'paralellism' = '2'"),
        ("SET 'parallelism' = 'two'; SELECT k FROM t;", "'parallelism' = 'two'"),
    ],
)  # fmt: skip
def test_the_planner_points_at_what_was_written(query: str, underlined: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError) as caught:
        load_text(TABLE + query, tmp_path, "q")
    error = caught.value
    assert error.text[error.at : error.at + error.length] == underlined


def test_a_setting_of_the_command_line_has_no_place(tmp_path: Path) -> None:
    with pytest.raises(QueryError) as caught:
        load_text(f"SET 'parallelism' = '2';\n{TABLE}SELECT k FROM t;", tmp_path, "q", [("parallelism", "two")])
    assert caught.value.at == -1
