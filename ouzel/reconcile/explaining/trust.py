"""What a record says in its own favour, held to what else is known: a file that excuses differences is evidence only if it is borne out.

Each check asks what a wrong engine would have to write to be excused. What nothing can check is said to be taken on trust.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ouzel.compiler.plan import Sink, scans_in, walk
from ouzel.compiler.plan.aggregates import ROWS
from ouzel.connectors import reads_of
from ouzel.reconcile.comparing.cut import EARLIEST_US
from ouzel.reconcile.comparing.lineage import Direction, Lineage
from ouzel.reconcile.explaining.behind import is_shuffled
from ouzel.reconcile.explaining.classes import Class
from ouzel.reconcile.explaining.loss_excuses import COUNTS
from ouzel.reconcile.explaining.shed import Shed, read_shed
from ouzel.reconcile.recording.marks import describe_change
from ouzel.reconcile.recording.record import LATE, RECORD, SHED, RunRecord
from ouzel.runtime.run import ROWS_LOST, STATE_LOST
from ouzel.spark.batch.period import moment_text


def find_false_evidence(sink: Sink, record: RunRecord, home: Path, further: bool) -> Mapping[str, str]:
    """The files of the record that excuse differences and are not what the run left, by name: what is wrong with each, in words.

    A run that goes on may have added `further` lines. An older record says neither what the files were nor how many rows they tell of.
    """
    found = {
        LATE: _late(record, home, further),
        SHED: _check_shed(sink, record, home),
        RECORD: _losses(record) or _went_on(sink, record),
    }
    for name in (LATE, SHED):
        if record.evidence is not None and (home / name).exists():
            mark = record.evidence.get(name)
            changed = (
                describe_change(str(home / name), mark, further)
                if mark
                else ""
                if further
                else "was added since the run"
            )
            found[name] = changed or found[name]
        elif record.evidence and name in record.evidence:
            found[name] = "is gone"
    return {name: f"{name} {what}" for name, what in found.items() if what}


def _late(record: RunRecord, home: Path, further: bool) -> str:
    """No more rows can have been kept than were counted, unless some were dropped again by a task that began anew."""
    told = count_late(home / LATE)
    if told is None:
        return "holds a line that is no JSON, or tells of less than one row"
    if record.late is None or told <= record.late or further or is_shuffled(record):
        return ""
    return f"tells of {told:,} rows, and the run has dropped {record.late:,} as late"


def _losses(record: RunRecord) -> str:
    """A loss has been told of when it came to pass, as an event that ends a run with another exit code."""
    for kind, what, lost in (
        (STATE_LOST, "state that was lost", [loss for loss in record.losses if loss.component]),
        (ROWS_LOST, "rows that were lost", [loss for loss in record.losses if not loss.component]),
    ):
        told = sum(count for event, _, count in record.events if event == kind)
        if len(lost) > told:
            return f"names {what} {len(lost):,} times, and the run has told of it {told:,} times"
    return ""


def _went_on(sink: Sink, record: RunRecord) -> str:
    """Windows that a run before had answered are not compared; where nothing tells a run how far that one came there are none."""
    for scan in (scan for scan in scans_in(walk(sink)) if scan.table in record.began):
        if not reads_of(scan.connector, scan.table).resumes(dict(scan.options)):
            return (
                f"says that the run went on from another with '{scan.table}', which each run reads from its beginning"
            )
    return ""


def _check_shed(sink: Sink, record: RunRecord, home: Path) -> str:
    """Only tables shed that were told to, and no more than was counted."""
    shed = read_shed(home)
    for scan in (scan for scan in scans_in(walk(sink)) if scan.table in shed):
        if reads_of(scan.connector, scan.table).sheds(dict(scan.options)) is None:
            return f"tells of records of '{scan.table}', and that table sheds none"
    told = sum(end - start for parts in shed.values() for spans in parts.values() for start, end in spans)
    if record.shed is None or told <= record.shed or is_shuffled(record):
        return ""
    return f"tells of {told:,} records, and the run has passed over {record.shed:,}"


def count_late(path: Path) -> int | None:
    """How many rows a file of late rows tells of; None if it cannot be read, or a line would take from the number."""
    if not path.exists() or not path.stat().st_size:
        return 0
    try:
        each = pl.col(ROWS).fill_null(1)
        rows, least = (
            pl.scan_ndjson(path, schema={ROWS: pl.Int64()}).select(sum=each.sum(), least=each.min()).collect().row(0)
        )
    except pl.exceptions.PolarsError:
        return None
    return int(rows) if least > 0 else None


def believed_shed(home: Path, wrong: Mapping[str, str]) -> Shed:
    """What the sources have shed; nothing if the file is not what the run left."""
    return {} if SHED in wrong else read_shed(home)


def find_unbounded(facts: Lineage, differing: Iterable[str]) -> Sequence[str]:
    """Those of the columns that differ whose values no evidence bounds where rows of a group are missing."""
    counting = COUNTS | {Direction.DISTINCT}
    known = {name for name, direction in facts.directions.items() if direction in counting} | {
        *facts.bounds,
        *facts.keys,
    }
    seen = set(differing)
    return [name for name in facts.columns.names if name in seen and name not in known]


def describe_trust(
    record: RunRecord,
    home: Path,
    counts: Mapping[Class, int],
    trusted: Sequence[str],
    unbounded: Sequence[str],
    come_us: int | None,
    began: Mapping[str, int],
) -> Iterator[str]:
    """A sentence for each excuse that is believed and not checked.

    `trusted`: the components whose late rows the input does not tell of; `unbounded`: the columns of groups that lack rows; `come_us`: how
    far event time has come in what was read; `began`: up to when a run before had answered.
    """
    told = count_late(home / LATE) or 0
    if (
        counts.get(Class.IN_FLIGHT)
        and come_us is not None
        and record.closed_us is not None
        and record.closed_us < come_us
    ):
        closed = f"up to {moment_text(record.closed_us)}" if record.closed_us > EARLIEST_US else "nowhere"
        yield f"Taken on trust: that the watermark had come {closed} only, though what was read had come to {moment_text(come_us)}."
    for table, time_us in began.items():
        yield f"Taken on trust: that a run before this one had answered the windows of '{table}' up to {moment_text(time_us)}."
    if counts.get(Class.LOST):
        yield f"Taken on trust: that {_describe_losses(record)}, for only the run itself can tell."
    if unbounded:
        yield f"Taken on trust: the values of {', '.join(unbounded)} in groups that lack rows, for nothing bounds what these make of them."
    if counts.get(Class.LATE) and trusted:
        yield f"Taken on trust: that the rows were late which {', '.join(dict.fromkeys(trusted))} dropped, for the input does not tell."
    if record.late is not None and told < record.late and counts:
        yield f"{LATE} tells of {told:,} of the {record.late:,} rows that were dropped as late."


def _describe_losses(record: RunRecord) -> str:
    """Whose state was lost, or what else."""
    owners = dict.fromkeys(f"the state of {loss.component}" for loss in record.losses if loss.component)
    what = [*owners, *(["what was on its way"] if any(not loss.component for loss in record.losses) else [])]
    return f"{' and '.join(what)} was lost"
