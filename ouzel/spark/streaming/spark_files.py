"""Parquet tables of a streaming query by Spark's own file source: no Python worker reads them.

Where it means the same as our source: plain rows, whole files of at most `trigger.rows` rows, in the same order where time goes by it.
Which files these are is settled when the query first begins, and kept beside its checkpoint; Spark's log of its source says which it has
read. So offsets, what is recorded, and the end of a table are those of our source.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from ouzel.connectors import open_source, reads_of
from ouzel.connectors.file.parquet import content_version
from ouzel.connectors.file.plain import holds_plain_rows
from ouzel.connectors.reading import OffsetRange, Partition
from ouzel.errors import ConnectorError
from ouzel.files import put_synced
from ouzel.spark.io.arrow import polars_types
from ouzel.spark.io.source import TableRequest
from ouzel.spark.streaming.offsets import ALL_ROWS, Position

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

NOTES = "ouzel"
"""Folder of a query's checkpoint that says which files were settled on."""

MEANS_MORE = frozenset("{}[]*?\\,:=")
"""What in the name of a file means something to Spark: a choice of files, or the value of a column."""

NO_AGE = "36500d"
"""Spark leaves out files that are this much older than the newest one it has seen."""

LISTING = "spark.sql.sources.parallelPartitionDiscovery.threshold"
LISTED_BY_DRIVER = 10_000
"""Most files that Spark's driver asks for itself. From 32 on it would start a job for it, which takes a third of a second a micro-batch."""


@dataclass(frozen=True)
class SettledFile:
    """A file with its rows, and what changes with its content."""

    path: str
    rows: int
    version: str


@dataclass(frozen=True)
class SettledFiles:
    """The files of one table that Spark's source reads, by name.

    Attributes:
        table: its name.
        files: all of them; none if our own source reads the table.
        each: most files of a micro-batch.
        mark: the file behind them that holds the row which marks the end; empty without one.
    """

    table: str
    files: tuple[SettledFile, ...] = ()
    each: int = 1
    mark: str = ""

    @classmethod
    def from_json(cls, text: str) -> SettledFiles:
        """What `to_json` wrote."""
        data = json.loads(text)
        return cls(**data | {"files": tuple(SettledFile(**file) for file in data["files"])})

    def to_json(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self))

    @property
    def glob(self) -> str:
        """All its files as one pattern of Spark's, which takes a path without a choice for a folder."""
        paths = [*(file.path for file in self.files), *filter(None, [self.mark])]
        home = os.path.commonpath([os.path.dirname(path) for path in paths])
        return f"{home.rstrip('/')}/{{{','.join(os.path.relpath(path, home) for path in paths)}}}"

    def position(self, read: set[str]) -> Position:
        """How far the table has been read, once these paths have been."""
        done = [file for file in self.files if file.path in read]
        parts = {f"{file.path}#0-{file.rows}": (0, file.rows) for file in done}
        return Position(self.table, parts, len(done) == len(self.files) and (not self.mark or self.mark in read))


