"""The law's third party: the PySpark job of each case gives the oracle's answer, so both say the same of what is right."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """A local Spark as the law has it: ANSI mode, UTC."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("law").config("spark.ui.enabled", "false")
    settings = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_spark_agrees_with_the_oracle(case: Case, inputs: Path, spark: SparkSession) -> None:
    text = spark_job(load(case.write(inputs)).program, inputs)
    answer = pl.from_arrow(run_job(text, spark).toArrow())
    assert isinstance(answer, pl.DataFrame)
    assert (found := difference(oracle_answer(case, inputs), answer)) == "", f"{found}\n{text}"
