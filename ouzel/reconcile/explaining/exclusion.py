"""The input of an aggregate without the rows that a run dropped there as late: what a reconciliation asks the batch job for again.

A row that was dropped behind a combiner is in the file as the aggregate of that one row, any other as the columns that the aggregate reads.
Either way the file holds every value of the row that the aggregate depends on. So of rows with equal values as many are excluded as are in
the file; which of them makes no difference to the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import columns as columns_as_expressions
from ouzel.compiler.functions.lowering import backtick
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import INPUT, Aggregate, AggregateCall, Emit, EmitRule, LateRows, Project
from ouzel.compiler.plan.aggregates import ROWS, row_of
from ouzel.compiler.plan.base import Names, SameColumns
from ouzel.compiler.plan.distribution import Distribution
from ouzel.compiler.types import ArrayType, BytesType, DataType, IntervalType, MapType, RowType, Schema
from ouzel.reconcile.explaining.behind import HIGH, Bound, LooksBack
from ouzel.runtime.tasks.late import COMPONENT
from ouzel.spark.lowering.batch_nodes import BATCH, FrameNames, lower_late_rows
from ouzel.spark.lowering.text import comment, quote, with_columns

_NESTED = (ArrayType, MapType, RowType, IntervalType)
"""Kinds of types whose values JSON does not preserve."""

LateColumn = tuple[str, str, DataType]
"""One column of the file of late rows: its name, the SQL that computes its value from a row of the input, its type."""


@dataclass(frozen=True)
class ExcludeLateRows(LooksBack, SameColumns):
    """The input of `aggregate` without the rows that a run dropped there as late.

    Attributes:
        aggregate: the aggregate as its component computes it.
        component: the name of what dropped them.
        path: the file of JSON lines that says which.
        combined: whether the file holds what the aggregate makes of each row by itself, instead of the row.
        touched: give only groups that have such rows.
        port: of which input of the component the rows are, if it has several.
        bound: which rows can have been late at all, where the input tells (see reconcile/explaining/behind.py); the input has HIGH then.
        only: give just the rows that are left out otherwise.
    """

    aggregate: Aggregate
    component: str
    path: str
    combined: bool
    touched: bool
    port: int | None = None
    bound: Bound | None = None
    only: bool = False

    @property
    def schema(self) -> Schema:
        return self.input.schema.select(tuple(name for name in self.input.schema.names if name != HIGH))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {name: (0, name) for name in self.schema.names}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        bound = {self.bound.column, HIGH} if self.bound else frozenset[str]()
        return (wanted | self.aggregate.reads | bound,)

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return self.aggregate.distribution

    @property
    def component_name(self) -> str:
        return f"without_{self.component}"

    @property
    def label(self) -> str:
        return f"Without what {self.component} dropped as late"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.component, self.path, self.combined, self.touched, self.port, self.bound, self.only)


def can_exclude_late(aggregate: Aggregate, combined: bool) -> bool:
    """Whether the file identifies the rows: not if the input retracts, nor if JSON preserves no column of them."""
    if any(row_of(call).spark.alone is None for call in aggregate.calls):
        return False
    return not aggregate.input.retracts and bool(telling_columns(aggregate, combined))


def telling_columns(aggregate: Aggregate, combined: bool) -> tuple[LateColumn, ...]:
    """The columns of the file that tell rows apart: those whose values JSON preserves.

    Rows that are equal in these and not in others (an ARRAY, say) count as equal: one of them is left out for the other.
    """
    return tuple(column for column in late_columns(aggregate, combined) if not isinstance(column[2], _NESTED))


def late_columns(aggregate: Aggregate, combined: bool) -> tuple[LateColumn, ...]:
    """The columns that the file has of each row that this aggregate dropped."""
    source = aggregate.input.schema
    read = [name for call in aggregate.calls for name in (call.argument, call.filter) if name]
    names = aggregate.keys if combined else tuple(dict.fromkeys((*aggregate.keys, *read)))
    columns = tuple((name, backtick(name), source[name].type) for name in names)
    results = tuple((call.name, _alone(call), call.type) for call in aggregate.calls)
    return (*columns, *results) if combined else columns


def parse_late_column(name: str, kind: DataType) -> str:
    """The SQL of a column of the file, all of whose columns are read as text."""
    return (
        f"unhex({backtick(name)})"
        if isinstance(kind, BytesType)
        else f"CAST({backtick(name)} AS {to_spark_type(kind)})"
    )


@BATCH.add(ExcludeLateRows)
def exclude_late_rows(node: ExcludeLateRows, names: FrameNames) -> list[str]:
    """The calls: number equal rows, and leave out as many as the file has."""
    facts = telling_columns(node.aggregate, node.combined)
    alike = ", ".join(f"`$is{number}`" for number in range(len(facts)))
    values = {f"$is{number}": f"F.expr({quote(sql)})" for number, (_, sql, _) in enumerate(facts)}
    late, same = _late(node), _same(facts, range(len(facts)))
    values["$late"] = f"F.expr({quote(_can_be_late(node.bound))})"
    told = "the rows that" if node.only else "without the rows that"
    lines = [comment(f"{told} {node.component} dropped as late"), with_columns(values)]
    if node.touched:
        lines.append(f'.join(F.broadcast({late}), {_same(facts, range(_telling_keys(node)))}, "left_semi")')
    return [
        *lines,
        f'.withColumn("$copy", F.expr("row_number() OVER (PARTITION BY {alike}, `$late` ORDER BY `$is0`)"))',
        f'.join(F.broadcast({late}), {same}, "left")',
        f'.where({"~" if node.only else ""}(~F.col("$late") | (F.col("$copy") > F.coalesce("$dropped", F.lit(0)))))',
    ]


def _telling_keys(node: ExcludeLateRows) -> int:
    """How many of the columns that tell rows apart, which begin with them, are keys."""
    kinds = (node.aggregate.input.schema[key].type for key in node.aggregate.keys)
    return sum(not isinstance(kind, _NESTED) for kind in kinds)


def _can_be_late(bound: Bound | None) -> str:
    """The SQL of whether the watermark can have been past the row; where nothing tells, the file is believed."""
    if bound is None:
        return "true"
    at = f"unix_micros(CAST({backtick(bound.column)} AS timestamp)) + {bound.shift_us}"
    return f"coalesce({at} <= {backtick(HIGH)}, false)"


def _late(node: ExcludeLateRows) -> str:
    """The file's distinct rows of this component, each with its count."""
    facts = telling_columns(node.aggregate, node.combined)
    read = dict.fromkeys((COMPONENT, ROWS, *(name for name, _, _ in facts)))
    columns = ", ".join(
        f"F.expr({quote(parse_late_column(name, kind))}).alias({quote(f'$was{number}')})"
        for number, (name, _, kind) in enumerate(facts)
    )
    mine = f"F.col({quote(COMPONENT)}) == {quote(node.component)}"
    if node.port is not None:
        read[INPUT] = None
        mine = f'({mine}) & (F.col({quote(INPUT)}) == "{node.port}")'
    schema = ", ".join(f"{backtick(name)} string" for name in read)
    single = f'.where(F.coalesce({quote(ROWS)}, F.lit("1")) == "1")'
    return (
        f"spark.read.schema({quote(schema)}).json({quote(node.path)}).where({mine}){single}"
        f'.groupBy({columns}).agg(F.count("*").alias("$dropped"))'
    )


