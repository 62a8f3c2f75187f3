"""Rows of two answers paired by what tells rows apart, and which of their columns differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ouzel.compiler.types import ArrayType, DataType, FloatType, MapType, RowType, walk_type
from ouzel.reconcile.comparing.lineage import CARRIED, Lineage
from ouzel.reconcile.explaining.bounds import PartBound, is_rounded
from ouzel.reconcile.explaining.number_bounds import NumberBound

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FLOAT32_TOLERANCE = 2.0**-22
"""A FLOAT has 24 bits: no tolerance below this one means anything for it."""

DIFFERING, NEAR, STREAM, BATCH = "differing", "near", "stream", "batch"
"""Columns of the differences: names of the columns that differ, of those that are equal within the tolerance, and both rows."""

STREAM_ROWS, BATCH_ROWS = "stream_rows", "batch_rows"
"""How often each answer holds exactly this row."""

EQUAL = "equal"
"""Beside a difference of a key with several rows: the rows of that key that both answers have, each with what is carried."""

TASK_ROWS = 1_000_000
"""At most so many rows are grouped by one task, so that their groups fit into its memory. Partial groups would save little."""

BROADCAST_MAX = 100_000
"""Up to so many keys with several rows are broadcast, so that no rows are shuffled to meet them."""

OF = {STREAM: "s", BATCH: "b"}
"""What counts the rows of each side, and what its values are called beside a key."""


def names_of(facts: Lineage) -> list[str]:
    """Names of the output's columns inside a comparison, which need no quotes whatever the columns are called."""
    return [f"c{number}" for number in range(len(facts.columns))]


def either(name: str) -> Column:
    """A column of the stream's row, or of the batch's where the stream has none."""
    from pyspark.sql import functions as F

    return F.coalesce(f"{STREAM}.{name}", f"{BATCH}.{name}")


def carried_columns(facts: Lineage) -> list[str]:
    """The columns that only the batch's rows have."""
    bounds = dict.fromkeys(name for each in facts.bounds.values() for name in each.columns)
    return [f"{CARRIED}{name}" for name in (*facts.carried.names, *bounds)]


def pair_rows(rows: DataFrame, number: int, facts: Lineage, tolerance: float) -> tuple[DataFrame, int]:
    """The differences among these rows, which can be read again at little cost, and how many rows of the stream are in them.

    Keys of which either side has one row at most, nearly all, take one shuffle. Where there are several, equal rows cancel first, and the
    rest is joined on the keys; without keys, on the columns that are no floats if there are floats, so that a last digit pairs with its
    like; else nothing is paired.

    Args:
        rows: of both answers, `s` = 1 on those of the stream and `b` = 1 on those of the batch; they are read before this returns.
        number: how many rows these are; of none Spark's optimizer has to see that there are none.
    """
    from pyspark.sql import functions as F

    keys = pairing(facts)
    if not number:
        return _join(_unequal(rows, facts, keys), facts, keys, tolerance), 0
    if keys is None:
        return _cancel(rows, facts, None, tolerance)
    tasks = -(-number // TASK_ROWS)
    groups = keep_on_disk(_groups(rows.repartition(tasks, *keys) if keys and tasks > 1 else rows, facts, keys))
    several = (F.col("s") > 1) | (F.col("b") > 1)
    single = groups.where(~several)
    found = _tell(_sides(single, facts, keys), facts, tolerance)
    more, crowded = groups.agg(F.sum(F.when(~several, F.col("s"))), F.count_if(several)).collect()[0]
    if not crowded:
        return found, int(more or 0)
    same = reduce(and_, (rows[name].eqNullSafe(F.col(f"k{name}")) for name in keys))
    named = groups.where(several).select(*(F.col(name).alias(f"k{name}") for name in keys))
    named = F.broadcast(named) if crowded <= BROADCAST_MAX else named
    others, surplus = _cancel(rows.join(named, same, "left_semi"), facts, keys, tolerance)
    return found.unionByName(others, allowMissingColumns=True), int(more or 0) + surplus


def keep_on_disk(rows: DataFrame) -> DataFrame:
    """The rows, computed now and kept on the workers' disks, to be read several times."""
    from pyspark import StorageLevel

    return rows.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)


def pairing(facts: Lineage) -> list[str] | None:
    """What pairs rows: the keys, else the columns that are no floats where there are floats; None if nothing does."""
    pairs = list(zip(names_of(facts), facts.columns, strict=True))
    if facts.keys:
        return [name for name, field in pairs if field.name in facts.keys]
    exact = [name for name, field in pairs if not _has_floats(field.type)]
    return exact if 0 < len(exact) < len(pairs) else None


