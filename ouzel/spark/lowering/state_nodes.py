"""Our own operators in a streaming query of Spark: a node that runs whole inside Spark's state."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import wrap

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.lowering import backtick
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import WEIGHT, Changelog, Node
from ouzel.compiler.plan.base import Names, Step
from ouzel.compiler.plan.distribution import ANY, Distribution
from ouzel.compiler.plan.rows import APPENDS
from ouzel.compiler.types import BIGINT, Field, Schema
from ouzel.planner.rules.dag import Dag
from ouzel.spark.lowering.batch_nodes import FrameNames
from ouzel.spark.lowering.held import HeldOperator
from ouzel.spark.lowering.python_steps import pickle_with_modules
from ouzel.spark.lowering.text import call, comment, quote

OPERATORS = "OPERATORS"
"""What a query's text calls its operators."""


@dataclass(frozen=True)
class InState(Step):
    """A node of the plan, `operator`, that our operator computes inside Spark's state; its inputs there are Givens.

    Its watermark is `lag_us` behind Spark's, as operators below let rows out so much later. `of_tables` says that no node below waits for
    time: then what comes behind Spark's watermark is late. `why` says why Spark's own node is not used.
    """

    branches: tuple[Node, ...]
    operator: Node
    lag_us: int = 0
    of_tables: bool = True
    why: str = ""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, branches=inputs)

    @property
    def gives(self) -> Node:
        """Whose rows these are."""
        return self.operator

    @property
    def schema(self) -> Schema:
        """With WEIGHT, if rows are taken back."""
        weight = (Field(WEIGHT, BIGINT),) if self.gives.retracts else ()
        return Schema((*self.gives.schema, *weight))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return self.gives.origins

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return tuple(frozenset(branch.schema.names) for branch in self.branches)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    is_rowwise = False
    meets_other_rows = ""
    joins_rows = False
    closes_windows = False
    drops_late = False
    calls_python = False
    component_name = ""

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return self.operator.distribution

    @property
    def waits(self) -> tuple[bool, ...]:
        return self.operator.waits

    @property
    def time_column(self) -> str | None:
        return self.gives.time_column

    @property
    def accepts(self) -> tuple[frozenset[Changelog], ...]:
        return self.operator.accepts

    @property
    def changelog(self) -> Changelog:
        return self.gives.changelog

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.gives.unique_keys

    @property
    def state_bound(self) -> str:
        return self.operator.state_bound

    @property
    def label(self) -> str:
        return f"{self.gives.label} in Spark's state"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.gives.stable_id, self.lag_us)

    def definition(self, column: str) -> tuple[object, ...]:
        return (*self.identity, column)


@dataclass(frozen=True)
class LateOfState(InState):
    """The rows that `operator` drops as late, as `late` shows them. Spark's stateful nodes have one output, so it is computed once more.

    In one streaming query both have the same micro-batches and the same watermark, and so drop the same rows.
    """

    late: Node | None = None

    @property
    def gives(self) -> Node:
        assert self.late is not None
        return self.late


@dataclass(frozen=True)
class InTasks(InState):
    """A join that asks a table by key, `operator`, which our operator computes in Spark's tasks: it keeps nothing of its rows."""

    distribution = (ANY,)
    waits = (False,)
    accepts = (APPENDS,)

    @property
    def label(self) -> str:
        return f"{self.operator.label} in Spark's tasks"


def ours_of(dag: Dag) -> Iterator[InState]:
    """The plan's nodes that are ours."""
    return (node for node in dag.nodes() if isinstance(node, InState))


def lower_in_state(node: InState, names: FrameNames) -> list[str]:
    """The call that makes the node's rows."""
    frames = [names[id(branch)] for branch in node.inputs] if len(node.inputs) > 1 else []
    made = call("in_state", [f"{OPERATORS}[{quote(_name(node))}]", quote(_columns(node)), *frames[1:]])
    return [*frames[:1], comment(f"Ouzel's operator in Spark's state: {node.why}"), f".transform({made})"]


def lower_in_tasks(node: InTasks, names: FrameNames) -> list[str]:
    """The call that makes the node's rows."""
    made = call("ask_table", [f"{OPERATORS}[{quote(_name(node))}]", quote(_columns(node)), "folder"])
    return [comment(f"Ouzel's operator in Spark's tasks: {node.why}"), f".transform({made})"]


def _columns(node: Node) -> str:
    return ", ".join(f"{backtick(field.name)} {to_spark_type(field.type)}" for field in node.schema)


def operators_text(dag: Dag) -> str:
    """The plan's operators as a constant of the query's text; empty without any."""
    held = dict(_pickled_operators(dag))
    if not held:
        return ""
    lines = [f"{OPERATORS} = {{"]
    for name, pickled in held.items():
        text = b64encode(pickled).decode()
        lines += [f"    {quote(name)}: (", *(f'        "{line}"' for line in wrap(text, 110)), "    ),"]
    return "\n".join([*lines, "}", "", "", ""])


def _pickled_operators(dag: Dag) -> Iterator[tuple[str, bytes]]:
    for node in ours_of(dag):
        held = HeldOperator(node.operator, node.gives, node.lag_us, node.of_tables)
        yield _name(node), pickle_with_modules(held, [node.gives.label])


def _name(node: InState) -> str:
    return f"{type(node.gives).__name__}_{node.stable_id[:12]}"
