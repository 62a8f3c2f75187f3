"""Capabilities are rows, not names: nothing outside ouzel/connectors/ asks which connector it has before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ouzel.connectors import BUILT_IN
from tests.house.source import ROOT, listed, nodes, package, short

MEAN_SOMETHING_ELSE = {
    ("ouzel/session.py", "memory"): "an engine",
    ("ouzel/compiler/sql/syntax/foreign_streams.py", "kafka"): "a format of ksqlDB",
}
"""Texts that are a connector's name and mean something else, by file."""


def asked(path: Path) -> Iterator[ast.Constant]:
    """Constants that the file compares something with, looks up, or has as keys of a table."""
    for node in nodes(path):
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from constants(left, *others)
            case ast.MatchValue(value=value) | ast.Subscript(slice=value):
                yield from constants(value)
            case ast.Dict(keys=keys):
                yield from constants(*(key for key in keys if key))


def constants(*found: ast.expr) -> Iterator[ast.Constant]:
    """The constants among these expressions, or in their tuples, lists and sets."""
    for each in found:
        match each:
            case ast.Constant():
                yield each
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                yield from constants(*elements)


def test_no_connector_is_known_by_its_name() -> None:
    found = {
        (short(path), node.value): node.lineno
        for path in package()
        if not path.is_relative_to(ROOT / "ouzel/connectors")
        for node in asked(path)
        if node.value in BUILT_IN
    }
    wrong = [
        f"{path}:{line} asks for '{name}'; ask the connector's row"
        for (path, name), line in found.items()
        if (path, name) not in MEAN_SOMETHING_ELSE
    ]
    assert not wrong, listed(wrong)
    assert found.keys() >= MEAN_SOMETHING_ELSE.keys(), "an exception that is none any more goes"


def test_what_is_compared_is_found_and_what_is_only_written_is_not(tmp_path: Path) -> None:
    path = tmp_path / "asks.py"
    path.write_text(
        "x = 'kafka'\nif name == 'file' or name in ('print', 'values'):\n    match y:\n        case 'redis':\n            TABLE['memory']\n"
    )
    assert sorted(node.value for node in asked(path)) == ["file", "memory", "print", "redis", "values"]
