"""Before any value is compared: is the data still what the run read and wrote, with the types that the query gives it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ouzel.compiler.plan import Sink, scans_in, walk
from ouzel.errors import QueryError
from ouzel.job import Job
from ouzel.reconcile.comparing.spelling import misspelt
from ouzel.reconcile.recording.marks import describe_change, describe_edit
from ouzel.reconcile.recording.parts import find_weight, parts_glob, parts_written
from ouzel.reconcile.recording.record import RESULTS, RunRecord
from ouzel.reconcile.recording.topics import find_recreated, ids_of
from ouzel.runtime.tasks.sides import content_of

SHOWN = 3
"""Files that are named; of more there is only the number."""


def check_sources(sink: Sink, record: RunRecord) -> None:
    """Check that the files which a sink's rows were made of still begin with what the run has read.

    Raises:
        QueryError: one does not.
    """
    asked = [table for node in walk(sink) for table in node.asks_tables]
    if asked:
        raise QueryError(
            f"the rows of '{asked[0]}' were asked for one by one while the run went on, and a batch job finds what they are now: where "
            "the two differ nobody knows which is right",
            instead="reconcile what the lookup reads, in a query without it",
        )
    scans = {scan.table: scan for scan in scans_in(walk(sink))}
    ranges = {table: parts for table, parts in record.ranges.items() if table in scans}
    read = {name for parts in ranges.values() for name in parts}
    files = read | {name.rpartition("#")[0] for name in read}
    wrong = [
        f"{path} {what}"
        for path, mark in record.sources.items()
        if path in files and (what := describe_edit(path, mark))
    ]
    anew = find_recreated(record.topics, ids_of(scans.values(), ranges) if record.topics else {})
    wrong += [
        f"{part} {what}"
        for scan in scans.values()
        if scan.table in record.sides
        for part, what in _find_changed(record.sides[scan.table], dict(content_of(scan, Path(record.directory))))
    ]
    wrong += [f"topic '{topic}' was deleted and made anew since the run" for topic in anew]
    if wrong:
        raise QueryError(
            f"the input is not what the run has read: {_some(wrong)}",
            instead="put it back as it was, or run the query again",
        )


def _find_changed(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The parts of a table that was read whole which are not what they were, and what has become of them."""
    for part in sorted(before.keys() | now.keys()):
        if before.get(part) != now.get(part):
            told = "was added" if part not in before else "is gone" if part not in now else "was edited"
            yield part, f"{told} since the run began"


def find_changed_parts(sink: Sink, record: RunRecord, home: Path, job: Job, further: bool) -> tuple[str, ...]:
    """What has happened to the files of the stream's answer since the run wrote them, in words; a live run may have added `further` ones.

    Raises:
        QueryError: a file cannot be read, or has columns or types other than the query gives it.
    """
    if sink.traits.returned:
        files = {str(home / RESULTS): record.answer[RESULTS]} if RESULTS in record.answer else {}
        there = [home / RESULTS]
        wrong = [] if files else [f"{RESULTS} was added since the run"]
    else:
        folder = parts_glob(sink, job.directory, record.run).parent.resolve()
        files = {path: mark for path, mark in record.answer.items() if Path(path).parent == folder}
        there = parts_written(sink, job.directory, record.run)
        wrong = []
    wrong += [
        f"{Path(path).name} {what}" for path, mark in files.items() if (what := describe_change(path, mark, False))
    ]
    if not further and not sink.traits.returned:
        wrong += [f"{path.name} was added since the run" for path in there if str(path) not in files]
    parts = [path for path in there if path.is_file()]
    if _form(sink) == "parquet":
        _check_columns(sink, parts)
    else:
        wrong += [f"{part.name} {what}" for part in parts if (what := misspelt(part, sink))]
    return tuple(wrong)


def _check_columns(sink: Sink, parts: Sequence[Path]) -> None:
    """Parquet says what it holds."""
    expected = (sink.columns or sink.input.schema).polars()
    if weight := find_weight(sink):
        expected[weight] = pl.Int64()
    wrong = [f"{problem} in {part.name}" for part in parts for problem in _problems(_schema(part), expected)]
    if wrong:
        raise QueryError(
            f"the stream's answer has not the columns of '{sink.table}': {_some(wrong)}",
            instead="find out what has written it; values are compared only where the types are the same",
        )


def _form(sink: Sink) -> str:
    return "parquet" if sink.traits.returned else dict(sink.options)["format"]


def _schema(part: Path) -> Mapping[str, pl.DataType]:
    if not part.stat().st_size:
        raise QueryError(f"{part} is empty: a part of the stream's answer has 0 bytes", instead="run the query again")
    try:
        return pl.read_parquet_schema(part)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise QueryError(
            f"{part} is no Parquet file that can be read: {reason}", instead="run the query again"
        ) from None


def _problems(there: Mapping[str, pl.DataType], expected: Mapping[str, pl.DataType]) -> Iterator[str]:
    for name, kind in expected.items():
        if name not in there:
            yield f"no column '{name}'"
        elif there[name] != kind:
            yield f"column '{name}' is {there[name]} and not {kind}"
    yield from (f"a column '{name}' that the query does not have" for name in there if name not in expected)


def _some(wrong: Sequence[str]) -> str:
    more = f", and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return ", ".join(wrong[:SHOWN]) + more
