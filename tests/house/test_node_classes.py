"""A node says what it is: who asks for its class instead forgets the class that is written tomorrow.

A question that a node must answer stands in ouzel/compiler/plan/base.py, a backend's answer for each class in a table of
ouzel/compiler/plan/tables.py, in which a class that is missing is an error. A rule may name the class that it rewrites; nothing may list
classes to ask what they mean. Every test of a class is counted here, by file, and so is every list of classes; the numbers may only go
down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import ouzel.reconcile.explaining.behind
import ouzel.reconcile.explaining.exclusion
import ouzel.spark.lowering.streaming_nodes  # noqa: F401  which define nodes of their own
from ouzel.compiler.plan import Node
from tests.house.source import ROOT, listed, nodes, package, short

ALLOWED = {
    "the binder asks what it has just made itself, and refuses what it does not find": {
        "ouzel/compiler/sql/queries/aggregate_calls.py": 3,
        "ouzel/compiler/sql/queries/elements.py": 1,
        "ouzel/compiler/sql/queries/emit_rules.py": 1,
        "ouzel/compiler/sql/queries/hardly_meant.py": 3,
        "ouzel/compiler/sql/queries/intervals.py": 8,
        "ouzel/compiler/sql/queries/joins.py": 2,
        "ouzel/compiler/sql/queries/lookups.py": 1,
        "ouzel/compiler/sql/queries/scope.py": 1,
        "ouzel/compiler/sql/queries/sets.py": 1,
        "ouzel/compiler/sql/queries/sides.py": 1,
        "ouzel/compiler/sql/queries/ttl.py": 1,
        "ouzel/compiler/sql/statements/late.py": 2,
        "ouzel/compiler/sql/statements/sinks.py": 16,
        "ouzel/dsl/options.py": 3,
        "ouzel/dsl/plan.py": 3,
    },
    "it rewrites nodes of the class that it names; what is no such node stays as it is, which is right, too": {
        "ouzel/planner/rules/align_union_branches.py": 2,
        "ouzel/planner/rules/combine_before_shuffle.py": 2,
        "ouzel/planner/rules/cut_batches_short.py": 5,
        "ouzel/planner/rules/distribute_over_unions.py": 1,
        "ouzel/planner/rules/drop_unused_watermarks.py": 1,
        "ouzel/planner/rules/fold_constants.py": 2,
        "ouzel/planner/rules/fuse_projections.py": 4,
        "ouzel/planner/rules/fuse_python_steps.py": 2,
        "ouzel/planner/rules/keep_first_rows.py": 2,
        "ouzel/planner/rules/leave_out_unasked_values.py": 5,
        "ouzel/planner/rules/order_joins.py": 6,
        "ouzel/planner/rules/push_filters_to_sources.py": 3,
        "ouzel/planner/rules/remove_trivial_projects.py": 2,
        "ouzel/planner/rules/share_equal_plans.py": 1,
        "ouzel/planner/rules/share_panes.py": 3,
        "ouzel/planner/small_tables.py": 3,
        "ouzel/reconcile/comparing/lineage.py": 1,
        "ouzel/reconcile/explaining/late.py": 2,
        "ouzel/spark/lowering/batch_plan.py": 8,
        "ouzel/spark/lowering/group_sessions.py": 5,
        "ouzel/spark/lowering/sort_less.py": 2,
        "ouzel/spark/lowering/state_nodes.py": 1,
        "ouzel/spark/lowering/state_plan.py": 3,
        "ouzel/spark/lowering/streaming_plan.py": 10,
    },
    "its subject is tables: what is read, its event time, and what is written": {
        "ouzel/planner/build.py": 1,
        "ouzel/planner/evolution.py": 2,
        "ouzel/planner/rescaling.py": 4,
        "ouzel/reconcile/explaining/come.py": 1,
        "ouzel/runtime/cluster/local.py": 2,
        "ouzel/runtime/tasks/compiled.py": 6,
        "ouzel/runtime/tasks/sides.py": 5,
        "ouzel/spark/batch/offsets.py": 1,
        "ouzel/spark/lowering/job.py": 3,
        "ouzel/spark/streaming/limits.py": 1,
    },
    "words for people, or how a job is laid out: what is not listed has a plainer form": {
        "ouzel/explain/sections.py": 2,
        "ouzel/explain/wording.py": 2,
        "ouzel/planner/differences.py": 5,
        "ouzel/planner/endless.py": 2,
        "ouzel/runtime/run.py": 1,
        "ouzel/spark/lowering/batch_nodes.py": 5,
        "ouzel/spark/lowering/python_steps.py": 2,
        "ouzel/spark/lowering/statements.py": 16,
        "ouzel/spark/lowering/streaming.py": 2,
    },
    "a proof about the classes that it lists: of any other it proves nothing, and says so": {
        "ouzel/planner/meaning.py": 16,
        "ouzel/reconcile/comparing/cut.py": 1,
        "ouzel/reconcile/comparing/extent.py": 8,
        "ouzel/reconcile/explaining/behind.py": 14,
        "ouzel/reconcile/explaining/bounds.py": 2,
        "ouzel/stores/columns.py": 3,
    },
}
"""By reason, and by file, how many tests of a node's class there are."""

