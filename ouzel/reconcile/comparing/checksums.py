"""Where two tables differ, found by sums of hashes over buckets of rows, as replicas that compare hash trees do (Dynamo, section 4.7).

The hash of a row, or of its keys, chooses one of BUCKETS, the same for both tables. A bucket in which both tables have as
many rows, and equal sums of their hashes, holds the same rows in both, each as often. That costs one look at each row, and nothing is
shuffled but sums; only rows of other buckets need to be compared. Rows that differ pass for equal with a probability of about 2^-128 a
bucket, for there are two hashes of 64 bits. They are xxHash, which guards against accidents and not against somebody who makes up rows for
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from ouzel.compiler.types import ArrayType, DataType, Field, MapType, RowType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BUCKETS = 1 << 16
"""Enough for a few thousand differences to leave most buckets equal; few enough for a task's sums to stay in its cache."""

BUCKET = "bucket"
"""Column of the bucket that a row falls into."""

HALF = (1 << 32) - 1

HASHES = ("hash", "other_hash")


def with_hashes(rows: DataFrame, names: Sequence[str], fields: Sequence[Field], keys: Sequence[str] = ()) -> DataFrame:
    """The rows with their HASHES, made of these columns, and their BUCKET, made of those that are keys, if any are.

    Equal rows have equal ones, NULL being equal to NULL. So all rows of a key are in one bucket.
    """
    from pyspark.sql import functions as F

    marks = {name: _marks(F.col(name), field.type) for name, field in zip(names, fields, strict=True)}
    every, chosen = ([mark for name in some for mark in marks[name]] for some in (names, keys or names))
    hashed = rows.withColumns({hash_: F.xxhash64(F.lit(seed), *every) for seed, hash_ in enumerate(HASHES)})
    return hashed.withColumn(BUCKET, F.xxhash64(F.lit(0), *chosen).bitwiseAND(F.lit(BUCKETS - 1)))


def sums(sign: Column) -> dict[str, Column]:
    """Aggregates, by name, of a bucket's rows with their hashes: all are 0 if the rows of sign +1 are those of sign -1."""
    from pyspark.sql import functions as F

    made = {"surplus": F.sum(sign)}
    for name in HASHES:  # halves, so that no sum overflows
        made[f"{name}_low"] = F.sum(F.col(name).bitwiseAND(F.lit(HALF)) * sign)
        made[f"{name}_high"] = F.sum(F.shiftrightunsigned(name, 32) * sign)
    return made


def differs(summed: Sequence[str]) -> Column:
    """Whether a bucket with these sums holds a row that differs."""
    from pyspark.sql import functions as F

    return reduce(or_, (F.col(name) != 0 for name in summed))


def _marks(value: Column, kind: DataType) -> list[Column]:
    """What is hashed of a value: Spark's hash skips NULLs and does not mark where an array ends."""
    from pyspark.sql import functions as F

    match kind:
        case RowType(fields=fields):
            inner = [mark for name, of in fields for mark in _marks(value.getField(name), of)]
            return [value.isNull(), *inner]
        case MapType(key=key, value=item):  # compared as an array of entries
            return _marks(value, ArrayType(RowType((("key", key), ("value", item)))))
        case ArrayType(element=element):
            each = F.transform(value, lambda one: F.xxhash64(*_marks(one, element)))
            return [F.coalesce(F.size(value), F.lit(-1)), each]
    return [value.isNull(), value]
