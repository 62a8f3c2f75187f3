"""Whether a lock on a file is held, as one who only looks sees it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from ouzel.files import is_locked


def hold(lock: Path, kind: int) -> int:
    descriptor = os.open(lock, os.O_RDWR)
    fcntl.flock(descriptor, kind)
    return descriptor


@pytest.mark.parametrize(("kind", "by_several"), [(fcntl.LOCK_EX, False), (fcntl.LOCK_SH, True)])
def test_a_lock_is_held_until_its_holder_is_gone(kind: int, by_several: bool, tmp_path: Path) -> None:
    lock = tmp_path / "held"
    lock.touch()
    assert not is_locked(lock, by_several=by_several)
    holder = hold(lock, kind)
    assert is_locked(lock, by_several=by_several)
    os.close(holder)
    assert not is_locked(lock, by_several=by_several)


def test_who_looks_at_a_lock_is_no_holder(tmp_path: Path) -> None:
    lock = tmp_path / "held"
    lock.touch()
    other = hold(lock, fcntl.LOCK_SH)  # as one who looks just now
    assert not is_locked(lock)
    os.close(other)


def test_a_link_and_nothing_are_no_locks(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        is_locked(tmp_path / "held")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        is_locked(tmp_path / "link", by_several=True)
    assert not (tmp_path / "elsewhere").exists()
