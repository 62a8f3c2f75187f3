"""The law's third party: the PySpark job of each case gives the oracle's answer, so both say the same of what is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.planner.spark import run_job, spark_job
from ouzel.session import load
from tests.law.cases import CASES, Case
from tests.law.compare import difference
from tests.law.oracle import oracle_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = 3
"""Jobs that run at the same time: much of a small one is Spark's own planning and waiting."""

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Answers = Mapping[Case, Future[pl.DataFrame]]


@pytest.fixture(scope="module")
def answers(interpreter: SparkSession, inputs: Path, request: pytest.FixtureRequest) -> Iterator[Answers]:
    """The answers of all cases that are asked for, as they come."""
    items = (item for item in request.session.items if item.path == Path(__file__))
    asked = dict.fromkeys(item.callspec.params["case"] for item in items if hasattr(item, "callspec"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {case: pool.submit(spark_answer, case, inputs, interpreter) for case in asked}
        pool.shutdown(cancel_futures=True)


def spark_answer(case: Case, inputs: Path, spark: SparkSession) -> pl.DataFrame:
    """What the case's job returns."""
    answer = pl.from_arrow(run_job(spark_job(load(case.write(inputs)).program, inputs), spark).toArrow())
    assert isinstance(answer, pl.DataFrame)
    return answer


@pytest.mark.parametrize("case", CASES, ids=str)
def test_spark_agrees_with_the_oracle(case: Case, inputs: Path, answers: Answers) -> None:
    found = difference(oracle_answer(case, inputs), answers[case].result())
    assert found == "", f"{found}\n{spark_job(load(case.write(inputs)).program, inputs)}"
