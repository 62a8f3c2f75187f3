"""The reconciliation of one run: the batch job over the same input, the comparison, the classes, and what a report shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel import session
from ouzel.compiler.plan import Sink
from ouzel.errors import OuzelError, QueryError
from ouzel.reconcile.comparing.answers import batch_answer, batch_of, batch_text, choose_sink, stream_answer
from ouzel.reconcile.comparing.comparison import Comparison, compare, stream_side, time_us
from ouzel.reconcile.comparing.cut import Cut, began_of, check_cut, restrict_sink, rows_within, skip_answered_windows
from ouzel.reconcile.comparing.holding import check_sources, find_changed_parts
from ouzel.reconcile.comparing.horizon import delays
from ouzel.reconcile.comparing.lineage import Lineage, lineage
from ouzel.reconcile.comparing.pairs import BATCH, DIFFERING, NEAR, STREAM, either, keep_on_disk, names_of
from ouzel.reconcile.comparing.timeline import Cells, Timeline, count_cells, slice_number, sum_cells, sum_classes
from ouzel.reconcile.explaining.behind import is_shuffled
from ouzel.reconcile.explaining.bounds import PartBound, rounding_bounds
from ouzel.reconcile.explaining.classes import Class, evidence
from ouzel.reconcile.explaining.classification import CLASS, LateExclusion, classify
from ouzel.reconcile.explaining.come import come_by_input, come_by_record
from ouzel.reconcile.explaining.late import (
    DROPPED,
    Dropper,
    can_exclude,
    droppers,
    exclude_late,
    find_maker,
    find_trusted,
    late_groups,
    only_top,
)
from ouzel.reconcile.explaining.shed import Shed, describe_shed
from ouzel.reconcile.explaining.trust import believed_shed, describe_trust, find_false_evidence, find_unbounded
from ouzel.reconcile.explaining.unread import Unread, find_unread
from ouzel.reconcile.recording.question import advise, is_same_question
from ouzel.reconcile.recording.record import LATE, RECORD, RunRecord
from ouzel.reconcile.recording.recorder import record_in
from ouzel.runtime.observe.ending import UNREPORTED
from ouzel.spark.io.bounds import Ranges
from ouzel.spark.session import translate_error

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

TOLERANCE = 1e-9
"""How far apart, relative to the larger, two floats may be and still be equal."""

SHOWN = 100
"""Rows of each class that are fetched from Spark, to be shown."""

FEW = 1_000
"""Up to so many differences are fetched at once, instead of being counted and then asked for by class."""


PLAN_WIDTH = 76
"""Width of the topology's plan, so that two plans fit side by side."""


@dataclass(frozen=True)
class Difference:
    """One row that differs: both sides by the output's columns (None where a side lacks the row), and which columns differ."""

    kind: Class
    differing: tuple[str, ...]
    stream: tuple[Any, ...] | None
    batch: tuple[Any, ...] | None

    @property
    def row(self) -> tuple[Any, ...]:
        """The side that is there."""
        return self.stream if self.stream is not None else self.batch or ()


@dataclass(frozen=True)
class RoundFindings:
    """What one round of a watch has found: when (UTC), up to which watermark (None at the end of the input), and how long it took."""

    at: datetime
    closed_us: int | None
    windows: int
    matched: int
    counts: Mapping[Class, int]
    seconds: float


