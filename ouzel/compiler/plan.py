"""The logical plan: one typed DAG for SQL and for the Python DSL. Frozen, without I/O; `str()` of a node is EXPLAIN LOGICAL.

Every node states its schema, whether its output only appends or also retracts, its time column, and the bound of its state.
A stream that retracts carries one more column, `WEIGHT` (+1 or -1, a Z-set: Budiu et al., "DBSP", VLDB 2023); a stream that only
appends carries none and pays nothing. WEIGHT is never part of a node's schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ouzel.compiler.catalog import Secret
from ouzel.compiler.expressions import Expression
from ouzel.compiler.types import BIGINT, TIMESTAMP, DataType, Field, Schema
from ouzel.compiler.written import Written

WEIGHT = "$weight"
"""Name of the Int64 column that a retracting stream carries beside its schema."""

UNBOUNDED = "UNBOUNDED"


@dataclass(frozen=True)
class Node:
    """Base of the plan's nodes; `written` is no part of what a node means."""

    written: Written = field(default=Written(), kw_only=True, compare=False, repr=False)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes this one reads, left to right."""
        upstream = getattr(self, "input", None)
        return () if upstream is None else (upstream,)

    @property
    def schema(self) -> Schema:
        """The columns of the output, without WEIGHT."""
        return self.inputs[0].schema

    @property
    def retracts(self) -> bool:
        """Whether the output takes rows back; if so it carries WEIGHT."""
        return any(node.retracts for node in self.inputs)

    @property
    def time_column(self) -> str | None:
        """The column that the watermark speaks of, if there is one."""
        return self.inputs[0].time_column if self.inputs else None

    @property
    def state_bound(self) -> str:
        """What bounds the state kept, in words for EXPLAIN; empty for a stateless node."""
        return ""

    @property
    def label(self) -> str:
        """One line for EXPLAIN, without schema and properties."""
        return type(self).__name__

    def __str__(self) -> str:
        return "\n".join(_tree(self, 0))


def _tree(node: Node, depth: int) -> Iterator[str]:
    marks = ["retracts" if node.retracts else "appends"]
    if node.time_column:
        marks.append(f"time={node.time_column}")
    if node.state_bound:
        marks.append(f"state={node.state_bound}")
    yield f"{'  ' * depth}{node.label}  [{', '.join(marks)}]"
    yield f"{'  ' * depth}  : {node.schema}"
    for child in node.inputs:
        yield from _tree(child, depth + 1)


@dataclass(frozen=True)
class Scan(Node):
    """Read a table through a connector.

    `columns` are the physical columns wanted; `metadata` maps a column to the connector's metadata key (`offset`, `partition`, `file` ...).
    `predicate` is a filter the source must apply; a planner rule puts it there. `options` are the WITH options, without 'connector'.
    """

    table: str
    connector: str
    options: tuple[tuple[str, str], ...]
    columns: Schema
    metadata: tuple[tuple[str, str], ...] = ()
    predicate: Expression | None = None

    @property
    def schema(self) -> Schema:
        return self.columns

    @property
    def time_column(self) -> str | None:
        return None

    @property
    def label(self) -> str:
        where = f" where {self.predicate}" if self.predicate else ""
        return f"Scan {self.table} ({self.connector}){where}"


@dataclass(frozen=True)
class Watermark(Node):
    """From here on `column` is event time; the watermark is the largest `expression` seen, per partition of the source.

    `idle_after_ms` is how long an input may be silent before it stops holding time back; None is NEVER.
    """

    input: Node
    column: str
    expression: Expression
    idle_after_ms: int | None = 30_000

    @property
    def time_column(self) -> str | None:
        return self.column

    @property
    def label(self) -> str:
        idle = "never" if self.idle_after_ms is None else f"{self.idle_after_ms / 1000:g} s"
        return f"Watermark {self.column} = {self.expression}, idle after {idle}"


@dataclass(frozen=True)
class Project(Node):
    """Compute the output's columns: (name, expression) in order."""

    input: Node
    items: tuple[tuple[str, Expression], ...]

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, expression.type) for name, expression in self.items))

    @property
    def time_column(self) -> str | None:
        for name, expression in self.items:
            if str(expression) == self.input.time_column:
                return name
        return None

    @property
    def label(self) -> str:
        shown = (name if str(value) == name else f"{value} AS {name}" for name, value in self.items)
        return "Project " + ", ".join(shown)


@dataclass(frozen=True)
class Filter(Node):
    """Keep the rows whose predicate is TRUE."""

    input: Node
    predicate: Expression

    @property
    def label(self) -> str:
        return f"Filter {self.predicate}"


