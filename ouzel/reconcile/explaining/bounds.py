"""What an aggregate of some of a group's rows can be, by what all of them are.

A row of the stream that lacks rows (they were in flight, lost, or late and only counted) may have any values that such a part can give, and
no others: each by itself, and with what stands beside it. Each kind of aggregate has a PartBound, which asks the batch job for what it
has to know of the whole group; see number_bounds.py and limits.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Cast, Column, Expression
from ouzel.compiler.expressions import columns as columns_as_expressions
from ouzel.compiler.plan import Aggregate, AggregateCall, Node, Project
from ouzel.compiler.types import BIGINT, DataType, DecimalType, FloatType, IntegerType

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

Sides = Mapping[str, "SparkColumn"]
"""A row's columns, by the output's names."""

NUMBERS = (IntegerType, FloatType, DecimalType)


@dataclass(frozen=True)
class CastLoss:
    """By how much casts may have moved a number: by so much, and by so much of itself."""

    unit: float = 0.0
    relative: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.unit or self.relative)

    def __add__(self, other: CastLoss) -> CastLoss:
        return CastLoss(self.unit + other.unit, self.relative + other.relative)

    def of(self, value: SparkColumn) -> SparkColumn:
        """The same of this value."""
        from pyspark.sql import functions as F

        return F.lit(self.unit) + F.lit(self.relative) * F.abs(value)


@dataclass(frozen=True)
class Need:
    """An aggregate of the whole group that the batch job is asked for: of the call's own argument, or of what is computed `of` it."""

    function: str
    type: DataType
    of: Expression | None = None
    distinct: bool = False
    parameters: tuple[object, ...] = ()


@dataclass(frozen=True)
class PartBound(ABC):
    """What one column of the output can be, of a part of a group's rows.

    Attributes:
        call: whose result it is.
        place: of the aggregate's calls, which.
        argument: the type of what it reads; None if that is nothing.
        rows: the output's column that counts all rows of the group; empty if there is none.
        values: the output's column that counts just the values; empty if there is none.
        loss: what casts may have made of it.
        beside: the output's columns of the same values, uncast, by their aggregate.
    """

    call: AggregateCall
    place: int
    argument: DataType | None
    rows: str
    values: str
    loss: CastLoss
    beside: Mapping[str, str]

    @property
    @abstractmethod
    def needs(self) -> Mapping[str, Need]:
        """What has to be known of the whole group, by a short name."""

    @abstractmethod
    def holds(self, name: str, ours: Sides, theirs: Sides, at: Callable[[str], SparkColumn]) -> SparkColumn:
        """Whether a part of the rows that `theirs` is of can give the column `name` of `ours`; `at` gives what is needed, by short name."""

    def column(self, need: str) -> str:
        """The column of the batch's row that has it."""
        return f"$bound{self.place}_{need}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the batch's row."""
        return tuple(map(self.column, self.needs))


def is_rounded(call: AggregateCall) -> bool:
    """Whether its result depends on the order of its values, by what rounding makes of it."""
    return call.function in ("sum", "avg") and isinstance(call.type, FloatType)


def rounding_bounds(bounds: Mapping[str, PartBound]) -> dict[str, PartBound]:
    """Those of such results."""
    return {name: each for name, each in bounds.items() if is_rounded(each.call)}


def with_bounding_calls(aggregate: Aggregate, bounds: Mapping[str, PartBound]) -> tuple[Aggregate, tuple[str, ...]]:
    """The aggregate that computes what is needed too, each once, and the names of that."""
    values: dict[str, Expression] = {}
    calls: dict[str, AggregateCall] = {}
    for each in bounds.values():
        for short, need in each.needs.items():
            name, argument = each.column(short), each.call.argument
            if need.of is not None:
                argument = f"{name}_of"
                values[argument] = need.of
            calls[name] = AggregateCall(
                name, need.function, argument, need.type, need.distinct, each.call.filter, parameters=need.parameters
            )
    given = tuple((column.name, column) for column in columns_as_expressions(aggregate.input.schema))
    below = Project(aggregate.input, (*given, *values.items())) if values else aggregate.input
    return replace(aggregate, input=below, calls=(*aggregate.calls, *calls.values())), tuple(calls)


def trace_call(node: Node, name: str) -> tuple[str, CastLoss] | None:
    """Which column of the aggregate below a column is, and what casts between them lose; None if more is computed of it."""
    loss = CastLoss()
    while not isinstance(node, Aggregate):
        if isinstance(node, Project):
            value: Expression = dict(node.items)[name]
            while isinstance(value, Cast) and isinstance(value.type, NUMBERS):
                loss += _loss_of(value.operand.type, value.type)
                value = value.operand
            if not isinstance(value, Column):
                return None
            name = value.name
        elif name in node.origins:
            name = node.origins[name][1]
        else:
            return None
        (node,) = node.inputs
    return name, loss


def _loss_of(before: DataType, after: DataType) -> CastLoss:
    """What a cast between numbers loses at most; one that does not fit fails."""
    match before, after:
        case IntegerType(), IntegerType() | DecimalType():
            return CastLoss()
        case DecimalType(), DecimalType() if after.scale >= before.scale:
            return CastLoss()
        case _, IntegerType():
            return CastLoss(1.0)
        case _, DecimalType():
            return CastLoss(10.0**-after.scale)
        case _, FloatType():
            return CastLoss(relative=2.0**-23 if after.bits == 32 else 2.0**-52)
    return CastLoss(1.0)


@dataclass(frozen=True)
class PartSize:
    """How many values are in the part: `number` are all of the group's."""

    number: SparkColumn
    fewest: SparkColumn
    most: SparkColumn

    @property
    def is_counted(self) -> SparkColumn:
        """Whether it is known how many there are."""
        return self.fewest == self.most


NUMBER = Need("count", BIGINT)
"""How many values the group has."""


def part_of(each: PartBound, ours: Sides, theirs: Sides, number: SparkColumn) -> PartSize:
    """Of rows without a value the part has no more than the group, and lacks no more than are missing."""
    from pyspark.sql import functions as F

    if each.values:
        fewest = most = ours[each.values].cast("double")
    elif each.rows and not each.call.distinct:
        rows, every = ours[each.rows].cast("double"), theirs[each.rows].cast("double")
        fewest, most = F.greatest(F.lit(0.0), rows - (every - number)), F.least(number, rows)
    else:
        fewest, most = F.lit(0.0), number
    return PartSize(number, fewest, most)


def within(
    bounds: Mapping[str, PartBound], ours: Sides, theirs: Sides, at: Callable[[str], SparkColumn]
) -> SparkColumn:
    """Whether a part of the rows that `theirs` is of can give `ours`; `at` gives the columns of the bounds."""
    from pyspark.sql import functions as F

    def holds(name: str, each: PartBound) -> SparkColumn:
        return each.holds(name, ours, theirs, lambda need: at(each.column(need)))

    return reduce(and_, (holds(name, each) for name, each in bounds.items()), F.lit(True))
