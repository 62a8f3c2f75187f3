"""What an entry of the registry of aggregates says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import Enum

from ouzel.compiler.types import DOUBLE, DataType, DecimalType, FloatType, IntegerType, NullType

AggregateTypeRule = Callable[[DataType], tuple[DataType, DataType] | None]
"""Argument type -> (parameter, result), or None when the aggregate does not take this type."""

Columns = tuple[tuple[str, DataType, bool], ...]
"""Accumulators: name, type, whether it may be NULL."""


class CallOrder(Enum):
    """The role of ORDER BY inside a call, or of WITHIN GROUP (ORDER BY ...), for an aggregate."""

    NONE = "refused"
    VALUES = "the order in which values are taken"
    VALUE = "the value itself"
    NEEDED = "the order in which values are taken, without which there is no answer"


@dataclass(frozen=True)
class ValueOrder:
    """How values, or one field of them, are ordered."""

    descending: bool = False
    nulls_last: bool = False

    @property
    def is_usual(self) -> bool:
        """Whether NULLs are where Spark has them: the least."""
        return self.nulls_last == self.descending

    def __str__(self) -> str:
        nulls = "" if self.is_usual else f" NULLS {'LAST' if self.nulls_last else 'FIRST'}"
        return f"{'DESC' if self.descending else 'ASC'}{nulls}"


@dataclass(frozen=True)
class Constant:
    """A constant that a call is given beside its values.

    Args:
        name: what it is, for errors.
        type: what it is cast to.
        default: what it is where the call does not say; None if it must.
        least: the least it may be.
        most: the largest it may be.
    """

    name: str
    type: DataType
    default: object = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class CallForm:
    """How a call of an aggregate looks, and how its values are read; the defaults are those of NAME([DISTINCT] value).

    Attributes:
        values: how many values a call takes; `resolve` is asked of a ROW of several.
        places: the order of those values in the ROW, if it is not the one in which they are written.
        needed: which of the values must not be NULL for a row to count.
        order: what ORDER BY inside the call is.
        by_time: where the call has no order, it is that of event time.
        constants: what a call is given behind its values, or before them where `order` is the value.
        distinct: whether DISTINCT makes a difference.
        over: a window may call it with OVER.
        keeps_values: it gives values back of which equal ones are kept as one, so -0.0 is read as 0.0.
    """

    values: int = 1
    places: tuple[int, ...] = ()
    needed: tuple[int, ...] = (0,)
    order: CallOrder = CallOrder.NONE
    by_time: bool = False
    constants: tuple[Constant, ...] = ()
    distinct: bool = True
    over: bool = True
    keeps_values: bool = False


@dataclass(frozen=True)
class GroupState:
    """What is kept of a group's values, and what keeps it; the defaults refuse.

    Attributes:
        columns: (argument type, result type, whether rows can be taken back) -> the columns of a partial aggregate.
        accumulators: what folds rows in, merges partial aggregates and gives the result: the name by which the runtime has it
            (`accumulates`, `operators/keyed/makers.py`); of another package the import path of its class or function.
        variant: which of the results that the accumulators can give; empty for the one that is called as the aggregate is.
        takes_back: rows can be taken back; where they may be and this is false, the query is refused.
        merges_changes: partial aggregates of rows that are taken back can be merged.
        python: the monoid that computes it, where its accumulators ask for one.
    """

    columns: Callable[[DataType | None, DataType, bool], Columns]
    accumulators: str
    variant: str = ""
    takes_back: bool = False
    merges_changes: bool = False
    python: object | None = None


@dataclass(frozen=True)
class SparkForm:
    """What an aggregate is in Spark.

    Attributes:
        call: text of the argument as a PySpark Column, then the call's parameters -> text of the call.
        distinct: the same for distinct values; None if only SQL says it.
        sql_distinct: SQL of a call of distinct values, from that of the argument and the parameters; None if it is NAME(DISTINCT value).
        alone: SQL of what the aggregate makes of one value, which a reconciliation asks of rows that were late; None if it cannot be said.
    """

    call: Callable[..., str]
    distinct: Callable[..., str] | None = None
    sql_distinct: Callable[..., str] | None = None
    alone: Callable[[str], str] | None = None


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate, complete: its types, how it is called, its state and what keeps it, and its Spark form.

    An aggregate reads one column. One of several values, or of values in an order, reads a ROW of them: first the sort keys, then the
    values; the ROW is NULL, and skipped, where one of those needed is.

    What is not said is refused, never guessed: an aggregate takes no rows back, merges no partial aggregates of such rows, and has no
    single value in SQL unless its entry says so. DISTINCT makes a difference unless the entry denies it.

    Attributes:
        name: canonical name, lower case.
        resolve: argument type -> (parameter, result), or None when it does not take this type.
        takes: the types it takes, in words for the error.
        doc: one line.
        usage: how a call looks, for people.
        state: what is kept of a group.
        spark: what it is in Spark.
        counts: it is 0 of nothing, where others are NULL, and looks at whether there is a value, not which.
        aliases: other names SQL may use.
        call: how a call looks.
    """

    name: str
    resolve: AggregateTypeRule
    takes: str
    doc: str
    usage: str
    state: GroupState
    spark: SparkForm
    _: KW_ONLY
    counts: bool
    aliases: tuple[str, ...] = ()
    call: CallForm = CallForm()

    @property
    def variant(self) -> str:
        """Which of the results that its accumulators can give."""
        return self.state.variant or self.name


def number_to_double(kind: DataType) -> tuple[DataType, DataType] | None:
    """The rule of types of what takes any number, as a DOUBLE, and gives one."""
    return (DOUBLE, DOUBLE) if isinstance(kind, IntegerType | FloatType | DecimalType | NullType) else None


def by_spark(name: str) -> Callable[[str], str]:
    """A call of the function with this name in `pyspark.sql.functions`."""
    return lambda value: f"F.{name}({value})"
