"""GROUP BY, whole and in two steps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ouzel.compiler.plan.base import UNBOUNDED, Node
from ouzel.compiler.types import DataType, Field, Schema

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
