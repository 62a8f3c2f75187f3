"""Capabilities are rows, not names: nothing outside ouzel/connectors/ asks which connector it has before it."""

from __future__ import annotations

import ast

from ouzel.connectors import BUILT_IN
from tests.house.source import ROOT, listed, nodes, package, short

MEAN_SOMETHING_ELSE = {
    ("ouzel/compiler/catalog.py", "result"): "the table of a trailing SELECT",
    ("ouzel/compiler/catalog.py", "values"): "the table of VALUES",
    ("ouzel/compiler/sql/statements/tables.py", "file"): "what to write for a name of Flink's",
    ("ouzel/compiler/sql/statements/tables.py", "datagen"): "what to write for a name of Flink's",
    ("ouzel/compiler/sql/statements/tables.py", "print"): "what to write for a name of Flink's",
    ("ouzel/cli/choices.py", "memory"): "an engine",
    ("ouzel/cli/loops.py", "memory"): "an engine",
    ("ouzel/session.py", "memory"): "an engine",
    ("ouzel/stores/merging.py", "memory"): "an engine",
    ("ouzel/dsl/sampling.py", "memory"): "an engine",
    ("ouzel/dsl/running.py", "memory"): "an engine",
    ("ouzel/dsl/stream.py", "values"): "what the method is called",
    ("ouzel/spark/lowering/job.py", "result"): "a name in the text of a job",
    ("ouzel/compiler/sql/queries/aggregation.py", "result"): "part of a hidden column's name",
}
"""Texts that are a connector's name and mean something else, by file."""


def test_no_connector_is_known_by_its_name() -> None:
    found = {
        (short(path), node.value): node.lineno
        for path in package()
        if not path.is_relative_to(ROOT / "ouzel/connectors")
        for node in nodes(path)
        if isinstance(node, ast.Constant) and node.value in BUILT_IN
    }
    wrong = [
        f"{path}:{line} says '{name}'; ask the connector's row"
        for (path, name), line in found.items()
        if (path, name) not in MEAN_SOMETHING_ELSE
    ]
    assert not wrong, listed(wrong)
    assert found.keys() >= MEAN_SOMETHING_ELSE.keys(), "an exception that is none any more goes"
