"""Results of tables that never end: in an order they are refused, and of their first rows it is said that they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.errors import NotSupported
from ouzel.planner.endless import say_first_rows_change
from ouzel.session import Job, load_text, start

ENDLESS = "CREATE TABLE g (n INT, k INT) WITH ('connector' = 'datagen'{more});\n"
COUNTED = ENDLESS.format(more=", 'rows' = '5'")


def job(query: str, tables: str = ENDLESS.format(more="")) -> Job:
    """The query over `g`."""
    return load_text(tables + query, Path(), "q")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT n FROM g ORDER BY n;",
        "SELECT k, COUNT(*) AS c FROM g GROUP BY k ORDER BY c DESC;",
        "WITH w AS (SELECT n FROM g LIMIT 3) SELECT g.n FROM g JOIN w ON g.n = w.n ORDER BY n;",
        "SELECT n FROM g UNION ALL SELECT 1 ORDER BY n;",
    ],
)
@pytest.mark.parametrize("engine", ["memory", "heron", "spark"])
def test_an_order_of_what_never_ends_is_refused_before_anything_starts(query: str, engine: str) -> None:
    with pytest.raises(NotSupported) as caught:
        start(job(query), engine)
    error = caught.value
    assert error.text[error.at :][: error.length] == "ORDER BY"
    assert (
        str(error)
        .splitlines()[0]
        .endswith(
            "ORDER BY of rows that never end is not supported: table g has no end, so no row is ever known to be the first; "
            "add LIMIT 10, leave ORDER BY out, or give the table an end"
        )
    )


def test_an_order_of_what_ends_is_shown() -> None:
    handle = start(job("SELECT n FROM g ORDER BY n;", COUNTED), "memory")
    while not handle.wait(1):
        pass
    assert handle.stop().rows_out == 5


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("SELECT n FROM g LIMIT 3;", "by the values of their columns, for there is no ORDER BY"),
        ("SELECT n FROM g ORDER BY k FETCH FIRST 3 ROWS ONLY;", "in the order of ORDER BY"),
    ],
)
def test_first_rows_of_what_never_ends_are_said_to_change(query: str, order: str) -> None:
    (told,) = say_first_rows_change(job(query).program)
    assert f"table g has no end, and rows that come before them, {order}, may always come" in told
    assert told.splitlines()[-1].strip("^ ") == ""


@pytest.mark.parametrize(
    "query", ["SELECT n FROM g;", "SELECT k, (SELECT MAX(n) FROM (SELECT n FROM g LIMIT 3) AS f) AS m FROM g;"]
)
def test_other_rows_are_not(query: str) -> None:
    assert not list(say_first_rows_change(job(query).program))


def test_first_rows_of_what_ends_are_not() -> None:
    assert not list(say_first_rows_change(job("SELECT n FROM g LIMIT 3;", COUNTED).program))


def test_no_rows_of_what_never_ends_are_there_at_once() -> None:
    handle = start(job("SELECT n, k + 1 AS m FROM g LIMIT 0;"), "memory")
    while not handle.wait(1):
        pass
    assert handle.stop().rows_out == 0
