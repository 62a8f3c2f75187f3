"""The oracle answers every case, the inputs are as awkward as they claim, and the comparison can tell tables apart."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.functions.aggregates import AGGREGATES
from ouzel.compiler.plan import Aggregate, walk
from tests.law.cases import CASES, compiled
from tests.law.compare import difference, plain_fold
from tests.law.oracle import oracle_answer

DISTINCT_IS_NOTHING = {function.name for function in AGGREGATES if not function.call.distinct}
DISTINCT_IS_REFUSED = {"regr_avgx", "regr_avgy", "regr_sxx", "regr_syy"}
"""Spark means something else by it."""
EMPTY_ON_PURPOSE = {
    "where_nothing_passes", "empty_projection", "empty_grouped", "empty_window", "not_in_of_nulls_is_empty",
    "folders_of_none",
}  # fmt: skip


def test_enough_cases_with_names_of_their_own() -> None:
    assert len(CASES) >= 70
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_aggregate_stands_in_a_case_over_rows_and_over_changes() -> None:
    asked = [
        (call.function, node.input.retracts, call.filter is not None, call.distinct)
        for case in CASES
        for sink in compiled(case).sinks
        for node in walk(sink)
        if isinstance(node, Aggregate)
        for call in node.calls
    ]
    for retracts in (False, True):
        for name in (function.name for function in AGGREGATES):
            found = [
                (filtered, once) for function, over, filtered, once in asked if (function, over) == (name, retracts)
            ]
            assert {(False, False), (True, False)} <= set(found), f"{name} over {'changes' if retracts else 'rows'}"
            plain = name in DISTINCT_IS_NOTHING | DISTINCT_IS_REFUSED
            assert plain or any(once for _, once in found), f"{name} of DISTINCT"


def test_the_oracle_has_an_answer_to_each_case(inputs: Path) -> None:
    answers = {case.name: oracle_answer(case, inputs) for case in CASES}
    assert {name for name, answer in answers.items() if answer.height == 0} == EMPTY_ON_PURPOSE
    unlike = [name for name, answer in answers.items() if difference(answer, _shuffled(answer))]
    assert unlike == []


def _shuffled(answer: pl.DataFrame) -> pl.DataFrame:
    return answer.sample(fraction=1.0, shuffle=True, seed=1)


def test_inputs_are_out_of_order_within_the_delay_except_the_late_ones(inputs: Path) -> None:
    def lateness(path: str) -> list[float]:
        frame = pl.read_parquet(inputs / path) if path.endswith("parquet") else pl.read_ndjson(inputs / path)
        times = frame["ts"].cast(pl.String).str.to_datetime(time_unit="us")
        return ((times.cum_max() - times).dt.total_milliseconds() / 1000).to_list()

    assert 1 < max(lateness("data/events-0.parquet")) < 10
    assert 1 < max(lateness("data/orders-1.jsonl")) < 10
    assert max(lateness("data/late.jsonl")) > 60


TABLE = pl.DataFrame({"k": ["a", None, "a"], "x": [1.0, float("nan"), None]})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (TABLE.head(2), "1 missing"),
        (pl.concat([TABLE, TABLE.head(1)]), "1 unexpected"),
        (TABLE.with_columns(x=pl.col("x") + 1e-6), "missing"),
        (TABLE.with_columns(k=pl.col("k").fill_null("")), "missing"),
        (TABLE.with_columns(x=pl.col("x").fill_null(0.0)), "missing"),
        (TABLE.rename({"x": "y"}), "columns are"),
        (TABLE.with_columns(x=pl.Series([1, 2, None])), "is Int64"),
    ],
    ids=["row lost", "row twice", "float off", "null became empty", "null became zero", "other name", "other type"],
)
def test_the_comparison_sees(changed: pl.DataFrame, message: str) -> None:
    assert message in difference(TABLE, changed)


def test_the_comparison_forgives_order_and_the_last_digits_of_a_float() -> None:
    assert difference(TABLE, TABLE.reverse().with_columns(x=pl.col("x") * (1 + 1e-12))) == ""


def test_plain_fold_adds_weights_up() -> None:
    first = pl.DataFrame({"k": ["a", "b"], "n": [1, 1], "$weight": [1, 1]})
    then = pl.DataFrame({"k": ["a", "a"], "n": [1, 2], "$weight": [-1, 1]})
    assert sorted(plain_fold([first, then], ["k", "n"]).rows()) == [("a", 2), ("b", 1)]
    with pytest.raises(AssertionError, match="never there"):
        plain_fold([first.with_columns(pl.lit(-1).alias("$weight"))], ["k", "n"])
