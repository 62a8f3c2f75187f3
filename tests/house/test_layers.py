"""Who may import whom. Imports only ever point down, and never go through the links at the root."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.house.source import LINKS, ROOT, listed, nodes, package, python, short

MAY_IMPORT = {
    "compiler": set(),  # never I/O, never a runtime
    "connectors": set(),  # never sees a plan
    "monoid": {"compiler"},
    "testing": {"monoid"},
    "planner": {"compiler"},
    "runtime": {"planner", "compiler", "connectors"},
    "spark.lowering": {"compiler", "planner"},  # the text of jobs; never runs one
    "explain": {"compiler", "planner", "spark.lowering"},
    "traits": {"compiler", "connectors"},
    "listings": {"compiler", "planner", "connectors"},
    "job": {"compiler", "planner", "explain", "connectors", "traits", "listings", "runtime"},
    "spark": {"compiler", "planner", "connectors", "runtime", "spark.lowering", "job", "traits"},
    "session": {"job", "planner", "runtime", "spark"},  # starts a job on any engine
    "tracker": {"compiler", "planner", "connectors", "runtime"},  # reads submitted topologies; what changes one is a command
    "stores": {"compiler", "connectors", "monoid", "planner", "job", "entry", "spark", "traits"},
    "dsl": {
        "compiler", "planner", "connectors", "runtime", "monoid", "explain", "spark", "spark.lowering", "job", "session", "entry",
        "reconcile",
    },
    "reconcile": {
        "compiler", "planner", "connectors", "runtime", "spark", "spark.lowering", "explain", "job", "session", "traits",
    },
}  # fmt: skip
"""The parts of the house, and which of them each may import. A part within a part is one of its own."""
SHARED = {
    "callers", "uncalled", "errors", "descriptors", "files", "interrupts", "lists", "loops", "exits", "printable", "spans",
}  # fmt: skip
"""What every layer may import."""

MADE_OF_EACH_OTHER = {
    ("ouzel.compiler.expressions", "ouzel.compiler.functions.registry"): (
        "a call holds its function where that is the user's, and a function's rule of types looks at the expressions it is given"
    ),
    ("ouzel.compiler.plan.base", "ouzel.compiler.plan.aggregates"): (
        "each node is asked which GROUP BY its rows are the result of, and a GROUP BY is a node"
    ),
    ("ouzel.runtime.simulator.cluster.processes", "ouzel.runtime.simulator.cluster.cluster"): (
        "a cluster starts its processes, and each asks the cluster for its peers, the time and chance: what the machine is to a real one"
    ),
    ("ouzel.runtime.simulator.cluster.updating", "ouzel.runtime.simulator.cluster.cluster"): (
        "a cluster carries out an update, whose steps end and start its processes"
    ),
}
"""Imports for type checkers alone, so that no module needs the other to be imported first; by importer and imported, why both ways are."""

NAMED = re.compile(r"(ouzel(?:\.\w+)+)(?::\w*)?")
"""A string that names a module, or something in one: what is imported by it when it is needed."""

NAMED_ABOVE = {
    (
        "ouzel/connectors/hybrid.py",
        "ouzel.stores.hybrid",
    ): "a table that stands for two stores, which are above connectors",
}
"""By file and module, what is named in a string though it may not be imported, and why."""

PLANS = ("compiler", "planner", "spark.lowering", "explain")
"""Parts that make plans and texts of them, without I/O."""

NO_IO = {"socket", "asyncio", "subprocess", "threading", "multiprocessing", "grpc", "uvloop", "kazoo", "time", "random"}
"""What state machines do not know: sockets, threads, processes, clocks, dice."""


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Every module imported anywhere in the file, with its line; `from a import b` counts as a.b too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes(path):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield node.lineno, module
                yield from ((node.lineno, f"{module}.{name.name}") for name in names)
            case ast.ImportFrom():
                yield node.lineno, "." * node.level + (node.module or "")


def modules(path: Path, known: Collection[str]) -> set[str]:
    """The modules that the file imports; of `from package import module` the module, not the package."""
    found = [(line, module) for line, module in imports(path) if module in known]
    packages = {(line, module.rpartition(".")[0]) for line, module in found}
    return {module for line, module in found if (line, module) not in packages}


def layer(path: Path) -> str:
    """The part that the file is in; a file of the package's own is one by its name."""
    return part(".".join(path.relative_to(ROOT).with_suffix("").parts))