class SparkFiles:
    """The tables of one streaming query that Spark's own file source reads. `remarks` say why it does not read others of Parquet."""

    def __init__(self, checkpoint: str) -> None:
        """`checkpoint` is the query's, as a URI. With one that is no folder here our own source reads all tables."""
        is_folder = checkpoint.startswith("file:/")
        self._home = Path(unquote(urlsplit(checkpoint).path)) if is_folder else None
        self._settled: list[SettledFiles] = []
        self._restore: Callable[[], None] | None = None
        self.remarks: list[str] = []

    def read(
        self, spark: SparkSession, table: TableRequest, schema: StructType, end_mark: str, rows: int
    ) -> DataFrame | None:
        """The table's streaming frame, as `read_stream` gives it; None if our own source has to read it.

        Raises:
            ConnectorError: there are no files, one cannot be read, or one has changed since the query first began.
        """
        from pyspark.sql import functions as F

        settled = self.settle(table, schema, end_mark, rows)
        if not settled.files:
            return None
        self._list_by_driver(spark)
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", settled.each)
        frame = reader.option("maxFileAge", NO_AGE).parquet(settled.glob)
        return frame.withColumn(end_mark, F.coalesce(end_mark, F.lit(False))) if end_mark else frame

    def _list_by_driver(self, spark: SparkSession) -> None:
        """Spark asks the session that reads, in each micro-batch: what was set there comes back with `close`."""
        before, ours = spark.conf.get(LISTING), str(LISTED_BY_DRIVER)
        if before != ours:
            self._restore = partial(spark.conf.set, LISTING, before)
            spark.conf.set(LISTING, ours)

    def close(self) -> None:
        """Leave the session as it was."""
        if self._restore is not None:
            self._restore()

    def settle(self, table: TableRequest, schema: StructType, end_mark: str, rows: int) -> SettledFiles:
        """The files of the query's next table that Spark reads; the same in each run from a checkpoint.

        Raises:
            ConnectorError: as `read`.
        """
        settled = SettledFiles(table.table)
        if self._home is not None and _may_be_plain(table):
            note = self._home / NOTES / f"{len(self._settled)}.json"
            settled = _read_note(note) or self._settle_anew(note, table, schema, end_mark, rows)
        self._settled.append(settled)
        return settled

    def _settle_anew(
        self, note: Path, table: TableRequest, schema: StructType, end_mark: str, rows: int
    ) -> SettledFiles:
        settled = SettledFiles(table.table)
        if not (note.parent.parent / "offsets").exists():  # else our own source has begun to read the table
            chosen, why = _choose(table, schema, end_mark, rows, note.with_suffix(".parquet"))
            settled = chosen or settled
            self.remarks += (
                [f"table '{table.table}' is read by Python workers, which takes longer: {why}"] if why else []
            )
        note.parent.mkdir(parents=True, exist_ok=True)
        put_synced(note, settled.to_json().encode())
        return settled

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Inside, the newest micro-batch is read; its files are the same before and after.

        Raises:
            ConnectorError: one was replaced or changed.
        """
        read = {path for folder in self._logs() for path in _read_last(folder)}
        files = [file for settled in self._settled for file in settled.files if file.path in read]
        _check_same(files)
        yield
        _check_same(files)

    def restate(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Spark's report with offsets of these tables as our own source has them."""
        return {**report, "sources": [self._restate(source) for source in report["sources"]]}

    def _restate(self, source: Mapping[str, Any]) -> Mapping[str, Any]:
        settled = next((each for each in self._settled if each.files and _is_source_of(source, each)), None)
        if settled is None:
            return source
        before, after = (self._position(settled, source[name]) for name in ("startOffset", "endOffset"))
        rows = sum(end for _, end in after.parts.values()) if after else 0
        offsets = {"startOffset": before and before.to_json(), "endOffset": after and after.to_json()}
        return {**source, **offsets, "numInputRows": rows}

    def _position(self, settled: SettledFiles, offset: Any) -> Position | None:
        """`offset` numbers the last entry of Spark's log of the source."""
        data = json.loads(offset) if isinstance(offset, str) else offset
        if not data:
            return None
        own = {*(file.path for file in settled.files), settled.mark}
        logs = (_read_until(folder, data["logOffset"]) for folder in self._logs())
        return settled.position(next((read for read in logs if read and read <= own), set()))

    def _logs(self) -> list[Path]:
        """Spark's logs of the query's sources."""
        return sorted((self._home / "sources").glob("*")) if self._home else []


def _may_be_plain(table: TableRequest) -> bool:
    """Whether the table is one of Parquet files, with no option that Spark's source does not have."""
    reads, options = reads_of(table.connector, table.table), table.options
    if reads.spark != "files" or options["format"] != "parquet" or reads.changelog(options):
        return False
    return (
        not table.metadata
        and options.keys() <= {"connector", "path", "format", "bad.record"}
        and table.policy == "fail"
    )


