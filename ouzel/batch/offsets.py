"""Which rows of the tables a batch reads: ranges of offsets from a file, and which tables need our own reader for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ouzel.batch.bounds import Ranges, batch_options
from ouzel.compiler.plan import Node, Program, Scan, walk
from ouzel.connectors import open_source
from ouzel.connectors.base import Partition, ReadBatch, ReadState, Source, SourceRequest
from ouzel.errors import ConnectorError, OuzelError
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.topology import Topology


def read_offsets(path: Path) -> Ranges:
    """The ranges in a JSON file: {table: {partition: [first, end]}}, or a run's record, which has them as "ranges".

    Raises:
        OuzelError: it cannot be read or holds something else.
    """
    try:
        data = json.loads(path.read_text())
        tables = data.get("ranges", data)
        return {
            table: {partition: (int(first), int(end)) for partition, (first, end) in parts.items()}
            for table, parts in tables.items()
        }
    except OSError as error:
        raise OuzelError(f"cannot read the offsets in {path}: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError):
        raise OuzelError(
            f'{path} holds no offsets; write {{"clicks": {{"clicks-0": [0, 1200]}}}}: table, partition, first offset, end'
        ) from None


def needed(program: Program, directory: Path, offsets: Ranges) -> dict[str, Mapping[str, tuple[int, int]]]:
    """The ranges without those of files that are read whole: these are Spark's own, which reads them faster.

    Raises:
        OuzelError: they speak of a table that the query does not read.
    """
    scans = {node.table: node for sink in program.sinks for node in walk(sink) if isinstance(node, Scan)}
    for table in offsets:
        if table not in scans:
            raise OuzelError(
                f"the offsets speak of '{table}', which the query does not read; it reads {', '.join(sorted(scans))}"
            )
    return {table: parts for table, parts in offsets.items() if not _reads_whole_files(scans[table], directory, parts)}


def as_run(program: Program, topology: Topology) -> Program:
    """The program with each generator cut into as many partitions as the topology cuts it: offsets speak of those."""
    tasks = {component.name: component.parallelism for component in topology.components}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        if isinstance(node, Scan) and node.connector == "datagen" and "partitions" not in dict(node.options):
            return replace(node, options=(*node.options, ("partitions", str(tasks.get(node.table, 1)))))
        return with_inputs(node, inputs)

    return replace(program, sinks=Dag(program.sinks).rebuilt(make).sinks)


def _reads_whole_files(scan: Scan, directory: Path, parts: Mapping[str, tuple[int, int]]) -> bool:
    if scan.connector != "file":
        return False
    options = batch_options("file", dict(scan.options))
    if options["format"] == "parquet":
        options["partitions"] = "1"
    request = SourceRequest(scan.table, options, scan.columns.polars(), directory)
    try:
        source = open_source("file", request)
        there = [partition.id for partition in source.partitions()]
    except ConnectorError:
        return False
    if options["format"] == "parquet":
        return sorted(_joined(parts)) == sorted(map(_rows, there))
    return sorted(parts) == sorted(there) and all(_reaches_end(source, name, *span) for name, span in parts.items())


def _rows(name: str) -> tuple[str, int, int]:
    path, _, rows = name.rpartition("#")
    first, _, last = rows.partition("-")
    return path, int(first), int(last)


def _joined(parts: Mapping[str, tuple[int, int]]) -> list[tuple[str, int, int]]:
    """Ranges of rows of each file, with those that meet made one."""
    joined: list[tuple[str, int, int]] = []
    for path, first, end in sorted((_rows(name)[0], *span) for name, span in parts.items()):
        if joined and joined[-1][0] == path and joined[-1][2] == first:
            joined[-1] = (path, joined[-1][1], end)
        else:
            joined.append((path, first, end))
    return joined


def _reaches_end(source: Source, name: str, first: int, end: int) -> bool:
    """Whether nothing comes before the range (a header is no record) and nothing after it."""
    reader = source.reader(Partition(name, True), None)
    start = reader.read(1)
    reader.close()
    if not isinstance(start, ReadBatch) or start.start < first:
        return False
    reader = source.reader(Partition(name, True), end)
    after = reader.read(1)
    reader.close()
    return after is ReadState.END
