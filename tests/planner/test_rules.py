"""Each rule by pairs in `rules/<rule>.sql`: a query, `=>`, and the plan that the rule alone makes of it.

`rules/all.sql` has what all rules together make. A pair without a plan is completed by `pytest --update-golden`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.catalog import ConnectorTraits
from ouzel.compiler.functions.known import with_own
from ouzel.compiler.functions.python import function
from ouzel.compiler.plan import Node
from ouzel.compiler.sql import compile_sql
from ouzel.explain.wording import node_text
from ouzel.planner.rules import RULES
from ouzel.planner.rules.combine_before_shuffle import combine_before_shuffle
from ouzel.planner.rules.cut_batches_short import cut_batches_short
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.fuse_python_steps import fuse_python_steps
from ouzel.planner.rules.keep_first_rows import keep_first_rows
from ouzel.planner.rules.leave_out_unasked_values import leave_out_unasked_values
from ouzel.planner.rules.share_equal_plans import share_equal_plans
from ouzel.planner.rules.share_panes import share_panes
from tests.sql.connectors import WRITTEN, read

FOLDER = Path(__file__).parent / "rules"
TABLES = (FOLDER / "tables.sql").read_text()
ALL_MODES = ("append", "upsert", "retract")
CONNECTORS = {
    "file": ConnectorTraits("file", read, WRITTEN, modes=ALL_MODES, filters=True),
    "kafka": ConnectorTraits("kafka", read, WRITTEN, modes=ALL_MODES),
    "result": ConnectorTraits("result", None, WRITTEN, modes=ALL_MODES),
}


def dag_of(query: str) -> Dag:
    program = compile_sql(TABLES + query, CONNECTORS)
    return Dag(program.sinks, frozenset({"file"}), program.hints)


def drawn(dag: Dag) -> str:
    seen: set[int] = set()
    return "\n".join(line for sink in dag.sinks for line in _lines(sink, 0, seen))


def _lines(node: Node, depth: int, seen: set[int]) -> Iterator[str]:
    again = "^ " if id(node) in seen else ""
    yield "  " * depth + again + " ".join(node_text(node))
    if not again:
        seen.add(id(node))
        shown = f"({', '.join(node.schema.names)})" if not node.inputs else ""
        if shown:
            yield "  " * (depth + 1) + shown
        for upstream in node.inputs:
            yield from _lines(upstream, depth + 1, seen)


def everything(dag: Dag) -> Dag:
    for rule in RULES:
        dag = rule(dag)
    return dag


STEPS = {rule.__name__: rule for rule in RULES if rule is not fuse_python_steps} | {  # no SQL has such steps: tests/dsl
    "cut_batches_short": lambda dag: cut_batches_short(keep_first_rows(dag)),  # of what keeps first rows
    "leave_out_unasked_values": leave_out_unasked_values,  # of a plan as it was written
    "share_equal_plans": share_equal_plans,  # of a plan as it was written
    "share_panes": lambda dag: share_panes(combine_before_shuffle(dag)),  # it looks only at partial aggregates
    "all": everything,
}


@pytest.mark.parametrize("name", STEPS)
def test_rule(name: str, update_golden: bool) -> None:
    path = FOLDER / f"{name}.sql"
    cases = path.read_text().strip().split("\n\n")
    made = []
    for case in cases:
        query = case.partition("\n=>\n")[0]
        made.append(f"{query}\n=>\n{drawn(STEPS[name](dag_of(query)))}")
    if update_golden:
        path.write_text("\n\n".join(made) + "\n")
    for case, after in zip(cases, made, strict=True):
        assert update_golden or after == case


@pytest.mark.parametrize("name", STEPS)
def test_a_rule_changes_nothing_the_second_time(name: str) -> None:
    for case in (FOLDER / f"{name}.sql").read_text().strip().split("\n\n"):
        once = STEPS[name](dag_of(case.partition("\n=>\n")[0]))
        assert drawn(STEPS[name](once)) == drawn(once)


@pytest.mark.parametrize("deterministic", [True, False])
def test_what_gives_something_else_each_time_is_computed_each_time(deterministic: bool) -> None:
    @function(["INT"], "INT", deterministic=deterministic)
    def dice(values: pl.Series) -> pl.Series:
        return values

    each = "(SELECT DICE(x) AS d, COUNT(*) AS n FROM u GROUP BY DICE(x))"
    query = f"SELECT p.n FROM {each} AS p JOIN {each} AS q ON p.d = q.d;"
    program = compile_sql(TABLES + query, CONNECTORS, with_own([dice]))
    counts = [node for node in share_equal_plans(Dag(program.sinks)).nodes() if node.component_name.startswith("count")]
    assert len(counts) == (1 if deterministic else 2)