@dataclass(frozen=True)
class Unnest(Node):
    """CROSS JOIN UNNEST: one output row for each element of `array`, appended to the input's columns.

    `names` are the new columns: one, or one a field for an array of ROW, or key and value for a MAP. With `ordinality` the last of them
    counts from 1 (BIGINT). With `outer` an empty or NULL array gives one row of NULLs.
    """

    input: Node
    array: Expression
    names: tuple[tuple[str, DataType], ...]
    ordinality: bool = False
    outer: bool = False

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, *(Field(name, kind) for name, kind in self.names)))

    @property
    def label(self) -> str:
        return f"Unnest {self.array} AS {', '.join(name for name, _ in self.names)}"


class WindowKind(Enum):
    """How AssignWindow cuts time."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"


@dataclass(frozen=True)
class AssignWindow(Node):
    """Append window_start, window_end and window_time (= window_end - 1 ms); HOP gives a row once for each window it lies in.

    Windows are half open, [start, end), and aligned to the epoch plus `offset_us`. All three spans are in microseconds; for TUMBLE
    slide = size. A row whose time is NULL belongs to no window and is a bad record.
    """

    input: Node
    kind: WindowKind
    column: str
    size_us: int
    slide_us: int
    offset_us: int = 0
    names: tuple[str, str, str] = ("window_start", "window_end", "window_time")

    @property
    def schema(self) -> Schema:
        kind = self.input.schema[self.column].type
        start, end, time = self.names
        added = (Field(start, TIMESTAMP, False), Field(end, TIMESTAMP, False), Field(time, kind, False))
        return Schema((*self.input.schema, *added))

    @property
    def time_column(self) -> str | None:
        return self.names[2]

    @property
    def label(self) -> str:
        slide = f", slide {self.slide_us / 1e6:g} s" if self.kind is WindowKind.HOP else ""
        return f"AssignWindow {self.kind.value}({self.column}, size {self.size_us / 1e6:g} s{slide})"


NEVER_NULL = frozenset({"count", "count_if"})
"""Aggregates that are 0 of nothing, where others are NULL."""


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate over columns of the input, which a Project below has already computed.

    `function` is the canonical name in the registry of aggregates; `argument` is None for COUNT(*); `filter` names a BOOLEAN column.
    """

    name: str
    function: str
    argument: str | None
    type: DataType
    distinct: bool = False
    filter: str | None = None

    def __str__(self) -> str:
        inner = ("DISTINCT " if self.distinct else "") + (self.argument or "*")
        condition = f" FILTER (WHERE {self.filter})" if self.filter else ""
        return f"{self.function}({inner}){condition} AS {self.name}"


class EmitRule(Enum):
    """When an aggregate lets its results out."""

    CHANGES = "CHANGES"
    WATERMARK = "AFTER WATERMARK"
    DELAY = "AFTER DELAY"


@dataclass(frozen=True)
class Emit:
    """When results leave: at once as changes, once when the watermark closes their window, or every `delay_ms` as changes."""

    rule: EmitRule
    delay_ms: int = 0

    def __str__(self) -> str:
        return f"{self.rule.value} {self.delay_ms} ms" if self.rule is EmitRule.DELAY else self.rule.value


@dataclass(frozen=True)
class Aggregate(Node):
    """GROUP BY: output is the keys, in order, then the calls.

    `window` names the key columns that are (window_start, window_end, window_time): those of them that are grouped by, empty string for
    one that is not; None without a window. `window_end` is always among the keys of a windowed aggregate, for it bounds the state.
    """

    input: Node
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    emit: Emit
    window: tuple[str, str, str] | None = None

    @property
    def schema(self) -> Schema:
        grouped = tuple(self.input.schema[key] for key in self.keys)
        return Schema(
            (*grouped, *(Field(call.name, call.type, call.function not in NEVER_NULL) for call in self.calls))
        )

    @property
    def retracts(self) -> bool:
        return self.emit.rule is not EmitRule.WATERMARK

    @property
    def time_column(self) -> str | None:
        return (self.window[2] or None) if self.window else None

    @property
    def state_bound(self) -> str:
        if self.window:
            return "open windows x keys"
        return "one row" if not self.keys else f"{UNBOUNDED}: one row per key"

    @property
    def label(self) -> str:
        return f"Aggregate by ({', '.join(self.keys)}): {', '.join(map(str, self.calls))}; emit {self.emit}"


