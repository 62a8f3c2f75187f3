"""A name means one thing: no two modules of the package define a class, a type or a function of the same public name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import listed, package, short, tree

SEVERAL = {"Watermark"}
"""Names that several modules define, each for what it is there: entry points and what both engines have."""


def defined(path: Path) -> Iterator[str]:
    """The public classes and types that a module defines."""
    for node in tree(path).body:
        match node:
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def test_no_two_types_have_one_name() -> None:
    homes = defaultdict(list)
    for path in package():
        for name in defined(path):
            if name[0].isupper() and not name.isupper():
                homes[name].append(short(path))
    wrong = [f"{name}: {', '.join(paths)}" for name, paths in sorted(homes.items()) if len(paths) > 1]
    assert {line.split(":")[0] for line in wrong} <= SEVERAL, listed(wrong)
    assert {name for name, paths in homes.items() if len(paths) > 1} == SEVERAL, (
        "an exception that is none any more goes"
    )
