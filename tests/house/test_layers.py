"""Who may import whom. Imports only ever point down, and never go through the links at the root."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import LINKS, ROOT, package, python, short, tree

MAY_IMPORT = {
    "compiler": set(),  # never I/O, never a runtime
    "connectors": set(),  # never sees a plan
    "planner": {"compiler"},
    "runtime": {"planner", "compiler", "connectors"},
}
SHARED = {"errors"}
"""What every layer may import."""

NO_IO = {"socket", "asyncio", "subprocess", "threading", "multiprocessing", "grpc", "uvloop", "kazoo", "time", "random"}
"""What state machines do not know: sockets, threads, processes, clocks, dice."""


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module imported anywhere in the file, with its line; `from a import b` counts as a.b too."""
    for node in ast.walk(tree(path)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield node.lineno, module
                yield from ((node.lineno, f"{module}.{name.name}") for name in names)
            case ast.ImportFrom():
                yield node.lineno, "." * node.level + (node.module or "")


def layer(path: Path) -> str:
    """The folder under ouzel/ that the file is in, or empty for the package's own files."""
    parts = path.relative_to(ROOT / "ouzel").parts
    return parts[0] if len(parts) > 1 else ""


@pytest.mark.parametrize("path", [path for path in package() if layer(path) in MAY_IMPORT], ids=short)
def test_imports_point_down(path: Path) -> None:
    allowed = MAY_IMPORT[layer(path)] | SHARED | {layer(path)}
    for line, module in imports(path):
        parts = module.split(".")
        if parts[0] == "ouzel" and len(parts) > 1:
            assert parts[1] in allowed, (
                f"{short(path)}:{line} imports {module}; {layer(path)} may import {sorted(allowed)}"
            )


@pytest.mark.parametrize("path", python(), ids=short)
def test_no_import_goes_through_a_link_or_is_relative(path: Path) -> None:
    for line, module in imports(path):
        assert not module.startswith("."), f"{short(path)}:{line} imports {module}; write the whole name, from ouzel..."
        assert module.split(".")[0] not in LINKS, f"{short(path)}:{line} imports {module}; write ouzel.{module}"


@pytest.mark.parametrize("path", [p for p in package() if p.is_relative_to(ROOT / "ouzel/runtime/protocol")], ids=short)
def test_protocols_do_no_io(path: Path) -> None:
    for line, module in imports(path):
        assert module.split(".")[0] not in NO_IO, (
            f"{short(path)}:{line} imports {module}; a state machine gets time and news as arguments"
        )


@pytest.mark.parametrize("path", [p for p in package() if layer(p) in ("compiler", "planner")], ids=short)
def test_compiler_and_planner_do_no_io(path: Path) -> None:
    for line, module in imports(path):
        assert module.split(".")[0] not in NO_IO - {"random"}, (
            f"{short(path)}:{line} imports {module}; plans are made without I/O"
        )
    opens = [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"
    ]
    assert not opens, f"{short(path)}:{opens[0]} opens a file; plans are made without I/O"


@pytest.mark.parametrize("link", LINKS)
def test_links_at_the_root_point_to_the_four_parts(link: str) -> None:
    assert (ROOT / link).is_symlink()
    assert (ROOT / link).readlink() == Path("ouzel") / link
