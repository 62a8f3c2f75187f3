"""Two tables compared in Spark: equal rows cancel as multisets, and what is left is paired by key. Nothing but counts leaves Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.compiler.types import Field, FloatType
from ouzel.reconcile.answers import comparable
from ouzel.reconcile.checksums import BUCKET, differs, sums, with_hashes
from ouzel.reconcile.lineage import CARRIED, Lineage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FLOAT32_TOLERANCE = 2.0**-22
"""A FLOAT has 24 bits: no tolerance below this one means anything for it."""

DIFFERING, NEAR, STREAM, BATCH = "differing", "near", "stream", "batch"
"""Columns of the differences: names of the columns that differ, of those that are equal within the tolerance, and both rows."""

STREAM_ROWS, BATCH_ROWS = "stream_rows", "batch_rows"
"""How often each answer holds this very row."""


@dataclass(frozen=True)
class Comparison:
    """The rows that differ, and how many do not.

    `differences` has: `stream` and `batch`, the whole rows or NULL; `differing` and `near`; the columns carried (see lineage.CARRIED);
    `stream_rows` and `batch_rows`, how often each answer has that very row.
    """

    differences: DataFrame
    matched: int
    stream_rows: int
    batch_rows: int
    first_us: int | None
    last_us: int | None


def compare(stream: DataFrame, batch: DataFrame, facts: Lineage, tolerance: float) -> Comparison:
    """Compare two answers with the columns of `facts`; the batch's has the columns carried besides.

    Rows that both have, the same number of times, are only counted: whole buckets of them by their checksums, the rest one by one. What
    remains is a full outer join on the keys; without keys, on the columns that are no floats if there are floats, so that a last digit
    pairs with its like; else nothing is paired. The batch job runs once: its answer is kept on the workers' disks for as long as it takes.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    names = names_of(facts)
    ours = stream.select(*comparable(stream, facts.columns, names))
    theirs = batch.select(*comparable(batch, facts.columns, names), *_carried(facts)).persist(StorageLevel.DISK_ONLY)
    try:
        both = with_hashes(_signed(ours, theirs, facts), names, tuple(facts.columns))
        buckets = _buckets(both, facts).localCheckpoint()
        rest = _unequal(both, buckets, facts).localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)
    finally:
        theirs.unpersist()
    times = (F.min("first_us"), F.max("last_us"))
    counts = buckets.agg(F.sum(STREAM_ROWS), F.sum(BATCH_ROWS), *times).collect()[0]
    (more,) = rest.agg(F.sum(F.greatest(F.col(STREAM_ROWS) - F.col(BATCH_ROWS), F.lit(0)))).collect()[0]
    stream_rows, batch_rows = (int(count or 0) for count in counts[:2])
    return Comparison(
        _paired(rest, facts, tolerance), stream_rows - int(more or 0), stream_rows, batch_rows, *counts[2:]
    )


def stream_side(found: Comparison, facts: Lineage) -> DataFrame:
    """The rows of the stream's answer that differ, as an answer."""
    from pyspark.sql import functions as F

    ours = found.differences.where(F.col(STREAM).isNotNull())
    return ours.select(*(F.col(f"{STREAM}.{name}") for name in names_of(facts)))


def names_of(facts: Lineage) -> list[str]:
    """What the output's columns are called inside a comparison: whatever they are called outside, these need no quotes."""
    return [f"c{number}" for number in range(len(facts.columns))]


def _carried(facts: Lineage) -> list[str]:
    return [f"{CARRIED}{name}" for name in facts.carried.names]


def _signed(ours: DataFrame, theirs: DataFrame, facts: Lineage) -> DataFrame:
    """The rows of both, with `s` = 1 on those of the stream and `b` = 1 on those of the batch, which alone have what is carried."""
    from pyspark.sql import functions as F

    absent = [F.lit(None).cast(theirs.schema[name].dataType).alias(name) for name in _carried(facts)]
    left = ours.select("*", *absent, F.lit(1).alias("s"), F.lit(0).alias("b"))
    return left.unionAll(theirs.select("*", F.lit(0).alias("s"), F.lit(1).alias("b")))


def _buckets(both: DataFrame, facts: Lineage) -> DataFrame:
    """The buckets of all rows: how many each answer has there, between which times, and whether there are any that differ."""
    from pyspark.sql import functions as F

    at, checks = time_us(facts, F.col), sums(F.col("s") - F.col("b"))
    counts = [F.sum("s").alias(STREAM_ROWS), F.sum("b").alias(BATCH_ROWS)]
    times = [F.min(at).alias("first_us"), F.max(at).alias("last_us")]
    summed = both.groupBy(BUCKET).agg(*counts, *times, *(check.alias(name) for name, check in checks.items()))
    return summed.select(BUCKET, STREAM_ROWS, BATCH_ROWS, "first_us", "last_us", differs([*checks]).alias(DIFFERING))


