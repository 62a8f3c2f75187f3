"""EXPLAIN STATE, and the warning of state that grows for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.plan import UNBOUNDED
from ouzel.errors import NotSupported
from ouzel.explain import explain, explain_json
from ouzel.explain.state import WAYS_OUT, list_growing, warn_of_growth
from ouzel.session import load_text

TABLES = """
CREATE TABLE a (id BIGINT, kind VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'a.json', 'format' = 'json');
CREATE TABLE b (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'file', 'path' = 'b.json', 'format' = 'json');
"""
GROWING = {
    "groups": "SELECT kind, COUNT(*) AS n FROM a GROUP BY kind",
    "combined": "SELECT /*+ GROUPING('a' = 'partial-key') */ kind, COUNT(*) AS n FROM a GROUP BY kind",
    "join": "SELECT a.id FROM a JOIN b ON a.id = b.id",
    "over": "SELECT id, SUM(id) OVER (PARTITION BY kind) AS n FROM a",
    "top": "SELECT id FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY kind ORDER BY id) = 1",
    "sets": "SELECT id FROM a EXCEPT SELECT id FROM b",
}


@pytest.mark.parametrize("query", GROWING.values(), ids=GROWING)
def test_what_grows_for_ever_is_told_with_three_ways_out(query: str) -> None:
    job = load_text(f"{TABLES}{query};", Path(), "q")
    page = explain(job.program, job.topology, job.packing, ("state",))
    ((_, node),) = list_growing(job.topology)
    assert f"{UNBOUNDED}: it grows as long as its input does" in page
    assert page.count("way out") == len(WAYS_OUT[type(node)]) == 3
    (text,) = warn_of_growth(job.topology, frozenset({"a"}))
    assert text.startswith("the state of ")
    assert "grows as long as a does: " in text
    assert not list(warn_of_growth(job.topology, frozenset())), "a table that ends is no reason to warn"


def test_what_time_bounds_is_told_with_its_key_and_bound() -> None:
    text = """EXPLAIN STATE SELECT window_start, kind, COUNT(*) AS n FROM TUMBLE(a, ts, INTERVAL '1' HOUR)
      GROUP BY window_start, window_end, kind EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' MINUTE;"""
    job = load_text(TABLES + text, Path(), "q", (("parallelism", "2"),))
    assert job.program.explain == ("state",)
    (told,) = explain_json(job.program, job.topology, job.packing, ("state",))["state"]
    assert told == {
        "component": "count_by_kind",
        "operator": told["operator"],
        "keeps": "windows open or closed for less than 60 s x keys",
        "by": "kind",
        "tasks": 2,
        "bounded": True,
        "ways_out": [],
    }
    assert "bounded  yes" in explain(job.program, job.topology, job.packing, ("state",))


FORGETTING = {
    "groups": "SELECT /*+ STATE_TTL('a' = '1 h') */ kind, COUNT(*) AS n FROM a GROUP BY kind",
    "distinct": "SELECT /*+ STATE_TTL('a' = '1 h') */ DISTINCT kind FROM a",
    "over": "SELECT /*+ STATE_TTL('a' = '1 h') */ id, SUM(id) OVER (PARTITION BY kind) AS n FROM a",
    "top": "SELECT /*+ STATE_TTL('x' = '1 h') */ id FROM a AS x QUALIFY ROW_NUMBER() OVER (PARTITION BY kind ORDER BY id) = 1",
    "setting": "SET 'table.exec.state.ttl' = '1 h'; SELECT kind, COUNT(*) AS n FROM a GROUP BY kind",
}


@pytest.mark.parametrize("query", FORGETTING.values(), ids=FORGETTING)
def test_what_a_time_to_live_bounds_does_not_grow(query: str) -> None:
    job = load_text(f"{TABLES}{query};", Path(), "q")
    told = explain_json(job.program, job.topology, job.packing, ("state",))["state"]
    assert [row["bounded"] for row in told] == [True, True]
    assert all(row["keeps"].endswith("until it has had no row for 3600 s") for row in told)


def test_a_time_to_live_for_all_must_bound_all() -> None:
    text = f"{TABLES}SELECT n, COUNT(*) AS m FROM (SELECT kind, COUNT(*) AS n FROM a GROUP BY kind) AS t GROUP BY n;"
    with pytest.raises(NotSupported) as caught:
        load_text(text, Path(), "q", [("state.ttl", "1 h")])
    assert str(caught.value).startswith("'state.ttl' = '1 h' cannot bound Aggregate by (n): ")
    assert "write /*+ STATE_TTL('table' = '1d') */ into each SELECT that can forget" in str(caught.value)
    load_text(text, Path(), "q", [("state.ttl", "0 ms")])