def part(module: str) -> str:
    """The part that a module is in: the longest name that has a row, else the folder or file under ouzel/."""
    names = module.split(".")[1:]
    return next((name for n in (2, 1) if (name := ".".join(names[:n])) in MAY_IMPORT), names[0])


def test_imports_point_down() -> None:
    wrong = [
        f"{short(path)}:{line} imports {module}; {layer(path)} may import {sorted(MAY_IMPORT[layer(path)] | SHARED)}"
        for path in package()
        if layer(path) in MAY_IMPORT
        for line, module in imports(path)
        if module.startswith("ouzel.") and part(module) not in MAY_IMPORT[layer(path)] | SHARED | {layer(path)}
    ]
    assert not wrong, listed(wrong)


def named(path: Path) -> Iterator[tuple[int, str]]:
    """The modules that strings of the file name, with their lines: `ouzel.a.b`, `ouzel.a.b:name`."""
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := NAMED.fullmatch(node.value)):
            home = ROOT.joinpath(*found.group(1).split(".")[:2])
            if home.exists() or home.with_suffix(".py").exists():
                yield node.lineno, found.group(1)


def test_strings_that_are_imported_point_down_too() -> None:
    found = {
        (short(path), module): line
        for path in package()
        if layer(path) in MAY_IMPORT
        for line, module in named(path)
        if part(module) not in MAY_IMPORT[layer(path)] | SHARED | {layer(path)}
    }
    wrong = [
        f"{path}:{line} names {module} in a string; let the upper layer register it, or say in NAMED_ABOVE why not"
        for (path, module), line in found.items()
        if (path, module) not in NAMED_ABOVE
    ]
    gone = [
        f"{path} no longer names {module}: take it out of NAMED_ABOVE"
        for path, module in NAMED_ABOVE.keys() - found.keys()
    ]
    assert not wrong + gone, listed(wrong + gone)


def test_no_module_imports_itself_by_way_of_others() -> None:
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in package()
    }
    graph = {
        name: {module for module in modules(path, names.keys()) if (name, module) not in MADE_OF_EACH_OTHER}
        - {name, "ouzel"}
        for name, path in names.items()
        if name != "ouzel"  # the front of the package, which offers names of many
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" is imported by ".join(error.args[1]))


def test_no_import_goes_through_a_link_or_is_relative() -> None:
    wrong = [
        f"{short(path)}:{line} imports {module}; write the whole name, from ouzel..."
        for path in python()
        for line, module in imports(path)
        if module.startswith(".") or module.split(".")[0] in LINKS
    ]
    assert not wrong, listed(wrong)


def test_state_machines_and_plans_do_no_io() -> None:
    forbidden = {
        **{path: NO_IO for path in package() if path.is_relative_to(ROOT / "ouzel/runtime/protocol")},
        **{path: NO_IO - {"random"} for path in package() if layer(path) in PLANS},
    }
    wrong = [
        f"{short(path)}:{line} imports {module}; it gets time and news as arguments"
        for path, names in forbidden.items()
        for line, module in imports(path)
        if module.split(".")[0] in names
    ]
    assert not wrong, listed(wrong)


def test_compiler_and_planner_open_no_files() -> None:
    wrong = [
        f"{short(path)}:{node.lineno} opens a file; plans are made without I/O"
        for path in package()
        if layer(path) in PLANS
        for node in nodes(path)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"
    ]
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("link", LINKS)
def test_links_at_the_root_point_to_the_four_parts(link: str) -> None:
    assert (ROOT / link).is_symlink()
    assert (ROOT / link).readlink() == Path("ouzel") / link
