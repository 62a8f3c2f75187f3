"""What a run dropped as late, and the batch job's answer to the input without it.

A difference is late if it is gone once the batch job leaves out, of the input of each aggregate, the very rows that the stream dropped
there. Where the file does not name single rows (see Dropper.exact), a group's late rows are only counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.compiler.plan import (
    INPUT,
    Aggregate,
    Emit,
    EmitRule,
    LateRows,
    Node,
    Program,
    Sink,
    keeps_rows,
)
from ouzel.compiler.plan.aggregates import ROWS
from ouzel.compiler.types import Schema
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.topology import Topology
from ouzel.reconcile.comparing.lineage import Lineage, top_aggregate, top_join
from ouzel.reconcile.explaining.behind import Bound, bound_of, is_shuffled, with_watermark
from ouzel.reconcile.explaining.exclusion import (
    ExcludeLateRows,
    RecordedLateRows,
    can_exclude_late,
    can_tell_late,
    late_columns,
    late_rows_read,
    parse_late_column,
)
from ouzel.reconcile.recording.record import RunRecord
from ouzel.runtime.tasks.late import COMPONENT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUP = "_late_"
"""Prefix of the keys of groups with late rows."""

LATE_ROWS, LOOSE, DROPPED = "late_rows", "loose", "dropped"
"""Columns of such groups: how many rows were dropped; whether some are only counted; the lines that tell of them."""

LINES = 100
"""Dropped rows that are kept with a difference, and that are shown of each component."""


@dataclass(frozen=True)
class Dropper:
    """An aggregate or a join of the compared sink that dropped rows as late.

    Attributes:
        component: its name in the topology.
        aggregate: as the query has it.
        made: as its component computes it: without results that nobody reads.
        place: which of the sink's aggregates it is, inputs first.
        combined: whether a combiner precedes it, so that the file has what the aggregate makes of each row.
        exact: whether the batch job can leave out what the file names. (Rows that a combiner had added up are only counted all the same.)
        rows: how many it dropped.
        sample: the first of them, by column.
        added_up: whether a line tells of several, which a combiner had added up.
        port: of which input they are, if it is a join that dropped them; then `aggregate` groups by all columns of that input.
    """

    component: str
    aggregate: Aggregate
    made: Aggregate
    place: int
    combined: bool
    exact: bool
    rows: int
    sample: tuple[Mapping[str, Any], ...]
    added_up: bool = False
    port: int | None = None

    @property
    def columns(self) -> Mapping[str, str]:
        """Names of the file's columns, and the reader's names for them."""
        calls = {call.name: str(replace(call, name="")).removesuffix(" AS ") for call in self.made.calls}
        shown = {
            name: calls.get(name, name) if self.combined else name
            for name, _, _ in late_columns(self.made, self.combined)
        }
        return {**shown, **({ROWS: "rows"} if self.added_up else {})}


def droppers(
    program: Program, topology: Topology, sink: Sink, late: Path | None, spark: SparkSession
) -> tuple[Dropper, ...]:
    """Which aggregates below the sink dropped rows, as the file `late` tells; what waits for no watermark drops none, whatever it says."""
    if late is None:
        return ()
    from pyspark.sql import functions as F

    lines = spark.read.schema(f"`{COMPONENT}` string, `{INPUT}` int, `{ROWS}` bigint").json(str(late))
    each = F.coalesce(F.col(f"`{ROWS}`"), F.lit(1))
    counts = lines.groupBy(COMPONENT, INPUT).agg(F.sum(each), F.max(each) > 1).collect()
    places = {id(node): place for place, node in enumerate(_dropping(sink))}
    return tuple(
        _dropper(component, port, made, node, places[id(node)], int(rows), added_up, late, spark)
        for component, made, node in by_component(program, topology)
        for dropped_by, port, rows, added_up in counts
        if component == dropped_by and id(node) in places and node.drops_late
    )


def _dropper(
    component: str, port: int | None, made: Node, node: Node, place: int, rows: int, added_up: bool, late: Path,
    spark: SparkSession,
) -> Dropper:  # fmt: skip
    from pyspark.sql import functions as F

    # A node that gives the result of an aggregate and is not that aggregate merges what others have combined.
    combined = made.groups is not None and made.groups is not made
    aggregate = _reader(made, port)
    mine = F.get_json_object("value", f"$['{COMPONENT}']") == component
    if port is not None:
        mine &= F.get_json_object("value", f"$['{INPUT}']") == str(port)
    sample = spark.read.text(str(late)).where(mine).limit(LINES).collect()
    return Dropper(
        component, _reader(node, port), aggregate, place, combined, can_exclude_late(aggregate, combined), rows,
        tuple(json.loads(line[0]) for line in sample), combined and added_up, port,
    )  # fmt: skip


def _reader(node: Node, port: int | None) -> Aggregate:
    """The aggregate that stands for what reads the dropped rows: itself, or for a join one that groups by all columns of the input."""
    if node.groups:
        return node.groups
    below = node.inputs[port or 0]
    return Aggregate(below, below.schema.names, (), Emit(EmitRule.CHANGES))


def by_component(program: Program, topology: Topology) -> Iterator[tuple[str, Node, Node]]:
    """Each node of the query that drops late rows, with its component. Both lists are in the same order: planner rules keep it."""
    heads = [(part.name, part.chain[0]) for part in topology.components if part.chain]
    made = [(name, head) for name, head in heads if _may_drop(head)]
    for (name, head), node in zip(made, _dropping(*program.sinks), strict=True):
        yield name, head, node


def find_maker(program: Program, topology: Topology, sink: Sink) -> tuple[str, tuple[str, ...]]:
    """The component that computes the aggregate or join which makes the sink's rows, and the keys by which rows are dealt to its tasks."""
    top = top_aggregate(sink) or top_join(sink)
    for name, head, node in (*by_component(program, topology), *_joins_by_component(program, topology)):
        if node is top:
            return name, head.distribution[0].keys
    return "", ()


