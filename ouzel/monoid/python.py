"""Monoids that only Python computes: no engine has a name for them."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

from ouzel.compiler.functions.aggregate_function import (
    AggregateFunction,
    AggregateTypeRule,
    CallForm,
    Columns,
    GroupState,
    SparkForm,
)
from ouzel.compiler.functions.aggregates import AggregateSignature
from ouzel.compiler.records import Hint, type_of
from ouzel.compiler.types import BYTES, DataType
from ouzel.compiler.user_code import check_gives, check_plain
from ouzel.errors import NotSupported, QueryError
from ouzel.monoid.base import Monoid

V = TypeVar("V", contravariant=True)
T = TypeVar("T")
R = TypeVar("R", covariant=True)


class InPython(Monoid[V, T, R]):
    """Base: what it says in Python is also what the topology runs, value by value, with totals that are pickled between batches.

    Such a monoid is commutative, for rows come in no order; what depends on an order has to make a time or a number part of its values.
    In Spark it adds up what `collect_list` gives.
    """

    commutative = True
    name: ClassVar[str]
    orderless: ClassVar[str] = "make a time or a number part of the values, as First and Last do"
    """What to write where an order of the values matters."""

    @abstractmethod
    def result_type(self, value_type: DataType) -> DataType | None:
        """The type of what `present` gives, of values of this type; None if there are no such values."""

    def aggregate(self, value_type: DataType) -> AggregateFunction:
        for step, function in self.functions.items():
            if function is not None:
                check_plain(function, f"{step} of {self.name}", may_yield=False)
                check_gives(function, f"{step} of {self.name}")
        return self.row(self.label, partial(_only, value_type, self._result(value_type)), str(value_type))

    def row(self, name: str, resolve: AggregateTypeRule, takes: str) -> AggregateFunction:
        """The aggregate under this name."""
        return AggregateFunction(
            name, resolve, takes, (self.__doc__ or "").split("\n")[0], f"{name.upper()}(value)",
            GroupState(_state, "python total", "python", self.inverse is not None, self.inverse is not None, self),
            SparkForm(_no_spark), counts=False, call=CallForm(over=False),
        )  # fmt: skip

    def signature(self, value_type: DataType) -> AggregateSignature:
        return AggregateSignature(self.label, value_type, self._result(value_type))

    @property
    def advice(self) -> str:
        """What is told where a function of the user's does not take what it is given."""
        return ""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any] | None]:
        """What is called of it that a user may have written, by name."""
        return {"prepare": self.prepare, "plus": self.plus, "present": self.present}

    @property
    def label(self) -> str:
        """What its aggregate is called: its name, and a digest of what sets it apart from others of that name."""
        return f"{self.name}_{hashlib.blake2b(self.described.encode(), digest_size=4).hexdigest()}"

    @property
    def described(self) -> str:
        """What makes it compute what it computes, in words that are the same in every process."""
        return repr(self)

    def check_order(self) -> None:
        """See that no order of values matters.

        Raises:
            NotSupported: it does.
        """
        if not self.commutative:
            raise NotSupported(
                f"{self.name} depends on the order of its values, and rows come in none",
                instead=self.orderless,
            )

    def _result(self, value_type: DataType) -> DataType:
        self.check_order()
        result = self.result_type(value_type)
        if result is None:
            called = self.name if isinstance(self, UserDefined) else f"{type(self).__name__}()"
            told = (self.__doc__ or "").partition("\n")[0].removesuffix(".")
            raise QueryError(
                f"{called} adds up no {value_type}",
                instead=f"map the values to what it takes: {told[:1].lower()}{told[1:]}",
            )
        return result


def _only(value_type: DataType, result: DataType, kind: DataType) -> tuple[DataType, DataType] | None:
    return (value_type, result) if kind == value_type else None


def _state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    return (("total", BYTES, True),)


def _no_spark(value: str, *parameters: object) -> str:
    raise AssertionError("a job's text holds the monoid itself")


def as_function(monoid: Monoid[Any, Any, Any], name: str = "") -> AggregateFunction:
    """Make a monoid an aggregate that SQL may call, `ouzel.query(text, functions=[as_function(TopK(3), "top_three")])`.

    Args:
        monoid: one that Python computes; the others have names in SQL already.
        name: what SQL calls it; its own name if none is given.

    Raises:
        QueryError: SQL has a name for it.
        NotSupported: it depends on the order of its values.
    """
    if not isinstance(monoid, InPython):
        raise QueryError(
            f"SQL has an aggregate for {monoid} already", instead="call it by its name in docs/functions.md"
        )
    monoid.check_order()
    called = (name or monoid.name).lower()
    return monoid.row(called, partial(_any_taken, monoid), f"values that {called} adds up")


def _any_taken(monoid: InPython[Any, Any, Any], kind: DataType) -> tuple[DataType, DataType] | None:
    result = monoid.result_type(kind)
    return None if result is None else (kind, result)


@dataclass(frozen=True)
class UserDefined(InPython[Any, Any, Any]):
    """What two functions of the user's make of values.

    Args:
        name: what it is called, in plans and errors; another function is to have another name.
        empty: the total of no values.
        add: two totals -> their total; associative, and it changes neither.
        result: the type of the result, as Python or as SQL writes it: `int`, `list[str]`, `BIGINT`.
        commutative: whether `add` gives the same with its arguments exchanged; topologies take no other.
        lift: a value that is not None -> its total; the value itself if None.
        take_back: a total -> the one that takes it back; None if there is none, and rows that change are refused.
        finish: a total -> what a reader sees; the total itself if None.
    """

    orderless = (
        "say commutative=True if add(a, b) and add(b, a) give the same; "
        "else make a time or a number part of the values, as First and Last do"
    )

    name: str  # type: ignore[misc]  # each has its own
    empty: Any
    add: Callable[[Any, Any], Any]
    result: DataType | Hint
    commutative: bool = False
    lift: Callable[[Any], Any] | None = None
    take_back: Callable[[Any], Any] | None = None
    finish: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        if not callable(self.add):
            raise QueryError(
                f"the function `add` of {self.name} is {self.add!r:.60}, which cannot be called",
                instead="write UserDefined(name, empty, add, result): the total of no values comes first",
            )

    @property
    def advice(self) -> str:
        return "" if self.lift else "add(a, b) is given two totals: say lift=function for what makes a total of a value"

    @property
    def zero(self) -> Any:
        return deepcopy(self.empty)  # `add` may change it, against what is asked: all keys would have one total

    def prepare(self, value: Any) -> Any:
        if value is None:
            return self.zero
        return self.lift(value) if self.lift else value

    def plus(self, a: Any, b: Any) -> Any:
        return self.add(a, b)

    @property
    def inverse(self) -> Callable[[Any], Any] | None:
        return self.take_back

    def present(self, total: Any) -> Any:
        return self.finish(total) if self.finish else total

    @property
    def functions(self) -> Mapping[str, Callable[..., Any] | None]:
        return {"lift": self.lift, "add": self.add, "take_back": self.take_back, "finish": self.finish}

    def result_type(self, value_type: DataType) -> DataType:
        return self.result if isinstance(self.result, DataType) else type_of(self.result)

    @property
    def described(self) -> str:
        return self.name
