"""Calls of aggregates as PySpark."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.compiler.functions.lowering import backtick, column_name, quote
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan.aggregates import AggregateCall, is_distinct, row_of
from ouzel.errors import NotSupported
from ouzel.spark.lowering.python_steps import STEPS


def spark_aggregate(call: AggregateCall, values: Mapping[str, str] | None = None) -> str:
    """The PySpark text of a call, with `F` = pyspark.sql.functions in scope, for example `F.sum("x").alias("total")`.

    `values` are columns that are computed in the call itself, by name; `names_columns` must be false then.
    """
    return f"{aggregate_call(call, values)}.alias({quote(call.name)})"


def names_columns(call: AggregateCall) -> bool:
    """Whether its text is SQL that names its columns: DISTINCT calls without a function; there FILTER is much faster than WHEN."""
    row = row_of(call)
    return (
        row.state.python is None
        and is_distinct(call)
        and (row.spark.distinct is None or (call.filter is not None and row.spark.sql_distinct is not None))
    )


def aggregate_call(call: AggregateCall, values: Mapping[str, str] | None = None) -> str:
    """The same without its name."""
    values = values or {}

    def column(name: str) -> str:
        return values.get(name) or f"F.col({quote(column_name(name))})"

    if names_columns(call):
        return f"F.expr({quote(_sql(call))})"
    row = row_of(call)
    said = (row.spark.distinct if is_distinct(call) else None) or row.spark.call

    def spark(value: str) -> str:
        return said(value, *call.parameters) if row.state.python is None else _python_total(call, value)

    if call.filter and not call.argument:
        return f"F.count_if({column(call.filter)})"  # Spark computes its condition below, faster than WHEN
    if call.filter:
        assert call.argument is not None
        return spark(f"F.when({column(call.filter)}, {column(call.argument)})")
    if call.argument is None or call.argument in values:
        return spark(values[call.argument] if call.argument else ALL_ROWS)
    return spark(quote(column_name(call.argument)))


def _python_total(call: AggregateCall, value: str) -> str:
    """The text of a total that Python computes of all values of a group."""
    gather = "F.collect_set" if is_distinct(call) else "F.collect_list"
    return f"python_total({STEPS}[{quote(call.function)}], {quote(to_spark_type(call.type))}, {gather}({value}))"


ALL_ROWS = '"*"'
"""What COUNT(*) counts, in PySpark."""


def _sql(call: AggregateCall) -> str:
    if call.row is not None:
        raise NotSupported(
            f"{call.function.upper()}(DISTINCT ...) has no Spark form", instead="aggregate a SELECT DISTINCT"
        )
    assert call.argument is not None
    condition = f" FILTER (WHERE {backtick(call.filter)})" if call.filter else ""
    sql = row_of(call).spark.sql_distinct
    value = backtick(call.argument)
    said = sql(value, *call.parameters) if sql else f"{call.function}(DISTINCT {value})"
    return f"{said}{condition}"