def _joins_by_component(program: Program, topology: Topology) -> Iterator[tuple[str, Node, Node]]:
    """Each join of the query with the component that it is the head of."""
    made = [
        (part.name, node, node is part.chain[0])
        for part in topology.components
        for node in part.chain
        if node.joins_rows and keeps_rows(node)
    ]
    nodes = [node for node in Dag(program.sinks).nodes() if node.joins_rows and keeps_rows(node)]
    return ((name, join, node) for (name, join, first), node in zip(made, nodes, strict=True) if first)


def _dropping(*sinks: Sink) -> list[Node]:
    return [node for node in Dag(sinks).nodes() if _may_drop(node)]


def _may_drop(node: Node) -> bool:
    """Whether the node drops late rows, or is an aggregate, which may make a sink's rows though it drops none."""
    return node.drops_late or node.groups is not None


def only_top(found: Sequence[Dropper], sink: Sink, facts: Lineage) -> bool:
    """Whether only the aggregate that makes the sink's rows dropped any, so that no groups but those of late rows can be late."""
    return bool(facts.keys) and all(dropper.aggregate is top_aggregate(sink) for dropper in found)


def can_exclude(found: Sequence[Dropper], sink: Sink) -> bool:
    """Whether the batch job can be asked for an answer that knows of late rows: without them, or of a table of them."""
    return any(dropper.exact for dropper in found) or (
        bool(found) and any(node.reads_late for node in Dag((sink,)).nodes())
    )


def exclude_late(sink: Sink, found: Sequence[Dropper], late: Path, touched: bool, record: RunRecord | None) -> Sink:
    """The sink over the input without the rows that can be left out; with `touched` only groups that have such rows.

    No row is left out that cannot have been late, where the input tells; `record` is None if not all that was read is read now.

    Where these rows are what the sink takes, it takes them.
    """
    by_place: dict[int, list[Dropper]] = {}
    for dropper in found:
        if dropper.exact:
            by_place.setdefault(dropper.place, []).append(dropper)
    components = {
        id(node): dropper.component
        for place, node in enumerate(_dropping(sink))
        for dropper in found
        if dropper.place == place
    }
    exact = {id(node): by_place[place] for place, node in enumerate(_dropping(sink)) if place in by_place}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        fewer = list(inputs)
        for dropper in exact.get(id(node), ()):
            read, bound = _with_bound(node, fewer[dropper.port or 0], dropper.port or 0, record)
            path = str(late.resolve())
            fewer[dropper.port or 0] = ExcludeLateRows(
                read, dropper.made, dropper.component, path, dropper.combined, touched, dropper.port, bound
            )
        if isinstance(node, LateRows) and can_tell_late(node) and id(node.input) in components:
            cut = inputs[0].inputs[node.port]
            if isinstance(cut, ExcludeLateRows):
                return late_rows_read(node, cut)
            file = str(late.resolve())
            return RecordedLateRows(fewer[0], node.port, node.items, components[id(node.input)], file)
        return with_inputs(node, tuple(fewer))

    return Dag((sink,)).rebuilt(make).sinks[0]


def _with_bound(node: Node, read: Node, port: int, record: RunRecord | None) -> tuple[Node, Bound | None]:
    """What a node that drops late rows reads, with how far the watermark can have been; as it is where the input does not tell."""
    bound = None if record is None or record.began else bound_of(node, port)
    told = with_watermark(read, is_shuffled(record)) if record and bound else None
    return (told, bound) if told else (read, None)


def find_trusted(sink: Sink, found: Sequence[Dropper], record: RunRecord | None) -> Iterator[str]:
    """The components whose late rows the input does not bear out: they are what the file says, only counted there, or of rows that came
    in another order than the input has them."""
    nodes = _dropping(sink)
    for dropper in found:
        node, port = nodes[dropper.place], dropper.port or 0
        told = record is not None and not is_shuffled(record)
        if (
            not told
            or dropper.added_up
            or not dropper.exact
            or _with_bound(node, node.inputs[port], port, record)[1] is None
        ):
            yield dropper.component


def late_groups(
    found: Sequence[Dropper], sink: Sink, keys: Schema, late: Path | None, spark: SparkSession
) -> DataFrame | None:
    """The groups of the sink's top aggregate with rows dropped as late; None if it dropped none.

    Columns: the group's keys, named with GROUP; LATE_ROWS; LOOSE; DROPPED.
    """
    from pyspark.sql import functions as F

    aggregate = top_aggregate(sink)
    top = next((dropper for dropper in found if dropper.aggregate is aggregate), None)
    if aggregate is None or top is None or late is None:
        return None
    schema = ", ".join(f"`{name}` string" for name in dict.fromkeys((COMPONENT, ROWS, *keys.names)))
    lines = (
        spark.read.text(str(late)).select("value", F.from_json("value", schema).alias("row")).select("value", "row.*")
    )
    rows = F.coalesce(F.col(f"`{ROWS}`").cast("bigint"), F.lit(1))
    columns = [F.expr(parse_late_column(field.name, field.type)).alias(f"{GROUP}{field.name}") for field in keys]
    return (
        lines.where(F.col(f"`{COMPONENT}`") == top.component)
        .groupBy(*columns)
        .agg(
            F.sum(rows).alias(LATE_ROWS),
            ((F.max(rows) > 1) & F.lit(top.combined) | F.lit(not top.exact)).alias(LOOSE),
            F.slice(F.collect_list("value"), 1, LINES).alias(DROPPED),
        )
    )
