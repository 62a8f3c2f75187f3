"""The logical plan: one typed DAG for SQL and for the Python DSL. Frozen, without I/O; `str()` of a node is EXPLAIN LOGICAL.

Every node states its schema, whether its output only appends or also retracts, its time column, and the bound of its state.
A stream that retracts carries one more column, `WEIGHT` (+1 or -1, a Z-set: Budiu et al., "DBSP", VLDB 2023); a stream that only
appends carries none and pays nothing. WEIGHT is never part of a node's schema.
"""

from ouzel.compiler.plan.aggregates import (
    NEVER_NULL,
    Aggregate,
    AggregateCall,
    Emit,
    EmitRule,
    FinalAggregate,
    PartialAggregate,
    Without,
)
from ouzel.compiler.plan.base import UNBOUNDED, WEIGHT, Node, walk
from ouzel.compiler.plan.program import Hints, Program, Reconcile
from ouzel.compiler.plan.rowwise import Filter, Project, Unnest
from ouzel.compiler.plan.sets import Union
from ouzel.compiler.plan.sinks import Sink, SinkMode
from ouzel.compiler.plan.sources import Scan, Watermark
from ouzel.compiler.plan.windows import AssignWindow, WindowKind

__all__ = [
    "NEVER_NULL",
    "UNBOUNDED",
    "WEIGHT",
    "Aggregate",
    "AggregateCall",
    "AssignWindow",
    "Emit",
    "EmitRule",
    "Filter",
    "FinalAggregate",
    "Hints",
    "Node",
    "PartialAggregate",
    "Program",
    "Project",
    "Reconcile",
    "Scan",
    "Sink",
    "SinkMode",
    "Union",
    "Unnest",
    "Watermark",
    "WindowKind",
    "Without",
    "walk",
]
