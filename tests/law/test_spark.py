"""The law's third party: the PySpark job of each case gives the oracle's answer, so both say the same of what is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.session import load
from ouzel.spark.lowering import run_job, spark_job
from tests.law.cases import CASES, Case
from tests.law.compare import difference
from tests.law.oracle import oracle_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def spark_answer(case: Case, inputs: Path, spark: SparkSession) -> pl.DataFrame:
    """What the case's job returns."""
    answer = pl.from_arrow(run_job(spark_job(load(case.write(inputs)).program, inputs), spark).toArrow())
    assert isinstance(answer, pl.DataFrame)
    return answer


@pytest.mark.parametrize("case", CASES, ids=str)
def test_spark_agrees_with_the_oracle(case: Case, inputs: Path, one_partition: SparkSession) -> None:
    found = difference(oracle_answer(case, inputs), spark_answer(case, inputs, one_partition))
    assert found == "", f"{found}\n{spark_job(load(case.write(inputs)).program, inputs)}"
