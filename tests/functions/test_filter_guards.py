"""A FILTER protects what its aggregate reads: every aggregate of the registry, in every place where a FILTER may stand.

`100 / v` cannot be computed where `v` is 0. The same rows have its value in a column, `part`, which is NULL there. So a call of `100 / v`
whose FILTER leaves such rows out gives what the same call of `part` gives, which computes nothing that can fail.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.aggregate_function import AggregateFunction, CallOrder
from ouzel.compiler.functions.aggregates import AGGREGATES
from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.plan import Aggregate, Over, Project, walk
from ouzel.compiler.sql.queries import aggregation, over_calls
from ouzel.errors import QueryError, TopologyError
from ouzel.job import load_text
from ouzel.runtime.simulator.simulation import simulate
from ouzel.spark.lowering import run_job, spark_job
from tests.law.compare import difference
from tests.law.engines import folded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 60
TABLE = """
CREATE TABLE t (id INT, k INT, v INT, part BIGINT, flag BOOLEAN, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'file', 'path' = 't.jsonl', 'format' = 'json');
"""
FAILS, SAFE = "100 / v", "part"
KINDS = (
    "({x}) * 1000 + id",
    "CAST({x} AS DOUBLE) + id",
    "CAST({x} AS VARCHAR)",
    "({x}) > 9",
)
"""Values of the types that aggregates take; those of numbers tell all rows apart, so that no order is open."""

FILTERS = ("v <> 0", "v > 0 OR v < 0", "NULLIF(v, 0) IS NOT NULL", "v <> 0 AND flag", "NOT v = 0", "v IN (1, 2, 5, -3)")
GIVEN = {"separator": "'; '", "fraction": "0.3"}


@dataclass(frozen=True)
class Filtered:
    """A call of an aggregate, with `{x}` for what it reads, and what its FILTER says."""

    function: str
    call: str
    condition: str
    over: bool

    def text(self, value: str) -> str:
        """The call, of this value."""
        return f"{self.call.format(x=value)} FILTER (WHERE {self.condition})"


def _forms(function: AggregateFunction) -> Iterator[str]:
    """The calls of an aggregate, with `{0}` for the value that can fail."""
    name = function.name.upper()
    given = [GIVEN[constant.name] for constant in function.call.constants if constant.name in GIVEN]
    match function.call.order:
        case CallOrder.VALUE if function.name.startswith("percentile"):
            yield f"{name}({', '.join(given)}) WITHIN GROUP (ORDER BY {{0}})"
            return
        case CallOrder.VALUES | CallOrder.NEEDED:
            key = "CAST(id AS VARCHAR)" if function.name == "string_agg" else "id"
            yield f"{name}({', '.join(['{0}', *given])} ORDER BY id)"
            yield f"{name}({', '.join([key, *given])} ORDER BY {{0}}, id)"
            return
    if function.call.values == 2:
        yield f"{name}({{0}}, id)"
        yield f"{name}(id, {{0}})"
        return
    yield f"{name}({', '.join(['{0}', *given])})"
    if function.call.distinct:
        yield f"{name}(DISTINCT {', '.join(['{0}', *given])})"


INSIDE = (
    "SUM(CASE WHEN flag THEN {x} ELSE id END)", "SUM(COALESCE({x}, id))", "COUNT_IF(flag AND {x} > 9)", "COUNT_IF(flag OR {x} > 9)",
    "MAX(IF(flag, id, {x}))", "SUM(CASE {x} WHEN 100 THEN 1 ELSE id END)", "ARRAY_AGG(ROW(id, {x}) ORDER BY id)",
)  # fmt: skip
"""What stands around the value in its argument."""


@cache
def calls() -> tuple[Filtered, ...]:
    """Every aggregate, of each of its values and orders, and values inside others."""
    forms = [(function, form) for function in AGGREGATES for form in _forms(function)]
    made: list[Filtered] = []
    for number, (function, form) in enumerate(forms):
        condition = FILTERS[number % len(FILTERS)]
        kinds = (form.replace("{0}", kind) for kind in KINDS)
        takes = next((call for call in kinds if _compiles(call)), None)
        if takes:
            over = function.call.over and "DISTINCT" not in form
            made.append(Filtered(function.name, takes, condition, over))
    made += [
        Filtered(call.partition("(")[0].lower(), call, "v <> 0", call.startswith(("SUM", "MAX"))) for call in INSIDE
    ]
    return tuple(made)


def _compiles(call: str) -> bool:
    try:
        load_text(f"{TABLE}SELECT {call.format(x=SAFE)} AS x FROM t;", Path(), "t")
    except QueryError:
        return False
    return True


def _listed(made: Sequence[Filtered], value: str, after: str = "") -> str:
    return ", ".join(f"{call.text(value)}{after} AS c{number}" for number, call in enumerate(made))


MINUTE, WINDOW = "INTERVAL '1' MINUTE", "TABLE t, DESCRIPTOR(ts)"
CHANGING = "(SELECT id, k, v, part, flag, COUNT(*) AS times FROM t GROUP BY id, k, v, part, flag) AS changing"
PLACES: dict[str, str] = {
    "groups": "SELECT k, COUNT(*) AS n, SUM(id) AS ids, {calls} FROM t GROUP BY k",
    "all": "SELECT COUNT(*) AS n, {calls} FROM t",
    "tumble": f"SELECT window_start, COUNT(*) AS n, {{calls}} FROM TABLE(TUMBLE({WINDOW}, {MINUTE})) GROUP BY window_start, window_end",
    "hop": f"SELECT window_start, k, COUNT(*) AS n, {{calls}} FROM TABLE(HOP({WINDOW}, {MINUTE}, INTERVAL '3' MINUTES)) "
    "GROUP BY window_start, window_end, k",
    "session": "SELECT k, window_start, COUNT(*) AS n, {calls} "
    "FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '40' SECOND)) "
    "GROUP BY k, window_start, window_end",
    "sets": "SELECT k, flag, COUNT(*) AS n, {calls} FROM t GROUP BY CUBE (k, flag)",
    "changes": f"SELECT k, COUNT(*) AS n, {{calls}} FROM {CHANGING} GROUP BY k",
    "union": "SELECT k, COUNT(*) AS n, {calls} "
    "FROM (SELECT * FROM t WHERE id < 30 UNION ALL SELECT * FROM t WHERE id >= 30) AS u GROUP BY k",
    "where": "SELECT k, COUNT(*) AS n, {calls} FROM t WHERE id > 3 AND (v = 0 OR {x} < 1000 OR {x} IS NULL) GROUP BY k",
    "join": "SELECT t.k AS k, COUNT(*) AS n, {calls} FROM t JOIN (SELECT id AS other FROM t WHERE id < 40) AS o ON id = other GROUP BY t.k",
    "computed keys": "SELECT COUNT(*) AS n, {calls} FROM t GROUP BY CASE WHEN v <> 0 THEN {x} END",
}
"""Where the calls stand; `{x}` is the value, where a place has it besides."""


def query(place: str, made: Sequence[Filtered], value: str) -> str:
    """The calls at a place."""
    return PLACES[place].replace("{calls}", _listed(made, value)).replace("{x}", value)


def over(made: Sequence[Filtered], value: str) -> str:
    """The calls over windows of rows."""
    called = [call for call in made if call.over]
    return f"SELECT id, {_listed(called, value, ' OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING)')} FROM t"


def having(made: Sequence[Filtered], value: str) -> str:
    """The calls in HAVING."""
    conditions = " OR ".join(f"{call.text(value)} IS NULL" for call in made)
    return f"SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING {conditions} OR COUNT(*) > 0"


ASKED: dict[str, Callable[[Sequence[Filtered], str], str]] = {
    **{place: lambda made, value, place=place: query(place, made, value) for place in PLACES},  # type: ignore[misc]
    "over": over,
    "having": having,
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table: a third of the rows fail, some have no value."""
    directory, dice = tmp_path_factory.mktemp("guards"), Random(7)
    with (directory / "t.jsonl").open("w") as file:
        for number in range(ROWS):
            v = dice.choice((0, 0, None, 1, 2, 5, -3, 40))
            row = {
                "id": number,
                "k": number % 3,
                "v": v,
                "part": int(100 / v) if v else None,
                "flag": dice.random() < 0.5,
            }
            file.write(json.dumps({**row, "ts": f"2024-01-01 00:{number // 6:02}:{number % 6 * 10:02}"}) + "\n")
    return directory


