"""Several batch jobs as one job of Spark's, which costs little more than one of them: each row as texts, by the name of its query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.compiler.plan import Program
from ouzel.spark.lowering import run_job, spark_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Texts = tuple[str | None, ...]


def answers_together(spark: SparkSession, programs: Mapping[str, tuple[Program, Path]]) -> dict[str, list[Texts]]:
    """The rows that the batch job of each program gives, whose tables are in a folder; values as Spark casts them to text."""
    frames = (_as_texts(spark, name, *asked) for name, asked in programs.items())
    answers: dict[str, list[Texts]] = {name: [] for name in programs}
    for name, values in reduce(lambda one, other: one.union(other), frames).collect():
        answers[name].append(tuple(values))
    return answers


def _as_texts(spark: SparkSession, name: str, program: Program, directory: Path) -> DataFrame:
    from pyspark.sql import functions as F

    frame = run_job(spark_job(program, directory), spark)
    texts = F.array(*(F.col(f"`{column}`").cast("string") for column in frame.columns))
    return frame.select(F.lit(name).alias("query"), texts.alias("row"))
