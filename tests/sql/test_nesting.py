"""What is long or nested: chains of thousands run, and what is too deep for that is refused in words of its own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.depth import MOST_LEVELS, room_for_depth
from ouzel.compiler.sql.queries.group_keys import has_aggregate
from ouzel.compiler.sql.syntax.nesting import MOST_VALUES
from ouzel.compiler.sql.syntax.queries import parse_expression
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import QueryError
from ouzel.explain import explain
from ouzel.session import Job, load_text
from ouzel.spark.batch.run import batch_run
from tests.law.engines import folded, run_to_end

ROWS = [{"id": n, "b": n, "s": f"v{n}", "p": n > 2} for n in range(5)]


def loaded(directory: Path, items: str, views: str = "") -> Job:
    pl.DataFrame(ROWS).write_ndjson(directory / "t.jsonl")
    table = "CREATE TABLE t (id BIGINT, b INT, s STRING, p BOOLEAN) WITH ('connector' = 'file', 'path' = 't.jsonl', 'format' = 'json');"
    return load_text(f"{table}\n{views}\nSELECT {items};", directory, "nested")


def answer(job: Job) -> pl.DataFrame:
    return folded(job, run_to_end(job, "memory")[0]).sort("id")


def test_a_chain_is_no_recursion_to_who_looks_for_aggregates() -> None:
    source = QueryText("COUNT(*) > 1" + "".join(f" OR a = {n}" for n in range(3_500)))
    tree = parse_expression(source, source.tokens())
    with room_for_depth():
        assert has_aggregate(tree, source.functions)


@pytest.mark.parametrize("length", [300, pytest.param(3000, marks=pytest.mark.whole)])
def test_long_chains_run(tmp_path: Path, length: int) -> None:
    many = range(length)
    chains = (
        " OR ".join(f"b = {n + 3}" for n in many),
        " OR ".join(f"(b = {n + 3} AND s = 'v{n + 3}')" for n in many),
        "s || 'x' = " + "s" + " || ''" * length + " || 'x'",
        f"b IN ({', '.join(str(n + 3) for n in range(10_000))})",
        f"s NOT IN ({', '.join(repr(f'v{n + 3}') for n in range(1_000))})",
    )
    named = ", ".join(f"{chain} AS c{number}" for number, chain in enumerate(chains))
    job = loaded(tmp_path, f"id, {named} FROM t WHERE {' AND '.join(f'b <> {n + 4}' for n in many)}")
    rows = [(n, n > 2, n > 2, True, n > 2, n < 3) for n in range(4)]
    assert answer(job).rows() == rows
    text = batch_run(job).text()
    assert compile(text, "job", "exec")
    assert "... 9980 more" in explain(job.program, job.topology, job.packing, width=400)


@pytest.mark.parametrize(
    "condition",
    [
        "(" * (MOST_LEVELS - 2) + "b >= 3" + ")" * (MOST_LEVELS - 2),
        "3 <= b" + " + 0" * (MOST_LEVELS - 5),
        "CASE WHEN b < 3 THEN FALSE ELSE " * 40 + "TRUE" + " END" * 40,
        "NOT " * (MOST_LEVELS - 6) + "b >= 3",
    ],
    ids=["parentheses", "sum", "case", "not"],
)
def test_what_is_as_deep_as_may_be_runs(tmp_path: Path, condition: str) -> None:
    job = loaded(tmp_path, f"id FROM t WHERE {condition}")
    assert answer(job)["id"].to_list() == [3, 4]
    assert compile(batch_run(job).text(), "job", "exec")


def test_views_upon_views_run(tmp_path: Path) -> None:
    steps = [f"CREATE VIEW v{n} AS SELECT id, b + 1 AS b FROM {f'v{n - 1}' if n else 't'};" for n in range(60)]
    job = loaded(tmp_path, "id, b FROM v59", "\n".join(steps))
    assert answer(job)["b"].to_list() == [60, 61, 62, 63, 64]
    assert compile(batch_run(job).text(), "job", "exec")


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("(" * 1000 + "b = 1" + ")" * 1000, "nested more than 100 levels deep"),
        ("0 < b" + " + b" * 20_000, "nested more than 100 levels deep"),
        ("NOT " * 500 + "p", "nested more than 100 levels deep"),
        ("CASE WHEN p THEN p ELSE " * 300 + "p" + " END" * 300, "nested more than 100 levels deep"),
        ("COALESCE(p, " * 300 + "p" + ")" * 300, "nested more than 100 levels deep"),
        (f"b IN ({', '.join(map(str, range(MOST_VALUES + 1)))})", f"IN has more than {MOST_VALUES} values"),
    ],
    ids=["parentheses", "sum", "not", "case", "calls", "values"],
)
def test_what_is_too_deep_says_so(tmp_path: Path, condition: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem) as refused:
        loaded(tmp_path, f"id FROM t WHERE {condition}")
    assert refused.value.at >= 0
    assert refused.value.instead


def test_too_many_views_upon_views_say_so(tmp_path: Path) -> None:
    steps = [f"CREATE VIEW v{n} AS SELECT id, b + 1 AS b FROM {f'v{n - 1}' if n else 't'};" for n in range(400)]
    with pytest.raises(QueryError, match="too deep"):
        loaded(tmp_path, "id, b FROM v399", "\n".join(steps))
