"""GROUP BY, whole and in two steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

from ouzel.compiler.expressions import Expression, SourceLocation, columns_of
from ouzel.compiler.functions.aggregate_function import AggregateFunction, ValueOrder
from ouzel.compiler.functions.aggregates import find_aggregate
from ouzel.compiler.functions.gathering import orders_of
from ouzel.compiler.plan.base import UNBOUNDED, Names, Node, Unary
from ouzel.compiler.plan.distribution import ANY, Distribution, by_keys, single
from ouzel.compiler.plan.identity import digest
from ouzel.compiler.plan.late import DropsLate
from ouzel.compiler.plan.lifetime import Lifetime
from ouzel.compiler.plan.rows import WEIGHTED, Changelog, RowRole
from ouzel.compiler.types import BIGINT, DataType, Field, FloatType, Schema
from ouzel.errors import NotSupported

Of = TypeVar("Of")

ROWS = "$rows"
"""Name of the column that counts a group's rows in partial aggregates with a window (for late rows) or of a retracting input."""


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate over columns of the input, which a Project below has already computed.

    Attributes:
        name: the column that the result becomes.
        function: the canonical name in the registry of aggregates.
        argument: the column that is aggregated; None for COUNT(*).
        type: the type of the result.
        distinct: each value counts once.
        filter: the BOOLEAN column that says which rows count; None: all do.
        written: where the call was written; no part of what it is.
        row: the aggregate itself, where it is the user's and not in the registry.
        parameters: the order of its values, a tuple of ValueOrder, if it has one, and then its constants.
    """

    name: str
    function: str
    argument: str | None
    type: DataType
    distinct: bool = False
    filter: str | None = None
    written: SourceLocation | None = field(default=None, compare=False, repr=False)
    row: AggregateFunction | None = field(default=None, compare=False, repr=False)
    parameters: tuple[object, ...] = ()

    @property
    def reads(self) -> frozenset[str]:
        """The columns that it reads."""
        return frozenset(name for name in (self.argument, self.filter) if name)

    def __str__(self) -> str:
        inner = ("DISTINCT " if self.distinct else "") + (self.argument or "*")
        condition = f" FILTER (WHERE {self.filter})" if self.filter else ""
        return f"{self.function}({inner}{self.described_parameters}){condition} AS {self.name}"

    @property
    def described_parameters(self) -> str:
        """The call's parameters after its argument, as text: `, 0.5`; ` order by DESC, ASC`."""
        orders = orders_of(self.parameters)
        constants = self.parameters[1:] if orders else self.parameters
        order = f" order by {', '.join(map(str, orders))}" if orders and orders != (ValueOrder(),) else ""
        return "".join(f", {constant!r}" for constant in constants) + order


class EmitRule(Enum):
    """When an aggregate emits its results."""

    CHANGES = "CHANGES"
    WATERMARK = "AFTER WATERMARK"
    DELAY = "AFTER DELAY"


@dataclass(frozen=True)
class Emit:
    """When results leave: at once as changes, once when the watermark closes their window, or every `delay_ms` as changes.

    With `lateness_us` a window that has closed still takes rows for so long after its end, and what they change leaves at once.
    """

    rule: EmitRule
    delay_ms: int = 0
    lateness_us: int = 0

    @property
    def final(self) -> bool:
        """Whether what leaves never changes."""
        return self.rule is EmitRule.WATERMARK and not self.lateness_us

    def __str__(self) -> str:
        rule = f"{self.rule.value} {self.delay_ms} ms" if self.rule is EmitRule.DELAY else self.rule.value
        if not self.lateness_us:
            return rule
        early = "" if self.rule is EmitRule.WATERMARK else f"{rule} AND "
        return f"{early}{EmitRule.WATERMARK.value} WITH LATENESS {self.lateness_us / 1e6:g} s"


