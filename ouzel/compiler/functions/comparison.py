"""`= <> < <= > >=`, IS [NOT] DISTINCT FROM, BETWEEN, IN, GREATEST and LEAST. NaN equals itself and is the largest number, as in Spark.

Of ARRAYs and ROWs see `value_order.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.functions import logic
from ouzel.compiler.functions.lowering import (
    Build,
    any_of,
    bare,
    eager,
    parenthesize,
    reasons,
    spark_call,
    spark_operator,
    strict,
    with_errors,
)  # fmt: skip
from ouzel.compiler.functions.registry import Function, KernelLowering, Lowered, Signature
from ouzel.compiler.functions.signatures import alike, is_comparable, is_orderable, is_sortable
from ouzel.compiler.functions.value_order import choose_end, compare_values, is_composite
from ouzel.compiler.types import BOOLEAN, ArrayType, IntegerType, RowType, VarcharType, to_polars

if TYPE_CHECKING:
    import polars as pl

_ORDERED, _EQUAL = alike(2, 2, BOOLEAN, is_sortable), alike(2, 2, BOOLEAN, is_comparable)


def _equality(negated: bool) -> KernelLowering:
    """`=` and `<>`; inside an array or a row two NULLs are equal, outside they make the answer NULL."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        a, b = (argument.value for argument in arguments)
        if isinstance(signature.parameters[0], ArrayType | RowType):
            import polars as pl

            same = a.ne_missing(b) if negated else a.eq_missing(b)
            return with_errors(pl.when(a.is_not_null() & b.is_not_null()).then(same), arguments)
        return with_errors(a != b if negated else a == b, arguments)

    return lower


def _order(comparison: Build) -> KernelLowering:
    """`<` and its like."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        values = [argument.value for argument in arguments]
        return with_errors(compare_values(values, signature.parameters[0], comparison), arguments)

    return lower


def _between(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    value, low, high = arguments
    above = _order(lambda a, b: a >= b)((value, low), signature)
    below = _order(lambda a, b: a <= b)((value, high), signature)
    return logic.both(above, below)


def _in(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    """TRUE at the first equal item; else NULL if an item is NULL. Items after a match do not count, nor do any for a NULL."""
    import polars as pl

    value, *items = arguments
    values, kind = [item.literal for item in items], signature.parameters[0]
    is_whole = isinstance(kind, IntegerType) and len(values) > 3
    if len(values) > 1 and (is_whole or isinstance(kind, VarcharType)) and all(one is not None for one in values):
        among = pl.lit(pl.Series(values, dtype=to_polars(kind)).implode())
        return with_errors(value.value.is_in(among), arguments)  # the value is computed once, and looked up
    found = (
        pl.any_horizontal(*(value.value == item.value for item in items))
        if len(items) > 1
        else value.value == items[0].value
    )
    error: pl.Expr | None = None
    for number, item in enumerate(items):
        if item.error is not None:
            matched = [(value.value == earlier.value).fill_null(False) for earlier in items[:number]]
            open_ = pl.all_horizontal(value.value.is_not_null(), *(~match for match in matched))
            error = any_of(error, open_ & item.error)
    reason = reasons(*(argument.reason for argument in arguments))
    return Lowered(pl.when(value.value.is_not_null()).then(found), any_of(value.error, error), reason)


def _extreme(better: Callable[[pl.Expr, pl.Expr], pl.Expr], largest: bool) -> KernelLowering:
    """GREATEST and LEAST: NULLs are passed over, the first of equals wins."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        import polars as pl

        values = [argument.value for argument in arguments]
        if is_composite(signature.result):
            return strict(arguments, choose_end(values, signature.result, largest))
        best = values[0]
        for value in values[1:]:
            best = pl.when(best.is_null() | better(value, best).fill_null(False)).then(value).otherwise(best)
        return strict(arguments, best)

    return lower


def _spark_in(arguments: Sequence[str], signature: Signature) -> str:
    return f"{parenthesize(arguments[0])}.isin({', '.join(map(bare, arguments[1:]))})"


def _spark_distinct(arguments: Sequence[str], signature: Signature) -> str:
    return f"~{_spark_same(arguments, signature)}"


def _spark_same(arguments: Sequence[str], signature: Signature) -> str:
    return f"{parenthesize(arguments[0])}.eqNullSafe({arguments[1]})"


def _spark_between(arguments: Sequence[str], signature: Signature) -> str:
    return f"{parenthesize(arguments[0])}.between({bare(arguments[1])}, {bare(arguments[2])})"


FUNCTIONS: tuple[Function, ...] = (
    Function("eq", _EQUAL, _equality(False), spark_operator("=="), "Equal; NaN equals NaN.", "a = b"),
    Function("ne", _EQUAL, _equality(True), spark_operator("!="), "Not equal.", "a <> b"),
    Function(
        "lt", _ORDERED, _order(lambda a, b: a < b), spark_operator("<"),
        "Less; text by bytes, NaN last, ARRAY and ROW part by part, NULL in them first.", "a < b",
    ),
    Function("le", _ORDERED, _order(lambda a, b: a <= b), spark_operator("<="), "Less or equal.", "a <= b"),
    Function("gt", _ORDERED, _order(lambda a, b: a > b), spark_operator(">"), "Greater.", "a > b"),
    Function("ge", _ORDERED, _order(lambda a, b: a >= b), spark_operator(">="), "Greater or equal.", "a >= b"),
    Function(
        "is_distinct_from", _EQUAL, eager(lambda a, b: a.ne_missing(b)), _spark_distinct,
        "Not equal, where NULL equals NULL; never NULL.", "a IS DISTINCT FROM b", null_in_null_out=False,
    ),
    Function(
        "is_not_distinct_from", _EQUAL, eager(lambda a, b: a.eq_missing(b)), _spark_same,
        "Equal, where NULL equals NULL; never NULL.", "a IS NOT DISTINCT FROM b", null_in_null_out=False,
    ),
    Function(
        "between", alike(3, 3, BOOLEAN, is_sortable), _between, _spark_between,
        "low <= value AND value <= high.", "value BETWEEN low AND high", null_in_null_out=False,
    ),
    Function(
        "in", alike(2, 20_001, BOOLEAN, is_orderable), _in, _spark_in,
        "Whether the value equals an item; NULL if it equals none and one is NULL.", "value IN (item, ...)",
        null_in_null_out=False,
    ),
    Function(
        "greatest", alike(2, 255, None, is_sortable), _extreme(lambda a, b: a > b, True), spark_call("greatest"),
        "The greatest argument; NULLs are passed over, NaN is the greatest number.", "GREATEST(a, b, ...)",
        null_in_null_out=False,
    ),
    Function(
        "least", alike(2, 255, None, is_sortable), _extreme(lambda a, b: a < b, False), spark_call("least"),
        "The least argument; NULLs are passed over.", "LEAST(a, b, ...)", null_in_null_out=False,
    ),
)  # fmt: skip
