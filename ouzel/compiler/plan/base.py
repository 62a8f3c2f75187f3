"""What every node of the plan says of itself.

A node class that leaves one of these questions open cannot be instantiated. What rules, fusion, groupings and backends act on has no answer
by default: a wrong one would prune, move or fuse in silence. Families (`Leaf`, `Unary`, `RowWise`) say what their members have in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.plan.distribution import ANY, Distribution, DistributionKind
from ouzel.compiler.plan.identity import digest, meaning
from ouzel.compiler.plan.rows import WEIGHTED, Changelog, RowRole
from ouzel.compiler.plan.window_grid import WindowGrid
from ouzel.compiler.types import Schema
from ouzel.compiler.written import NodeLocation

if TYPE_CHECKING:
    from ouzel.compiler.plan.aggregates import Aggregate

WEIGHT = "$weight"
"""Name of the Int64 column that a retracting stream carries beside its schema."""

OWN_NAMES = frozenset({
    "array", "at", "back", "bag", "begins", "bound", "branch", "by", "component", "copy", "counts", "deleted", "element",
    "end", "error", "given", "gone", "group", "hash", "high", "is", "keep", "kept", "largest", "last", "late", "line", "low", "mark",
    "measure", "most", "next", "nothing", "number", "odd", "offset", "owner", "pair", "pane", "part", "partition", "peers", "place",
    "position", "rank", "row", "rows", "run", "session", "shared", "slot", "span", "standing", "start", "step_end", "task", "time", "times",
    "total", "value", "was", "weight",
})  # fmt: skip
"""What stands behind the $ in names of columns that engines, rules and connectors put beside those of a row; a query cannot use them."""

UNBOUNDED = "UNBOUNDED"

Names = frozenset[str]
"""Columns, by name."""


@dataclass(frozen=True)
class Node(ABC):
    """Base of the plan's nodes; `written` is no part of what a node means."""

    written: NodeLocation = field(default=NodeLocation(), kw_only=True, compare=False, repr=False)

    @property
    @abstractmethod
    def inputs(self) -> tuple[Node, ...]:
        """The nodes this one reads, left to right."""

    def calls_as_written(self) -> Mapping[str, str]:
        """What the user wrote where the node calls functions that may have no name, by what they are known by."""
        return {}

    def as_meant(self, *, trusts: bool) -> Node:
        """The node without what changes nothing of its rows; if it `trusts`, without what tells the code of functions of the user's."""
        return self

    @abstractmethod
    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """The same node reading these."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns of the output, without WEIGHT."""

    @property
    @abstractmethod
    def origins(self) -> Mapping[str, tuple[int, str]]:
        """Columns of the output that are an input's column, unchanged: the number of that input, and the column's name there."""

    @abstractmethod
    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """Which columns of each input it must have, so that it can give those `wanted` of it."""

    @abstractmethod
    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        """The node giving `wanted`, and what else it cannot leave out, of inputs that have at least what it `needs` for that."""

    @abstractmethod
    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """A filter above the node as filters below it that together do the same, one for each input.

        None for an input that needs no filter; None for all where the filter depends on what the node does.
        """

    @property
    @abstractmethod
    def reads_table(self) -> str:
        """The table whose rows it reads; empty if it reads none."""

    @property
    @abstractmethod
    def writes_table(self) -> str:
        """The table to which it writes its input's rows; empty if it writes none."""

    @property
    @abstractmethod
    def asks_tables(self) -> tuple[str, ...]:
        """The tables that its tasks ask for single rows while the run goes on; asked again, they may answer otherwise."""

    @property
    @abstractmethod
    def merges_streams(self) -> bool:
        """Whether it only makes several streams one, so that no task does it: its reader has several inputs."""

    @property
    @abstractmethod
    def reads_late(self) -> bool:
        """Whether it reads the rows that its input drops as late, and not those that its input gives."""

    @property
    @abstractmethod
    def groups(self) -> Aggregate | None:
        """The GROUP BY whose result it gives; None if it gives none, or what is still to be merged."""

    @property
    @abstractmethod
    def partial_keys(self) -> tuple[str, ...]:
        """Columns by which its rows may be dealt so that two tasks share a key, for what it gives is merged; empty if they may not."""

    @property
    @abstractmethod
    def window_grid(self) -> WindowGrid | None:
        """The windows of fixed length into which it puts each row; None if it does not."""

    @property
    @abstractmethod
    def declares_time(self) -> Expression | None:
        """What the watermark is the largest of, if from here on `time_column` is event time by a declaration; else None."""

    @property
    @abstractmethod
    def is_rowwise(self) -> bool:
        """Whether each row is computed by itself, so that the node may stand on either side of a union or a hop between tasks."""

    @property
    @abstractmethod
    def role(self) -> RowRole:
        """What it does to rows that are compared, of two runs of a query."""

    @property
    @abstractmethod
    def is_one_to_one(self) -> bool:
        """Whether it gives each row of its input once, whatever its columns, and no other."""

    @property
    @abstractmethod
    def meets_other_rows(self) -> str:
        """What sets a row beside others that may be of another time, as words for an error; empty if the node does not.

        Of inputs that are cut by time it would give rows that neither the whole nor the part has: matches, neighbours or sessions are
        missing at the cut. What adds up or ranks the rows that it is given (an aggregate, a Top-N) is of the part what it is of the
        whole, and a window is never cut.
        """

    @property
    @abstractmethod
    def joins_rows(self) -> bool:
        """Whether a row of the output is made of rows of several inputs."""

    @property
    def leaves_at(self) -> str | None:
        """The column of times by which its rows leave one after the other, when the watermark has come to each; None if they do not."""
        return None

    @property
    @abstractmethod
    def closes_windows(self) -> bool:
        """Whether each row of the output is of all rows of one window of event time."""

    @property
    @abstractmethod
    def drops_late(self) -> bool:
        """Whether it waits for a watermark, so that a row can come too late and is dropped."""

    @property
    @abstractmethod
    def calls_python(self) -> bool:
        """Whether its tasks call a function of the user's own, apart from those in expressions, which stand in `Program.functions`."""

    @property
    @abstractmethod
    def distribution(self) -> tuple[Distribution, ...]:
        """How each input must be spread over the node's tasks."""

    @property
    @abstractmethod
    def waits(self) -> tuple[bool, ...]:
        """Of each input, whether the node waits for its watermark."""

    @property
    @abstractmethod
    def time_column(self) -> str | None:
        """The column that the watermark speaks of, if there is one."""

    @property
    @abstractmethod
    def accepts(self) -> tuple[frozenset[Changelog], ...]:
        """Of each input, which changes the node can read."""

    @property
    @abstractmethod
    def changelog(self) -> Changelog:
        """What the output may do to rows given before, with the inputs that the node has."""

    @property
    @abstractmethod
    def unique_keys(self) -> frozenset[Names]:
        """Sets of columns by each of which no two rows of the output, added up, are equal; an empty set: there is one row at most."""

    @property
    @abstractmethod
    def state_bound(self) -> str:
        """What bounds the state kept, in words for EXPLAIN; empty for a stateless node."""

    @property
    def held_back_ms(self) -> int:
        """How long rows are held back by the clock, so that several leave together; 0 if they are not."""
        return 0

    @property
    @abstractmethod
    def component_name(self) -> str:
        """What a component that this node begins is called; empty to name it after its last node."""

    @property
    @abstractmethod
    def label(self) -> str:
        """One line for EXPLAIN, without schema and properties: what it is called, in one word, and what it does."""

    @property
    @abstractmethod
    def identity(self) -> tuple[object, ...]:
        """What tells it from other nodes of its class over the same inputs, in plain values, columns by their ids."""

    @abstractmethod
    def definition(self, column: str) -> tuple[object, ...]:
        """What a column that is not among `origins` is computed of, in the same plain values."""

    @property
    def retracts(self) -> bool:
        """Whether the output takes rows back; if so it carries WEIGHT."""
        return self.changelog is not Changelog.APPEND

    @cached_property
    def column_ids(self) -> Mapping[str, str]:
        """Of each column, a digest of how it is computed, down to the tables: no alias and no place in a SELECT changes it."""
        return {name: self._column_id(name) for name in self.schema.names}

    @cached_property
    def rows_id(self) -> str:
        """A digest of which rows there are, whatever columns they have."""
        return digest(type(self).__name__, self.identity, *(node.rows_id for node in self.inputs))

    @cached_property
    def stable_id(self) -> str:
        """A digest of what the node computes and of what; the same in every process, run and version, so that state finds its owner."""
        return digest(type(self).__name__, self.identity, self.rows_id, *self.column_ids.values())

    def expression_of(self, column: str) -> Expression | None:
        """A column of a node with one input as an expression over that input; None if it is of no single row there."""
        return Column(self.schema[column].type, self.origins[column][1]) if column in self.origins else None

    def meaning(self, expression: Expression) -> object:
        """An expression over this node's columns in plain values, which no alias changes."""
        return meaning(expression, self.column_ids)

    def _column_id(self, name: str) -> str:
        if name in self.origins:
            number, inner = self.origins[name]
            return self.inputs[number].column_ids[inner]
        return digest(*self.definition(name))

    def __str__(self) -> str:
        return "\n".join(_tree(self, 0))


