"""A name means one thing: no two modules of the package define a class, a type or a function of the same public name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import listed, package, short, tree

SEVERAL = {"Sink", "Source", "Stream", "Watermark", "explain", "main", "reconcile", "run", "start"}
"""A node of the plan and the message that carries its time; commands, and what a Python program calls for the same, and for its tables."""


def defined(path: Path) -> Iterator[str]:
    """The public classes, types and functions that a module defines; constants are written in capitals."""
    for node in tree(path).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if (
                not name.isupper()
            ):
                yield name


def test_a_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for path in package():
        for name in defined(path):
            if not name.startswith("_"):
                homes[name].append(short(path))
    several = {name: paths for name, paths in homes.items() if len(paths) > 1}
    wrong = [f"{name}: {', '.join(paths)}" for name, paths in several.items() if name not in SEVERAL]
    assert not wrong, listed(wrong)
    assert several.keys() == SEVERAL, "an exception that is none any more goes"