def _choose(
    table: TableRequest, schema: StructType, end_mark: str, rows: int, mark: Path
) -> tuple[SettledFiles | None, str]:
    """The files that Spark reads; or none, and why not."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    data = StructType([column for column in schema if column.name != end_mark])
    request = table.stream_request(polars_types(to_arrow_schema(data, timezone="UTC")))
    source = open_source(table.connector, request)
    try:
        files = [_settled_file(table, part, source.reach(part, None, ALL_ROWS)) for part in source.partitions()]
    finally:
        source.close()
    times = [os.stat(file.path).st_mtime_ns // 1_000_000 for file in files]
    each = max(1, rows // max(1, *(file.rows for file in files)))
    is_ordered = not end_mark or each >= len(files) or times == sorted(set(times))
    if why := _describe_unfit(files, rows, is_ordered, lambda file: holds_plain_rows(request, file.path)):
        return None, why
    if end_mark:
        _write_mark(mark, to_arrow_schema(schema, timezone="UTC"), max(times) + 1_000)
    return SettledFiles(table.table, tuple(files), each, str(mark) if end_mark else ""), ""


def _describe_unfit(
    files: Sequence[SettledFile], rows: int, is_ordered: bool, is_plain: Callable[[SettledFile], bool]
) -> str:
    """Why Spark's source cannot read the files as ours does; empty if it can."""
    for file in files:
        if MEANS_MORE & set(file.path):
            return f"Spark would take the name of {file.path} for a choice of files"
        if file.rows > rows:
            return f"{file.path} has {file.rows:,} rows, and a micro-batch at most {rows:,}; raise 'trigger.rows'"
    if not is_ordered:
        return "Spark reads files in the order of their times, and these were not written in the order of their names"
    unfit = next((file.path for file in files if not is_plain(file)), None)
    return f"{unfit} has other types than the table, or NULL where that has NOT NULL" if unfit else ""


def _settled_file(table: TableRequest, part: Partition, reach: OffsetRange) -> SettledFile:
    file_of = reads_of(table.connector, table.table).file_of
    assert file_of is not None
    path = file_of(table.options, part.id)
    return SettledFile(path, reach.end, part.version)


def _write_mark(path: Path, schema: pa.Schema, time_ms: int) -> None:
    """A file of one row, that marks the end: the last column. It is newer than all others, so that Spark reads it last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    *columns, _ = schema
    arrays = [*(pa.nulls(1, column.type) for column in columns), pa.array([True])]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path)
    os.utime(path, (time_ms / 1_000, time_ms / 1_000))


def _read_note(note: Path) -> SettledFiles | None:
    if not note.exists():
        return None
    settled = SettledFiles.from_json(note.read_text())
    _check_same(settled.files)
    return settled


def _check_same(files: Iterable[SettledFile]) -> None:
    for file in files:
        if content_version(file.path) != file.version:
            raise ConnectorError(
                f"{file.path} was replaced or changed since the query first began; bring it back, or start anew, with another "
                "'checkpoint.path' if there is one"
            )


def _is_source_of(source: Mapping[str, Any], settled: SettledFiles) -> bool:
    return bool(source["description"] == f"FileStreamSource[file:{settled.glob}]")


def _read_last(folder: Path) -> set[str]:
    """What the last micro-batch of a log reads."""
    numbers = [int(file.name.removesuffix(".compact")) for file in folder.iterdir() if file.name[0].isdigit()]
    return {path for number, path in _entries(folder, max(numbers)) if number == max(numbers)} if numbers else set()


def _read_until(folder: Path, last: int) -> set[str]:
    """What has been read with entry `last`. Every so many entries Spark writes all before into one."""
    read: set[str] = set()
    for number in range(last, -1, -1):
        read |= {path for _, path in _entries(folder, number)}
        if (folder / f"{number}.compact").exists():
            break
    return read


def _entries(folder: Path, number: int) -> list[tuple[int, str]]:
    """One entry of a log: in which micro-batch each file was read."""
    file = next((each for each in (folder / f"{number}", folder / f"{number}.compact") if each.exists()), None)
    lines = file.read_text().splitlines()[1:] if file else []
    return [(entry["batchId"], unquote(urlsplit(entry["path"]).path)) for entry in map(json.loads, filter(None, lines))]