class Step(Node):
    """A node that is no table and none of the few others about which a planner asks: it answers those questions with no.

    Who is one of them overrides that answer, as does who can leave out a part of its work. Of its rows nothing is told that a comparison
    could use: each of its input may be in several of them.
    """

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        """What cannot leave out a part of its work gives all that it has."""
        return self.with_inputs(inputs)

    merges_streams = False
    reads_late = False
    role = RowRole.REPEATS
    is_one_to_one = False

    @property
    def reads_table(self) -> str:
        return ""

    @property
    def writes_table(self) -> str:
        return ""

    @property
    def asks_tables(self) -> tuple[str, ...]:
        return ()

    @property
    def groups(self) -> Aggregate | None:
        return None

    @property
    def partial_keys(self) -> tuple[str, ...]:
        return ()

    @property
    def window_grid(self) -> WindowGrid | None:
        return None

    @property
    def declares_time(self) -> Expression | None:
        return None


@dataclass(frozen=True)
class Leaf(Step):
    """A node that reads no other."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return ()

    meets_other_rows = ""
    joins_rows = False
    closes_windows = False
    drops_late = False
    distribution = ()
    waits = ()
    accepts = ()


@dataclass(frozen=True)
class Unary(Step):
    """A node that reads one other."""

    input: Node

    joins_rows = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        (node,) = inputs
        return replace(self, input=node)


@dataclass(frozen=True)
class Binary(Step):
    """A node that reads two others."""

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        left, right = inputs
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class RowWise(Unary):
    """A node that computes each row by itself, whatever its weight."""

    is_rowwise = True
    meets_other_rows = ""
    closes_windows = False
    drops_late = False
    distribution = (ANY,)
    accepts = (WEIGHTED,)

    @property
    def changelog(self) -> Changelog:
        return self.input.changelog

    state_bound = ""
    component_name = ""


@dataclass(frozen=True)
class SameColumns(Unary):
    """A node that gives its input's rows, or some of them, as they are."""

    @property
    def schema(self) -> Schema:
        return self.input.schema

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    def definition(self, column: str) -> tuple[object, ...]:
        raise KeyError(column)

    @property
    def time_column(self) -> str | None:
        return self.input.time_column

    @property
    def changelog(self) -> Changelog:
        return self.input.changelog

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.input.unique_keys