@dataclass(frozen=True)
class Aggregate(Unary, DropsLate):
    """GROUP BY: output is the keys, in order, then the calls.

    `window` names the key columns that are (window_start, window_end, window_time): those of them that are grouped by, empty string for
    one that is not; None without a window. `window_end` is always among the keys of a windowed aggregate, for it bounds the state.
    With a `lifetime`, which is without a window, groups are forgotten; what has been told of them stays. The last key is then what tells
    the lives of a key apart.
    """

    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    emit: Emit
    window: tuple[str, str, str] | None = None
    lifetime: Lifetime | None = None

    @property
    def schema(self) -> Schema:
        grouped = tuple(self.input.schema[key] for key in self.keys)
        return Schema((*grouped, *(Field(call.name, call.type, not row_of(call).counts) for call in self.calls)))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {key: (0, key) for key in self.keys}

    @property
    def reads(self) -> Names:
        """What it reads of its input."""
        forgets = {self.lifetime.column} if self.lifetime else frozenset[str]()
        return frozenset(self.keys).union(forgets, *(call.reads for call in self.calls))

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (self._with_calls_of(wanted).reads,)

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return replace(self._with_calls_of(wanted), input=inputs[0])

    def _with_calls_of(self, wanted: Names) -> Aggregate:
        """Where none is asked for, a group shows by how many rows it has: what nobody reads must not fail a row."""
        rows = tuple(AggregateCall(call.name, "count", None, BIGINT) for call in self.calls[:1])
        return replace(self, calls=tuple(call for call in self.calls if call.name in wanted) or rows)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """0.0 and -0.0 are one group but not one value, so a filter on a float key must see the group's."""
        read = columns_of(predicate)
        exact = {key for key in self.keys if not isinstance(self.schema[key].type, FloatType)}
        return (predicate,) if read and read <= exact else None

    role = RowRole.GROUPS
    is_rowwise = False
    meets_other_rows = ""
    calls_python = False

    @property
    def groups(self) -> Aggregate:
        return self

    @property
    def routing_keys(self) -> tuple[str, ...]:
        """The keys without the window's, of which too few are open at once to spread rows; the window's end if there is no other."""
        if not self.window:
            return self.keys
        return tuple(key for key in self.keys if key not in self.window) or (self.window[1],)

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        alone = single("an aggregate without GROUP BY is one row, kept by one task", "group by a key")
        return (by_keys(self.routing_keys, alone),)

    @property
    def waits(self) -> tuple[bool, ...]:
        return (self.window is not None or self.lifetime is not None or self.emit.rule is EmitRule.WATERMARK,)

    @property
    def closes_windows(self) -> bool:
        return self.window is not None

    @property
    def drops_late(self) -> bool:
        return self.closes_windows

    @property
    def time_column(self) -> str | None:
        return (self.window[2] or None) if self.window else None

    accepts = (WEIGHTED,)

    @property
    def changelog(self) -> Changelog:
        return Changelog.APPEND if self.emit.final or self.only_grows else Changelog.RETRACT

    @property
    def leaves_last(self) -> bool:
        """Whether its groups leave once, when its input has ended."""
        return self.emit.final and not self.window

    @property
    def only_grows(self) -> bool:
        """Whether it is the DISTINCT of rows that are never taken back: a key that has come stays as it is."""
        return not (self.calls or self.window or self.input.retracts)

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset({frozenset(self.keys)})

    @property
    def held_back_ms(self) -> int:
        return self.emit.delay_ms

    @property
    def state_bound(self) -> str:
        if self.window:
            kept = f"windows open or closed for less than {self.emit.lateness_us / 1e6:g} s"
            return f"{kept if self.emit.lateness_us else 'open windows'} x keys"
        if self.lifetime:
            return f"one row per key, {self.lifetime}"
        return "one row" if not self.keys else f"{UNBOUNDED}: one row per key"

    @property
    def component_name(self) -> str:
        functions = {call.function for call in self.calls}
        return self.make_name(functions.pop() if len(functions) == 1 else "aggregate")

    def make_name(self, verb: str) -> str:
        """A name for what does this to the groups: `count_by_word`; `sum_by_window`; `count_all`."""
        named = self.keys[:-1] if self.lifetime else self.keys
        keys = [key for key in named if key not in (self.window or ())] or ["window"] * bool(named)
        return re.sub(r"\W+", "", f"{verb}_by_{'_'.join(keys)}" if keys else f"{verb}_all")

    @property
    def label(self) -> str:
        emit = "at the end of its input" if self.leaves_last else self.emit
        return f"Aggregate by ({', '.join(self.keys)}): {', '.join(map(str, self.calls))}; emit {emit}"

    @property
    def identity(self) -> tuple[object, ...]:
        ids = self.input.column_ids
        window = tuple(ids.get(name) for name in self.window) if self.window else None
        calls = tuple(map(self._call_meaning, self.calls))
        lateness = (self.emit.lateness_us,) if self.emit.lateness_us else ()
        forgets = self.lifetime.identity(ids) if self.lifetime else ()
        keys = tuple(ids[key] for key in self.keys)
        return (keys, calls, self.emit.rule, self.emit.delay_ms, window, *lateness, *forgets)

    @property
    def rows_id(self) -> str:
        """One row a group, whatever is computed of it."""
        return digest("groups", self.input.rows_id, *(self.input.column_ids[key] for key in self.keys))

    def definition(self, column: str) -> tuple[object, ...]:
        return (self.rows_id, self._call_meaning(next(call for call in self.calls if call.name == column)))

    def _call_meaning(self, call: AggregateCall) -> tuple[object, ...]:
        argument, condition = (name and self.input.column_ids[name] for name in (call.argument, call.filter))
        parameters = (call.described_parameters,) if call.parameters else ()
        return (call.function, call.type, call.distinct, argument, condition, *parameters)


