"""Which joins read a small table whole without a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.plan import Join, Project, SideJoin, walk
from ouzel.planner.small_tables import SMALL_BYTES
from ouzel.session import load_text

TABLES = """
CREATE TABLE s (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 's', 'format' = 'json', 'follow' = 'true');
CREATE TABLE ended (k INT, v INT) WITH ('connector' = 'file', 'path' = 'small.csv', 'format' = 'csv');
CREATE TABLE small (k INT, name VARCHAR) WITH ('connector' = 'file', 'path' = 'small.csv', 'format' = 'csv');
CREATE TABLE absent (k INT, name VARCHAR) WITH ('connector' = 'file', 'path' = 'absent.csv', 'format' = 'csv');
CREATE TABLE large (k INT, name VARCHAR) WITH ('connector' = 'file', 'path' = 'large.csv, small.csv', 'format' = 'csv');
CREATE TABLE packed (k INT, name VARCHAR) WITH ('connector' = 'file', 'path' = 'small.csv.gz', 'format' = 'csv');
CREATE TABLE lenient (k INT, name VARCHAR)
WITH ('connector' = 'file', 'path' = 'small.csv', 'format' = 'csv', 'bad.record' = 'skip');
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("small")
    (made / "small.csv").write_text("k,name\n1,a\n")
    (made / "small.csv.gz").write_bytes(b"")
    with (made / "large.csv").open("wb") as file:
        file.truncate(SMALL_BYTES)
    return made


def join_of(query: str, folder: Path, *settings: tuple[str, str]) -> Join:
    program = load_text(TABLES + query, folder, "query", settings).program
    (join,) = (node for node in walk(program.sinks[-1]) if isinstance(node, Join))
    return join


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s.v, small.name FROM s JOIN small ON s.k = small.k",
        "SELECT s.v, small.name FROM s, small WHERE s.k = small.k AND s.v > 3",
        "SELECT v FROM s WHERE k IN (SELECT k FROM small)",
        "SELECT a.n, small.name FROM (SELECT k, COUNT(*) AS n FROM s GROUP BY k) AS a JOIN small ON a.k = small.k",
    ],
)
def test_a_stream_without_end_meets_a_small_table_where_it_is(query: str, folder: Path) -> None:
    join = join_of(query, folder)
    assert isinstance(join, SideJoin)
    assert join.tables == ("small",)
    assert not join.asked


def test_a_small_table_on_the_left_is_read_whole_too_and_columns_stay_in_order(folder: Path) -> None:
    program = load_text(f"{TABLES}SELECT * FROM small JOIN s ON s.k = small.k", folder, "query").program
    (side,) = (node for node in walk(program.sinks[-1]) if isinstance(node, SideJoin))
    (above,) = (node for node in walk(program.sinks[-1]) if isinstance(node, Project) and node.input is side)
    assert side.tables == ("small",)
    assert above.schema.names[:2] == ("k", "name")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ended.v, small.name FROM ended JOIN small ON ended.k = small.k",
        "SELECT s.v, small.name FROM s LEFT JOIN small ON s.k = small.k",
        "SELECT small.name FROM small SEMI JOIN s ON s.k = small.k",
        "SELECT s.v, absent.name FROM s JOIN absent ON s.k = absent.k",
        "SELECT s.v, large.name FROM s JOIN large ON s.k = large.k",
        "SELECT s.v, packed.name FROM s JOIN packed ON s.k = packed.k",
        "SELECT s.v, lenient.name FROM s JOIN lenient ON s.k = lenient.k",
        "SELECT /*+ PARALLELISM('small'='2') */ s.v, small.name FROM s JOIN small ON s.k = small.k",
        "SELECT s.v, q.n FROM s JOIN (SELECT k, COUNT(*) AS n FROM small GROUP BY k) AS q ON s.k = q.k",
        "SELECT s.v, q.n FROM s JOIN (SELECT 1 / k AS n FROM small) AS q ON s.k = q.n",
        "SELECT a.v, b.v AS w FROM s AS a JOIN s AS b ON a.k = b.k",
    ],
)
def test_what_is_not_known_to_be_small_and_to_give_the_same_is_sent_by_key(query: str, folder: Path) -> None:
    assert not isinstance(join_of(query, folder), SideJoin)


def test_where_rows_may_be_left_out_each_join_leaves_them_out_itself(folder: Path) -> None:
    query = "SELECT s.v, small.name FROM s JOIN small ON s.k = small.k"
    assert not isinstance(join_of(query, folder, ("error.policy", "skip")), SideJoin)
