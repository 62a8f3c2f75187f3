"""Monoids made of monoids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ouzel.compiler.types import DataType, MapType, RowType
from ouzel.errors import QueryError
from ouzel.monoid.base import Monoid
from ouzel.monoid.python import InPython

Inner = Monoid[Any, Any, Any]


@dataclass(frozen=True)
class TupleOf(InPython["tuple[Any, ...] | None", "tuple[Any, ...]", "tuple[Any, ...]"]):
    """Of values that are tuples, or ROWs, each field by a monoid of its own: `TupleOf((Sum(), Max()))`.

    Args:
        parts: a monoid for each field.
    """

    parts: tuple[Inner, ...]
    name = "tuple_of"

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return all(part.commutative for part in self.parts)

    @property
    def zero(self) -> tuple[Any, ...]:
        return tuple(part.zero for part in self.parts)

    def prepare(self, value: tuple[Any, ...] | None) -> tuple[Any, ...]:
        if value is None:
            return self.zero
        return tuple(part.prepare(field) for part, field in zip(self.parts, value, strict=True))

    def plus(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part.plus(one, other) for part, one, other in zip(self.parts, a, b, strict=True))

    @property
    def inverse(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
        return self._inverse if all(part.inverse for part in self.parts) else None

    def _inverse(self, total: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part.inverse(one) for part, one in zip(self.parts, total, strict=True) if part.inverse)

    def present(self, total: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part.present(one) for part, one in zip(self.parts, total, strict=True))

    def result_type(self, value_type: DataType) -> DataType | None:
        if not isinstance(value_type, RowType):
            return None
        if len(value_type.fields) != len(self.parts):
            raise QueryError(
                f"TupleOf has {len(self.parts)} parts, and the values have {len(value_type.fields)}",
                instead="write a monoid for each part of the value: TupleOf((Sum(), Max()))",
            )
        kinds = (_result(part, kind) for part, (_, kind) in zip(self.parts, value_type.fields, strict=True))
        return RowType(tuple((name, kind) for (name, _), kind in zip(value_type.fields, kinds, strict=True)))


@dataclass(frozen=True)
class MapOf(InPython["Mapping[Any, Any] | None", "dict[Any, Any]", "dict[Any, Any]"]):
    """Of values that are maps, what is under each key by one monoid: `MapOf(Sum())`.

    Args:
        part: the monoid of what is under a key.
    """

    part: Inner
    name = "map_of"

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return self.part.commutative

    @property
    def zero(self) -> dict[Any, Any]:
        return {}

    def prepare(self, value: Mapping[Any, Any] | None) -> dict[Any, Any]:
        return self._keep({key: self.part.prepare(inner) for key, inner in (value or {}).items()})

    def plus(self, a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any]:
        part = self.part
        return self._keep({key: part.plus(*(one.get(key, part.zero) for one in (a, b))) for key in a | b})

    @property
    def inverse(self) -> Callable[[dict[Any, Any]], dict[Any, Any]] | None:
        return self._inverse if self.part.inverse else None

    def _inverse(self, total: dict[Any, Any]) -> dict[Any, Any]:
        assert self.part.inverse is not None, "it is a group"
        return {key: self.part.inverse(inner) for key, inner in total.items()}

    def _keep(self, total: dict[Any, Any]) -> dict[Any, Any]:
        """Without keys that nothing is under, so that a total is zero when all has been taken back."""
        return {key: inner for key, inner in total.items() if inner != self.part.zero}

    def present(self, total: dict[Any, Any]) -> dict[Any, Any]:
        return {key: self.part.present(inner) for key, inner in total.items()}

    def result_type(self, value_type: DataType) -> DataType | None:
        return (
            MapType(value_type.key, _result(self.part, value_type.value)) if isinstance(value_type, MapType) else None
        )


def _result(part: Inner, kind: DataType) -> DataType:
    """The type of a part's result.

    Raises:
        QueryError: the part's values would have to be cast first.
    """
    signature = part.signature(kind)
    if signature.parameter != kind:
        raise QueryError(
            f"{type(part).__name__} takes {signature.parameter} here, not {kind}", instead="cast the values first"
        )
    return signature.result
