"""Which class a difference belongs to: the first in order whose evidence the record holds and whose values agree with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from ouzel.reconcile.classes import Class, Evidence
from ouzel.reconcile.late import DROPPED, GROUP, LATE_ROWS, LOOSE
from ouzel.reconcile.lineage import CARRIED, Direction, Lineage
from ouzel.reconcile.pairs import BATCH, BATCH_ROWS, DIFFERING, STREAM, STREAM_ROWS, either, names_of, pairing

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CLASS = "class"

GONE = "gone"
"""Whether a difference is no more once the batch job leaves out what the stream dropped."""


@dataclass(frozen=True)
class Without:
    """What still differs when the batch job leaves out the rows that were dropped as late.

    With `touched` it knows only of groups that have such rows, and of no others.
    """

    differences: DataFrame
    touched: bool


def classified(
    differences: DataFrame,
    facts: Lineage,
    proof: Evidence,
    groups: DataFrame | None = None,
    without: Without | None = None,
) -> DataFrame:
    """The differences of a comparison with a column `class`, and with DROPPED, the lines of the late rows of those that are late.

    Args:
        differences: see comparison.Comparison.
        facts: of the sink.
        proof: what the record bears out.
        groups: the groups with late rows, see late.late_groups.
        without: what the batch job's answer without the late rows leaves of the differences.
    """
    from pyspark.sql import functions as F

    marked = _with_gone(_with_late(differences, groups, facts), without, facts)
    ours, theirs = F.col(STREAM).isNotNull(), F.col(BATCH).isNotNull()
    paired = ours & theirs
    rules = [
        (Class.FLOAT, paired & (F.size(DIFFERING) == 0)),
        (Class.IN_FLIGHT, _is_open(facts, proof.closed_us)),
        (Class.LATE, F.col(GONE) | _within_late(facts)),
        (Class.LOST, (F.lit(proof.losses) & _fewer(facts)) | (F.lit(proof.state_lost) & _begun_anew(facts))),
        (Class.DUPLICATED, _more(facts) & _within_replayed(facts, proof.replayed)),
        (Class.VALUE_DIFFERS, paired),
        (Class.ONLY_STREAM, ours),
    ]
    value = F.lit(Class.ONLY_BATCH.value)
    for kind, condition in reversed(rules):
        value = F.when(F.coalesce(condition, F.lit(False)), F.lit(kind.value)).otherwise(value)
    told = F.when(F.col(CLASS) == Class.LATE.value, F.col(DROPPED))
    return marked.withColumn(CLASS, value).withColumn(DROPPED, told).drop(LATE_ROWS, LOOSE, GONE)


def _is_open(facts: Lineage, closed_us: int | None) -> Column:
    """Whether the row's window was open at the record's watermark: it closes when time reaches its end's last microsecond."""
    from pyspark.sql import functions as F

    if closed_us is None or facts.window_end is None:
        return F.lit(False)
    return F.unix_micros(F.col(CARRIED + facts.window_end).cast("timestamp")) > F.lit(closed_us + 1)


def _fewer(facts: Lineage) -> Column:
    """Whether the stream's row looks like the batch's with rows missing, or is missing itself."""
    from pyspark.sql import functions as F

    missing = F.col(STREAM).isNull() & F.col(BATCH).isNotNull()
    ours, theirs = _sides(facts)
    moved = [
        _agrees(ours[name], theirs[name], direction, lost=True)
        for name, direction in facts.directions.items()
        if direction is not Direction.FREE
    ]
    return missing | _some_and_all(facts, moved, lost=True)


def _more(facts: Lineage) -> Column:
    """Whether the stream's row looks like the batch's with rows counted twice, or is one copy too many."""
    from pyspark.sql import functions as F

    copy = F.col(BATCH).isNull() & (F.col(BATCH_ROWS) > 0) & (F.col(STREAM_ROWS) > F.col(BATCH_ROWS))
    ours, theirs = _sides(facts)
    moved = [
        _agrees(ours[name], theirs[name], direction, lost=False)
        for name, direction in facts.directions.items()
        if direction is not Direction.FREE
    ]
    return copy | _some_and_all(facts, moved, lost=False)


def _begun_anew(facts: Lineage) -> Column:
    """Whether the stream has the group in another row too: the task that told of it first died, and its successor began anew."""
    from pyspark.sql import functions as F

    return F.lit(bool(facts.keys)) & F.col(BATCH).isNull() & (F.col(f"{STREAM}.copy") > 1)


def _within_replayed(facts: Lineage, replayed: int | None) -> Column:
    """Whether no count is higher by more rows than were sent again, where that is known and each row counts at most once in it."""
    from pyspark.sql import functions as F

    if not replayed or not facts.single:
        return F.lit(replayed != 0)
    ours, theirs = _sides(facts)
    counts = [name for name, direction in facts.directions.items() if direction is Direction.COUNT]
    copies = F.col(BATCH).isNull() & (F.col(STREAM_ROWS) - F.col(BATCH_ROWS) <= replayed)
    return copies | reduce(and_, [ours[name] - theirs[name] <= replayed for name in counts], F.col(BATCH).isNotNull())