@dataclass(frozen=True)
class Reconciliation:
    """Where stream and batch differ.

    Attributes:
        record: the run that was reconciled.
        table: the sink that was compared.
        facts: what the plan knows of its rows: columns, keys, time.
        matched: rows that both have.
        stream_rows: rows that the sink holds.
        batch_rows: rows that the batch job returned.
        counts: rows that differ, by class.
        differences: all of them, in Spark: `class`, `differing`, the keys, `stream`, `batch`, and of a late one `dropped`, lines of JSON.
        samples: the first hundred of each class.
        timeline: how many differ when; None if rows have no time.
        topology: the topology's plan as text.
        job: the batch job as text.
        tolerance: the tolerance that floats were compared with.
        notes: what else a reader must know.
        cut: which part of time was compared.
        dropped: which aggregates dropped rows as late, and the first of those.
        tampered: what has happened since the run to the files of the stream's answer, and to those that excuse differences, or what they
            claim that cannot be; if anything, no loss explains a difference.
        rounds: of a watch, what each has found.
    """

    record: RunRecord
    table: str
    facts: Lineage
    matched: int
    stream_rows: int
    batch_rows: int
    counts: Mapping[Class, int]
    differences: DataFrame
    samples: Mapping[Class, tuple[Difference, ...]]
    timeline: Timeline | None
    topology: str
    job: str
    tolerance: float = TOLERANCE
    notes: tuple[str, ...] = field(default=())
    cut: Cut = Cut()
    dropped: tuple[Dropper, ...] = ()
    tampered: tuple[str, ...] = ()
    rounds: tuple[RoundFindings, ...] = ()

    @property
    def differing(self) -> int:
        """How many rows differ."""
        return sum(self.counts.values())

    @property
    def unexplained(self) -> int:
        """How many rows differ without an explanation."""
        return sum(count for kind, count in self.counts.items() if not kind.explained)

    @property
    def explained(self) -> bool:
        """Whether the record explains every difference."""
        return not self.unexplained and not self.tampered


def check(job: session.Job, table: str = "", ranges: Ranges | None = None, cut: Cut = Cut()) -> None:
    """Refuse now what could not be reconciled after the run; `ranges` are those of a run that is over.

    Raises:
        QueryError: there is no table to compare, or it is not clear which.
        NotSupported: a source, sink, type or construct has no place in a reconciliation yet, or the cut means nothing for these rows.
    """
    sink = choose_sink(job.program, table)
    check_cut(sink, cut)
    batch_text(batch_of(job, sink, ranges or {}))


