"""House style as tests: short files, functions that fit on a screen, types, a docstring on every public name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median, quantiles

from tests.house.source import listed, nodes, package, python, short, tree

FILE_LINES = 500
FUNCTION_LINES = 50
MEDIAN_LINES = 8
P90_LINES = 25
FIELDS_UNTOLD = 8
"""How many fields a record may have without a line for each in its docstring."""
BANNED_NAMES = {"utils", "util", "helpers", "helper", "misc", "common", "stuff", "tools"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[Function]:
    """Every function and method of the file."""
    return (node for node in nodes(path) if isinstance(node, Function))


def length(function: Function) -> int:
    """Lines from `def` to the last statement, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) and len(function.body) > 1:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_files_are_short() -> None:
    lengths = {short(path): len(path.read_text().splitlines()) for path in python()}
    long = [
        f"{name} has {lines} lines; cut it where its nouns part"
        for name, lines in lengths.items()
        if lines > FILE_LINES
    ]
    assert not long, listed(long)


def test_functions_fit_on_a_screen() -> None:
    long = [
        f"{short(path)}:{function.lineno} {function.name} has {length(function)} lines"
        for path in python()
        for function in functions(path)
        if length(function) > FUNCTION_LINES
    ]
    assert not long, listed(long)


def test_most_functions_are_small() -> None:
    lengths = [length(function) for path in package() for function in functions(path)]
    assert median(lengths) <= MEDIAN_LINES
    assert quantiles(lengths, n=10)[-1] <= P90_LINES


def test_public_names_have_docstrings() -> None:
    silent = [f"{short(path)} does not say what it is" for path in package() if not ast.get_docstring(tree(path))]
    silent += [
        f"{short(path)}:{node.lineno} {node.name} has no docstring" for path in package() for node in undocumented(path)
    ]
    assert not silent, listed(silent)


def undocumented(path: Path) -> Iterator[Function | ast.ClassDef]:
    """Public functions, classes and methods of the file that have no docstring and inherit none, nor have it from a protocol."""
    classes = [node for node in tree(path).body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    for owner in [tree(path), *classes]:
        for node in owner.body:
            if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_") or _overrides(node, owner):
                continue
            if isinstance(owner, ast.ClassDef) and node.name in declared():
                continue
            if not ast.get_docstring(node):
                yield node


@cache
def declared() -> frozenset[str]:
    """Methods of the package's protocols: whoever implements one does what the protocol says, and need not say it again."""
    protocols = [
        node
        for path in package()
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.dump(base) for base in node.bases)
    ]
    methods = [item for protocol in protocols for item in protocol.body if isinstance(item, Function)]
    return frozenset(method.name for method in methods if ast.get_docstring(method))


def _overrides(node: ast.AST, owner: ast.AST) -> bool:
    """A method of a class with bases may leave its doc to the base, and an overload to the implementation."""
    decorators = {getattr(item, "id", getattr(item, "attr", "")) for item in getattr(node, "decorator_list", [])}
    inherits = isinstance(owner, ast.ClassDef) and bool(owner.bases) and isinstance(node, Function)
    return inherits or bool(decorators & {"overload", "setter"})


def fields(record: ast.ClassDef) -> list[str]:
    """The fields of a dataclass or named tuple; none of another class."""
    is_record = any("dataclass" in ast.dump(one) for one in record.decorator_list) or any(
        "NamedTuple" in ast.dump(one) for one in record.bases
    )
    return [
        node.target.id
        for node in record.body
        if is_record and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id != "_"
    ]


def untold(record: ast.ClassDef) -> list[str]:
    """The fields of a large record that its docstring has no line for."""
    names, doc = fields(record), ast.get_docstring(record) or ""
    return [name for name in names if f"\n    {name}: " not in doc] if len(names) > FIELDS_UNTOLD else []


def test_each_field_of_a_large_record_has_a_line() -> None:
    wrong = [
        f"{short(path)}:{node.lineno} {node.name} has no line for {', '.join(names)} under Attributes:"
        for path in package()
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and (names := untold(node))
    ]
    assert not wrong, listed(wrong)


def test_a_field_without_a_line_is_found() -> None:
    told = "".join(f"\n    f{number}: its use.\n" for number in range(FIELDS_UNTOLD))
    body = "".join(f"    f{number}: int\n" for number in range(FIELDS_UNTOLD + 1))
    text = f'@dataclass\nclass Row:\n    """A row.\n\n    Attributes:{told.replace("    ", "        ")}    """\n{body}'
    row = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))
    assert untold(row) == [f"f{FIELDS_UNTOLD}"]


def test_files_are_named_by_nouns_of_the_domain() -> None:
    banned = [short(path) for path in package() if BANNED_NAMES & {path.stem, *path.parts}]
    assert not banned, f"name each after what it is about: {listed(banned)}"


def test_nothing_is_left_for_later() -> None:
    left = [
        f"{short(path)}:{number} {line.strip()}"
        for path in package()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if any(word in line for word in ("TODO", "FIXME", "XXX", "HACK"))
    ]
    left += [
        f"{short(path)}:{line} is unfinished; raise NotSupported with the reason"
        for path in package()
        for line in unfinished(path)
    ]
    assert not left, listed(left)


def unfinished(path: Path) -> Iterator[int]:
    """Lines that raise NotImplementedError in a function that does something besides."""
    for node in nodes(path):
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node):
            around = [f for f in functions(path) if f.lineno <= node.lineno <= (f.end_lineno or 0)]
            if any(len(f.body) > 2 for f in around):
                yield node.lineno
