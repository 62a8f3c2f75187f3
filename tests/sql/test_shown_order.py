"""A result is shown in the order of what is selected, however the query spells it."""

from __future__ import annotations

import pytest

import ouzel

ROWS = "CREATE VIEW r AS SELECT * FROM (VALUES ('b', 1), ('a', 2), ('b', 3), ('c', 4)) AS t (k, n);"


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("SELECT q.k FROM r AS q ORDER BY q.k", ["a", "b", "b", "c"]),
        ("SELECT q.k, COUNT(*) AS m FROM r AS q GROUP BY q.k ORDER BY q.k DESC", ["c", "b", "a"]),
        ("SELECT k, COUNT(*) AS m FROM r GROUP BY k ORDER BY COUNT(*) DESC, k", ["b", "a", "c"]),
        ("SELECT UPPER(k) AS u FROM r ORDER BY UPPER(k)", ["A", "B", "B", "C"]),
        ("SELECT DISTINCT q.k FROM r AS q ORDER BY q.k DESC", ["c", "b", "a"]),
        ("SELECT q.k FROM r AS q ORDER BY q.k LIMIT 3", ["a", "b", "b"]),
        ("SELECT UPPER(k) AS u FROM r ORDER BY UPPER(k) DESC LIMIT 3", ["C", "B", "B"]),
        ("SELECT q.k FROM r AS q JOIN r AS p ON q.n = p.n ORDER BY q.k, p.k LIMIT 2", ["a", "b"]),
    ],
)
def test_what_is_selected_is_ordered_by_as_it_is_written(query: str, answer: list[str]) -> None:
    assert ouzel.table(f"{ROWS}{query};", engine="memory").to_series().to_list() == answer


def test_what_is_not_selected_is_refused() -> None:
    with pytest.raises(ouzel.QueryError, match="select what it is ordered by, or add LIMIT"):
        ouzel.query(f"{ROWS}SELECT q.k FROM r AS q ORDER BY q.n;")