def equal_rows(differences: DataFrame) -> DataFrame:
    """What EQUAL has, once each: `row`, with how often either answer has it, and what is carried."""
    from pyspark.sql import functions as F

    return differences.select(F.explode(F.array_distinct(EQUAL)).alias(EQUAL)).select(f"{EQUAL}.*").distinct()


def _groups(rows: DataFrame, facts: Lineage, keys: Sequence[str]) -> DataFrame:
    """Each key with the number of its rows on either side, and where that is one its values; without the pairs that are equal."""
    from pyspark.sql import functions as F

    others = [name for name in names_of(facts) if name not in keys]
    values = [
        F.first(F.when(F.col(side) == 1, F.col(name)), ignorenulls=True).alias(f"{side}_{name}")
        for side in OF.values()
        for name in others
    ]
    extra = [F.first(name, ignorenulls=True).alias(name) for name in carried_columns(facts)]
    grouped = rows.groupBy(*keys).agg(*(F.sum(side).alias(side) for side in OF.values()), *values, *extra)
    equal = (F.col(f"s_{name}").eqNullSafe(F.col(f"b_{name}")) for name in others)
    return grouped.where(~reduce(and_, equal, (F.col("s") == 1) & (F.col("b") == 1)))


def _sides(groups: DataFrame, facts: Lineage, keys: Sequence[str]) -> DataFrame:
    """The rows of keys that have one on either side at most."""
    from pyspark.sql import functions as F

    def row(side: str) -> Column:
        of = OF[side]
        values = [F.col(name if name in keys else f"{of}_{name}").alias(name) for name in names_of(facts)]
        counts = [F.lit(int(each == side)).cast("bigint").alias(f"{each}_rows") for each in OF]
        return F.when(F.col(of) == 1, F.struct(*values, F.lit(1).alias("copy"), *counts)).alias(side)

    return groups.select(*(row(side) for side in OF), *carried_columns(facts))