def reconcile(
    job: session.Job,
    home: Path,
    spark: SparkSession,
    *,
    table: str = "",
    tolerance: float = TOLERANCE,
    cut: Cut = Cut(),
    record: RunRecord | None = None,
    live: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Reconciliation:
    """Compare what the run recorded in `home` holds with what the batch job returns for the same input.

    Args:
        job: the query, as it ran.
        table: which of several written tables to compare.
        tolerance: relative, for floats.
        cut: which rows of both answers to compare; the batch job reads no more than it needs for them, where that can be said exactly.
        record: what `home` records, with narrower ranges where earlier rows play no part in the cut; None is what is there.
        live: the run goes on, and may have written more since.
        say: told what is being done.

    Raises:
        QueryError: the record is of another query, there is nothing to compare, the input is not what was read, or the answer has other
            columns or types than the query.
        NotSupported: something in the query cannot be reconciled yet.
        OuzelError: Spark refuses or fails.
    """
    record = record or _record_of(job, home)
    sink = choose_sink(job.program, table)
    check_cut(sink, cut)
    say("comparing the answers in Spark")
    further = live or cut.closed_only
    tampered = find_changed_parts(sink, record, home, job, further)
    false = find_false_evidence(sink, record, home, further)
    record = replace(record, began={}) if RECORD in false else record
    with _same_input(sink, record):
        try:
            part = skip_answered_windows(cut.at(record), sink, record)
            found = _compare(job, record, home, sink, spark, tolerance, part, tampered, false)
            if tolerance and _may_be_rounding(found, rounding_bounds(lineage(sink).bounds)):
                found = _compare(job, record, home, sink, spark, tolerance, part, tampered, false, rounding=True)
            return found
        except Exception as error:
            if tampered:
                raise QueryError(f"the stream's answer is not what the run wrote: {', '.join(tampered)}") from error
            if isinstance(error, OuzelError):
                raise
            raise translate_error(error) from error


@contextmanager
def _same_input(sink: Sink, record: RunRecord) -> Iterator[None]:
    """See that the input is what the run has read, before and after: who edits it amid a comparison makes no difference of the answers.

    Raises:
        QueryError: it is not.
    """
    check_sources(sink, record)
    try:
        yield
    except Exception:
        check_sources(sink, record)  # what failed may have met another
        raise
    check_sources(sink, record)


def _compare(
    job: session.Job, record: RunRecord, home: Path, sink: Sink, spark: SparkSession, tolerance: float, cut: Cut,
    changed: tuple[str, ...], false: Mapping[str, str], rounding: bool = False,
) -> Reconciliation:  # fmt: skip
    facts, needed = lineage(sink), restrict_sink(sink, cut)
    lags = delays(sink)
    lag_us = None if lags is None else max(lags.values(), default=0)
    proof = evidence(record, home, *find_maker(job.program, job.topology, sink), lag_us)
    whole = record if record.ranges == record_in(home).ranges else None
    unread = find_unread(sink, job.topology, record, job.directory) if whole else Unread()
    tampered = (*changed, *false.values(), *unread.parts)
    proof = replace(proof, losses=()) if tampered else proof
    proof = replace(proof, late=None) if LATE in false else proof
    shed = believed_shed(home, false)
    if not (proof.losses or proof.late or record.closed_us is not None):  # then no part of a group is excused
        facts = replace(facts, bounds=rounding_bounds(facts.bounds) if rounding else {})

    def batch_rows(asked: Sink) -> DataFrame:
        return rows_within(batch_answer(job, asked, record.ranges, spark, shed, facts.bounds), sink, cut)

    stream = rows_within(stream_answer(job, sink, home, spark), sink, cut)
    found = compare(stream, batch_rows(needed), facts, tolerance)
    dropped = droppers(job.program, job.topology, sink, proof.late, spark)
    groups = None if found.equal else late_groups(dropped, sink, facts.carried, proof.late, spark)
    left: LateExclusion | None = None
    if proof.late and not found.equal and can_exclude(dropped, sink):
        touched = only_top(dropped, sink, facts)
        fewer = batch_rows(exclude_late(needed, dropped, proof.late, touched, whole))
        ours = stream_side(found, facts) if touched else stream
        all_left_out = (
            not touched and whole is not None and not is_shuffled(record) and all(each.exact for each in dropped)
        )
        left = LateExclusion(compare(ours, fewer, facts, tolerance).differences, touched, all_left_out)
    proof = replace(proof, losses=()) if found.equal else proof
    rows = classify(found.differences, facts, proof, groups, left)
    if not found.equal and (proof.losses or groups is not None or left is not None):  # else they cost little
        rows = keep_on_disk(rows)
    cells, samples = _fetch(rows, facts, found)
    counts, times = sum_cells(cells, facts, found)
    return Reconciliation(
        record, sink.table, facts, found.matched, found.stream_rows, found.batch_rows, counts, _name(rows, facts),
        samples, times,
        _topology(job), batch_text(batch_of(job, needed, record.ranges, shed)), tolerance,
        (*_notes(record, facts), *unread.notes, *describe_shed(record.ranges, shed),
         *describe_trust(
             record, home, counts, tuple(find_trusted(needed, dropped, whole)), _find_unbounded(facts, samples),
             _find_come(job, sink, record, spark, shed) if Class.IN_FLIGHT in counts else None, began_of(sink, record),
         )),
        cut, dropped, tampered,
    )  # fmt: skip


def _may_be_rounding(found: Reconciliation, sums: Mapping[str, PartBound]) -> bool:
    """Whether a row differs in these sums and means of floats alone, and nobody has asked how large their values are."""
    rows = found.samples.get(Class.VALUE_DIFFERS, ())
    return not found.facts.bounds and any(set(row.differing) <= sums.keys() for row in rows)


def _find_come(job: session.Job, sink: Sink, record: RunRecord, spark: SparkSession, shed: Shed) -> int | None:
    """How far event time has come in all that was read: as the record says, if that excuses nothing; else as the input says."""
    told = come_by_record(sink, record)
    if told is not None and record.closed_us is not None and record.closed_us < told:
        return told
    return come_by_input(sink, lambda asked: batch_answer(job, asked, record.ranges, spark, shed))


def _find_unbounded(facts: Lineage, samples: Mapping[Class, Sequence[Difference]]) -> Sequence[str]:
    """Columns of groups that lack rows which differ in values that nothing bounds, as far as the samples show."""
    excused = (each for kind in (Class.IN_FLIGHT, Class.LOST) for each in samples.get(kind, ()))
    return find_unbounded(facts, (name for each in excused if each.stream and each.batch for name in each.differing))


def _record_of(job: session.Job, home: Path) -> RunRecord:
    record = record_in(home)
    if record.text != job.text and not is_same_question(record.text, job):
        raise QueryError(
            f"the record in {home} is of another query than this: {record.query}, as it was written when it ran",
            instead=advise(record.text, job),
        )
    for kind, text, _ in record.events:
        if kind == UNREPORTED:
            raise QueryError(f"the record in {home} does not say what the answer is of: {text}", instead="run it again")
    return record


def _notes(record: RunRecord, facts: Lineage) -> list[str]:
    if record.closed_us is None or record.ranges or facts.window_end or facts.leaves_at:
        return []
    return ["The run was stopped and names no offsets, and this query has no windows: the batch job has read more."]


def _topology(job: session.Job) -> str:
    from ouzel.explain import explain

    return explain(job.program, job.topology, job.packing, ("topology",), PLAN_WIDTH, False).rstrip()


def _name(rows: DataFrame, facts: Lineage) -> DataFrame:
    """The differences under the output's own names."""
    from pyspark.sql import functions as F

    inner = list(zip(facts.columns.names, names_of(facts), strict=True))
    keys = [either(name).alias(key) for key, name in inner if key in facts.keys]
    sides = [
        F.when(F.col(side).isNotNull(), F.struct(*(F.col(f"{side}.{name}").alias(key) for key, name in inner))).alias(
            side
        )
        for side in (STREAM, BATCH)
    ]
    taken = {CLASS, DIFFERING, STREAM, BATCH, DROPPED}
    named = [key for key in keys if not taken & set(facts.keys)]
    return rows.select(CLASS, _marks().alias(DIFFERING), *named, *sides, DROPPED)


def _fetch(rows: DataFrame, facts: Lineage, found: Comparison) -> tuple[Cells, dict[Class, tuple[Difference, ...]]]:
    """How many differences there are of each class and time, and the first of each class, by time and then by the columns from left to
    right: few ones in one pass; else small classes in one pass, and others in one each."""
    few = list(_first(rows, facts, found, FEW + 1)) if 0 < found.doubtful <= FEW else []
    if found.doubtful <= FEW and len(few) <= FEW:  # the second is true if the first is; no count goes by that
        cells: Cells = Counter((difference.kind, number) for difference, number in few)
        told = [difference for difference, _ in few]
    else:
        cells = count_cells(rows, facts, found)
        counts = sum_classes(cells)
        small = [kind for kind, count in counts.items() if count <= SHOWN]
        passes = [[kind] for kind in counts if kind not in small] + ([small] if small else [])
        asked = ((_of(rows, kinds), SHOWN * len(kinds)) for kinds in passes)
        told = [difference for some, most in asked for difference, _ in _first(some, facts, found, most)]
    kinds = [kind for kind in Class if any(kind is difference.kind for difference in told)]
    return cells, {kind: tuple(each for each in told if each.kind is kind)[:SHOWN] for kind in kinds}


def _of(rows: DataFrame, kinds: Sequence[Class]) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.where(F.col(CLASS).isin(*(kind.value for kind in kinds)))


def _first(rows: DataFrame, facts: Lineage, found: Comparison, most: int) -> Iterator[tuple[Difference, int | None]]:
    """The first rows, each with its slice of time."""
    names = names_of(facts)
    first = (
        rows.orderBy(time_us(facts, either), *map(either, names))
        .limit(most)
        .select(CLASS, slice_number(facts, found), _marks(), STREAM, BATCH)
    )
    for kind, number, marks, *sides in first.collect():
        yield (
            Difference(Class(kind), tuple(marks), *(side and tuple(side[: len(names)]) for side in sides)),
            number,
        )


def _marks() -> Column:
    """The columns that differ; those within the tolerance only if no other does."""
    from pyspark.sql import functions as F

    return F.when(F.size(DIFFERING) > 0, F.col(DIFFERING)).otherwise(F.col(NEAR))
