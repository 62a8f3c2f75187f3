"""Folders that a user may not look into: an error, never files that are left out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.connectors.file.paths import find_files
from ouzel.errors import ConnectorError


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder of nobody's, who may not do whatever root may; where tests are not root's it is theirs."""
    with tempfile.TemporaryDirectory(prefix="nobodys-") as name:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(name, 65_534, 65_534)
            os.seteuid(65_534)
        try:
            yield Path(name)
        finally:
            if is_root:
                os.seteuid(0)


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
@pytest.mark.parametrize(
    "path", ["open/*.csv, shut/*.csv", "*/*.csv", "**/*.csv", "**/a.csv", "open, shut", "[os]*/*.csv"]
)
def test_a_folder_that_may_not_be_looked_into_is_an_error_and_not_passed_over(
    as_nobody: Path, path: str, mode: int
) -> None:
    for name in ("open", "shut", "shut/below"):
        (as_nobody / name).mkdir()
    for name in ("open", "shut"):
        (as_nobody / name / "a.csv").write_text("n\n1\n")
    assert len(find_files(path, as_nobody)) == 2
    (as_nobody / "shut").chmod(mode)
    try:
        with pytest.raises(ConnectorError, match=r"the folder \S*/shut cannot be looked into: Permission denied"):
            find_files(path, as_nobody)
    finally:
        (as_nobody / "shut").chmod(0o755)


@pytest.mark.parametrize(("mode", "is_seen"), [(0o000, False), (0o444, False), (0o111, True)])
def test_a_file_that_is_named_need_not_be_listed(as_nobody: Path, mode: int, is_seen: bool) -> None:
    (as_nobody / "shut").mkdir()
    (as_nobody / "shut/a.csv").write_text("n\n1\n")
    (as_nobody / "shut").chmod(mode)
    try:
        if is_seen:
            assert find_files("shut/a.csv", as_nobody) == [str(as_nobody / "shut/a.csv")]
        else:
            with pytest.raises(ConnectorError, match="cannot be looked into"):
                find_files("shut/a.csv", as_nobody)
        assert find_files("not/there.csv, not/*/there.csv, nor/**", as_nobody) == []
    finally:
        (as_nobody / "shut").chmod(0o755)
