"""Which rows can have come behind the watermark, as the input itself tells: what a file of late rows says besides is not believed.

A row is late when its task's watermark has passed it. That is the least of all sources' watermarks, so it is no further than what the
row's own source had read before it: the greatest watermark of the rows before it in its file, or of any other file. Where rows were sent
again they may come behind all rows. Of what need not end, silence and the wall clock move watermarks, which no input tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Expression
from ouzel.compiler.expressions import columns as columns_as_expressions
from ouzel.compiler.plan import (
    Aggregate,
    AsofJoin,
    AssignSession,
    AssignWindow,
    Filter,
    IntervalJoin,
    Node,
    Over,
    Project,
    ReadsElements,
    Scan,
    Union,
    Watermark,
)
from ouzel.compiler.plan.base import UNBOUNDED, Names, Unary
from ouzel.compiler.plan.distribution import ANY
from ouzel.compiler.plan.rows import APPENDS, Changelog
from ouzel.compiler.types import BIGINT, VARCHAR, Field, Schema
from ouzel.connectors import reads_of
from ouzel.reconcile.recording.record import RunRecord
from ouzel.runtime.run import LOSSES, ROLLED_BACK
from ouzel.spark.lowering.batch_nodes import BATCH, FrameNames
from ouzel.spark.lowering.text import comment, quote

HIGH, TIME, PART, ROW = "$high", "$time", "$part", "$line"
"""Columns: how far the watermark can have been when the row came (us); the watermark that the row makes; its file; its place there."""

SLACK_US = 1_000
"""A row's time may be so much less than what its node compares: window_time is a window's end less one millisecond."""


@dataclass(frozen=True)
class Bound:
    """A row can be late only if the time in this column, plus `shift_us`, is not above HIGH."""

    column: str
    shift_us: int


class LooksBack(Unary):
    """Base of nodes that only a reconciliation makes, for its batch job, when all rules have been applied; each looks at all rows."""

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """No filter passes: rows that it drops have moved the watermark, or are among equal ones whose number counts."""
        return None

    is_rowwise = False
    meets_other_rows = "late rows"
    closes_windows = False
    drops_late = False
    calls_python = False
    waits = (False,)
    accepts = (APPENDS,)
    state_bound = f"{UNBOUNDED}: all rows"

    @property
    def changelog(self) -> Changelog:
        return Changelog.APPEND


@dataclass(frozen=True)
class WatermarkBefore(LooksBack):
    """The rows with HIGH, of the rows before them or, if `shuffled`, of all, instead of TIME, PART and ROW."""

    shuffled: bool

    @property
    def schema(self) -> Schema:
        kept = tuple(field for field in self.input.schema if field.name not in (TIME, PART, ROW))
        return Schema((*kept, Field(HIGH, BIGINT)))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {name: (0, name) for name in self.schema.names if name != HIGH}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return ((wanted - {HIGH}) | {TIME, PART, ROW},)

    distribution = (ANY,)
    component_name = "watermark_before"
    label = "The watermark before each row"

    @property
    def time_column(self) -> str | None:
        return self.input.time_column

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.input.unique_keys

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.shuffled,)

    def definition(self, column: str) -> tuple[object, ...]:
        return (column, self.shuffled, self.input.column_ids[TIME])


@BATCH.add(WatermarkBefore)
def watermark_before(node: WatermarkBefore, names: FrameNames) -> list[str]:
    """The calls: the greatest of all rows, or that of the rows before in the file and of other files."""
    if node.shuffled:
        made = {HIGH: f"max(`{TIME}`) OVER ()"}
    else:
        before = f"PARTITION BY `{PART}` ORDER BY `{ROW}` ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
        made = {
            "$most": f"max(struct(`{TIME}`, `{PART}`)) OVER ()",
            "$next": f"max(CASE WHEN NOT `{PART}` <=> `$most`.`{PART}` THEN `{TIME}` END) OVER ()",
            HIGH: f"greatest(max(`{TIME}`) OVER ({before}), "
            f"CASE WHEN `{PART}` <=> `$most`.`{PART}` THEN `$next` ELSE `$most`.`{TIME}` END)",
        }
    given = ", ".join(quote(name) for name in (TIME, PART, ROW, "$most", "$next"))
    calls = [f".withColumn({quote(name)}, F.expr({quote(sql)}))" for name, sql in made.items()]
    return [
        comment("how far the watermark can have been when each row came"),
        *calls,
        f'.withColumn({quote(HIGH)}, F.unix_micros(F.col({quote(HIGH)}).cast("timestamp")))',
        f".drop({given})",
    ]


def bound_of(node: Node, port: int) -> Bound | None:
    """By what a row of that input is late; None if the node drops none by its own time."""
    match node:
        case IntervalJoin(times=times):
            return Bound(times[port].column, -SLACK_US)
        case AsofJoin(times=times):
            return Bound(times[port], -SLACK_US)
        case AssignSession(column=column) | Over(closes=str() as column):
            return Bound(column, -SLACK_US)
        case Aggregate(window=(_, end, _), emit=emit) if end:
            return Bound(end, emit.lateness_us - 1)
    return None


def with_watermark(node: Node, shuffled: bool) -> Node | None:
    """The node with a column HIGH more; None where its rows cannot be put into the order in which they were read."""
    match node:
        case Project():
            below = with_watermark(node.input, shuffled)
            return below and replace(node, input=below, items=(*node.items, *_extra(below)))
        case Filter() | AssignWindow() | ReadsElements():
            below = with_watermark(node.input, shuffled)
            return below and replace(node, input=below)
        case Union():
            branches = [with_watermark(branch, shuffled) for branch in node.branches]
            made = [_last(branch, old) for branch, old in zip(branches, node.branches, strict=True) if branch]
            return replace(node, branches=tuple(made)) if len(made) == len(branches) else None
        case Watermark():
            below = _with_places(node.input)
            if below is None:
                return None
            mark = replace(node, input=below)
            items = tuple((column.name, column) for column in columns_as_expressions(below.schema))
            return WatermarkBefore(Project(mark, (*items, (TIME, node.expression))), shuffled)
    return None


def _last(branch: Node, old: Node) -> Node:
    """The branch with its columns as they were, and HIGH behind them: a union goes by position."""
    columns = {column.name: column for column in columns_as_expressions(branch.schema)}
    return Project(branch, tuple((name, columns[name]) for name in (*old.schema.names, HIGH)))


def _extra(node: Node) -> list[tuple[str, Expression]]:
    columns = columns_as_expressions(node.schema)
    return [(column.name, column) for column in columns if column.name in (HIGH, PART, ROW)]


def _with_places(node: Node) -> Node | None:
    """The rows of a table that ends with the file of each, and its place there; None if the table does not tell."""
    match node:
        case Project():
            below = _with_places(node.input)
            return below and replace(node, input=below, items=(*node.items, *_extra(below)))
        case Filter():
            below = _with_places(node.input)
            return below and replace(node, input=below)
        case Scan():
            upserts = reads_of(node.connector, node.table).upserts
            if upserts is None or len(upserts.order) != len((PART, ROW)) or not node.traits.bounded:
                return None
            columns = Schema((*node.columns, Field(PART, VARCHAR), Field(ROW, BIGINT)))
            places = zip((PART, ROW), upserts.order, strict=True)  # by which the later of two records is known
            return replace(node, columns=columns, metadata=(*node.metadata, *places))
    return None


def is_shuffled(record: RunRecord) -> bool:
    """Whether rows may have come in another order than they are read in: what was sent again, or read by a task that began anew."""
    return bool(record.losses) or any(kind in ("replayed", ROLLED_BACK, *LOSSES) for kind, _, _ in record.events)
