"""What the README says that `make reconcile` prints is what it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.server
@pytest.mark.spark
def test_make_reconcile_prints_what_the_readme_shows() -> None:
    block = re.search(r"make reconcile.*?```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    command = re.search(r"^\t@\$\(BIN\)/ouzel (reconcile .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert block
    assert command
    done = subprocess.run(
        [sys.executable, "-m", "ouzel", *command[1].split()], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == block[1]
