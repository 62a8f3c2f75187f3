"""Which differences a loss explains: those of groups that it can have touched, with values that it can have caused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from ouzel.compiler.plan import EmitRule
from ouzel.compiler.types import DataType, DecimalType, FloatType, Schema
from ouzel.reconcile.comparing.lineage import CARRIED, Direction, Joined, Lineage, Padded
from ouzel.reconcile.comparing.pairs import BATCH, EQUAL, STREAM, carried_columns, either, equal_rows, names_of
from ouzel.reconcile.explaining.bounds import within
from ouzel.reconcile.explaining.classes import Evidence
from ouzel.reconcile.recording.record import Loss

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Window

LOST = "lost"
"""Column that says whether the record of the run explains the difference by what was lost."""

NEARLY = 1e-9
"""How far sums of floats that were added up in parts may be from the whole, relative to the sum of their sizes."""

COUNTS = frozenset({Direction.ROWS, Direction.COUNT})
"""What counts rows."""

EARLIEST_US = -(1 << 62)
"""Before all times."""

_GROUP, _TASK, _EXCESS, _DIFFERS = "_group_", "_task", "_excess", "_differs"


def with_lost(differences: DataFrame, facts: Lineage, proof: Evidence) -> DataFrame:
    """The differences with a column LOST."""
    from pyspark.sql import functions as F

    of_tasks = [loss for loss in proof.losses if loss.component]
    on_way = [loss for loss in proof.losses if not loss.component]
    if not proof.losses:
        return differences.withColumn(LOST, F.lit(False))
    placed = _with_tasks(_with_groups(_with_equal(differences), facts), facts, proof, of_tasks)
    hit = [F.coalesce(_in_time(loss, facts) & _in_keys(loss), F.lit(False)) for loss in of_tasks]
    times = sum((each.cast("int") for each in hit), F.lit(0))
    of_state = _any(hit) & (
        _match_missing(facts.joined, facts) if facts.joined else _apart_or_fewer(facts, proof, times)
    )
    of_state = of_state & _within_sent_again(placed, of_state, facts, proof)
    found = of_state | (_any(_in_time(loss, facts) for loss in on_way) & fewer(facts))
    told = placed.withColumn(LOST, F.coalesce(found, F.lit(False)))
    told = _with_left_alone(told, facts.joined, facts) if facts.joined else told
    return told.where(F.col(_DIFFERS)).drop(
        _DIFFERS, _TASK, *(f"{_GROUP}{name.removeprefix(CARRIED)}" for name in carried_columns(facts))
    )


def fewer(facts: Lineage) -> Column:
    """Whether the stream's row looks like the batch's with rows missing, or is missing itself."""
    from pyspark.sql import functions as F

    missing = F.col(STREAM).isNull() & F.col(BATCH).isNotNull()
    ours, theirs = sides(facts)
    moved = [~ours[name].eqNullSafe(theirs[name]) for name in telling(facts)]
    bounded = within(facts.bounds, ours, theirs, lambda name: F.col(f"{CARRIED}{name}"))
    paired = F.col(STREAM).isNotNull() & F.col(BATCH).isNotNull()
    unmatched = _match_missing(facts.joined, facts) if facts.joined else F.lit(False)
    return missing | unmatched | (paired & _agree(facts, ours, theirs) & bounded & _any(moved))


def _match_missing(joined: Joined, facts: Lineage) -> Column:
    """Whether a match that the join should have made is missing, or has the row that it leaves alone in its place."""
    from pyspark.sql import functions as F

    match = reduce(and_, (F.col(f"{CARRIED}{name}").isNotNull() for name in joined.matched), F.col(BATCH).isNotNull())
    ours, theirs = sides(facts)
    same = (
        reduce(and_, (ours[name].eqNullSafe(theirs[name]) for name in each.others), _is_alone(ours, each))
        for each in joined.padded
    )
    return match & (F.col(STREAM).isNull() | _any(same))


def _is_alone(ours: Mapping[str, Column], padded: Padded) -> Column:
    """Whether the stream's row looks like one without a match."""
    from pyspark.sql import functions as F

    return reduce(and_, (ours[name].isNull() for name in padded.null), F.col(STREAM).isNotNull())


