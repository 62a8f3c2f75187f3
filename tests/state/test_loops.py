"""Where compiled loops are kept when neither their source's folder nor a home can be written to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ouzel import loops
from tests.house.source import ROOT

SOURCE = """
from numba import types

from ouzel.runtime.state.kernels import kernel


@kernel(types.int64(types.int64))
def twice(number):
    return 2 * number
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A module with a loop."""
    (tmp_path / "tree").mkdir()
    path = tmp_path / "tree" / "doubling.py"
    path.write_text(SOURCE)
    return path


def test_without_a_home_and_a_checkout_that_can_be_written_to_loops_are_kept_among_temporary_files(
    source: Path,
) -> None:
    (source.parent / "__pycache__").write_text("no folder can be made here, not even by root")
    temporary = source.parent.parent / "temporary"
    temporary.mkdir()
    code = "import doubling; print(doubling.twice(4), sum(doubling.twice.stats.cache_hits.values()))"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    environment |= {"HOME": "/dev/null", "TMPDIR": str(temporary), "PYTHONPATH": f"{source.parent}:{ROOT}"}
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
        for _ in range(2)
    ]
    assert [(each.returncode, each.stdout) for each in said] == [(0, "8 0\n"), (0, "8 1\n")], said
    (kept,) = temporary.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o700


def test_what_was_compiled_with_the_installation_is_found_from_elsewhere(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _loaded(source).twice(1) == 2
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setattr(loops, "is_writable", lambda folder, mode=0: elsewhere in (folder, *folder.parents))
    monkeypatch.setattr(loops, "own_folder", lambda: elsewhere)
    loops._folder_for.cache_clear()
    again = _loaded(source)
    assert again.twice(1) == 2
    assert sum(again.twice.stats.cache_hits.values()) == 1
    assert elsewhere in Path(again.twice.stats.cache_path).parents
    loops._folder_for.cache_clear()


def test_a_folder_that_others_can_write_to_is_not_ours(tmp_path: Path) -> None:
    ours, theirs, link = tmp_path / "ours", tmp_path / "theirs", tmp_path / "link"
    ours.mkdir(0o700)
    theirs.mkdir()
    theirs.chmod(0o777)
    link.symlink_to(ours)
    assert [loops._is_ours(folder) for folder in (ours, theirs, link)] == [True, False, False]


def _loaded(source: Path) -> ModuleType:
    module = ModuleType("doubling")
    module.__file__ = str(source)
    exec(compile(source.read_text(), source, "exec"), vars(module))
    return module