def answer(text: str, directory: Path, seed: int, policy: str = "fail") -> pl.DataFrame:
    """The topology's; no row of it was bad."""
    pairs = (("parallelism", "2"), ("error.policy", policy), ("dead-letter.path", f"{policy}.jsonl"))
    job = load_text(f"{TABLE}{text};", directory, "t", pairs)
    run = simulate(job.topology, job.packing, directory, seed=seed)
    assert run.sources[2] == 0, f"{run.sources[2]} rows were bad"
    assert not (directory / f"{policy}.jsonl").exists()
    return folded(job, run.frames.values())


def test_every_aggregate_has_a_call() -> None:
    assert {call.function for call in calls()} == {function.name for function in AGGREGATES}


@cache
def expected(place: str, directory: Path) -> pl.DataFrame:
    """What the calls give of values that are there."""
    return answer(ASKED[place](calls(), SAFE), directory, 0)


CASES = [
    (place, policy)
    for place in ASKED
    for policy in ("fail", "skip", "dead-letter")
    if place == "groups" or policy == "skip"
]


@pytest.mark.parametrize(("place", "policy"), CASES)
def test_what_a_filter_leaves_out_is_not_computed(place: str, policy: str, inputs: Path) -> None:
    """Not one row is bad, whatever is to become of bad rows; with 'skip' one would be missing in the other aggregates."""
    assert difference(expected(place, inputs), answer(ASKED[place](calls(), FAILS), inputs, 0, policy)) == ""


