"""Top-N: the first rows of each partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan.base import (
    UNBOUNDED,
    WEIGHTED,
    Changelog,
    Distribution,
    Names,
    Node,
    Unary,
    by_keys,
    identity_origins,
)
from ouzel.compiler.plan.over import SortKey
from ouzel.compiler.types import BIGINT, Field, FloatType, Schema


@dataclass(frozen=True)
class TopN(Unary):
    """Of each partition the rows whose place in the order is above `skip` and at most `most`, each as it is.

    `function` says what a place is: row_number, rank or dense_rank. Rows that `order` holds for equal are ordered by `ties`, ascending with
    NULLs first. `name` is the column of the place; empty if nobody reads it.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    ties: tuple[str, ...]
    function: str
    most: int
    skip: int = 0
    name: str = ""

    @property
    def schema(self) -> Schema:
        place = (Field(self.name, BIGINT, False),) if self.name else ()
        return Schema((*self.input.schema, *place))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    @property
    def sorted_by(self) -> tuple[SortKey, ...]:
        """The whole order within a partition."""
        return (*self.order, *(SortKey(name) for name in self.ties))

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        read = {*self.partition, *(key.column for key in self.sorted_by)}
        return (frozenset(read) | (wanted & frozenset(self.input.schema.names)),)

    def pruned(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0], name=self.name if self.name in wanted else "")

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """A filter that keeps partitions whole; 0.0 and -0.0 are in one partition."""
        read = columns_of(predicate)
        exact = {key for key in self.partition if not isinstance(self.schema[key].type, FloatType)}
        return (predicate,) if read and read <= exact else None

    is_rowwise = False

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return (by_keys(self.partition),)

    waits = (False,)
    time_column = None
    accepts = (WEIGHTED,)
    changelog = Changelog.RETRACT

    @property
    def unique_keys(self) -> frozenset[Names]:
        keys = set(self.input.unique_keys)
        if self.function == "row_number" and self.most - self.skip == 1:
            keys.add(frozenset(self.partition))
        if self.function == "row_number" and self.name:
            keys.add(frozenset({*self.partition, self.name}))
        return frozenset(keys)

    @property
    def state_bound(self) -> str:
        if self.input.retracts:
            return f"{UNBOUNDED}: all rows, for each may come up when others go"
        rows = "1 row" if self.most == 1 else f"{self.most} rows"
        ties = "" if self.function == "row_number" else " and those equal to the last"
        return f"{UNBOUNDED}: {rows}{ties} per partition" if self.partition else f"{rows}{ties}"

    @property
    def component_name(self) -> str:
        names = [key for key in self.partition if not key.startswith("$")]
        return "_".join(("top", "by", *names)) if names else "top"

    @property
    def label(self) -> str:
        parts = [f"PARTITION BY {', '.join(self.partition)}"] if self.partition else []
        parts += [f"ORDER BY {', '.join(map(str, self.order))}"] if self.order else []
        parts += [f"ties by {', '.join(self.ties)}"] if self.ties else []
        places = f"{self.skip + 1} to {self.most}" if self.skip else f"<= {self.most}"
        return f"TopN {self.function} {places} ({' '.join(parts)})" + (f" AS {self.name}" if self.name else "")

    @property
    def identity(self) -> tuple[object, ...]:
        ids = self.input.column_ids
        order = tuple((ids[key.column], key.descending, key.nulls_last) for key in self.order)
        ties = tuple(ids[name] for name in self.ties)
        return (tuple(ids[key] for key in self.partition), order, ties, self.function, self.most, self.skip)

    def definition(self, column: str) -> tuple[object, ...]:
        return ("place", self.rows_id)
