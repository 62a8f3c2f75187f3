"""Which class a difference belongs to: the first in order whose evidence the record holds and whose values agree with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ouzel.compiler.plan import EmitRule
from ouzel.reconcile.comparing.lineage import CARRIED, Lineage
from ouzel.reconcile.comparing.pairs import BATCH, DIFFERING, STREAM, either, names_of, pairing
from ouzel.reconcile.explaining.classes import Class, Evidence
from ouzel.reconcile.explaining.late import DROPPED, GROUP, LATE_ROWS, LOOSE
from ouzel.reconcile.explaining.loss_excuses import LOST, counts_of, fewer, sides, with_lost

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CLASS = "class"

GONE = "gone"
"""Whether a difference vanishes once the batch job leaves out what the stream dropped."""


LACKING = "lacking"
"""Whether it is a difference only then."""


@dataclass(frozen=True)
class LateExclusion:
    """What still differs when the batch job leaves out the rows that were dropped as late.

    With `touched` it covers only groups that have such rows. With `whole` it has left out all of them: what the stream lacks of it is
    lacking, though the batch job's answer to all rows does not show it.
    """

    differences: DataFrame
    touched: bool
    whole: bool = False


def classify(
    differences: DataFrame,
    facts: Lineage,
    proof: Evidence,
    groups: DataFrame | None = None,
    without: LateExclusion | None = None,
) -> DataFrame:
    """The differences of a comparison with a column `class`, and a column DROPPED: the lines of the late rows that explain a late one.

    Args:
        differences: see comparison.Comparison.
        facts: of the sink.
        proof: what the record bears out.
        groups: the groups with late rows, see late.late_groups.
        without: what the batch job's answer without the late rows leaves of the differences.
    """
    from pyspark.sql import functions as F

    every = _with_lacking(differences, without, facts)
    marked = with_lost(_with_gone(_with_late(every, groups, facts), without, facts), facts, proof)
    ours, theirs = F.col(STREAM).isNotNull(), F.col(BATCH).isNotNull()
    paired = ours & theirs
    rules = [
        (Class.FLOAT, paired & (F.size(DIFFERING) == 0)),
        (Class.IN_FLIGHT, _is_open(facts, proof.closed_us) & _partly(facts)),
        (Class.LATE, F.col(GONE) | _within_late(facts)),
        (Class.LOST, F.col(LOST)),
        (Class.VALUE_DIFFERS, paired),
        (Class.ONLY_STREAM, ours),
    ]
    value = F.lit(Class.ONLY_BATCH.value)
    for kind, condition in reversed(rules):
        value = F.when(F.coalesce(condition, F.lit(False)), F.lit(kind.value)).otherwise(value)
    told = F.when(F.col(CLASS) == Class.LATE.value, F.col(DROPPED))
    return marked.withColumn(CLASS, value).withColumn(DROPPED, told).drop(LATE_ROWS, LOOSE, GONE, LOST, LACKING)


def _is_open(facts: Lineage, closed_us: int | None) -> Column:
    """Whether the row's window was open at the record's watermark: it closes when time reaches its end's last microsecond.

    In the order of time a row leaves when time has come to its own.
    """
    from pyspark.sql import functions as F

    name = facts.window_end or facts.leaves_at
    if closed_us is None or name is None:
        return F.lit(False)
    last_us = F.lit(closed_us + 1 if facts.window_end else closed_us)
    return F.unix_micros(F.col(CARRIED + name).cast("timestamp")) > last_us


def _partly(facts: Lineage) -> Column:
    """Whether the stream has emitted nothing for the window yet or, where it emits changes, not all of them."""
    from pyspark.sql import functions as F

    return F.col(STREAM).isNull() if facts.emit is EmitRule.WATERMARK or facts.leaves_at else fewer(facts)


def _within_late(facts: Lineage) -> Column:
    """Whether rows of this group were dropped as late and only counted, and no COUNT is short by more than those."""
    from pyspark.sql import functions as F

    ours, theirs = sides(facts)
    lacking = [theirs[name] - F.coalesce(ours[name], F.lit(0)) <= F.col(LATE_ROWS) for name in counts_of(facts)]
    return reduce(and_, lacking, F.col(LOOSE) & fewer(facts))


def _with_late(differences: DataFrame, groups: DataFrame | None, facts: Lineage) -> DataFrame:
    """Columns LATE_ROWS, LOOSE and DROPPED of this row's group: upper bounds, since a replay may drop a row again."""
    from pyspark.sql import functions as F

    names = facts.carried.names
    if groups is None or not names:
        none = {LATE_ROWS: F.lit(0), LOOSE: F.lit(False), DROPPED: F.lit(None).cast("array<string>")}
        return differences.withColumns(none)
    same = reduce(and_, (F.col(f"{CARRIED}{name}").eqNullSafe(F.col(f"{GROUP}{name}")) for name in names))
    found = differences.join(groups, same, "left").drop(*(f"{GROUP}{name}" for name in names))
    return found.withColumns({LATE_ROWS: F.coalesce(LATE_ROWS, F.lit(0)), LOOSE: F.coalesce(LOOSE, F.lit(False))})


