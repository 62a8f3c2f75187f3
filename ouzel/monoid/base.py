"""What a monoid is: values, how two totals become one, and the aggregate that computes the same of columns."""

from __future__ import annotations

import inspect
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.compiler.functions.aggregates import (
    AggregateSignature,
    find_aggregate,
    resolve_aggregate,
)
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import DataType
from ouzel.errors import QueryError

V = TypeVar("V", contravariant=True)
T = TypeVar("T")
R = TypeVar("R", covariant=True)


COUNTS = ("size", "bits", "hashes", "width", "depth")
"""Arguments of monoids that count something."""


class _Made(ABCMeta):
    """The type of monoids' classes: one that is made with arguments that it does not take says what it adds up."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **named: Any) -> Any:
            try:
                inspect.signature(cls.__init__).bind(None, *args, **named)
            except TypeError as error:
                shown = f"{cls.__name__}({', '.join(list(inspect.signature(cls.__init__).parameters)[1:])})"
                told = (cls.__doc__ or "").partition("\n")[0]
                raise QueryError(
                    f"{cls.__name__} is made of other arguments: {error}",
                    instead=f"write {shown}: {told[:1].lower()}{told[1:].removesuffix('.')}",
                ) from None
            made = super().__call__(*args, **named)
            for name in COUNTS:
                count = vars(made).get(name, 1)
                if type(count) is not int or count < 1:
                    raise QueryError(
                        f"{name} of {cls.__name__} is a whole number from 1 on, and {count!r:.60} is none",
                        instead=f"write {cls.__name__}({name}=10)",
                    )
            return made

        @property
        def __signature__(cls) -> inspect.Signature:
            own = inspect.signature(cls.__init__)
            return own.replace(parameters=list(own.parameters.values())[1:])


class Monoid(ABC, Generic[V, T, R], metaclass=_Made):
    """How values of one kind add up.

    An object is a description and keeps nothing, so it can be compared, pickled and shared. It says the same thing twice: in plain
    Python (`zero`, `prepare`, `plus`, `inverse`, `present`), which is what it means, and as the aggregate of columns (`aggregate`) that
    SQL calls by its name and every engine computes. A value that is None adds nothing.
    """

    @property
    @abstractmethod
    def zero(self) -> T:
        """The total of no values: `plus(zero, a) == a == plus(a, zero)`."""

    @abstractmethod
    def prepare(self, value: V) -> T:
        """The total of one value; `zero` of None."""

    @abstractmethod
    def plus(self, a: T, b: T) -> T:
        """The total of what is in `a` and, after it, of what is in `b`. Associative; changes neither."""

    @abstractmethod
    def present(self, total: T) -> R:
        """What a reader sees of a total."""

    @property
    @abstractmethod
    def inverse(self) -> Callable[[T], T] | None:
        """Of a group the total that takes another one back, `plus(a, inverse(a)) == zero`; None if this is no group."""

    @property
    @abstractmethod
    def commutative(self) -> bool:
        """Whether `plus(a, b) == plus(b, a)`: then values may be added up in any order, and before they meet."""

    @abstractmethod
    def aggregate(self, value_type: DataType) -> AggregateFunction:
        """The aggregate that adds up a column of this type; its `state.takes_back` says whether rows that change may be added up.

        Raises:
            QueryError: values of this type have no such total.
        """

    @abstractmethod
    def signature(self, value_type: DataType) -> AggregateSignature:
        """The type that a column of values is to be cast to, and the type of the result.

        Raises:
            QueryError: values of this type have no such total.
        """

    def call(self, name: str, column: str, value_type: DataType) -> AggregateCall:
        """What an Aggregate node computes as `name` of a column, which has the type that `signature` asks for.

        Raises:
            QueryError: values of this type have no such total.
        """
        function, kinds = self.aggregate(value_type), self.signature(value_type)
        own = None if find_aggregate(function.name) is function else function
        return AggregateCall(name, function.name, column, kinds.result, row=own)

    def total(self, values: Iterable[V]) -> T:
        """The total of all values, one after the other."""
        return reduce(self.plus, map(self.prepare, values), self.zero)

    def sum(self, values: Iterable[V]) -> R:
        """What a reader sees of the total of all values."""
        return self.present(self.total(values))


class OfRegistry(Monoid[V, T, R]):
    """Base of those that SQL has under a name, which is all that makes their aggregate."""

    sql: ClassVar[str]
    """The aggregate's canonical name."""

    def aggregate(self, value_type: DataType) -> AggregateFunction:
        function = find_aggregate(self.signature(value_type).name)
        assert function is not None, "the registry has resolved it"
        return function

    def signature(self, value_type: DataType) -> AggregateSignature:
        try:
            return resolve_aggregate(self.sql, value_type)
        except QueryError as error:
            error.instead = "map each value to one before, or take another monoid"
            raise