@pytest.mark.spark
@pytest.mark.parametrize("place", ASKED)
def test_a_batch_job_computes_nothing_that_a_filter_leaves_out(
    place: str, inputs: Path, one_partition: SparkSession
) -> None:
    """Both by Spark, which need not share the last digits of large sums of powers with a topology."""

    def batch(value: str) -> pl.DataFrame:
        job = load_text(f"{TABLE}{ASKED[place](calls(), value)};", inputs, "t")
        found = pl.from_arrow(run_job(spark_job(job.program, inputs), one_partition).toArrow())
        assert isinstance(found, pl.DataFrame)
        return found

    assert difference(batch(SAFE), batch(FAILS)) == ""


def _unguarded(value: Expression, condition: Expression) -> Expression:
    return value


def _failing(place: str, directory: Path) -> int:
    """How many calls are of a value that cannot be computed for some row that their FILTER leaves out."""
    job = load_text(f"{TABLE}{ASKED[place](calls(), FAILS)};", directory, "t")
    (node,) = (node for node in walk(job.program.sinks[-1]) if isinstance(node, Aggregate | Over))
    assert isinstance(node.input, Project)
    values = dict(node.input.items)
    rows = pl.read_ndjson(directory / "t.jsonl").filter(pl.col("v") == 0)
    errors = {call.name: lower(values[call.argument]).error for call in node.calls if call.argument}
    assert errors.keys() == {call.name for call in node.calls if call.argument or call.name != "n"}
    return sum(error is not None and rows.select(error).to_series().any() for error in errors.values())


@pytest.mark.parametrize("place", ["groups", "over"])
def test_each_call_needs_its_guard(place: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it every one of them is of a value that fails, so the tests above pass for none in vain."""
    made = [call for call in calls() if call.over or place != "over"]
    assert not _failing(place, inputs)
    monkeypatch.setattr(aggregation, "guard", _unguarded)
    monkeypatch.setattr(over_calls, "guard", _unguarded)
    assert _failing(place, inputs) == len(made)


@pytest.mark.parametrize("place", ASKED)
def test_each_place_needs_the_guard(place: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = [Filtered("sum", "SUM({x})", "v <> 0", True)]
    monkeypatch.setattr(aggregation, "guard", _unguarded)
    monkeypatch.setattr(over_calls, "guard", _unguarded)
    with pytest.raises(TopologyError, match="division by zero in 100 / v"):
        answer(ASKED[place](call, FAILS), inputs, 0)