LISTS = {
    "the binder looks at what it has just made, and a node that it does not know takes the stricter way": {
        "ouzel/compiler/sql/queries/intervals.py": 1,
        "ouzel/compiler/sql/queries/scope.py": 1,
        "ouzel/compiler/sql/statements/sinks.py": 3,
    },
    "a table as it was declared keeps its name, and anything else may be renamed": {
        "ouzel/planner/rules/remove_trivial_projects.py": 1,
    },
    "a table of what is proved, in which a class that is missing proves nothing": {
        "ouzel/reconcile/comparing/extent.py": 1,
    },
    "words for people: of a node that is not listed nothing is said": {
        "ouzel/planner/endless.py": 1,
    },
    "its subject is tables, read and written": {
        "ouzel/runtime/cluster/local.py": 1,
    },
}
"""By reason, and by file, how many of these tests are of several classes at once; no other file may have one."""


def families(kind: type[Node] = Node) -> Iterator[type[Node]]:
    """All classes of nodes of the package, and those that they have in common."""
    for below in kind.__subclasses__():
        yield below
        yield from families(below)


CLASSES = {kind.__name__: kind.__module__ for kind in families() if kind.__module__.startswith("ouzel.")}
MODULES = {"ouzel.compiler.plan", *CLASSES.values()}


def classes_in(path: Path) -> dict[str, int]:
    """What the file calls a class of nodes, or several of them, and how many it means."""
    found = {
        name.asname or name.name
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
        for name in node.names
        if name.name in CLASSES
    }
    found |= {node.name for node in nodes(path) if isinstance(node, ast.ClassDef) and node.name in CLASSES}
    found |= {node.attr for node in nodes(path) if isinstance(node, ast.Attribute) and named(node)} & CLASSES.keys()
    meant = dict.fromkeys(found, 1)
    for node in nodes(path):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple | ast.BinOp) and named(node.value) & found:
            meant |= dict.fromkeys(set().union(*map(named, node.targets)), len(named(node.value) & found))
    return meant


def named(expression: ast.AST) -> set[str]:
    """The names in an expression that is one name, or several in a tuple or with | between them."""
    match expression:
        case ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return set().union(*map(named, parts))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return named(left) | named(right)
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="plan"), attr=name):
            return {name}
    return set()


def asked(node: ast.AST) -> set[str]:
    """The names of which one is to be the class of something."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
            return named(kinds)
        case ast.MatchClass(cls=kind):
            return named(kind)
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=[kinds]):
            return named(kinds)
        case ast.FunctionDef(
            args=ast.arguments(args=[ast.arg(annotation=ast.AST() as kinds), *_]), decorator_list=[by, *_]
        ):
            made = by.func if isinstance(by, ast.Call) else by
            return named(kinds) if isinstance(made, ast.Attribute) and made.attr == "register" else set()
    return set()


def lines_that_ask(path: Path, least: int = 1) -> list[int]:
    """The lines on which the file asks for the class of a node, and names at least so many for one answer."""
    classes = classes_in(path)
    asking = ((node, sum(classes.get(name, 0) for name in asked(node))) for node in nodes(path))
    return sorted(getattr(node, "lineno", 0) for node, count in asking if count >= least)


@cache
def files_that_ask(least: int) -> dict[str, list[int]]:
    """The files outside the plan that ask for at least so many classes at once, and the lines."""
    outside = (path for path in package() if not path.is_relative_to(ROOT / "ouzel/compiler/plan"))
    return {short(path): lines for path in outside if (lines := lines_that_ask(path, least))}


def check_counts(found: Mapping[str, list[int]], allowed: Mapping[str, int], what: str, table: str) -> None:
    """See that each file does so as often as the table says, neither more nor less."""
    more = [
        f"{path} {what} {len(lines)} times and may {allowed.get(path, 0)} times (lines {lines}); ask a question "
        "that every node answers, see ouzel/compiler/plan/base.py, or make a table, see tables.py there"
        for path, lines in found.items()
        if len(lines) > allowed.get(path, 0)
    ]
    assert not more, listed(more)
    less = [f"{path}: {len(found.get(path, ()))}" for path, most in allowed.items() if len(found.get(path, ())) < most]
    assert not less, listed([f"there are fewer now; lower the numbers in {table}:", *less])


def test_nobody_asks_for_the_class_of_a_node() -> None:
    allowed = {path: count for files in ALLOWED.values() for path, count in files.items()}
    check_counts(files_that_ask(1), allowed, "asks for the class of a node", "ALLOWED")


def test_nobody_lists_classes_of_nodes() -> None:
    allowed = {path: count for files in LISTS.values() for path, count in files.items()}
    check_counts(files_that_ask(2), allowed, "lists classes of nodes", "LISTS")


def test_what_asks_for_a_class_is_found(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(
        "from ouzel.compiler import plan\n"
        "from ouzel.compiler.plan import Filter as F, Join, Scan\n"
        "from sqlglot.exp import Union\n"
        "KEEPS = (Join, int)\n"
        "isinstance(node, F | Scan)\n"
        "isinstance(node, plan.Over)\n"
        "isinstance(node, KEEPS)\n"
        "type(node) is Join\n"
        "match node:\n"
        "    case Scan(table=name):\n"
        "        pass\n"
        "isinstance(node, Union)\n"
        "@trace.register\n"
        "def _(node: Scan | Join, name): ...\n"
    )
    assert lines_that_ask(tmp_path / "asks.py") == [5, 6, 7, 8, 10, 14]
    assert lines_that_ask(tmp_path / "asks.py", least=2) == [5, 14]
