"""Tables that a task reads for itself: their rows, whether they are still what they were when the run began, and who is asked by key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ouzel.compiler.plan import Node, Scan, Served, SideJoin, Union, scans_in, walk
from ouzel.compiler.records import reader, writer
from ouzel.compiler.types import to_polars
from ouzel.compiler.user_code import FAILURES, describe_raised
from ouzel.connectors import load_function, open_source, reads_of
from ouzel.connectors.lookups import AskedTable, timeout_ms_of
from ouzel.connectors.reading import ReadBatch, Reader, ReadState, SourceRequest, Unreachable
from ouzel.errors import ConnectorError
from ouzel.planner.topology import Digests, Topology
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.build import OPERATORS
from ouzel.runtime.operators.joined.side_join import SideJoining
from ouzel.runtime.protocol.messages import Waiting
from ouzel.runtime.tasks.call_waits import WaitListener

ROWS = 100_000
"""So many are read at a time."""

WAIT_S = 0.01

Requests = Callable[[Scan], SourceRequest]
"""Gives what is asked of a table's connector."""

RowsOf = Callable[[Any], Iterable[pl.DataFrame]]
"""Gives a table's rows."""

PAUSES_S = (0.05, 2.0)
"""How long it takes at first and at most until one that has not answered is asked again."""


TELL_S = 0.2
"""So often who waits says so."""


def with_contents(topology: Topology, directory: Path) -> Topology:
    """The topology with what its side tables hold now: its tasks refuse to start on anything else.

    Raises:
        ConnectorError: a table is not there.
    """
    sides = side_tables(node for component in topology.components for node in component.chain)
    found = {scan.table: content_of(scan, directory) for scan in sides}
    return replace(topology, sides=tuple(sorted(found.items()))) if found else topology


def side_tables(nodes: Iterator[Node]) -> list[Scan]:
    """The tables that the tasks of these nodes read whole for themselves."""
    joins = [node for node in nodes if isinstance(node, SideJoin) and not node.asked]
    return [scan for node in joins for scan in scans_in(walk(node.right))]


def content_of(scan: Scan, directory: Path) -> Digests:
    """What tells whether the table's content is the same later: parts and their digests; nothing where its connector cannot tell.

    Raises:
        ConnectorError: the table is not there.
    """
    options = dict(scan.options)
    told = reads_of(scan.connector, scan.table).side_table.content
    request = SourceRequest(scan.table, options, scan.columns.polars(), directory)
    return tuple(sorted(load_function(scan.connector, told)(request).items())) if told else ()


def load_sides(
    nodes: Sequence[Node], operators: Sequence[Operator], topology: Topology, request: Requests, waits: WaitListener
) -> None:
    """Read the side tables of a chain into its operators, or have the operators ask them, whose task `waits` meanwhile.

    Raises:
        ConnectorError: one cannot be read, or is not what it was when the run began.
    """
    for node, operator in zip(nodes, operators, strict=True):
        if not isinstance(node, SideJoin):
            continue
        assert isinstance(operator, SideJoining)
        if node.asked:
            operator.ask_of(Asking(node, topology.settings.seed, request, waits))
        else:
            operator.load(_rows(node.right, topology.settings.seed, lambda scan: _read(scan, request(scan))))
            for scan in side_tables(iter([node])):
                _check(scan, dict(topology.sides).get(scan.table), request(scan).directory)


def _check(scan: Scan, begun: Digests | None, directory: Path) -> None:
    """See, once its rows have been read, that they were those with which the run began."""
    if begun is None:
        return
    now, before = dict(content_of(scan, directory)), dict(begun)
    changed = sorted(part for part in now.keys() | before.keys() if now.get(part) != before.get(part))
    if changed:
        raise ConnectorError(
            f"table '{scan.table}' is not what it was when the run began: {', '.join(changed)}; rows joined to it before and after would "
            "not agree; start the query anew, or put the old content back"
        )


def _rows(node: Node, seed: int, rows_of: RowsOf) -> Iterator[pl.DataFrame]:
    """The rows of a plan over tables whose rows are given, computed here."""
    if not node.inputs:
        yield from rows_of(node)
    elif isinstance(node, Union):
        for branch in node.branches:
            yield from (frame.select(node.schema.names) for frame in _rows(branch, seed, rows_of))
    else:
        (below,) = node.inputs
        operator = OPERATORS[type(node)](node, seed)
        for frame in _rows(below, seed, rows_of):
            made = operator.process(frame)
            if operator.refused:
                row = operator.refused[0]
                tables = ", ".join(scan.table for scan in scans_in(walk(node)))
                raise ConnectorError(f"a row of table '{tables}' cannot be computed: {row.reason}: {row.row}")
            if made is not None:
                yield made


