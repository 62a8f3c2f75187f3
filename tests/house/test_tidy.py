"""House style as tests: short files, functions that fit on a screen, types, a docstring on every public name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest

from tests.house.source import package, python, short, tree

FILE_LINES = 500
FUNCTION_LINES = 50
MEDIAN_LINES = 8
P90_LINES = 25
BANNED_NAMES = {"utils", "util", "helpers", "helper", "misc", "common", "stuff", "tools"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[Function]:
    """Every function and method of the file."""
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def length(function: Function) -> int:
    """Lines from `def` to the last statement, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) and len(function.body) > 1:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


@pytest.mark.parametrize("path", python(), ids=short)
def test_a_file_is_short(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= FILE_LINES, f"{short(path)} has {lines} lines; cut it where its nouns part"


@pytest.mark.parametrize("path", python(), ids=short)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    for function in functions(path):
        assert length(function) <= FUNCTION_LINES, (
            f"{short(path)}:{function.lineno} {function.name} has {length(function)} lines"
        )


def test_most_functions_are_small() -> None:
    lengths = [length(function) for path in package() for function in functions(path)]
    assert median(lengths) <= MEDIAN_LINES
    assert quantiles(lengths, n=10)[-1] <= P90_LINES


@pytest.mark.parametrize("path", package(), ids=short)
def test_public_names_have_docstrings(path: Path) -> None:
    assert ast.get_docstring(tree(path)), f"{short(path)} does not say what it is"
    for owner in [tree(path), *(node for node in tree(path).body if isinstance(node, ast.ClassDef))]:
        if isinstance(owner, ast.ClassDef) and owner.name.startswith("_"):
            continue
        for node in owner.body:
            if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_") or _overrides(node, owner):
                continue
            assert ast.get_docstring(node), f"{short(path)}:{node.lineno} {node.name} has no docstring"


def _overrides(node: ast.AST, owner: ast.AST) -> bool:
    """A method of a class with bases may leave its doc to the base, and an overload to the implementation."""
    decorators = {getattr(item, "id", getattr(item, "attr", "")) for item in getattr(node, "decorator_list", [])}
    inherits = isinstance(owner, ast.ClassDef) and bool(owner.bases) and isinstance(node, Function)
    return inherits or bool(decorators & {"overload", "setter"})


@pytest.mark.parametrize("path", package(), ids=short)
def test_files_are_named_by_nouns_of_the_domain(path: Path) -> None:
    assert not BANNED_NAMES & {path.stem, *path.parts}, f"{short(path)}: name it after what it is about"


@pytest.mark.parametrize("path", package(), ids=short)
def test_nothing_is_left_for_later(path: Path) -> None:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        assert not any(word in line for word in ("TODO", "FIXME", "XXX", "HACK")), (
            f"{short(path)}:{number} {line.strip()}"
        )
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node):
            around = [f for f in functions(path) if f.lineno <= node.lineno <= (f.end_lineno or 0)]
            assert all(len(f.body) <= 2 for f in around), (
                f"{short(path)}:{node.lineno} is unfinished; raise NotSupported with the reason"
            )
