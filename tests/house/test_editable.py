"""What docs/install.md says of an editable install: with one option checkers of types find the package, without it Python alone does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.house.source import ROOT

BUILD = "import sys; from setuptools.build_meta import build_editable; print(build_editable(sys.argv[1], {settings}))"

FOUND = """
import sys
import mypy.main  # the modules of mypy are compiled, and import each other in this order alone
from mypy.modulefinder import FindModuleCache, compute_search_paths
from mypy.options import Options

options = Options()
options.python_executable = sys.argv[1]
paths = compute_search_paths([], options, mypy.__path__[0])
found = FindModuleCache(paths, None, options).find_module("ouzel")
print(found if isinstance(found, str) else "")
"""


def run(*command: str | Path, place: Path) -> str:
    """What a program prints, which finds no Ouzel by its folder or environment."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([*map(str, command)], cwd=place, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("settings", "is_found"), [({"editable_mode": "compat"}, True), ({}, False)], ids=str)
def test_a_checker_finds_the_types_of_an_editable_install(
    settings: dict[str, str], is_found: bool, tmp_path: Path
) -> None:
    clone, empty = tmp_path / "clone", tmp_path / "empty"
    empty.mkdir()
    shutil.copytree(ROOT / "ouzel", clone / "ouzel", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    built = run(sys.executable, "-c", BUILD.format(settings=settings), tmp_path, place=clone).splitlines()[-1]
    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    zipfile.ZipFile(tmp_path / built).extractall(site)
    python = tmp_path / "venv" / "bin" / "python"
    where = "import importlib.util as u; print(u.find_spec('ouzel').origin)"
    assert run(python, "-c", where, place=empty) == str(clone / "ouzel" / "__init__.py"), "Python finds it anyhow"
    found = run(sys.executable, "-c", FOUND, python, place=empty)
    assert found == (str(clone / "ouzel" / "__init__.py") if is_found else "")