def late_rows_read(node: LateRows, cut: ExcludeLateRows) -> Project:
    """The rows for the table that LATE INTO names: of those that were read as many as are on file with the same values, and no others.

    `cut` leaves them out of what drops them, by what that reads of them; here all values of the table count.
    """
    names = tuple(dict.fromkeys((*cut.aggregate.keys, *dict(node.items).values())))
    only = replace(cut, aggregate=Aggregate(cut.input, names, (), Emit(EmitRule.CHANGES)), touched=False, only=True)
    columns = {column.name: column for column in columns_as_expressions(only.schema)}
    return Project(only, tuple((name, columns[column]) for name, column in node.items))


@dataclass(frozen=True)
class RecordedLateRows(LateRows):
    """The late rows that a run has recorded, for the table that LATE INTO names, where nothing tells which of the input's they are. Only a
    reconciliation makes these, for its batch job.
    """

    component: str
    path: str


def can_tell_late(node: LateRows) -> bool:
    """Whether the file has these rows as they were: not those that may be taken back, nor values that JSON does not preserve."""
    return not node.retracts and not any(isinstance(one.type, _NESTED) for one in node.schema)


@BATCH.add(RecordedLateRows)
def recorded_late_rows(node: RecordedLateRows, names: FrameNames) -> list[str]:
    """The calls: no row of the input, and those on file."""
    types = {name: node.dropped.schema[column].type for name, column in node.items}
    schema = ", ".join(f"{backtick(name)} string" for name in (COMPONENT, INPUT, *dict(node.items).values()))
    columns = ", ".join(
        f"F.expr({quote(parse_late_column(column, types[name]))}).alias({quote(name)})" for name, column in node.items
    )
    mine = f"F.col({quote(COMPONENT)}) == {quote(node.component)}"
    port = f'F.coalesce({quote(INPUT)}, F.lit("0")) == "{node.port}"'
    file = f"spark.read.schema({quote(schema)}).json({quote(node.path)})"
    return [
        *lower_late_rows(node, names),
        comment(f"but what {node.component} has dropped as late"),
        f".union({file}.where({mine}).where({port}).select({columns}))",
    ]


def _same(facts: tuple[LateColumn, ...], places: range) -> str:
    return " & ".join(f'F.col("$is{place}").eqNullSafe(F.col("$was{place}"))' for place in places if place < len(facts))


def _alone(call: AggregateCall) -> str:
    """What the aggregate makes of one row."""
    conditions = [backtick(call.filter)] if call.filter else []
    row = row_of(call)
    assert row.spark.alone is not None, "can_be_without has asked"
    if row.counts:
        if call.argument:
            conditions.append(row.spark.alone(backtick(call.argument)))
        return f"CAST({_when(conditions, '1', ' ELSE 0')} AS bigint)"
    assert call.argument
    return f"CAST({_when(conditions, row.spark.alone(backtick(call.argument)), '')} AS {to_spark_type(call.type)})"


def _when(conditions: list[str], value: str, otherwise: str) -> str:
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value}{otherwise} END" if conditions else value
