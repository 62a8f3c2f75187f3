"""What tasks tell the driver beside their rows, put together by key: a task that runs again tells nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyspark.accumulators import AccumulatorParam

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

Key = TypeVar("Key")
Finding = TypeVar("Finding")


class _Together(AccumulatorParam[dict[Key, Finding]]):  # type: ignore[misc]
    def zero(self, value: dict[Key, Finding]) -> dict[Key, Finding]:
        return {}

    def addInPlace(self, value1: dict[Key, Finding], value2: dict[Key, Finding]) -> dict[Key, Finding]:
        value1.update(value2)
        return value1


def accumulator(spark: SparkSession) -> Accumulator[dict[Key, Finding]]:
    """An empty dictionary that tasks add to."""
    return spark.sparkContext.accumulator({}, _Together())
