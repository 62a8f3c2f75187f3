"""Which rows of the tables a batch reads: ranges of offsets from a file, and which tables need our own reader for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.plan import Node, Program, Scan, scans_in, walk
from ouzel.connectors import load_function, reads_of
from ouzel.connectors.reading import SourceRequest
from ouzel.errors import OuzelError
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.topology import Topology
from ouzel.spark.io.bounds import Ranges, batch_options


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


def select_needed(
    program: Program, topology: Topology, directory: Path, offsets: Ranges
) -> dict[str, Mapping[str, tuple[int, int]]]:
    """The ranges without those of files that are read whole: these are Spark's own, which reads them faster.

    Raises:
        OuzelError: they speak of a table that the query does not read.
    """
    scans = {scan.table: scan for sink in program.sinks for scan in scans_in(walk(sink))}
    for table in offsets:
        if table not in scans:
            raise OuzelError(
                f"the offsets speak of '{table}', which the query does not read; it reads {', '.join(sorted(scans))}"
            )
    asked = with_predicates(scans, topology)
    return {table: parts for table, parts in offsets.items() if not covers_table(asked[table], directory, parts)}


def with_predicates(scans: Mapping[str, Scan], topology: Topology) -> dict[str, Scan]:
    """The tables with what the topology's sources were asked for: folders that this excludes hold nothing that they had to read.

    A table that is read for several predicates has none.
    """
    read: dict[str, list[Expression | None]] = {}
    for component in topology.components:
        for scan in scans_in(component.chain):
            read.setdefault(scan.table, []).append(scan.predicate)
    same = {table: told[0] for table, told in read.items() if all(each == told[0] for each in told)}
    return {table: replace(scan, predicate=same.get(table)) for table, scan in scans.items()}


def as_run(program: Program, topology: Topology) -> Program:
    """The program with each generator cut into as many partitions as the topology cuts it: offsets speak of those."""
    tasks = {component.name: component.parallelism for component in topology.components}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        if isinstance(node, Scan) and (option := _cut_by(node)) not in ("", *dict(node.options)):
            return replace(node, options=(*node.options, (option, str(tasks.get(node.table, 1)))))
        return with_inputs(node, inputs)

    return replace(program, sinks=Dag(program.sinks).rebuilt(make).sinks)


def _cut_by(scan: Scan) -> str:
    return reads_of(scan.connector, scan.table).cut_by


def covers_table(scan: Scan, directory: Path, parts: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the ranges are all that the table holds, as far as its connector can tell."""
    covers = reads_of(scan.connector, scan.table).covers
    return bool(covers and load_function(scan.connector, covers)(batch_request(scan, directory), parts))


def batch_request(scan: Scan, directory: Path) -> SourceRequest:
    """What a batch asks of the table's source; relative paths start at `directory`."""
    options = batch_options(scan.connector, dict(scan.options))
    predicate = lower(scan.predicate).value if scan.predicate else None
    return SourceRequest(scan.table, options, scan.columns.polars(), directory, predicate=predicate)
