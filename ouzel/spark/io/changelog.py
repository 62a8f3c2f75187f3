"""What changes add up to, in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WEIGHT = "$weight"
"""The column of a changelog's weights, as connectors are asked for it and given it."""


def rows_left(changes: DataFrame, weight: str, why: str) -> DataFrame:
    """The table that changes add up to: each row as often as it came and was not taken back.

    Where a row is taken back more often than it came, the job fails with the sentence `why`, followed by the row.
    """
    from pyspark.sql import functions as F

    names = [f"`{name.replace('`', '``')}`" for name in changes.columns if name != weight]
    often, row = F.sum(f"`{weight}`"), F.to_json(F.struct(*names), {"ignoreNullFields": "false"})
    times = F.when(often < 0, F.raise_error(F.concat(F.lit(why), row)).cast("bigint")).otherwise(often)
    counted = changes.groupBy(*names).agg(times.cast("int").alias("$times"))
    return counted.select(*names, F.explode(F.array_repeat(F.lit(0), F.col("$times"))).alias("$copy")).drop("$copy")