@dataclass(frozen=True)
class AggregateHalf(Unary):
    """Base of the two nodes that an `aggregate` becomes. Only the planner makes these."""

    aggregate: Aggregate

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return self.aggregate.origins

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return self.aggregate.passes(predicate)

    is_rowwise = False
    meets_other_rows = ""
    calls_python = False
    accepts = (WEIGHTED,)

    @property
    def waits(self) -> tuple[bool, ...]:
        return self.aggregate.waits

    @property
    def identity(self) -> tuple[object, ...]:
        return self.aggregate.identity


@dataclass(frozen=True)
class PartialAggregate(AggregateHalf):
    """The combiner of `call`s before a fields grouping; stateless from batch to batch.

    Output: the keys, then each call's accumulator columns as the aggregate's registry entry names them (`<call name>$<accumulator>`).
    A retracting input's weights are folded in, so the output carries none; what it means is "add these accumulators".
    """

    @property
    def schema(self) -> Schema:
        return accumulator_schema(self.aggregate)

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """For all of its output: what is merged are accumulators, whole."""
        return (self.aggregate.reads,)

    closes_windows = False
    drops_late = False
    distribution = (ANY,)

    @property
    def partial_keys(self) -> tuple[str, ...]:
        return self.aggregate.routing_keys

    @property
    def time_column(self) -> str | None:
        return self.input.time_column

    changelog = Changelog.APPEND

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset()

    state_bound = ""

    @property
    def component_name(self) -> str:
        return self.aggregate.make_name("combine")

    @property
    def label(self) -> str:
        return f"PartialAggregate by ({', '.join(self.aggregate.keys)}): {', '.join(map(str, self.aggregate.calls))}"

    def definition(self, column: str) -> tuple[object, ...]:
        return (self.rows_id, "accumulator", self.schema.names.index(column))