def _some_and_all(facts: Lineage, agrees: Sequence[Column], lost: bool) -> Column:
    """All columns with a direction agree with it, and one that a row cannot but move did move."""
    from pyspark.sql import functions as F

    ours, theirs = _sides(facts)
    telling = _telling(facts)
    sign = 1 if lost else -1
    moved = [sign * theirs[name] > sign * ours[name] for name in telling]
    if not moved:
        return F.lit(False)
    paired = F.col(STREAM).isNotNull() & F.col(BATCH).isNotNull()
    return paired & reduce(and_, agrees) & reduce(or_, moved)


def _telling(facts: Lineage) -> list[str]:
    """The columns that betray a row missing or counted twice: counts, or sums where nothing is counted."""
    counts = [name for name, direction in facts.directions.items() if direction is Direction.COUNT]
    return counts or [name for name, direction in facts.directions.items() if direction is Direction.SUM]


def _agrees(ours: Column, theirs: Column, direction: Direction, lost: bool) -> Column:
    """Whether both values can be as they are because rows are missing (`lost`) or came twice. NULL is the value of no rows at all."""
    from pyspark.sql import functions as F

    same = ours.eqNullSafe(theirs)
    if direction is Direction.SUM:
        return F.lit(True)
    if direction is Direction.COUNT:
        return ours <= theirs if lost else ours >= theirs
    if not lost:
        return same
    behind = ours < theirs if direction is Direction.RISING else ours > theirs
    return same | F.coalesce(behind, ours.isNull())


def _sides(facts: Lineage) -> tuple[dict[str, Column], dict[str, Column]]:
    from pyspark.sql import functions as F

    inner = dict(zip(facts.columns.names, names_of(facts), strict=True))
    ours = {name: F.col(f"{STREAM}.{column}") for name, column in inner.items()}
    return ours, {name: F.col(f"{BATCH}.{column}") for name, column in inner.items()}


def _within_late(facts: Lineage) -> Column:
    """Whether rows of this group were dropped as late that are only counted, and no count lacks more than those."""
    from pyspark.sql import functions as F

    ours, theirs = _sides(facts)
    counts = [name for name, direction in facts.directions.items() if direction is Direction.COUNT]
    lacking = [theirs[name] - F.coalesce(ours[name], F.lit(0)) <= F.col(LATE_ROWS) for name in counts]
    moved = _fewer(facts) if _telling(facts) else _fewer(facts) | (F.col(STREAM).isNotNull() & F.col(BATCH).isNotNull())
    return reduce(and_, lacking, F.col(LOOSE) & moved)


def _with_late(differences: DataFrame, groups: DataFrame | None, facts: Lineage) -> DataFrame:
    """Columns LATE_ROWS, LOOSE and DROPPED of this row's group: at most so many were dropped, for a replay drops rows again."""
    from pyspark.sql import functions as F

    names = facts.carried.names
    if groups is None or not names:
        none = {LATE_ROWS: F.lit(0), LOOSE: F.lit(False), DROPPED: F.lit(None).cast("array<string>")}
        return differences.withColumns(none)
    same = reduce(and_, (F.col(f"{CARRIED}{name}").eqNullSafe(F.col(f"{GROUP}{name}")) for name in names))
    found = differences.join(groups, same, "left").drop(*(f"{GROUP}{name}" for name in names))
    return found.withColumns({LATE_ROWS: F.coalesce(LATE_ROWS, F.lit(0)), LOOSE: F.coalesce(LOOSE, F.lit(False))})


def _with_gone(differences: DataFrame, without: Without | None, facts: Lineage) -> DataFrame:
    """A column GONE: whether the difference is no more once the batch job leaves the late rows out.

    Differences are told apart by what pairs rows; of several alike as many are gone as there are fewer.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if without is None:
        return differences.withColumn(GONE, F.lit(False))
    exact = pairing(facts) or names_of(facts)
    alike = F.struct(*(either(name).alias(name) for name in exact))
    unequal = F.col(STREAM).isNull() | F.col(BATCH).isNull() | (F.size(DIFFERING) > 0)
    left = without.differences.where(unequal).groupBy(alike.alias("_left")).agg(F.count("*").alias("_number_left"))
    order = Window.partitionBy("_alike").orderBy(F.col(STREAM).isNull())
    numbered = differences.withColumn("_alike", alike).withColumn("_number", F.row_number().over(order))
    joined = numbered.join(left, F.col("_alike").eqNullSafe(F.col("_left")), "left")
    gone = F.col("_number") > F.coalesce("_number_left", F.lit(0))
    if without.touched:
        gone = gone & ((F.col(LATE_ROWS) > 0) | F.col(BATCH).isNull())
    return joined.withColumn(GONE, gone).drop("_alike", "_number", "_left", "_number_left")
