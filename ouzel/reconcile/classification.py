"""Which class a difference belongs to: the first in order whose evidence the record holds and whose values agree with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.compiler.functions.aggregates import ROWS
from ouzel.compiler.functions.spark import to_spark_type
from ouzel.reconcile.classes import Class, Evidence
from ouzel.reconcile.comparison import BATCH, BATCH_ROWS, DIFFERING, STREAM, STREAM_ROWS, names_of
from ouzel.reconcile.lineage import CARRIED, Direction, Lineage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CLASS = "class"

DROPPED, LATE_ROWS = "_late_", "late_rows"
"""Prefix of the keys of groups with late rows, and how many rows each has."""


def classified(differences: DataFrame, facts: Lineage, proof: Evidence) -> DataFrame:
    """The differences of a comparison with a column `class`."""
    from pyspark.sql import functions as F

    marked = _with_late(differences, facts, proof.late)
    ours, theirs = F.col(STREAM).isNotNull(), F.col(BATCH).isNotNull()
    paired = ours & theirs
    fewer, more = _fewer(facts), _more(facts)
    rules = [
        (Class.FLOAT, paired & (F.size(DIFFERING) == 0)),
        (Class.IN_FLIGHT, _is_open(facts, proof.closed_us)),
        (Class.LATE, _within_late(facts) & (fewer if _telling(facts) else fewer | paired)),
        (Class.LOST, F.lit(proof.losses) & fewer),
        (Class.DUPLICATED, F.lit(proof.replays) & more),
        (Class.VALUE_DIFFERS, paired),
        (Class.ONLY_STREAM, ours),
    ]
    value = F.lit(Class.ONLY_BATCH.value)
    for kind, condition in reversed(rules):
        value = F.when(F.coalesce(condition, F.lit(False)), F.lit(kind.value)).otherwise(value)
    return marked.withColumn(CLASS, value).drop(LATE_ROWS)


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
    """Whether rows of this group were dropped as late, and no count lacks more than those."""
    from pyspark.sql import functions as F

    ours, theirs = _sides(facts)
    counts = [name for name, direction in facts.directions.items() if direction is Direction.COUNT]
    lacking = [theirs[name] - F.coalesce(ours[name], F.lit(0)) <= F.col(LATE_ROWS) for name in counts]
    return reduce(and_, lacking, F.col(LATE_ROWS) > 0)


def _with_late(differences: DataFrame, facts: Lineage, late: Path | None) -> DataFrame:
    """A column LATE_ROWS: how many rows of this row's group were dropped as late, at most, for a replay drops them again."""
    from pyspark.sql import functions as F

    if late is None or not facts.carried:
        return differences.withColumn(LATE_ROWS, F.lit(0))
    groups = late_groups(differences, facts, late)
    same = reduce(
        and_, (F.col(f"{CARRIED}{name}").eqNullSafe(F.col(f"{DROPPED}{name}")) for name in facts.carried.names)
    )
    return differences.join(F.broadcast(groups), same, "left").withColumn(LATE_ROWS, F.coalesce(LATE_ROWS, F.lit(0)))


def late_groups(differences: DataFrame, facts: Lineage, late: Path) -> DataFrame:
    """The groups of the rows dropped as late and how many those are, from JSON lines: rows as the aggregate was given them.

    Its keys are among their columns; what a combiner has added up already says in ROWS of how many rows.
    """
    from pyspark.sql import functions as F

    schema = ", ".join([*(f"`{name}` string" for name in facts.carried.names), f"`{ROWS}` bigint"])
    lines = differences.sparkSession.read.schema(schema).json(str(late))
    keys = [
        F.col(f"`{field.name}`").cast(to_spark_type(field.type)).alias(f"{DROPPED}{field.name}")
        for field in facts.carried
    ]
    return lines.groupBy(*keys).agg(F.sum(F.coalesce(f"`{ROWS}`", F.lit(1))).alias(LATE_ROWS))
