"""What `pip install ouzel` gives: a wheel with all that is read beside the code, which answers where there is no clone."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.house.source import ROOT, tracked
from tests.servers.wheel import build_wheel

pytestmark = pytest.mark.server

QUERY = """
CREATE TABLE words (word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.txt', 'format' = 'raw');
SELECT UPPER(word) AS loud FROM words;
"""

ALONE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""No way leads to the Ouzel of the tests."""

INSTALL_S = 1_200
"""To fetch and unpack a hundred packages, and to compile what they bring, beside other work."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def environment(folder: Path) -> Path:
    """An environment that is empty but for pip; returns its Python."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def installed(python: Path, *arguments: str | Path) -> None:
    """Install something into it."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, env=ALONE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def answer(python: Path, folder: Path, **variables: str) -> list[str]:
    """What the command of that environment prints, sorted."""
    (folder / "words.txt").write_text("left\nright\nleft\n")
    (folder / "words.sql").write_text(QUERY)
    command = [str(python.with_name("ouzel")), "run", "words.sql", "--format", "csv"]
    done = subprocess.run(
        command, cwd=folder, env=ALONE | variables, capture_output=True, text=True, check=False, timeout=INSTALL_S
    )
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_the_wheel_holds_all_that_is_beside_the_code(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    kept = {str(path.relative_to(ROOT)) for path in tracked() if path.is_relative_to(ROOT / "ouzel")}
    assert kept - held == set()
    assert {name for name in held - kept if ".dist-info/" not in name} == set()


def test_the_wheel_answers_beside_what_it_needs(wheel: Path, tmp_path: Path) -> None:
    """What it needs is that of the tests, whose own Ouzel is not there: path files of theirs are not read here."""
    python = environment(tmp_path / "venv")
    installed(python, "--no-deps", "--no-index", wheel)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"))
    assert answer(python, tmp_path, NUMBA_DISABLE_JIT="1") == ["LEFT", "LEFT", "RIGHT", "loud"]


@pytest.mark.whole
@pytest.mark.timeout(INSTALL_S)
def test_the_wheel_answers_where_nothing_was(wheel: Path, tmp_path: Path) -> None:
    """What it needs is what the registry of packages has on this day, in the ranges that pyproject.toml allows."""
    python = environment(tmp_path / "venv")
    installed(python, wheel)
    assert answer(python, tmp_path) == ["LEFT", "LEFT", "RIGHT", "loud"]
