"""The logical plan: one typed DAG for SQL and for the Python DSL. Frozen, without I/O; `str()` of a node is EXPLAIN LOGICAL.

Every node says everything about itself (`base.py`), and every backend has an entry or a refusal for every node (`tables.py`).
A stream that retracts carries one more column, `WEIGHT` (+1 or -1, a Z-set: Budiu et al., "DBSP", VLDB 2023); a stream that only
appends carries none and pays nothing. WEIGHT is never part of a node's schema.
"""

from ouzel.compiler.plan.aggregates import (
    Aggregate,
    AggregateCall,
    Emit,
    EmitRule,
    FinalAggregate,
    PartialAggregate,
)
from ouzel.compiler.plan.asof_join import AsofJoin
from ouzel.compiler.plan.base import (
    OWN_NAMES,
    UNBOUNDED,
    WEIGHT,
    Binary,
    Leaf,
    Node,
    RowWise,
    SameColumns,
    Step,
    Unary,
    identity_origins,
    keeps_rows,
    names_above,
    names_at_top,
    names_below,
    needs_routing,
    reads_for_itself,
    streamed_inputs,
    walk,
)
from ouzel.compiler.plan.distribution import ANY, BROADCAST, OWN, Distribution, DistributionKind, by_keys, single
from ouzel.compiler.plan.elements import GatherElements
from ouzel.compiler.plan.gathering import Gather
from ouzel.compiler.plan.interval_join import IntervalJoin
from ouzel.compiler.plan.joins import INPUT, LEFT_ONLY, PADDED, Join, JoinKind, RowTime
from ouzel.compiler.plan.late import DropsLate, LateRows, needed_columns
from ouzel.compiler.plan.lifetime import Lifetime, bounds_nothing
from ouzel.compiler.plan.ordered import SortKey
from ouzel.compiler.plan.over import FrameKind, Over, OverCall, WindowFrame
from ouzel.compiler.plan.program import Hints, Listing, Program, Reconcile
from ouzel.compiler.plan.python_steps import ApplyPython, Declared, NoneGiven, PythonStep, StepKind, StepPart
from ouzel.compiler.plan.rewriting import with_expressions
from ouzel.compiler.plan.rows import APPENDS, WEIGHTED, Changelog, RowRole
from ouzel.compiler.plan.rowwise import Filter, Project, ReadsElements, Unnest
from ouzel.compiler.plan.served import Served
from ouzel.compiler.plan.sessions import AssignSession
from ouzel.compiler.plan.sets import SetKind, SetOperation, Union
from ouzel.compiler.plan.side_join import SIDE_KINDS, SideJoin, describe_moving
from ouzel.compiler.plan.sinks import ADDED, MERGED, MERGED_BY, Sink, SinkMode, check_merged, choose_mode, sinks_in
from ouzel.compiler.plan.sources import Scan, Watermark, scans_in
from ouzel.compiler.plan.top_n import PartialTopN, TopN
from ouzel.compiler.plan.window_grid import WindowGrid, lay_grid
from ouzel.compiler.plan.windows import AddsWindow, AssignWindow, WindowKind

__all__ = [
    "ADDED",
    "ANY",
    "APPENDS",
    "BROADCAST",
    "INPUT",
    "LEFT_ONLY",
    "MERGED",
    "MERGED_BY",
    "OWN",
    "OWN_NAMES",
    "PADDED",
    "SIDE_KINDS",
    "UNBOUNDED",
    "WEIGHT",
    "WEIGHTED",
    "AddsWindow",
    "Aggregate",
    "AggregateCall",
    "ApplyPython",
    "AsofJoin",
    "AssignSession",
    "AssignWindow",
    "Binary",
    "Changelog",
    "Declared",
    "Distribution",
    "DistributionKind",
    "DropsLate",
    "Emit",
    "EmitRule",
    "Filter",
    "FinalAggregate",
    "FrameKind",
    "Gather",
    "GatherElements",
    "Hints",
    "IntervalJoin",
    "Join",
    "JoinKind",
    "LateRows",
    "Leaf",
    "Lifetime",
    "Listing",
    "Node",
    "NoneGiven",
    "Over",
    "OverCall",
    "PartialAggregate",
    "PartialTopN",
    "Program",
    "Project",
    "PythonStep",
    "ReadsElements",
    "Reconcile",
    "RowRole",
    "RowTime",
    "RowWise",
    "SameColumns",
    "Scan",
    "Served",
    "SetKind",
    "SetOperation",
    "SideJoin",
    "Sink",
    "SinkMode",
    "SortKey",
    "Step",
    "StepKind",
    "StepPart",
    "TopN",
    "Unary",
    "Union",
    "Unnest",
    "Watermark",
    "WindowFrame",
    "WindowGrid",
    "WindowKind",
    "bounds_nothing",
    "by_keys",
    "check_merged",
    "choose_mode",
    "describe_moving",
    "identity_origins",
    "keeps_rows",
    "lay_grid",
    "names_above",
    "names_at_top",
    "names_below",
    "needed_columns",
    "needs_routing",
    "reads_for_itself",
    "scans_in",
    "single",
    "sinks_in",
    "streamed_inputs",
    "walk",
    "with_expressions",
]
