"""The package's own files, for the tests that read them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

LINKS = ("compiler", "planner", "runtime", "connectors")
"""Relative links at the root, signposts to the four parts."""


@cache
def tracked() -> tuple[Path, ...]:
    """All files that git tracks, or, where there is no git, all that are not in .gitignore's usual places."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout.split("\0")
        paths = [ROOT / name for name in names if name]
    except (OSError, subprocess.CalledProcessError):
        hidden = {".venv", "data", "build", "dist", "__pycache__"}
        paths = [
            path for path in ROOT.rglob("*") if not hidden & set(path.parts) and not path.parts[-1].startswith(".")
        ]
    return tuple(path for path in paths if path.is_file() and not path.is_symlink())


@cache
def package() -> tuple[Path, ...]:
    """Every Python file of the package that somebody wrote: no generated protobuf."""
    return tuple(path for path in sorted((ROOT / "ouzel").rglob("*.py")) if "_pb2" not in path.name)


@cache
def python() -> tuple[Path, ...]:
    """Every Python file of the repository that somebody wrote."""
    others = [path for path in tracked() if path.suffix == ".py" and "_pb2" not in path.name]
    return tuple(sorted({*others, *package()}))


@cache
def tree(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(), filename=str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in the file's syntax tree."""
    return tuple(ast.walk(tree(path)))


def short(path: Path) -> str:
    """The path from the root."""
    return str(path.relative_to(ROOT))


def listed(violations: Iterable[str]) -> str:
    """A line each, as a failing test shows them."""
    return "\n" + "\n".join(violations)
