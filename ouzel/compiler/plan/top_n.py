"""Top-N: the first rows of each partition."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import UNBOUNDED, Names, Node, SameColumns
from ouzel.compiler.plan.distribution import ANY
from ouzel.compiler.plan.ordered import Ordered
from ouzel.compiler.plan.rows import APPENDS, WEIGHTED, Changelog
from ouzel.compiler.types import BIGINT, Field, Schema

ALL_ROWS = 1 << 62
"""The place of the last row, where all rows behind the first few are wanted."""


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

    @property
    def keeps_all(self) -> bool:
        """Whether only rows at the beginning are left out."""
        return self.most >= ALL_ROWS

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (self.ordered_by | (wanted & frozenset(self.input.schema.names)),)

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0], name=self.name if self.name in wanted else "")

    @property
    def waits(self) -> tuple[bool, ...]:
        return (self.lifetime is not None,)

    meets_other_rows = ""
    drops_late = False
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
        if self.keeps_all:
            return f"{UNBOUNDED}: all rows, for those that are left out are known only among all"
        rows = "1 row" if self.most == 1 else f"{self.most} rows"
        ties = "" if self.function == "row_number" else " and those equal to the last"
        if self.lifetime:
            return f"{rows}{ties} per partition, {self.lifetime}"
        return f"{UNBOUNDED}: {rows}{ties} per partition" if self.partition else f"{rows}{ties}"

    @property
    def component_name(self) -> str:
        name = self.make_name("top", "by")
        return "top" if name == "top_by" else name

    @property
    def label(self) -> str:
        places = f"{self.skip + 1} to {self.most}" if self.skip else f"<= {self.most}"
        places = f"> {self.skip}" if self.keeps_all else places
        return f"TopN {self.function} {places} ({self.order_label})" + (f" AS {self.name}" if self.name else "")

    @property
    def identity(self) -> tuple[object, ...]:
        return (*self.order_identity, self.function, self.most, self.skip)

    def definition(self, column: str) -> tuple[object, ...]:
        return ("place", self.rows_id)


@dataclass(frozen=True)
class PartialTopN(SameColumns):
    """Of each batch the rows that can be among the first of `top`, before a fields grouping. Only the planner makes these.

    A row that is behind so many of its own batch is behind them in any table that has them: rows that are never taken back. Which of the
    others leave depends on the batch, and the answer does not.
    """

    top: TopN

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted | self.top.ordered_by,)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return self.top.passes(predicate)

    is_rowwise = False
    meets_other_rows = ""
    closes_windows = False
    drops_late = False
    calls_python = False
    distribution = (ANY,)
    waits = (False,)
    accepts = (APPENDS,)
    state_bound = ""
    component_name = ""

    @property
    def label(self) -> str:
        return f"PartialTopN <= {self.top.most} of each batch ({self.top.order_label})"

    @property
    def identity(self) -> tuple[object, ...]:
        return self.top.identity

    @property
    def rows_id(self) -> str:
        """Its input's: what it leaves out changes no answer."""
        return self.input.rows_id
