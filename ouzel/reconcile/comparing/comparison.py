"""Two tables compared in Spark: equal rows cancel as multisets, what is left is paired (pairs.py). Nothing but counts leaves Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.reconcile.comparing.answers import by_position, comparable
from ouzel.reconcile.comparing.checksums import BUCKET, differs, sums, with_hashes
from ouzel.reconcile.comparing.lineage import Lineage
from ouzel.reconcile.comparing.pairs import (
    BATCH_ROWS,
    DIFFERING,
    EQUAL,
    STREAM,
    STREAM_ROWS,
    carried_columns,
    equal_rows,
    keep_on_disk,
    names_of,
    pair_rows,
)  # fmt: skip

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


SPLIT_SHARE = 0.5
"""The share of unequal buckets above which all rows are paired: equal ones cancel there."""


PERSIST_ROWS_MAX = 1_000_000
"""Up to so many rows of unequal buckets are kept instead of being read from both answers again."""


@dataclass(frozen=True)
class Comparison:
    """The rows that differ, and the number of those that do not.

    `differences` has: `stream` and `batch`, the whole rows or NULL; `differing` and `near`; the columns carried (see lineage.CARRIED);
    `stream_rows` and `batch_rows`, how often each answer has that very row; if any key has several rows, `equal` (see pairs.EQUAL).
    Where both answers are `equal` there are none, which Spark's optimizer sees: whatever is asked of them runs no job. There are not more
    than `doubtful`, the rows that were paired.
    """

    differences: DataFrame
    matched: int
    stream_rows: int
    batch_rows: int
    first_us: int | None
    last_us: int | None
    doubtful: int

    @property
    def equal(self) -> bool:
        """Whether both answers hold the same rows, each as often."""
        return not self.doubtful


def compare(stream: DataFrame, batch: DataFrame, facts: Lineage, tolerance: float) -> Comparison:
    """Compare two answers with the columns of `facts`; the batch job's has the carried columns as well.

    Rows that both have, the same number of times, are only counted: whole buckets of them by their checksums; the rest is paired. The batch
    job runs once: its answer is kept on the workers' disks for as long as it takes.
    """
    import pyarrow as pa
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    names = names_of(facts)
    stream, batch = (by_position(answer, len(names)) for answer in (stream, batch))
    ours = stream.select(*comparable(stream, facts.columns, names))
    theirs = batch.select(*comparable(batch, facts.columns, names), *carried_columns(facts)).persist(
        StorageLevel.DISK_ONLY
    )
    try:
        signed = _sign(ours, theirs, facts)
        keys = [name for name, column in zip(names, facts.columns, strict=True) if column.name in facts.keys]
        both = with_hashes(signed, names, tuple(facts.columns), keys)
        counts = F.sum(STREAM_ROWS), F.sum(BATCH_ROWS), F.min("first_us"), F.max("last_us")
        doubtful = F.coalesce(F.sum(F.when(F.col(DIFFERING), F.col(STREAM_ROWS) + F.col(BATCH_ROWS))), F.lit(0))
        differing = F.collect_list(F.when(F.col(DIFFERING), F.col(BUCKET)))
        found = _buckets(both, facts).agg(*counts, differing, F.count("*"), doubtful).collect()[0]
        *counted, unequal, every, number = found
        rest = signed
        if not number:
            rest = signed.where(F.lit(False))
        elif len(unequal) < SPLIT_SHARE * every:
            chosen = pa.table({BUCKET: pa.array(unequal, pa.int64())})
            rest = both.join(F.broadcast(both.sparkSession.createDataFrame(chosen)), BUCKET, "left_semi")
            rest = keep_on_disk(rest) if number <= PERSIST_ROWS_MAX else rest
        differences, more = pair_rows(rest, number, facts, tolerance)
    finally:
        theirs.unpersist()
    stream_rows, batch_rows = (int(count or 0) for count in counted[:2])
    first_us, last_us = counted[2:]
    return Comparison(differences, stream_rows - more, stream_rows, batch_rows, first_us, last_us, number)


def stream_side(found: Comparison, facts: Lineage) -> DataFrame:
    """The rows of the stream's answer that differ, and those of their keys that do not, as an answer."""
    from pyspark.sql import functions as F

    names = names_of(facts)
    ours = found.differences.where(F.col(STREAM).isNotNull()).select(*(F.col(f"{STREAM}.{name}") for name in names))
    if EQUAL not in found.differences.columns:
        return ours
    both = F.least(STREAM_ROWS, BATCH_ROWS).cast("int")
    copies = equal_rows(found.differences).select("row.*").withColumn("copy", F.explode(F.sequence(F.lit(1), both)))
    return ours.unionAll(copies.select(*names))


def _sign(ours: DataFrame, theirs: DataFrame, facts: Lineage) -> DataFrame:
    """The rows of both answers: `s` = 1 on the stream's, `b` = 1 on the batch's, which alone have the carried columns."""
    from pyspark.sql import functions as F

    absent = [F.lit(None).cast(theirs.schema[name].dataType).alias(name) for name in carried_columns(facts)]
    left = ours.select("*", *absent, F.lit(1).alias("s"), F.lit(0).alias("b"))
    return left.unionAll(theirs.select("*", F.lit(0).alias("s"), F.lit(1).alias("b")))


def _buckets(both: DataFrame, facts: Lineage) -> DataFrame:
    """The buckets of all rows: how many each answer has in it, between which times, and whether any differ."""
    from pyspark.sql import functions as F

    at, checks = time_us(facts, F.col), sums(F.col("s") - F.col("b"))
    counts = [F.sum("s").alias(STREAM_ROWS), F.sum("b").alias(BATCH_ROWS)]
    times = [F.min(at).alias("first_us"), F.max(at).alias("last_us")]
    summed = both.groupBy(BUCKET).agg(*counts, *times, *(check.alias(name) for name, check in checks.items()))
    return summed.select(BUCKET, STREAM_ROWS, BATCH_ROWS, "first_us", "last_us", differs([*checks]).alias(DIFFERING))


def time_us(facts: Lineage, column: Callable[[str], Column]) -> Column:
    """The row's time in microseconds since the epoch, NULL without one; `column` gives a Column for a name inside the comparison."""
    from pyspark.sql import functions as F

    if facts.time is None:
        return F.lit(None).cast("bigint")
    name = names_of(facts)[facts.columns.names.index(facts.time)]
    return F.unix_micros(column(name).cast("timestamp"))