@dataclass(frozen=True)
class FinalAggregate(AggregateHalf):
    """The merge of PartialAggregates after a fields grouping; output as `aggregate`'s."""

    @property
    def schema(self) -> Schema:
        return self.aggregate.schema

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """All: what is merged are accumulators, whole."""
        return (frozenset(self.input.schema.names),)

    @property
    def groups(self) -> Aggregate:
        return self.aggregate

    @property
    def closes_windows(self) -> bool:
        return self.aggregate.closes_windows

    @property
    def drops_late(self) -> bool:
        return self.aggregate.drops_late

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return self.aggregate.distribution

    @property
    def time_column(self) -> str | None:
        return self.aggregate.time_column

    @property
    def changelog(self) -> Changelog:
        return self.aggregate.changelog

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.aggregate.unique_keys

    @property
    def held_back_ms(self) -> int:
        return self.aggregate.held_back_ms

    @property
    def state_bound(self) -> str:
        return self.aggregate.state_bound

    @property
    def component_name(self) -> str:
        return self.aggregate.component_name

    @property
    def label(self) -> str:
        return "Final" + self.aggregate.label

    @property
    def rows_id(self) -> str:
        """The aggregate's: what is above does not see that it was done in two steps."""
        return self.aggregate.rows_id

    def definition(self, column: str) -> tuple[object, ...]:
        return self.aggregate.definition(column)


def row_of(call: AggregateCall) -> AggregateFunction:
    """The aggregate that is called: the call's own row, else the registry's.

    Raises:
        NotSupported: there is none.
    """
    row = call.row or find_aggregate(call.function)
    if row is None:
        raise NotSupported(f"{call.function.upper()} cannot be computed here: no aggregate has this name")
    return row


def by_variant(call: AggregateCall, table: Mapping[str, Of]) -> Of:
    """The table's entry for the variant that the call's aggregate needs.

    Raises:
        NotSupported: nothing, for it is not listed; nothing is computed by default.
    """
    variant = row_of(call).variant
    if variant not in table:
        raise NotSupported(
            f"{call.function.upper()} cannot be computed here: its accumulators give {' or '.join(table)}, not {variant}"
        )
    return table[variant]


def is_distinct(call: AggregateCall) -> bool:
    """Whether DISTINCT makes a difference to the call."""
    return call.distinct and row_of(call).call.distinct


def is_combinable(aggregate: Aggregate) -> bool:
    """Whether partial aggregates may go before its grouping: not with DISTINCT, nor with MIN or MAX of rows that may be taken back.

    Nor where late rows go into a table, for then they must come to it as they are, nor where keys are forgotten by the times of rows.
    """
    retracting = aggregate.input.retracts
    return (
        not aggregate.late
        and not aggregate.lifetime
        and not any(
            is_distinct(call) or (retracting and not row_of(call).state.merges_changes) for call in aggregate.calls
        )
    )


def accumulators(call: AggregateCall, argument: DataType | None, retracting: bool) -> tuple[Field, ...]:
    """The columns that a partial aggregate of `call` has, named `<call name>$<accumulator>`.

    `argument` is the type of the call's argument column, None for COUNT(*); `retracting` whether rows can be taken back.
    """
    return tuple(
        Field(f"{call.name}${name}", kind, nullable)
        for name, kind, nullable in row_of(call).state.columns(argument, call.type, retracting)
    )


def accumulator_schema(aggregate: Aggregate) -> Schema:
    """What a PartialAggregate of `aggregate` gives: the keys, the group's rows where they matter, each call's accumulators.

    Raises:
        NotSupported: it cannot be combined (see `is_combinable`).
    """
    if not is_combinable(aggregate):
        raise NotSupported("DISTINCT, and MIN or MAX of rows that may be taken back, have no partial aggregate")
    source, retracting = aggregate.input.schema, aggregate.input.retracts
    keys = tuple(source[key] for key in aggregate.keys)
    rows = (Field(ROWS, BIGINT, False),) if counts_rows(aggregate) else ()
    columns = (
        column
        for call in aggregate.calls
        for column in accumulators(call, source[call.argument].type if call.argument else None, retracting)
    )
    return Schema((*keys, *rows, *columns))


def counts_rows(aggregate: Aggregate) -> bool:
    """Whether its partial aggregates carry ROWS: with a window, so that late rows can be counted, and where rows can be taken back."""
    return aggregate.input.retracts or aggregate.window is not None