def _with_left_alone(told: DataFrame, joined: Joined, facts: Lineage) -> DataFrame:
    """The same, where the stream's unmatched rows are explained too: of each kind as many as the matches that it has lost."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    ours, theirs = sides(facts)
    for padded in joined.padded:
        row = [F.coalesce(ours[name], theirs[name]) for name in padded.others]
        alone = _is_alone(ours, padded) & F.col(BATCH).isNull()
        matches = F.count_if(F.col(LOST) & F.col(STREAM).isNull()).over(Window.partitionBy(*row))
        number = F.row_number().over(Window.partitionBy(*row, alone).orderBy(F.lit(0)))
        told = told.withColumn(LOST, F.col(LOST) | (alone & (number <= matches)))
    return told


def telling(facts: Lineage) -> list[str]:
    """The columns that betray a missing row: what counts every row; else other counts; else sums; else the greatest and the least."""
    for kinds in (
        {Direction.ROWS},
        {Direction.COUNT},
        {Direction.SUM},
        {Direction.RISING, Direction.FALLING, Direction.DISTINCT},
    ):
        if found := [name for name, direction in facts.directions.items() if direction in kinds]:
            return found
    return []


def counts_of(facts: Lineage) -> list[str]:
    """The columns that count rows."""
    return [name for name, direction in facts.directions.items() if direction in COUNTS]


def sides(facts: Lineage) -> tuple[dict[str, Column], dict[str, Column]]:
    """The columns of both rows, by the output's names."""
    return _columns(facts, STREAM), _columns(facts, BATCH)


def _columns(facts: Lineage, side: str) -> dict[str, Column]:
    from pyspark.sql import functions as F

    return {name: F.col(f"{side}.{c}") for name, c in zip(facts.columns.names, names_of(facts), strict=True)}


def _agree(facts: Lineage, ours: Mapping[str, Column], theirs: Mapping[str, Column]) -> Column:
    """Whether missing rows can explain every value."""
    from pyspark.sql import functions as F

    moving = [(name, kind) for name, kind in facts.directions.items() if kind is not Direction.FREE]
    agree = reduce(and_, (_agrees(ours[name], theirs[name], kind) for name, kind in moving), F.lit(True))
    return reduce(and_, _counts_together(facts, ours, theirs), agree)


def _counts_together(facts: Lineage, ours: Mapping[str, Column], theirs: Mapping[str, Column]) -> Iterator[Column]:
    """Where all rows are counted no other count is above them, nor lacks more than they do."""
    kinds = facts.directions.items()
    for rows in (name for name, kind in kinds if kind is Direction.ROWS):
        for name in (name for name, kind in kinds if kind in (Direction.COUNT, Direction.DISTINCT)):
            yield (ours[name] <= ours[rows]) & (theirs[name] - ours[name] <= theirs[rows] - ours[rows])


def _agrees(ours: Column, theirs: Column, direction: Direction) -> Column:
    """Whether one can. NULL is the value of no rows at all."""
    from pyspark.sql import functions as F

    if direction is Direction.SUM:
        return F.lit(True)
    if direction is Direction.SAME:
        return ours.eqNullSafe(theirs)
    if direction is Direction.DISTINCT:
        return F.coalesce(ours.between(F.lit(0), theirs), F.lit(False))
    if direction in COUNTS:
        return ours.between(F.lit(0 if direction is Direction.COUNT else 1), theirs)
    behind = ours > theirs if direction is Direction.FALLING else ours < theirs
    return ours.eqNullSafe(theirs) | F.coalesce(behind, ours.isNull())


def _apart_or_fewer(facts: Lineage, proof: Evidence, times: Column) -> Column:
    """Whether the values can come of state that was lost so many `times`.

    A task that tells of changes has told of its groups before it died, and that is never taken back.
    """
    if facts.emit is EmitRule.WATERMARK:
        return fewer(facts)
    apart = _apart(facts, proof, times)
    return apart if facts.emit is EmitRule.CHANGES else apart | fewer(facts)


