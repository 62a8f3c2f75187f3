"""What nodes have in common that put the rows of a partition in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan.base import Names, Unary, identity_origins
from ouzel.compiler.plan.distribution import Distribution, by_keys, single
from ouzel.compiler.plan.lifetime import Lifetime
from ouzel.compiler.types import FloatType


@dataclass(frozen=True)
class SortKey:
    """A column to sort by."""

    column: str
    descending: bool = False
    nulls_last: bool = False

    def __str__(self) -> str:
        usual = self.nulls_last == self.descending
        nulls = "" if usual else f" NULLS {'LAST' if self.nulls_last else 'FIRST'}"
        return f"{self.column}{' DESC' * self.descending}{nulls}"


@dataclass(frozen=True)
class Ordered(Unary):
    """Base: hands on the columns of its input, and looks at the rows of each partition in order.

    Rows that `order` holds for equal are ordered by `ties`, ascending with NULLs first, so that every engine has the same order; both are
    empty where nothing depends on it. With a `lifetime` partitions are forgotten.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    ties: tuple[str, ...]
    lifetime: Lifetime | None = field(default=None, kw_only=True)

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    @property
    def sorted_by(self) -> tuple[SortKey, ...]:
        """The whole order within a partition."""
        return (*self.order, *(SortKey(name) for name in self.ties))

    @property
    def ordered_by(self) -> Names:
        """The columns of partition and order, and that by which partitions are forgotten."""
        forgets = (self.lifetime.column,) if self.lifetime else ()
        return frozenset((*self.partition, *(key.column for key in self.sorted_by), *forgets))

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """A filter that keeps partitions whole; 0.0 and -0.0 are in one partition."""
        read = columns_of(predicate)
        exact = {key for key in self.partition if not isinstance(self.schema[key].type, FloatType)}
        return (predicate,) if read and read <= exact else None

    is_rowwise = False
    closes_windows = False
    calls_python = False

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return (by_keys(self.partition, single("all rows are in one order, which one task keeps", "group by a key")),)

    def make_name(self, *words: str) -> str:
        """These words and the keys that a user named."""
        return "_".join((*words, *(key for key in self.partition if not key.startswith("$"))))

    @property
    def order_label(self) -> str:
        """Partition and order, as EXPLAIN shows them."""
        said = (("PARTITION BY", self.partition), ("ORDER BY", self.order), ("ties by", self.ties))
        return " ".join(f"{words} {', '.join(map(str, keys))}" for words, keys in said if keys)

    @property
    def order_identity(self) -> tuple[object, ...]:
        """What partition and order say, in values that no alias changes."""
        ids = self.input.column_ids
        order = tuple((ids[key.column], key.descending, key.nulls_last) for key in self.order)
        forgets = self.lifetime.identity(ids) if self.lifetime else ()
        return (tuple(ids[key] for key in self.partition), order, tuple(ids[name] for name in self.ties), *forgets)
