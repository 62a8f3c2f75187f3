"""AND, OR, NOT and the tests of truth and NULL. AND and OR look at their right side only if the left does not decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.functions.lowering import any_of, eager, parenthesize, plain, reasons, spark_method, spark_operator
from ouzel.compiler.functions.registry import Function, Lowered, Signature, SparkLowering
from ouzel.compiler.functions.signatures import anything, predicate
from ouzel.compiler.types import BOOLEAN

if TYPE_CHECKING:
    import polars as pl


def _lazily(left: Lowered, right: Lowered, value: pl.Expr, undecided: Callable[[], pl.Expr]) -> Lowered:
    hidden = None if right.error is None else undecided() & right.error
    return Lowered(value, any_of(left.error, hidden), reasons(left.reason, right.reason))


def both(left: Lowered, right: Lowered) -> Lowered:
    """`left AND right`."""
    return _lazily(left, right, left.value & right.value, lambda: left.value.fill_null(True))


def disjunction(left: Lowered, right: Lowered) -> Lowered:
    """`left OR right`."""
    return _lazily(left, right, left.value | right.value, lambda: ~left.value.fill_null(False))


def _and(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    result = arguments[0]
    for argument in arguments[1:]:
        result = both(result, argument)
    return result


def _or(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    result = arguments[0]
    for argument in arguments[1:]:
        result = disjunction(result, argument)
    return result


def _lower_joining(symbol: str) -> SparkLowering:
    def lower(arguments: Sequence[str], signature: Signature) -> str:
        text = arguments[0]
        for argument in arguments[1:]:
            text = spark_operator(symbol)((text, argument), signature)
        return text

    return lower


def _truth(value: str, negated: bool = False) -> SparkLowering:
    return lambda arguments, signature: f"{'~' * negated}{parenthesize(arguments[0])}.eqNullSafe(F.lit({value}))"


_ONE = predicate(1, 1)
FUNCTIONS: tuple[Function, ...] = (
    Function(
        "and", predicate(2, 1000), _and, _lower_joining("&"), "TRUE if all are; what comes after a FALSE is not looked at.",
        "a AND b", null_in_null_out=False,
    ),
    Function(
        "or", predicate(2, 1000), _or, _lower_joining("|"), "TRUE if one is; what comes after a TRUE is not looked at.",
        "a OR b", null_in_null_out=False,
    ),
    Function("not", _ONE, plain(lambda a: ~a), lambda a, signature: f"~{parenthesize(a[0])}", "The opposite.", "NOT a"),
    Function(
        "is_true", _ONE, eager(lambda a: a.fill_null(False)), _truth("True"), "Whether it is TRUE; never NULL.",
        "a IS TRUE", null_in_null_out=False,
    ),
    Function(
        "is_false", _ONE, eager(lambda a: ~a.fill_null(True)), _truth("False"), "Whether it is FALSE; never NULL.",
        "a IS FALSE", null_in_null_out=False,
    ),
    Function(
        "is_not_true", _ONE, eager(lambda a: ~a.fill_null(False)), _truth("True", True),
        "Whether it is FALSE or NULL; never NULL.", "a IS NOT TRUE", null_in_null_out=False,
    ),
    Function(
        "is_not_false", _ONE, eager(lambda a: a.fill_null(True)), _truth("False", True),
        "Whether it is TRUE or NULL; never NULL.", "a IS NOT FALSE", null_in_null_out=False,
    ),
    Function(
        "is_null", anything(1, BOOLEAN), eager(lambda a: a.is_null()), spark_method("isNull"), "Whether it is NULL.",
        "a IS NULL", aliases=("isnull", "is_unknown"), null_in_null_out=False,
    ),
    Function(
        "is_not_null", anything(1, BOOLEAN), eager(lambda a: a.is_not_null()), spark_method("isNotNull"),
        "Whether it is not NULL.", "a IS NOT NULL", aliases=("isnotnull", "is_not_unknown"), null_in_null_out=False,
    ),
)  # fmt: skip
