"""Joins: rows of two inputs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ouzel.compiler.expressions import Column, Expression, columns_of, substitute
from ouzel.compiler.plan.base import UNBOUNDED, Binary, Names
from ouzel.compiler.plan.distribution import Distribution, by_keys, single
from ouzel.compiler.plan.identity import meaning
from ouzel.compiler.plan.rows import WEIGHTED, Changelog, RowRole
from ouzel.compiler.types import Field, Schema


class JoinKind(Enum):
    """What happens to rows without a match, and whether the right input's columns are in the output.

    There is no RIGHT: it is LEFT with the inputs exchanged.
    """

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "left semi"
    ANTI = "left anti"


LEFT_ONLY = frozenset({JoinKind.SEMI, JoinKind.ANTI})
"""Kinds whose output is rows of the left."""

PADDED = {JoinKind.INNER: (), JoinKind.LEFT: (1,), JoinKind.FULL: (0, 1), JoinKind.SEMI: (), JoinKind.ANTI: ()}
"""The inputs whose columns are NULL in the output where a row of the other has no match."""


@dataclass(frozen=True)
class RowTime:
    """A row's event time: the microseconds of a column of TIMESTAMP, and so many more; no row comes whose time the watermark has passed."""

    column: str
    shift_us: int = 0


INPUT = "$input"
"""The column of late rows that says from which input of a join each one came."""


@dataclass(frozen=True)
class Join(Binary):
    """Each row of the left with each row of the right that has equal keys and meets the condition (SQL's regular join).

    No two columns of the inputs have one name. `keys` are pairs of a column of the left and one of the right, of one type; NULL equals
    nothing. `condition` sees the columns of both inputs. Both inputs are kept, for either may change, or come late: rows that are taken
    back take back what they were joined to (differential dataflow: McSherry et al., CIDR 2013).
    """

    kind: JoinKind
    keys: tuple[tuple[str, str], ...]
    condition: Expression | None = None

    @property
    def schema(self) -> Schema:
        fields: list[Field] = []
        for number, node in enumerate(self.inputs[:1] if self.kind in LEFT_ONLY else self.inputs):
            padded = number in PADDED[self.kind]
            fields += (replace(field, nullable=field.nullable or padded) for field in node.schema)
        return Schema(tuple(fields))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {
            name: (number, name)
            for number, node in enumerate(self.inputs[: 1 if self.kind in LEFT_ONLY else 2])
            if number not in PADDED[self.kind]
            for name in node.schema.names
        }

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        read = wanted | {name for pair in self.keys for name in pair}
        if self.condition is not None:
            read |= columns_of(self.condition)
        return tuple(read & frozenset(node.schema.names) for node in self.inputs)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """A filter on one input that is in the output as it is may go there; one on keys alone goes to both of an inner join."""
        read = columns_of(predicate)
        names = [frozenset(node.schema.names) for node in self.inputs]
        if self.kind is JoinKind.INNER:
            across = self._across(predicate, read)
            if across is not None:
                return across
        if read <= names[0] and self.kind is not JoinKind.FULL:
            return (predicate, None)
        if read <= names[1] and self.kind is JoinKind.INNER:
            return (None, predicate)
        return None

    def _across(self, predicate: Expression, read: Names) -> tuple[Expression, Expression] | None:
        """A predicate on keys of one input alone, rewritten for the keys of the other."""
        there, back = dict(self.keys), {right: left for left, right in self.keys}
        for names in (there, back):
            if read and read <= names.keys():
                other = substitute(predicate, {name: Column(self.schema[name].type, names[name]) for name in read})
                return (predicate, other) if names is there else (other, predicate)
        return None

    role = RowRole.MATCHES
    is_rowwise = False
    meets_other_rows = "joins"
    joins_rows = True
    closes_windows = False
    drops_late = False
    calls_python = False

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        alone = single("a join without an equality of both sides has all rows in one task", "join by a key")
        return tuple(by_keys(tuple(pair[number] for pair in self.keys), alone) for number in (0, 1))

    waits = (False, False)

    @property
    def time_column(self) -> str | None:
        return None

    accepts = (WEIGHTED, WEIGHTED)

    @property
    def changelog(self) -> Changelog:
        """Matches only append, and so do rows that have a match. That a row has no match may change, so kinds that say so retract."""
        appends = all(node.changelog is Changelog.APPEND for node in self.inputs)
        return Changelog.APPEND if appends and self.kind in (JoinKind.INNER, JoinKind.SEMI) else Changelog.RETRACT

    @property
    def unique_keys(self) -> frozenset[Names]:
        left, right = self.left.unique_keys, self.right.unique_keys
        if self.kind in LEFT_ONLY:
            return left
        found = {
            one | other
            for one in left
            for other in right
            if self.kind is not JoinKind.FULL or self._has_telling_keys(one, other)
        }
        if any(key <= {name for _, name in self.keys} for key in right) and self.kind is not JoinKind.FULL:
            found |= left
        if any(key <= {name for name, _ in self.keys} for key in left) and self.kind is JoinKind.INNER:
            found |= right
        return frozenset(found)

    def _has_telling_keys(self, one: Names, other: Names) -> bool:
        """Whether the keys tell a left row without a match from a right row without one: not if the keys of both may be NULL throughout."""
        both = ((self.left, one), (self.right, other))
        return any(not node.schema[name].nullable for node, key in both for name in key)

    @property
    def row_times(self) -> tuple[RowTime, ...]:
        """The event times of both rows of a match; empty if a row of the output has not both."""
        left, right = (node.time_column for node in self.inputs)
        return (RowTime(left), RowTime(right)) if left and right and self.kind not in LEFT_ONLY else ()

    @property
    def takes_conditions(self) -> bool:
        """Whether a filter above the join may become part of its condition."""
        return self.kind is JoinKind.INNER

    @property
    def state_bound(self) -> str:
        return f"{UNBOUNDED}: all rows of both inputs"

    @property
    def component_name(self) -> str:
        names = [left for left, _ in self.keys if not left.startswith("$")]
        return "_".join(("join", "by", *names)) if names else "join"

    @property
    def label(self) -> str:
        on = [f"{left} = {right}" for left, right in self.keys]
        if self.condition is not None:
            on.append(str(self.condition))
        return " ".join(("Join", self.kind.value.upper(), *(("on", " and ".join(on)) if on else ())))

    @property
    def identity(self) -> tuple[object, ...]:
        ids = {**self.left.column_ids, **self.right.column_ids}
        condition = None if self.condition is None else meaning(self.condition, ids)
        return (self.kind.value, tuple((ids[left], ids[right]) for left, right in self.keys), condition)

    def definition(self, column: str) -> tuple[object, ...]:
        number = 0 if column in self.left.schema.names else 1
        return ("padded", self.kind.value, number, self.inputs[number].column_ids[column])