def streamed_inputs(node: Node) -> tuple[Node, ...]:
    """The inputs whose rows reach the node's tasks as streams; what each task reads for itself is none."""
    pairs = zip(node.inputs, node.distribution, strict=True)
    return tuple(upstream for upstream, spread in pairs if spread.kind is not DistributionKind.OWN)


def reads_for_itself(node: Node) -> bool:
    """Whether each of the node's tasks reads an input for itself, which reaches it by no stream."""
    return len(streamed_inputs(node)) < len(node.inputs)


def needs_routing(node: Node) -> bool:
    """Whether the node needs certain rows of an input in one task: what makes its rows elsewhere sends them to where they belong."""
    return any(spread.kind not in (DistributionKind.ANY, DistributionKind.OWN) for spread in node.distribution)


def keeps_rows(node: Node) -> bool:
    """Whether the node keeps anything of what comes by its streams: what its tasks read for themselves they can read again."""
    return bool(node.state_bound) and not reads_for_itself(node)


def identity_origins(node: Node, number: int = 0) -> dict[str, tuple[int, str]]:
    """`origins` of a node that hands on all columns of that input."""
    return {name: (number, name) for name in node.inputs[number].schema.names}


def names_above(node: Node, below: Names, number: int = 0) -> Names:
    """The names under which a node hands on these columns of that input."""
    return frozenset(name for name, origin in node.origins.items() if origin[0] == number and origin[1] in below)


def names_at_top(names: Names, nodes: Sequence[Node]) -> Names:
    """The names, at the top of a chain of unary nodes (top first), of those columns of the chain's input that all nodes hand on."""
    for node in reversed(nodes):
        names = names_above(node, names)
    return names


def names_below(node: Node, above: Names) -> Names | None:
    """The names that these columns of a unary node have in its input; None if it computes one of them."""
    return frozenset(node.origins[name][1] for name in above) if above <= node.origins.keys() else None


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, once each, inputs after their readers."""
    seen: set[int] = set()
    todo = [node]
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo.extend(reversed(node.inputs))


def _tree(node: Node, depth: int) -> Iterator[str]:
    marks = [node.changelog.value]
    if node.time_column:
        marks.append(f"time={node.time_column}")
    if node.state_bound:
        marks.append(f"state={node.state_bound}")
    yield f"{'  ' * depth}{node.label}  [{', '.join(marks)}]"
    yield f"{'  ' * depth}  : {node.schema}"
    for child in node.inputs:
        yield from _tree(child, depth + 1)
