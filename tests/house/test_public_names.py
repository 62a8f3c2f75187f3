"""What `import ouzel` offers, and that it costs nothing until it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence

import pytest

import ouzel
from ouzel import errors
from tests.house.source import ROOT, tree

PUBLIC = {
    "BadRecord", "BadRecordPolicy", "BasicBolt", "Batch", "Bolt", "Collector", "ConnectorError", "Context", "Delivery", "Expr",
    "Grouping", "GroupingKind", "Handle", "Job", "NotSupported", "OuzelError", "PlanError", "QueryError", "Resources",
    "RowBolt", "RowSpout", "RunState", "Settings", "Sink", "Source", "Spout", "Status", "StepOptions", "Store", "Stream",
    "SubmissionError", "Topology", "TopologyBuilder", "TopologyError", "attach", "col", "column_function", "counter", "fn", "function",
    "lit", "query", "run", "schema", "start", "submit", "table",
    "update",
}  # fmt: skip
"""Whoever takes a name out of here breaks somebody's program."""

HEAVY = ("polars", "pyarrow", "numba", "sqlglot", "lark", "grpc", "pyspark")


def test_public_names() -> None:
    assert set(ouzel.__all__) == PUBLIC
    assert list(ouzel.__all__) == sorted(ouzel.__all__)


def test_public_names_exist_and_are_documented() -> None:
    assert not [name for name in PUBLIC if not getattr(ouzel, name).__doc__ or name not in dir(ouzel)]


def test_type_checkers_see_the_same_names() -> None:
    block = next(node for node in tree(ROOT / "ouzel/__init__.py").body if isinstance(node, ast.If))
    names = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names == PUBLIC


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ouzel' has no attribute 'Sprout'"):
        ouzel.Sprout  # noqa: B018


def test_errors_are_the_tree_their_module_draws() -> None:
    drawn = (errors.__doc__ or "").splitlines()
    depths = {line.split()[0]: len(line) - len(line.lstrip()) for line in drawn[2:] if line.strip()}
    classes = {
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert set(depths) == set(classes)
    for name, kind in classes.items():
        assert depths[name] == 2 * (len(kind.mro()) - len(Exception.mro()) - 1), name


def test_importing_loads_nothing_heavy() -> None:
    modules = ["ouzel", "ouzel.cli.main", "ouzel.errors", "ouzel.planner.settings", "ouzel.runtime.run"]
    assert loaded([(f"import {module}", HEAVY) for module in modules]) == [[]] * len(modules)


def test_the_commands_know_their_options_without_what_carries_them_out() -> None:
    """`ouzel --help`, and every command before it has read its query."""
    absent = (
        "ouzel.compiler.plan",
        "rich.console",
        "importlib.metadata",
        "ouzel.connectors",
        "ouzel.session",
        "ouzel.cli.answer",
        "ouzel.cli.jobs",
    )
    assert loaded([("import ouzel.cli.main", absent)]) == [[]]


EXPLAINS = """
from ouzel.explain import explain
explain(job.program, job.topology, job.packing)
"""


def test_a_plan_is_explained_without_what_shows_programs_or_asks_servers() -> None:
    absent = ("numba", "grpc", "pygments", "urllib.request", "ouzel.spark")
    assert loaded([(PLANS + EXPLAINS, absent)]) == [[]]


def loaded(steps: Sequence[tuple[str, tuple[str, ...]]]) -> list[list[str]]:
    """What each piece of code leaves loaded of the modules beside it, run one after the other in a process of their own."""
    lines = (f"{code}\nprint([name for name in {absent} if name in sys.modules])" for code, absent in steps)
    code = "\n".join(["import sys", *lines])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return [ast.literal_eval(line) for line in run.stdout.splitlines()]


PLANS = "from pathlib import Path; from ouzel.session import load; job = load(Path('sql_examples/flight_delays.sql'))"
READS = """
from ouzel.runtime.tasks.factory import TaskContext, make_task
task = next(task for task in job.topology.tasks() if job.topology.component(task.component).is_spout)
make_task(task, TaskContext(job.topology, Path('sql_examples'))).poll(1)
"""
NESTED = """
import polars as pl
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.json.format import JsonDecoder
columns = {"a": pl.Struct({"x": pl.Int64(), "f": pl.Float64(), "b": pl.Boolean()}), "l": pl.List(pl.Int32())}
records = [b'{"a": {"x": 1, "f": 2.5, "b": true}, "l": [1, null]}', b'{"a": {"x": null, "f": null, "b": null}}']
assert JsonDecoder({}, columns, frozenset()).decode(Records.of(records)).frame.height == 2
"""


def test_what_takes_long_to_import_is_left_to_those_who_need_it() -> None:
    steps = [
        (PLANS, ("numba", "grpc", "pandas._libs", "pyspark")),
        (READS, ("pandas._libs", "pyspark")),
        (NESTED, ("pandas._libs",)),
    ]
    assert loaded(steps) == [[]] * len(steps)
