"""What a row's own subquery makes of the elements of its array."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan.base import Names
from ouzel.compiler.plan.identity import meaning
from ouzel.compiler.plan.rows import RowRole
from ouzel.compiler.plan.rowwise import ReadsElements
from ouzel.compiler.types import ArrayType, Field, Schema


@dataclass(frozen=True)
class GatherElements(ReadsElements):
    """`SELECT item FROM UNNEST(array) AS u (names) WHERE condition` of each row, as an array in one more column, `name`.

    The array is empty, and never NULL, where no element meets the condition, or there is none. A row fails where one of its elements does.
    """

    condition: Expression | None
    item: Expression
    name: str

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, Field(self.name, ArrayType(self.item.type))))

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        of_elements = columns_of(self.item) | (columns_of(self.condition) if self.condition else frozenset())
        return (((wanted - {self.name}) | columns_of(self.array) | of_elements) - dict(self.names).keys(),)

    role = RowRole.KEEPS
    is_one_to_one = True

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.input.unique_keys

    @property
    def label(self) -> str:
        shown = f"GatherElements {self.item} of {self.array} AS {', '.join(name for name, _ in self.names)}"
        return f"{shown} where {self.condition}" if self.condition else shown

    @property
    def identity(self) -> tuple[object, ...]:
        known = {**self.input.column_ids, **self.own_ids()}
        kept = None if self.condition is None else meaning(self.condition, known)
        return (self.input.meaning(self.array), kept, meaning(self.item, known))

    def definition(self, column: str) -> tuple[object, ...]:
        return ("elements", *self.identity)
