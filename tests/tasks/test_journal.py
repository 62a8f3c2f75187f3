"""A journal on a disk that is full: a batch whose cut cannot be noted does not leave, and what was noted stays whole."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.runtime.tasks.journal import BatchBoundaries, FileJournal

FIRST, SECOND, THIRD = (
    BatchBoundaries("p", 0, 10, 10),
    BatchBoundaries("p", 10, 20, 10),
    BatchBoundaries("p", 20, 30, 10),
)


def test_a_cut_of_which_half_is_written_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = FileJournal(tmp_path / "cuts-1")
    journal.note(FIRST)
    write, room = os.write, [3]

    def fill(file: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[: room.pop()])

    monkeypatch.setattr("os.write", fill)
    with pytest.raises(TopologyError, match=r"what is read cannot be noted in .*cuts-1: No space left on device"):
        journal.note(SECOND)
    assert journal.cuts() == [FIRST]
    monkeypatch.setattr("os.write", write)
    journal.note(THIRD)
    assert FileJournal(tmp_path / "cuts-1").cuts() == [FIRST, THIRD]


def test_a_name_with_a_line_end_is_one_name(tmp_path: Path) -> None:
    cut = BatchBoundaries("logs/new\nline 1.json", 0, 10, 10)
    FileJournal(tmp_path / "cuts-1").note(cut)
    assert FileJournal(tmp_path / "cuts-1").cuts() == [cut]


def test_what_cannot_be_rewritten_keeps_more_than_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = FileJournal(tmp_path / "cuts-1")
    journal.note(FIRST)

    def full(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        journal.forget({"p": 10})
    journal.note(SECOND)
    assert FileJournal(tmp_path / "cuts-1").cuts() == [FIRST, SECOND]
