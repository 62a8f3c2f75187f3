"""Type rules: from the types of a call's arguments to the signature that applies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ouzel.compiler.coercion import can_coerce, common_type, is_numeric
from ouzel.compiler.functions.registry import Signature, TypeRule
from ouzel.compiler.types import (
    BOOLEAN,
    DOUBLE,
    INTERVAL_MONTHS,
    ArrayType,
    DataType,
    MapType,
    NullType,
    RowType,
    walk_type,
)


def overloads(*choices: tuple[Sequence[DataType], DataType]) -> TypeRule:
    """The first of `(parameters, result)` whose parameters the arguments convert to; one that fits without converting goes first."""
    signatures = [Signature(tuple(parameters), result) for parameters, result in choices]

    def resolve(types: Sequence[DataType]) -> Signature | None:
        fitting = [choice for choice in signatures if _can_pass(types, choice.parameters)]
        exact = (choice for choice in fitting if tuple(types) == choice.parameters)
        return next(exact, fitting[0] if fitting else None)

    return resolve


def _can_pass(types: Sequence[DataType], parameters: Sequence[DataType]) -> bool:
    return len(types) == len(parameters) and all(map(can_coerce, types, parameters))


def meeting_type(types: Sequence[DataType]) -> DataType | None:
    """The type all of `types` meet in, or None."""
    met: DataType | None = types[0] if types else None
    for kind in types[1:]:
        met = common_type(met, kind) if met else None
    return None if met == INTERVAL_MONTHS else met  # no column can have that type


def alike(
    least: int, most: int, result: DataType | None = None, allowed: Callable[[DataType], bool] = lambda kind: True
) -> TypeRule:
    """`least` to `most` arguments that meet in one `allowed` type; gives `result`, or that type when None."""

    def resolve(types: Sequence[DataType]) -> Signature | None:
        kind = meeting_type(types) if least <= len(types) <= most else None
        if kind is None or not allowed(kind):
            return None
        return Signature((kind,) * len(types), result or kind)

    return resolve


def numeric(result: DataType | None = None) -> TypeRule:
    """One number; gives `result`, or the same type when None. A bare NULL is a DOUBLE."""

    def resolve(types: Sequence[DataType]) -> Signature | None:
        kind = DOUBLE if len(types) == 1 and isinstance(types[0], NullType) else types[0] if len(types) == 1 else None
        return Signature((kind,), result or kind) if kind and is_numeric(kind) else None

    return resolve


def anything(count: int, result: DataType) -> TypeRule:
    """`count` arguments of any types; gives `result`."""
    return lambda types: Signature(tuple(types), result) if len(types) == count else None


def first_of(*rules: TypeRule) -> TypeRule:
    """The first rule that applies."""
    return lambda types: next((found for rule in rules if (found := rule(types))), None)


def predicate(least: int = 2, most: int = 2) -> TypeRule:
    """BOOLEANs in, BOOLEAN out."""
    return alike(least, most, BOOLEAN, lambda kind: kind == BOOLEAN)


def is_orderable(kind: DataType) -> bool:
    """Whether it is a simple type, which has an order."""
    return not isinstance(kind, ArrayType | MapType | RowType | NullType)


def is_sortable(kind: DataType) -> bool:
    """Whether `<` is defined: a simple type, or an ARRAY or ROW of nothing else."""
    return all(isinstance(part, ArrayType | RowType) or is_orderable(part) for part in walk_type(kind))


def is_comparable(kind: DataType) -> bool:
    """Whether `=` is defined: any type without a map in it."""
    return not any(isinstance(part, MapType) for part in walk_type(kind))