def _unequal(rows: DataFrame, facts: Lineage, keys: Sequence[str] | None) -> DataFrame:
    """Each distinct row with how often either answer has it, where that is not the same; of keys, EQUAL besides."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    counts = [F.sum("s").alias(STREAM_ROWS), F.sum("b").alias(BATCH_ROWS)]
    extra = [F.first(name, ignorenulls=True).alias(name) for name in carried_columns(facts)]
    counted = rows.groupBy(*names_of(facts)).agg(*counts, *extra)
    if keys and facts.keys:
        row = F.struct(
            F.struct(*names_of(facts), F.lit(1).alias("copy"), STREAM_ROWS, BATCH_ROWS).alias("row"),
            *carried_columns(facts),
        )
        equal = F.collect_list(F.when((F.col(STREAM_ROWS) > 0) & (F.col(BATCH_ROWS) > 0), row))
        counted = counted.withColumn(EQUAL, equal.over(Window.partitionBy(*keys)))
    return counted.where(F.col(STREAM_ROWS) != F.col(BATCH_ROWS))


def _cancel(rows: DataFrame, facts: Lineage, keys: Sequence[str] | None, tolerance: float) -> tuple[DataFrame, int]:
    """The differences where a key has several rows or there are no keys: equal rows cancel, and the rest is joined."""
    rest = keep_on_disk(_unequal(rows, facts, keys))
    return keep_on_disk(_join(rest, facts, keys, tolerance)), _surplus(rest)


def _surplus(rest: DataFrame) -> int:
    """How many rows the stream has more."""
    from pyspark.sql import functions as F

    (more,) = rest.agg(F.sum(F.greatest(F.col(STREAM_ROWS) - F.col(BATCH_ROWS), F.lit(0)))).collect()[0]
    return int(more or 0)


def _join(rest: DataFrame, facts: Lineage, keys: Sequence[str] | None, tolerance: float) -> DataFrame:
    from pyspark.sql import functions as F

    ours = _side(rest, facts, keys, F.col(STREAM_ROWS) - F.col(BATCH_ROWS), STREAM, [])
    theirs = _side(rest, facts, keys, F.col(BATCH_ROWS) - F.col(STREAM_ROWS), BATCH, carried_columns(facts))
    same = F.lit(True) if keys is not None else F.lit(False)
    for name in (*(keys or ()), "copy"):
        same = same & F.col(f"{STREAM}.{name}").eqNullSafe(F.col(f"{BATCH}.{name}"))
    both = ours.join(theirs, same, "full") if keys is not None else ours.unionByName(theirs, allowMissingColumns=True)
    if EQUAL in rest.columns:
        both = both.withColumns(
            {EQUAL: either(EQUAL), **{side: F.col(side).dropFields(EQUAL) for side in (STREAM, BATCH)}}
        )
    return _tell(both, facts, tolerance)


def _tell(both: DataFrame, facts: Lineage, tolerance: float) -> DataFrame:
    """The differences (see comparison.Comparison) that these pairs of rows are."""
    equal = [EQUAL] if EQUAL in both.columns else []
    counts = [either(name).alias(name) for name in (STREAM_ROWS, BATCH_ROWS)]
    return both.select(*_differing(facts, tolerance), STREAM, BATCH, *counts, *carried_columns(facts), *equal)


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
    equal = [EQUAL] if EQUAL in rest.columns else []
    return copies.select(F.struct(*names, "copy", STREAM_ROWS, BATCH_ROWS, *equal).alias(side), *carried)


def _differing(facts: Lineage, tolerance: float) -> list[Column]:
    """Names of the columns that differ, and of those that differ within the tolerance; both empty where one row is missing."""
    from pyspark.sql import functions as F

    paired = F.col(STREAM).isNotNull() & F.col(BATCH).isNotNull()
    differing, near = [], []
    for name, field in zip(names_of(facts), facts.columns, strict=True):
        ours, theirs = F.col(f"{STREAM}.{name}"), F.col(f"{BATCH}.{name}")
        close = _close(ours, theirs, field.type, tolerance)
        if tolerance:
            close |= _is_rounding(ours, theirs, facts.bounds.get(field.name))
        unequal = paired & ~ours.eqNullSafe(theirs)
        differing.append(F.when(unequal & ~close, F.lit(field.name)))
        near.append(F.when(unequal & close, F.lit(field.name)))
    return [F.array_compact(F.array(*differing)).alias(DIFFERING), F.array_compact(F.array(*near)).alias(NEAR)]


def _is_rounding(ours: Column, theirs: Column, bounds: PartBound | None) -> Column:
    """Whether another order of adding up can make the difference: where values cancel, what is left is much of it rounding."""
    from pyspark.sql import functions as F

    if not isinstance(bounds, NumberBound) or not is_rounded(bounds.call):
        return F.lit(False)
    a, b = ours.cast("double"), theirs.cast("double")
    allowed = bounds.rounding(lambda need: F.col(f"{CARRIED}{bounds.column(need)}"))
    cast = F.lit(bounds.loss.relative) * F.greatest(F.abs(a), F.abs(b))
    return F.coalesce(F.abs(a - b) <= allowed + cast, F.lit(False))


def _close(ours: Column, theirs: Column, kind: DataType, tolerance: float) -> Column:
    """Whether two values are equal, floats within the tolerance relative to the larger one; NaN and infinities are never merely close."""
    from pyspark.sql import functions as F

    def same(one: Column, other: Column, of: DataType) -> Column:
        return one.eqNullSafe(other) | _close(one, other, of, tolerance)

    if not _has_floats(kind):
        return F.lit(False)
    match kind:
        case RowType(fields):
            inner = [same(ours.getField(name), theirs.getField(name), of) for name, of in fields]
            return F.coalesce(reduce(and_, inner, ours.isNotNull() & theirs.isNotNull()), F.lit(False))
        case MapType(key, value):  # compared as an array of entries
            return _close(ours, theirs, ArrayType(RowType((("key", key), ("value", value)))), tolerance)
        case ArrayType(element):
            each = F.forall(F.zip_with(ours, theirs, lambda a, b: same(a, b, element)), lambda one: one)
            return F.coalesce((F.size(ours) == F.size(theirs)) & each, F.lit(False))
    assert isinstance(kind, FloatType)
    allowed = max(tolerance, FLOAT32_TOLERANCE) if kind.bits == 32 else tolerance
    a, b = ours.cast("double"), theirs.cast("double")
    largest = F.greatest(F.abs(a), F.abs(b))
    finite = largest < F.lit(float("inf"))
    return F.coalesce(finite & (F.abs(a - b) <= F.lit(allowed) * largest), F.lit(False))


def _has_floats(kind: DataType) -> bool:
    return any(isinstance(part, FloatType) for part in walk_type(kind))