def _apart(facts: Lineage, proof: Evidence, times: Column) -> Column:
    """Whether the group's rows are what its task told before it died, each of so many `times`, and what its successor tells.

    In them nothing counts twice but what was sent again, and, where changes are told at once, no row, greatest or least value is missing.
    """
    from pyspark.sql import functions as F

    if not facts.keys:
        return F.lit(False)
    group = _group(facts)
    whole = F.first(BATCH, ignorenulls=True).over(group)
    ours, _ = sides(facts)
    theirs = {name: whole.getField(c) for name, c in zip(facts.columns.names, names_of(facts), strict=True)}
    told = F.count(F.col(STREAM)).over(group).between(F.lit(2), times + 1)
    limits = within(facts.bounds, ours, theirs, lambda name: F.col(f"{_GROUP}{name}"))
    agree = F.bool_and(F.col(STREAM).isNull() | (_agree(facts, ours, theirs) & limits)).over(group)
    return reduce(and_, _together(facts, proof, theirs, group), whole.isNotNull() & told & agree)


def _together(facts: Lineage, proof: Evidence, theirs: Mapping[str, Column], group: Window) -> Iterator[Column]:
    """Bounds of what the group's rows say together."""
    from pyspark.sql import functions as F

    ours, _ = sides(facts)
    for name in counts_of(facts):
        total = F.sum(ours[name]).over(group)
        if facts.emit is EmitRule.CHANGES:
            yield total >= theirs[name]
        if proof.sent_again == 0 or (facts.single and proof.sent_again):
            yield total <= theirs[name] + proof.sent_again
    if facts.emit is not EmitRule.CHANGES:
        return
    once = [
        F.sum(ours[name]).over(group) == theirs[name]
        for name, kind in facts.directions.items()
        if kind is Direction.ROWS
    ]
    for name, kind in facts.directions.items():
        if kind in (Direction.RISING, Direction.FALLING):
            most = F.max if kind is Direction.RISING else F.min
            yield most(ours[name]).over(group).eqNullSafe(theirs[name])
        elif kind is Direction.SUM and once:
            yield ~reduce(and_, once) | _adds_up(ours[name], theirs[name], facts.columns[name].type, group)


def _adds_up(part: Column, whole: Column, kind: DataType, group: Window) -> Column:
    """Whether the sums of rows of which none is counted twice are the sum of all."""
    from pyspark.sql import functions as F

    if isinstance(kind, FloatType):
        size = F.sum(F.abs(part)).over(group)
        off = F.abs(F.coalesce(F.sum(part).over(group), F.lit(0)) - F.coalesce(whole, F.lit(0)))
        return F.coalesce(off <= F.lit(NEARLY) * size, whole.isNull())
    exact = f"decimal(38,{kind.scale if isinstance(kind, DecimalType) else 0})"
    total = F.try_sum(part.cast(exact)).over(group)
    return F.coalesce(total, F.lit(0).cast(exact)) == F.coalesce(whole.cast(exact), F.lit(0).cast(exact))


def _within_sent_again(placed: DataFrame, lost: Column, facts: Lineage, proof: Evidence) -> Column:
    """Whether the surplus of all groups together is no more than what was sent again; else no group with a surplus is explained."""
    from pyspark.sql import functions as F

    counts = counts_of(facts)
    if not (facts.keys and facts.single and counts and proof.sent_again) or facts.emit is EmitRule.WATERMARK:
        return F.lit(True)
    group = _group(facts)
    ours, theirs = sides(facts)
    more = [F.sum(ours[name]).over(group) - F.max(theirs[name]).over(group) for name in counts]
    excess = F.greatest(*more, F.lit(0))
    told = placed.select(
        excess.alias(_EXCESS), F.row_number().over(group.orderBy(F.lit(0))).alias("_number"), lost.alias(LOST)
    )
    (total,) = told.where(F.col(LOST) & (F.col("_number") == 1)).agg(F.sum(_EXCESS)).collect()[0]
    return F.lit(True) if (total or 0) <= proof.sent_again * facts.copies else excess == 0


def _group(facts: Lineage) -> Window:
    from pyspark.sql import Window

    names = dict(zip(facts.columns.names, names_of(facts), strict=True))
    return Window.partitionBy(*(either(names[key]) for key in facts.keys))