def _unequal(both: DataFrame, buckets: DataFrame, facts: Lineage) -> DataFrame:
    """Each distinct row with how often either answer has it, where that is not the same."""
    from pyspark.sql import functions as F

    rows = both.join(F.broadcast(buckets.where(DIFFERING).select(BUCKET)), BUCKET, "left_semi")
    counts = [F.sum("s").alias(STREAM_ROWS), F.sum("b").alias(BATCH_ROWS)]
    carried = [F.first(name, ignorenulls=True).alias(name) for name in _carried(facts)]
    counted = rows.groupBy(*names_of(facts)).agg(*counts, *carried)
    return counted.where(F.col(STREAM_ROWS) != F.col(BATCH_ROWS))


def time_us(facts: Lineage, column: Callable[[str], Column]) -> Column:
    """The row's time in microseconds since the epoch, NULL without one; `column` gives a Column for a name inside the comparison."""
    from pyspark.sql import functions as F

    if facts.time is None:
        return F.lit(None).cast("bigint")
    name = names_of(facts)[facts.columns.names.index(facts.time)]
    return F.unix_micros(column(name).cast("timestamp"))


def _paired(rest: DataFrame, facts: Lineage, tolerance: float) -> DataFrame:
    from pyspark.sql import functions as F

    keys = pairing(facts)
    carried = _carried(facts)
    ours = _side(rest, facts, keys, F.col(STREAM_ROWS) - F.col(BATCH_ROWS), STREAM, [])
    theirs = _side(rest, facts, keys, F.col(BATCH_ROWS) - F.col(STREAM_ROWS), BATCH, carried)
    same = F.lit(True) if keys is not None else F.lit(False)
    for name in (*(keys or ()), "copy"):
        same = same & F.col(f"{STREAM}.{name}").eqNullSafe(F.col(f"{BATCH}.{name}"))
    both = ours.join(theirs, same, "full") if keys is not None else ours.unionByName(theirs, allowMissingColumns=True)
    counts = [F.coalesce(f"{STREAM}.{name}", f"{BATCH}.{name}").alias(name) for name in (STREAM_ROWS, BATCH_ROWS)]
    return both.select(*_differing(facts, tolerance), STREAM, BATCH, *counts, *carried)


def pairing(facts: Lineage) -> list[str] | None:
    """What pairs rows: the keys, else the columns that are no floats where there are floats; None if nothing does."""
    pairs = list(zip(names_of(facts), facts.columns, strict=True))
    if facts.keys:
        return [name for name, field in pairs if field.name in facts.keys]
    exact = [name for name, field in pairs if not isinstance(field.type, FloatType)]
    return exact if len(exact) < len(pairs) else None


def _side(
    rest: DataFrame, facts: Lineage, keys: Sequence[str] | None, surplus: Column, side: str, carried: Sequence[str]
) -> DataFrame:
    """The rows that one answer has more of: one row for each copy, the copies under one key numbered."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    names = names_of(facts)
    copies = rest.where(surplus > 0).withColumn("copy", F.explode(F.sequence(F.lit(1), surplus.cast("int"))))
    if keys is not None:
        others = [name for name in names if name not in keys]
        order = (
            Window.partitionBy(*keys).orderBy(*others, "copy") if others else Window.partitionBy(*keys).orderBy("copy")
        )
        copies = copies.withColumn("copy", F.row_number().over(order))
    return copies.select(F.struct(*names, "copy", STREAM_ROWS, BATCH_ROWS).alias(side), *carried)


def _differing(facts: Lineage, tolerance: float) -> list[Column]:
    """Names of the columns that differ, and of those that differ within the tolerance; both empty where one row is missing."""
    from pyspark.sql import functions as F

    paired = F.col(STREAM).isNotNull() & F.col(BATCH).isNotNull()
    differing, near = [], []
    for name, field in zip(names_of(facts), facts.columns, strict=True):
        ours, theirs = F.col(f"{STREAM}.{name}"), F.col(f"{BATCH}.{name}")
        close = _close(ours, theirs, field, tolerance)
        unequal = paired & ~ours.eqNullSafe(theirs)
        differing.append(F.when(unequal & ~close, F.lit(field.name)))
        near.append(F.when(unequal & close, F.lit(field.name)))
    return [F.array_compact(F.array(*differing)).alias(DIFFERING), F.array_compact(F.array(*near)).alias(NEAR)]


def _close(ours: Column, theirs: Column, field: Field, tolerance: float) -> Column:
    """Whether two floats are equal within the tolerance, relative to the larger; never for NaN or an infinity."""
    from pyspark.sql import functions as F

    if not isinstance(field.type, FloatType):
        return F.lit(False)
    allowed = max(tolerance, FLOAT32_TOLERANCE) if field.type.bits == 32 else tolerance
    a, b = ours.cast("double"), theirs.cast("double")
    largest = F.greatest(F.abs(a), F.abs(b))
    finite = largest < F.lit(float("inf"))
    return F.coalesce(finite & (F.abs(a - b) <= F.lit(allowed) * largest), F.lit(False))
