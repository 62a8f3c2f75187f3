"""Random queries over random tables: one answer whatever the batching, the tasks and the faults, and it is Spark's.

Longer hunts: `python -m tests.fuzz.hunt --first 5000 --count 1000`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.session import load_text
from tests.fuzz.hunt import Outcome, compare, faulty_answer, judge, plain_answer, question, shape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(40)
SPARK_SEEDS = range(40)


@pytest.mark.slow
def test_batching_tasks_and_faults_change_no_answer(tmp_path: Path) -> None:
    answered = 0
    for seed in SEEDS:
        directory = tmp_path / str(seed)
        directory.mkdir()
        prelude, query = question(seed, directory)
        text = f"{prelude}\n{query}"
        once = plain_answer(load_text(text, directory, "fuzz", shape(seed)))
        again = faulty_answer(load_text(text, directory, "fuzz", shape(seed + 1)), seed)
        verdict = judge(seed, query, once, again)
        assert not verdict.is_wrong, verdict
        answered += once.rows is not None and once.rows.height > 0
    assert answered > len(SEEDS) / 2, "most queries answer nothing: the test tests nothing"


@pytest.mark.spark
@pytest.mark.slow
def test_spark_agrees(tmp_path: Path, spark: SparkSession) -> None:
    same = 0
    for seed in SPARK_SEEDS:
        directory = tmp_path / str(seed)
        directory.mkdir()
        verdict = compare(seed, spark, directory)
        assert not verdict.is_wrong, verdict
        same += verdict.kind == "same"
    assert same > len(SPARK_SEEDS) / 2, "most queries fail: the test tests nothing"


def test_the_judge_sees_what_differs() -> None:
    one, other = Outcome(pl.DataFrame({"x": [1]})), Outcome(pl.DataFrame({"x": [2]}))
    kinds = [
        judge(0, "", *pair).kind for pair in ((one, one), (one, other), (one, Outcome(None)), (Outcome(None), one))
    ]
    assert kinds == ["same", "differ", "only Spark fails", "only the stream fails"]
