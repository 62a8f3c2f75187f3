"""Records inside records: monoids see tuples, as columns have them, and what they give is again of the user's classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args

from ouzel.compiler.records import Convert, Form, Hint, hint_of_type, origin_of, record_of, type_of
from ouzel.compiler.records import spell as spell_hint
from ouzel.compiler.types import ArrayType, DataType, MapType
from ouzel.errors import OuzelError, QueryError
from ouzel.monoid import Monoid, UserDefined
from ouzel.monoid.base import OfRegistry


class HashedList(list[Any]):
    """A list that can be counted; nobody changes it."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))


def as_tuples(value: Any) -> Any:
    """A value as columns have it: dataclasses and named tuples are tuples, at any depth."""
    match value:
        case tuple():
            return tuple(map(as_tuples, value))
        case list():
            return HashedList(map(as_tuples, value))
        case dict():
            return {as_tuples(key): as_tuples(one) for key, one in value.items()}
        case _ if is_dataclass(value):
            return tuple(as_tuples(getattr(value, each.name)) for each in fields(value) if each.init)
    return value


def key_value(value: Any) -> Hashable:
    """What values have in common that are one key: NaN is NaN, and a list or a record can be a key."""
    match value:
        case float() if value != value:
            return "NaN", float
        case tuple() | list():
            return tuple(map(key_value, value))
        case dict():
            return frozenset((key_value(key), key_value(one)) for key, one in value.items())
        case _ if is_dataclass(value):
            return key_value(as_tuples(value))
    return value  # type: ignore[no-any-return]


def remaking(hint: Hint) -> Convert | None:
    """What makes a value of this type of a plain one; None if they are the same."""
    origin = origin_of(hint)
    if origin in (list, dict):
        inner = [remaking(part) for part in get_args(hint)]
        if not any(inner):
            return None
        first, last = inner[0] or _same, inner[-1] or _same
        if origin is list:
            return lambda value: None if value is None else [first(one) for one in value]
        return lambda value: None if value is None else {first(key): last(one) for key, one in value.items()}
    record = record_of(hint)
    if record.form is Form.VALUE:
        return None if record.hints[0] is hint else remaking(record.hints[0])
    each = [remaking(part) or _same for part in record.hints]
    made = record.made or (lambda *parts: parts)
    return lambda value: None if value is None else made(*(make(one) for make, one in zip(each, value, strict=True)))


def total_hint(monoid: Monoid[Any, Any, Any], kind: DataType, hint: Hint) -> Hint:
    """Python's type for what a monoid gives of values of this type: the user's classes, where it gives what they hold."""
    if isinstance(monoid, UserDefined) and not isinstance(monoid.result, DataType):
        return monoid.result
    known = {type_of(part): part for part in _parts(hint)}

    def spell(result: DataType) -> Hint:
        if result in known:
            return known[result]
        match result:
            case ArrayType(element):
                return list[spell(element)]  # type: ignore[misc]
            case MapType(key, value):
                spelled = spell(key)
                hashable = getattr(spelled, "__hash__", None) is not None
                return dict[spelled if hashable else hint_of_type(key), spell(value)]  # type: ignore[misc]
        return hint_of_type(result)

    try:
        return spell(monoid.signature(kind).result)
    except QueryError as error:
        own = f"{monoid.sql.upper()} takes " if isinstance(monoid, OfRegistry) else ""
        if own and error.problem.startswith(own):  # in the program's words: the monoid's name, and Python's type
            error.problem = f"{type(monoid).__name__}() adds up {error.problem.removeprefix(own)}".replace(
                f"not {kind}", f"not {spell_hint(hint)}"
            )
        raise


def _parts(hint: Hint) -> Iterator[Hint]:
    """A type, and those of which it is made, outermost first."""
    yield hint
    try:
        record = record_of(hint)
    except OuzelError:
        return
    inner = record.hints if record.form is not Form.VALUE else get_args(record.hints[0])
    for part in inner:
        if isinstance(part, type) or origin_of(part) is not None:
            yield from _parts(part)


def in_classes(monoid: Monoid[Any, Any, Any], hint: Hint) -> Monoid[Any, Any, Any]:
    """The monoid as it adds up plain values of this type: a user's functions see the user's classes."""
    remake = remaking(hint)
    if remake is None or not isinstance(monoid, UserDefined):
        return monoid
    lift, finish = monoid.lift or _same, monoid.finish or _same
    return replace(monoid, lift=lambda value: lift(remake(value)), finish=lambda total: as_tuples(finish(total)))


class OfRecords:
    """A monoid over values as the user has them, for plain Python.

    Args:
        monoid: of the values.
        kind: their type in columns.
        hint: their type in Python.
    """

    def __init__(self, monoid: Monoid[Any, Any, Any], kind: DataType, hint: Hint) -> None:
        self._monoid = in_classes(monoid, hint)
        self._remake = remaking(total_hint(monoid, kind, hint)) or _same
        self.plus = self._monoid.plus

    @property
    def zero(self) -> Any:
        """The total of no values."""
        return self._monoid.zero

    def prepare(self, value: Any) -> Any:
        """The total of one value."""
        return self._monoid.prepare(as_tuples(value))

    def present(self, total: Any) -> Any:
        """What a reader sees of a total."""
        return self._remake(self._monoid.present(total))


def _same(value: Any) -> Any:
    return value
