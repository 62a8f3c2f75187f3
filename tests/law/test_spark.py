"""The law's third party: the PySpark job of each case gives the oracle's answer, so both say the same of what is right."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.spark.lowering import run_job, spark_job
from tests.law.cases import CASES, Case
from tests.law.compare import difference
from tests.law.engines import loaded
from tests.law.oracle import oracle_answer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@dataclass(frozen=True)
class ReadingOnce:
    """A session whose jobs look once at the types that the files of a table hold, which is a job of Spark's, and not once a case."""

    session: Any
    merged: dict[tuple[str, ...], DataFrame] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    @property
    def read(self) -> Reader:
        """What reads as Spark's does."""
        return Reader(self.session.read, self.merged)


@dataclass(frozen=True)
class Reader:
    """Spark's reader, but that frames with merged schemas are remembered: their files stay what they are."""

    reader: Any
    merged: dict[tuple[str, ...], DataFrame]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def parquet(self, *paths: str, **options: Any) -> DataFrame:
        """As Spark's."""
        if options != {"mergeSchema": True}:
            return self.reader.parquet(*paths, **options)
        if paths not in self.merged:
            self.merged[paths] = self.reader.parquet(*paths, **options)
        return self.merged[paths]


@pytest.fixture(scope="module")
def reading_once(one_partition: SparkSession) -> ReadingOnce:
    """The session of all cases, whose tables are the same."""
    return ReadingOnce(one_partition)


def spark_answer(case: Case, inputs: Path, spark: SparkSession) -> pl.DataFrame:
    """What the case's job returns."""
    answer = pl.from_arrow(run_job(spark_job(loaded(case, inputs, ()).program, inputs), spark).toArrow())
    assert isinstance(answer, pl.DataFrame)
    return answer


@pytest.mark.parametrize("case", CASES, ids=str)
def test_spark_agrees_with_the_oracle(case: Case, inputs: Path, reading_once: SparkSession) -> None:
    found = difference(oracle_answer(case, inputs), spark_answer(case, inputs, reading_once))
    assert found == "", f"{found}\n{spark_job(loaded(case, inputs, ()).program, inputs)}"
