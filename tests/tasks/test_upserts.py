"""Where an upsert sink's key is an aggregate's own, the rows that new rows replace are never made; elsewhere they must be."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import Aggregate, FinalAggregate, Sink
from ouzel.connectors import memory
from ouzel.planner.settings import Settings
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.operators.result_table import ResultTable
from ouzel.session import load_text, start
from tests.operators.nodes import one_stream

WORDS = """
CREATE TABLE words (word VARCHAR, size BIGINT) WITH ('connector' = 'datagen', 'rows' = '5000', 'seed' = '7',
  'fields.word.cardinality' = '50', 'fields.size.min' = '0', 'fields.size.max' = '9');
CREATE TABLE counts (w VARCHAR, n BIGINT, PRIMARY KEY (w{more}) NOT ENFORCED) WITH ('connector' = 'memory', 'name' = '{name}');
INSERT INTO counts {query}
"""

CASES = {
    "plain": ("SELECT word, COUNT(*) FROM words GROUP BY word", "", True),
    "computed": ("SELECT word AS w, SUM(size) * 2 AS n FROM words GROUP BY word", "", True),
    "filtered": ("SELECT word, COUNT(*) FILTER (WHERE size > 4) AS n FROM words GROUP BY word", "", True),
    "distinct": ("SELECT word, COUNT(DISTINCT size / 3) AS n FROM words GROUP BY word", "", True),
    "having": ("SELECT word, COUNT(*) FROM words GROUP BY word HAVING COUNT(*) % 2 = 0", "", False),
    "wider_key": ("SELECT word, COUNT(*) FROM words GROUP BY word", ", n", False),
}


def chain_of(job):
    """The chain of the only task that aggregates, with the sink at its end."""
    nodes = job.topology.components[-1].chain
    sink = nodes[-1]
    assert isinstance(sink, Sink)
    return one_stream(build_chain(nodes, Settings(), sink.keys))


@pytest.mark.parametrize("case", CASES)
def test_old_rows_are_left_out_only_where_new_ones_replace_them(case: str, tmp_path: Path) -> None:
    query, more, replaced = CASES[case]
    job = load_text(WORDS.format(query=query, more=more, name=f"upserts_{case}"), tmp_path, case)
    assert chain_of(job).consolidated is replaced
    handle = start(job, "memory")
    while not handle.wait(1.0):
        pass
    assert handle.status().reason == ""
    exact = load_text(WORDS.split("CREATE TABLE counts")[0] + query + ";", tmp_path, "exact")
    assert sorted(table(f"upserts_{case}", 1 + bool(more))) == sorted(answer(exact))


def test_rows_that_nothing_replaces_are_left_to_the_sink(tmp_path: Path) -> None:
    query = "SELECT DISTINCT word, size FROM words"
    job = load_text(WORDS.format(query=query, more=", n", name="upserts_distinct"), tmp_path, "distinct")
    nodes = next(
        part.chain for part in job.topology.components if isinstance(part.chain[0], Aggregate | FinalAggregate)
    )
    made = build_chain(nodes, Settings(), nodes[-1].schema.names)
    assert not made.consolidated, "its rows have no weights, which a sink that takes upserts is given"
    frame = pl.DataFrame({"word": ["a", "b", "a"], "size": [1, 2, 1]}, schema_overrides={"size": pl.Int64})
    (rows,) = [rows for _, rows in made.process(frame)]
    assert sorted(consolidate(rows, rows.columns).rows()) == [("a", 1, 1), ("b", 2, 1)]


def table(name: str, keys: int) -> list[tuple[object, ...]]:
    """What an upsert sink holds in the end: of each key the last row put in, unless it was taken back."""
    held: dict[object, tuple[object, ...]] = {}
    for *row, weight in memory.TABLES[name].result().rows():
        held.pop(tuple(row[:keys]), None)
        if weight > 0:
            held[tuple(row[:keys])] = tuple(row)
    return list(held.values())


def answer(job) -> list[tuple[object, ...]]:
    sink = job.program.sinks[-1]
    result = ResultTable(sink.columns if len(sink.columns) else sink.input.schema)
    handle = start(job, "memory")
    ended = False
    while not ended:
        ended = handle.wait(1.0)
        for frame in handle.results():
            result.apply(frame)
    return result.frame().rows()


@pytest.mark.parametrize("case", ["plain", "computed"])
def test_what_is_left_is_what_consolidation_leaves(case: str, tmp_path: Path) -> None:
    job = load_text(WORDS.format(query=CASES[case][0], more="", name="unused"), tmp_path, case)
    nodes = job.topology.components[-1].chain
    short, whole = (one_stream(build_chain(nodes, Settings(), keys)) for keys in (("w",), ()))
    for start_at in range(0, 400, 37):
        words = pl.DataFrame({"word": [f"w{n % 90}" for n in range(start_at, start_at + 50)], "size": range(50)})
        frame = words.select(job.topology.components[-2].outputs[0].schema.names)
        expected = consolidate(whole.process(frame), ["w"])
        assert short.process(frame).sort("w").rows() == expected.sort("w").rows()