class Asking:
    """A table that is asked by key (see operators.side_join.Answers): asked again, ever more rarely, while nobody answers."""

    def __init__(self, node: SideJoin, seed: int, request: Requests, waits: WaitListener) -> None:
        self._waits = waits
        (table,) = (below for below in walk(node.right) if not below.inputs)
        self._node, self._seed, self._name = node, seed, ", ".join(node.tables)
        self.rows, self.expires_ms, self._limit_ms = 0, 0.0, 0
        if isinstance(table, Served):
            self._lookup: AskedTable = ServiceLookup(table)
        else:
            assert isinstance(table, Scan)
            assert table.traits.asked is not None
            self.rows, self.expires_ms = table.traits.asked.rows, float(table.traits.asked.expires_ms)
            self._limit_ms = timeout_ms_of(dict(table.options))
            asks = reads_of(table.connector, table.table).side_table.asks
            self._lookup = load_function(table.connector, asks)(request(table))

    def now_ms(self) -> float:
        """The clock."""
        return time.monotonic() * 1e3

    def ask(self, keys: pl.Series) -> Iterator[pl.DataFrame]:
        """The rows of these keys, with the columns and filters of the plan."""
        return _rows(self._node.right, self._seed, lambda table: [self._look_up(keys).select(table.schema.names)])

    def _look_up(self, keys: pl.Series) -> pl.DataFrame:
        found = self._lookup.ask(keys)
        return self._ask_again(keys, found.reason) if isinstance(found, Unreachable) else found

    def _ask_again(self, keys: pl.Series, reason: str) -> pl.DataFrame:
        """However long that takes, nobody takes the task for one that hangs, and its rows for ones that kill."""
        began, pause_s, since_us = self.now_ms(), PAUSES_S[0], time.time_ns() // 1000
        while True:
            if self.now_ms() - began > self._limit_ms:
                waited = f"for {self._limit_ms / 1000:g} s ('lookup.timeout.ms')"
                raise ConnectorError(f"table '{self._name}' has not answered {waited}: {reason}")
            with self._waits.outside():
                self._pause(pause_s, reason, since_us)
                found = self._lookup.ask(keys)
            if not isinstance(found, Unreachable):
                break
            reason, pause_s = found.reason, min(2 * pause_s, PAUSES_S[1])
        self._waits.tell()
        return found

    def _pause(self, pause_s: float, reason: str, since_us: int) -> None:
        parts = max(1, round(pause_s / TELL_S))
        for _ in range(parts):
            self._waits.tell(Waiting(self._waits.component, self._name, 0, f"no answer: {reason}", since_us))
            time.sleep(pause_s / parts)


NO_MAPPINGS = (list, tuple, set, str, type(None))
"""What a service gives that was written to give the values alone, in the order of the keys, or nothing."""


class _NoMapping(Exception):
    """A service gave such a value: the name of its type."""


class ServiceLookup:
    """A service of the user's (see connectors.lookups.AskedTable)."""

    def __init__(self, node: Served) -> None:
        self._node = node
        (key, value), (key_hint, value_hint) = node.pair.columns, node.pair.hints
        self._kind = to_polars(value.type)
        self._read, self._write = reader(key_hint, key.type), writer(value_hint, value.type)

    def ask(self, keys: pl.Series) -> pl.DataFrame:
        """The pairs of these keys."""
        named = list(map(self._read, keys)) if self._read else keys.to_list()
        try:
            found = self._node.service.get_many(named)
            if isinstance(found, NO_MAPPINGS):
                raise _NoMapping(type(found).__name__)
            answered = [(place, found[key]) for place, key in enumerate(named) if found.get(key) is not None]
            values = [self._write(value) if self._write else value for _, value in answered]
            column = pl.Series(self._node.names[1], values, self._kind, strict=True)
        except _NoMapping as error:
            raise ConnectorError(
                f"get_many of {self._node.called} ({self._node.place}) gave a {error}, and is to give a mapping of keys to values; "
                "return {key: …}, without the keys that it does not know"
            ) from None
        except FAILURES as error:
            raise ConnectorError(
                f"{self._node.called} ({self._node.place}) has not answered: {describe_raised(error)}"
            ) from error
        return pl.DataFrame([keys.gather([place for place, _ in answered]).alias(self._node.names[0]), column])

    def close(self) -> None:
        """It is the user's."""


def _read(scan: Scan, request: SourceRequest) -> Iterator[pl.DataFrame]:
    source = open_source(scan.connector, request)
    try:
        for partition in source.partitions():
            reader = source.reader(partition, None)
            try:
                yield from (frame.select(scan.columns.names) for frame in _read_partition(scan, reader))
            finally:
                reader.close()
    finally:
        source.close()


def _read_partition(scan: Scan, reader: Reader) -> Iterator[pl.DataFrame]:
    while (batch := reader.read(ROWS)) is not ReadState.END:
        if not isinstance(batch, ReadBatch):
            time.sleep(WAIT_S)
            continue
        if batch.bad:
            bad = batch.bad[0]
            raise ConnectorError(f"table '{scan.table}': {bad.where}: {bad.reason}")
        yield batch.frame
