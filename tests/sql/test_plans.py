"""Every query in this folder has its logical plan beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.plan import Node, Program, walk
from ouzel.compiler.sql import compile_sql
from tests.sql.connectors import CONNECTORS, TABLES

QUERIES = sorted(Path(__file__).parent.glob("*.sql"))


def compile_file(path: Path) -> Program:
    """The program of a file; one that creates no table has the usual ones."""
    text = path.read_text()
    return compile_sql(text if "CREATE TABLE" in text else TABLES + text, CONNECTORS)


def shown(program: Program) -> str:
    """All sinks, with settings and hints if there are any."""
    extras = [program.settings, program.hints.parallelism, program.hints.grouping, program.explain]
    return "\n\n".join([*(str(sink) for sink in program.sinks), *(repr(extra) for extra in extras if extra)]) + "\n"


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_the_plan_is_as_before(path: Path, update_golden: bool) -> None:
    plan, golden = shown(compile_file(path)), path.with_suffix(".plan")
    if update_golden or not golden.exists():
        golden.write_text(plan)
    assert plan == golden.read_text(), "look at the difference; --update-golden writes it"


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_names_are_unique_and_expressions_read_what_is_there(path: Path) -> None:
    from ouzel.compiler.expressions import columns_of
    from ouzel.compiler.plan import Filter, Project

    def check(node: Node) -> None:
        assert len(set(node.schema.names)) == len(node.schema), node.label
        read = {
            name
            for expression in (
                [value for _, value in node.items]
                if isinstance(node, Project)
                else [node.predicate]
                if isinstance(node, Filter)
                else []
            )
            for name in columns_of(expression)
        }
        assert read <= set(node.inputs[0].schema.names if node.inputs else ()), node.label

    for sink in compile_file(path).sinks:
        for node in walk(sink):
            check(node)