@dataclass(frozen=True)
class PartialAggregate(Node):
    """The combiner of `call`s before a fields grouping; stateless from batch to batch. Only the planner makes these.

    Output: the keys, then each call's accumulator columns as the aggregate's registry entry names them (`<call name>$<accumulator>`).
    A retracting input's weights are folded in, so the output carries none; what it means is "add these accumulators".
    """

    input: Node
    aggregate: Aggregate

    @property
    def schema(self) -> Schema:
        from ouzel.compiler.functions.aggregates import accumulator_schema

        return accumulator_schema(self.aggregate)

    @property
    def retracts(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"PartialAggregate by ({', '.join(self.aggregate.keys)}): {', '.join(map(str, self.aggregate.calls))}"


@dataclass(frozen=True)
class FinalAggregate(Node):
    """The merge of PartialAggregates after a fields grouping; output as `aggregate`'s. Only the planner makes these."""

    input: Node
    aggregate: Aggregate

    @property
    def schema(self) -> Schema:
        return self.aggregate.schema

    @property
    def retracts(self) -> bool:
        return self.aggregate.retracts

    @property
    def time_column(self) -> str | None:
        return self.aggregate.time_column

    @property
    def state_bound(self) -> str:
        return self.aggregate.state_bound

    @property
    def label(self) -> str:
        return "Final" + self.aggregate.label


@dataclass(frozen=True)
class Without(Node):
    """The input of `aggregate` without the rows that a run dropped there as late. Only a reconciliation makes these, for its batch job.

    Attributes:
        aggregate: as it was: what its component made of these rows.
        component: the name of what dropped them.
        path: the file of JSON lines that says which.
        combined: whether the file holds what the aggregate makes of each row by itself, instead of the row.
        touched: give only groups that have such rows.
    """

    input: Node
    aggregate: Aggregate
    component: str
    path: str
    combined: bool
    touched: bool

    @property
    def label(self) -> str:
        return f"Without what {self.component} dropped as late"


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: columns by position, names of the first input; the binder has cast both sides to one type."""

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    @property
    def schema(self) -> Schema:
        return self.branches[0].schema

    @property
    def time_column(self) -> str | None:
        names = {branch.time_column for branch in self.branches}
        return names.pop() if len(names) == 1 else None


class SinkMode(Enum):
    """What a sink is given: new rows only; whole rows by key with deletions; or a changelog of +1 and -1."""

    APPEND = "append"
    UPSERT = "upsert"
    RETRACT = "retract"


@dataclass(frozen=True)
class Sink(Node):
    """Write to a table through a connector; `keys` is the table's PRIMARY KEY. A trailing SELECT has the connector `result`."""

    input: Node
    table: str
    connector: str
    options: tuple[tuple[str, str], ...]
    mode: SinkMode
    keys: tuple[str, ...] = ()
    columns: Schema = Schema(())

    @property
    def label(self) -> str:
        key = f" by ({', '.join(self.keys)})" if self.keys else ""
        return f"Sink {self.table} ({self.connector}, {self.mode.value}{key})"


@dataclass(frozen=True)
class Hints:
    """Hints of one SELECT by alias or table name: PARALLELISM('a'='2'), GROUPING('a'='shuffle')."""

    parallelism: tuple[tuple[str, int], ...] = ()
    grouping: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Reconcile:
    """RECONCILE: a sink's rows are to be compared with what the batch job returns for the same input.

    Attributes:
        table: the sink.
        from_us: where the part of time to compare begins, in microseconds since the epoch; None is the beginning of time.
        to_us: where it ends, and is no longer in it; None is the end of time.
        closed_windows: compare only windows that the watermark has closed.
        tolerance: how far apart, relative to the larger, equal floats may be; None is the default.
        report: the directory of the report, relative to the file of SQL; empty for none.
        master: where Spark runs; empty for the default.
    """

    table: str
    from_us: int | None = None
    to_us: int | None = None
    closed_windows: bool = False
    tolerance: float | None = None
    report: str = ""
    master: str = ""


@dataclass(frozen=True)
class Program:
    """What one file of statements asks to run: its sinks (they may share nodes), its SET options, its hints.

    `explain` is set when the last statement was EXPLAIN: the words after it, lower case, e.g. ("logical",), or () for plain EXPLAIN.
    `reconciles` are its RECONCILE statements, in order.
    `secrets` are those that its text holds; the plan holds only where they are to be found.
    `places` says where in the text a hint or a setting was written: (hint, name in it) or ("SET", key) to (offset, end).
    """

    sinks: tuple[Sink, ...]
    settings: tuple[tuple[str, str], ...] = ()
    hints: Hints = Hints()
    explain: tuple[str, ...] | None = None
    reconciles: tuple[Reconcile, ...] = ()
    places: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    secrets: tuple[Secret, ...] = field(default=(), compare=False, repr=False)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, once each, inputs after their readers."""
    seen: set[int] = set()
    todo = [node]
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo.extend(reversed(node.inputs))


COUNT_TYPE = BIGINT
"""COUNT's result."""
