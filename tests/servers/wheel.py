"""Ouzel's wheel, built from a copy of the sources, so that nothing is left in the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_wheel(folder: Path) -> Path:
    """Build it into `folder`; the same sources give the same wheel, so that what was compiled of it is found again."""
    tree = folder / "tree"
    shutil.copytree(ROOT / "ouzel", tree / "ouzel", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1600000000"}
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True)
    (wheel,) = folder.glob("ouzel-*.whl")
    return wheel
