"""COALESCE, NULLIF, IF and their kin: an argument that is not taken cannot fail its row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.functions.lowering import (
    any_of,
    bare,
    parenthesize,
    quote,
    reasons,
    spark_call,
    strict,
    with_errors,
)
from ouzel.compiler.functions.registry import Function, Lowered, Signature
from ouzel.compiler.functions.signatures import alike, anything, is_comparable, meeting_type
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTERVAL_MONTHS,
    VARCHAR,
    DataType,
    FloatType,
    IntegerType,
    NullType,
)

if TYPE_CHECKING:
    import polars as pl


SEVERAL_ROWS = "a subquery as a value gave several rows"


def choose(branches: Sequence[tuple[Lowered, Lowered]], otherwise: Lowered) -> Lowered:
    """CASE: the value of the first condition that is TRUE; only conditions up to that one, and its value, can fail."""
    import polars as pl

    value, error = otherwise.value, otherwise.error
    parts = [part for branch in branches for part in branch]
    for condition, result in reversed(branches):
        taken = condition.value
        value = pl.when(taken).then(result.value).otherwise(value)
        if result.error is not None or error is not None:
            none = pl.lit(False)
            error = (
                pl.when(taken)
                .then(none if result.error is None else result.error)
                .otherwise(none if error is None else error)
            )
        error = any_of(condition.error, error)
    return Lowered(value, error, reasons(*(part.reason for part in (*parts, otherwise))))


def _coalesce(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    error: pl.Expr | None = None
    for argument in reversed(arguments):
        error = any_of(argument.error, None if error is None else argument.value.is_null() & error)
    value = pl.coalesce(*(argument.value for argument in arguments))
    return Lowered(value, error, reasons(*(argument.reason for argument in arguments)))


def _if(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    condition, then, otherwise = arguments
    return choose([(condition, then)], otherwise)


def _if_types(types: Sequence[DataType]) -> Signature | None:
    kind = meeting_type(types[1:]) if len(types) == 3 and types[0] in (BOOLEAN, NullType()) else None
    return Signature((BOOLEAN, kind, kind), kind) if kind else None


def _nullif(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    a, b = arguments
    return strict_after(a, b, pl.when((a.value == b.value).fill_null(False)).then(None).otherwise(a.value))


def strict_after(first: Lowered, second: Lowered, value: pl.Expr) -> Lowered:
    """A value of two arguments; the second's error counts only where the first is not NULL."""
    joined = with_errors(value, (first, second))
    return Lowered(value, joined.error, joined.reason)


def _only_value(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    number, value = arguments
    return with_errors(value.value, (value,), number.value > 1, SEVERAL_ROWS)


def _only_value_types(types: Sequence[DataType]) -> Signature | None:
    if len(types) != 2 or types[1] == INTERVAL_MONTHS:  # no column can have that type
        return None
    return Signature((BIGINT, types[1]), types[1]) if isinstance(types[0], IntegerType) else None


def _spark_only_value(arguments: Sequence[str], signature: Signature) -> str:
    number, value = arguments
    return f"F.when({parenthesize(number)} > 1, F.raise_error(F.lit({quote(SEVERAL_ROWS)}))).otherwise({bare(value)})"


def _nvl2(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    tested, then, otherwise = arguments
    present = Lowered(tested.value.is_not_null(), tested.error, tested.reason)
    return choose([(present, then)], otherwise)


def _nvl2_types(types: Sequence[DataType]) -> Signature | None:
    kind = meeting_type(types[1:]) if len(types) == 3 else None
    return Signature((types[0], kind, kind), kind) if kind else None


def _nanvl(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    a, b = arguments
    number = Lowered(a.value.is_not_nan().fill_null(True), a.error, a.reason)
    return choose([(number, Lowered(a.value))], b)


def _typeof(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    import polars as pl

    from ouzel.compiler.functions.spark_types import to_spark_type

    return strict(arguments, pl.lit(to_spark_type(signature.parameters[0])))


def _spark_if(arguments: Sequence[str], signature: Signature) -> str:
    return f"F.when({arguments[0]}, {bare(arguments[1])}).otherwise({bare(arguments[2])})"


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "coalesce", alike(1, 1000), _coalesce, spark_call("coalesce"),
        "The first argument that is not NULL; later ones are not looked at.", "COALESCE(a, b, ...)",
        null_in_null_out=False,
    ),
    Function(
        "ifnull", alike(2, 2), _coalesce, spark_call("ifnull"), "`a`, or `b` if it is NULL.", "IFNULL(a, b)",
        aliases=("nvl",), null_in_null_out=False,
    ),
    Function(
        "nvl2", _nvl2_types, _nvl2, spark_call("nvl2"), "`b` if `a` is not NULL, else `c`.", "NVL2(a, b, c)",
        null_in_null_out=False,
    ),
    Function(
        "nullif", alike(2, 2, None, is_comparable), _nullif, spark_call("nullif"), "NULL if `a` = `b`, else `a`.",
        "NULLIF(a, b)", null_in_null_out=False,
    ),
    Function(
        "if", _if_types, _if, _spark_if, "`a` if the condition is TRUE, else `b`.", "IF(condition, a, b)",
        aliases=("iff",), null_in_null_out=False,
    ),
    Function(
        "nanvl", alike(2, 2, None, lambda kind: isinstance(kind, FloatType) and kind in (FLOAT, DOUBLE)), _nanvl,
        spark_call("nanvl"), "`a`, or `b` if it is NaN.", "NANVL(a, b)", null_in_null_out=False,
    ),
    Function(
        "only_value", _only_value_types, _only_value, _spark_only_value,
        "`value`, or an error where `n` is above 1. EXPLAIN shows a subquery as a value in this way: `n` is how many rows it has.",
        "ONLY_VALUE(n, value)",
        null_in_null_out=False,
    ),
    Function(
        "typeof", anything(1, VARCHAR), _typeof, spark_call("typeof"), "The name of the argument's type, as Spark spells it.",
        "TYPEOF(a)", null_in_null_out=False,
    ),
)  # fmt: skip