def _with_lacking(differences: DataFrame, without: LateExclusion | None, facts: Lineage) -> DataFrame:
    """The differences, with a column LACKING, and rows that only an answer without the late rows shows to be missing.

    Where a late row changes what others are (the place of a row among others), a row of the answer to all rows is in neither.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    marked = differences.withColumn(LACKING, F.lit(False))
    if without is None or not without.whole:
        return marked
    alike = _alike(facts)
    known = differences.groupBy(alike.alias("_known")).agg(F.count("*").alias("_number_known"))
    order = Window.partitionBy("_alike").orderBy(F.col(STREAM).isNull())
    numbered = without.differences.withColumn("_alike", alike).withColumn("_number", F.row_number().over(order))
    joined = numbered.join(known, F.col("_alike").eqNullSafe(F.col("_known")), "left")
    fresh = joined.where(F.col(STREAM).isNull() & (F.col("_number") > F.coalesce("_number_known", F.lit(0))))
    lacking = fresh.drop("_alike", "_number", "_known", "_number_known").withColumn(LACKING, F.lit(True))
    return marked.unionByName(lacking, allowMissingColumns=True)


def _alike(facts: Lineage) -> Column:
    """What identifies a difference: what pairs rows, or where nothing does the whole row."""
    from pyspark.sql import functions as F

    return F.struct(*(either(name).alias(name) for name in pairing(facts) or names_of(facts)))


def _with_gone(differences: DataFrame, without: LateExclusion | None, facts: Lineage) -> DataFrame:
    """A column GONE: whether the difference vanishes once the batch job leaves the late rows out.

    Differences are identified by what pairs rows. Of several equal ones as many are gone as their number has shrunk: missing rows first,
    surplus rows last.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if without is None:
        return differences.withColumn(GONE, F.lit(False))
    alike = _alike(facts)
    unequal = F.col(STREAM).isNull() | F.col(BATCH).isNull() | (F.size(DIFFERING) > 0)
    left = without.differences.where(unequal).groupBy(alike.alias("_left")).agg(F.count("*").alias("_number_left"))
    order = Window.partitionBy("_alike").orderBy(F.col(STREAM).isNull(), F.col(BATCH).isNotNull())
    numbered = differences.withColumn("_alike", alike).withColumn("_number", F.row_number().over(order))
    joined = numbered.join(left, F.col("_alike").eqNullSafe(F.col("_left")), "left")
    gone = (F.col("_number") > F.coalesce("_number_left", F.lit(0))) & ~F.col(LACKING)
    if without.touched:
        gone = gone & ((F.col(LATE_ROWS) > 0) | F.col(BATCH).isNull())
    return joined.withColumn(GONE, gone).drop("_alike", "_number", "_left", "_number_left")