def _in_time(loss: Loss, facts: Lineage) -> Column:
    """Whether the group's window, or a match, was not in the result when that was lost, and had begun. Others have no such time."""
    from pyspark.sql import functions as F

    if facts.window_end is not None:
        end_us = _micros(facts.window_end)
        start_us = _window_start_us(facts, end_us)
    elif facts.joined and facts.joined.times:
        times = [_micros(time.column) + F.lit(time.shift_us) for time in facts.joined.times]
        start_us, end_us = F.least(*times), F.greatest(*times) + 1
    else:
        return F.lit(True)
    after = F.lit(True) if loss.since_us is None else end_us > F.lit(loss.since_us + 1)
    return after if loss.until_us is None else after & (start_us <= F.lit(loss.until_us))


def _window_start_us(facts: Lineage, end_us: Column) -> Column:
    """When the row's window begins; of a session that does not say it, the beginning of time."""
    from pyspark.sql import functions as F

    if facts.window_start is not None:
        return _micros(facts.window_start)
    return end_us - F.lit(facts.window_us) if facts.window_us else F.lit(EARLIEST_US)


def _micros(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.unix_micros(F.col(f"{_GROUP}{name}").cast("timestamp"))


def _in_keys(loss: Loss) -> Column:
    from pyspark.sql import functions as F

    return F.lit(True) if loss.tasks == 1 else F.col(_TASK) == loss.task


def _with_equal(differences: DataFrame) -> DataFrame:
    """The differences, and besides, as no differences, what both answers have of their keys: a group is judged by all that it was told."""
    from pyspark.sql import functions as F

    marked = differences.withColumn(_DIFFERS, F.lit(True))
    if EQUAL not in differences.columns:
        return marked
    rows = equal_rows(differences)
    both = [F.col("row").alias(side) for side in (STREAM, BATCH)]
    others = rows.select(*both, *(name for name in rows.columns if name != "row"), F.lit(False).alias(_DIFFERS))
    return marked.unionByName(others, allowMissingColumns=True)


def _with_groups(differences: DataFrame, facts: Lineage) -> DataFrame:
    """Columns of the group's keys and bounds, also beside a row that the stream has besides another of its group."""
    from pyspark.sql import functions as F

    def key(name: str) -> Column:
        own = F.col(f"{CARRIED}{name}")
        return F.first(own, ignorenulls=True).over(_group(facts)) if facts.keys else own

    names = (name.removeprefix(CARRIED) for name in carried_columns(facts))
    return differences.withColumns({f"{_GROUP}{name}": key(name) for name in names})


def _with_tasks(rows: DataFrame, facts: Lineage, proof: Evidence, losses: Sequence[Loss]) -> DataFrame:
    """A column of the task that had the group, where that tells what was lost from what was not; NULL if nothing says which it was."""
    from pyspark.sql import functions as F

    tasks = max((loss.tasks for loss in losses), default=1)
    if tasks == 1 or not proof.seed or not set(proof.dealt) <= set(facts.carried.names):
        return rows.withColumn(_TASK, F.lit(None).cast("bigint"))
    names = [f"{_GROUP}{name}" for name in proof.dealt]
    groups = rows.where(F.col(BATCH).isNotNull()).select(*names).distinct()
    keys = facts.carried.select(proof.dealt)
    found = groups.mapInArrow(
        _make_dealer(keys, tasks, proof.seed), groups.withColumn(_TASK, F.lit(0).cast("bigint")).schema
    )
    found = found.select(*(F.col(name).alias(f"{name}_of") for name in names), _TASK)
    same = reduce(and_, (F.col(name).eqNullSafe(F.col(f"{name}_of")) for name in names))
    return rows.join(found, same, "left").drop(*(f"{name}_of" for name in names))


def _make_dealer(keys: Schema, tasks: int, seed: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for Spark's workers that adds the task to which the topology routed each group."""
    import polars as pl
    import pyarrow as pa

    schema = pl.Schema(keys.polars())

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ouzel.runtime.protocol.groupings import key_tasks

        for batch in batches:
            frame = pl.DataFrame(pa.Table.from_batches([batch.rename_columns(list(schema))])).cast(schema)
            numbers = pa.array(key_tasks(frame, list(schema), tasks, seed), pa.int64())
            yield pa.RecordBatch.from_arrays([*batch.columns, numbers], [*batch.schema.names, _TASK])

    return add


def _any(conditions: Iterable[Column]) -> Column:
    from pyspark.sql import functions as F

    return reduce(or_, conditions, F.lit(False))
