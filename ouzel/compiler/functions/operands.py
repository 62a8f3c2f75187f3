"""What operators make of their arguments before these are cast, as in Spark: constants beside a DECIMAL, comparisons of several values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from ouzel.compiler.coercion import can_coerce, common_type
from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.types import DataType, DecimalType, IntegerType, NullType

ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide", "modulo"})
OPERATORS = ARITHMETIC | {"eq", "ne", "lt", "le", "gt", "ge", "is_distinct_from", "is_not_distinct_from"}
"""Functions of two values that are operators in Spark: there a constant counts as it is written, elsewhere by its type."""


def decimal_of_digits(value: int | Decimal) -> DecimalType:
    """The DECIMAL with the digits that a constant is written with: 100 is DECIMAL(3, 0), 0.050 DECIMAL(3, 3)."""
    _, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int), "a constant is finite"
    return DecimalType(max(len(digits) + max(exponent, 0), -exponent), max(-exponent, 0))


def with_written_digits(arguments: Sequence[Expression]) -> Sequence[Expression]:
    """The arguments of an operator, a constant of whole numbers beside a DECIMAL as the least DECIMAL that holds it.

    By its type it would be DECIMAL(10, 0), and `d * 3` of a DECIMAL(38, 18) had 7 digits behind the point instead of 16.
    """
    if not any(isinstance(one.type, DecimalType) for one in arguments):
        return arguments
    return [_as_written(one) for one in arguments]


def _as_written(one: Expression) -> Expression:
    """A TINYINT keeps the digits of its type, as in Spark."""
    if not (isinstance(one, Literal) and isinstance(one.value, int)):
        return one
    if not isinstance(one.type, IntegerType) or one.type.bits == 8:
        return one
    return Literal(decimal_of_digits(one.value), Decimal(one.value), written=one.written)


def compares_apart(value: Expression, *others: Expression) -> bool:
    """Whether a value meets each of the others in a type of its own, since what all of them meet in cannot hold each."""
    kinds = [_meeting(one, value) for one in others]
    met = kinds[0]
    for kind in kinds:
        met = common_type(met, kind) if met and kind else None
    if met is None or all(one == other for one, other in pairwise(kinds)):
        return False
    exact = all(isinstance(kind, IntegerType | DecimalType) for kind in kinds)
    return not (exact and all(kind is not None and can_coerce(kind, met) for kind in kinds))


def _meeting(one: Expression, other: Expression) -> DataType | None:
    one, other = with_written_digits((one, other))
    return common_type(one.type, other.type)


def are_of_two_types(one: Expression, other: Expression) -> bool:
    """Whether two values are of different types, of which both are known."""
    return one.type != other.type and not isinstance(one.type, NullType) and not isinstance(other.type, NullType)
