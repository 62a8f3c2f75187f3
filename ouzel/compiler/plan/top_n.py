"""Top-N: the first rows of each partition."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ouzel.compiler.plan.base import (
    UNBOUNDED,
    WEIGHTED,
    Changelog,
    Names,
    Node,
)
from ouzel.compiler.plan.ordered import Ordered
from ouzel.compiler.types import BIGINT, Field, Schema


@dataclass(frozen=True)
class TopN(Ordered):
    """The rows of each partition whose place in the order is above `skip` and at most `most`, unchanged.

    `function` says what a place is: row_number, rank or dense_rank. `name` is the column of the place; empty if nobody reads it.
    """

    function: str
    most: int
    skip: int = 0
    name: str = ""

    @property
    def schema(self) -> Schema:
        place = (Field(self.name, BIGINT, False),) if self.name else ()
        return Schema((*self.input.schema, *place))

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (self.ordered_by | (wanted & frozenset(self.input.schema.names)),)

    def pruned(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0], name=self.name if self.name in wanted else "")

    @property
    def waits(self) -> tuple[bool, ...]:
        return (self.lifetime is not None,)

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
        if self.lifetime:
            return f"{rows}{ties} per partition, {self.lifetime}"
        return f"{UNBOUNDED}: {rows}{ties} per partition" if self.partition else f"{rows}{ties}"

    @property
    def component_name(self) -> str:
        name = self.named("top", "by")
        return "top" if name == "top_by" else name

    @property
    def label(self) -> str:
        places = f"{self.skip + 1} to {self.most}" if self.skip else f"<= {self.most}"
        return f"TopN {self.function} {places} ({self.order_label})" + (f" AS {self.name}" if self.name else "")

    @property
    def identity(self) -> tuple[object, ...]:
        return (*self.order_identity, self.function, self.most, self.skip)

    def definition(self, column: str) -> tuple[object, ...]:
        return ("place", self.rows_id)
