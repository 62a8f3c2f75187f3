"""Offsets count as kept when they are written, not when that was asked for."""

from __future__ import annotations

import json
from queue import Empty

import pytest

from ouzel.runtime.process import offset_writer
from ouzel.runtime.process.offset_writer import OffsetWriter
from ouzel.runtime.protocol.messages import Commit, Place


class FullDisk:
    """A state manager that fails a few times."""

    def __init__(self, failures: int) -> None:
        self.failures, self.written = failures, b""

    def get(self, path: str) -> bytes | None:
        return None

    def put(self, path: str, data: bytes) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError(28, "No space left on device")
        self.written = data


def test_a_commit_that_fails_is_tried_again_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_writer, "_AGAIN_S", 0.001)
    state = FullDisk(3)
    offsets = OffsetWriter(state, "/offsets/job/1")  # type: ignore[arg-type]
    offsets.note(Commit({"p": Place(7, 9)}, 1))
    assert offsets.kept.get(timeout=30) == 1
    assert json.loads(state.written) == {"p": [7, 9, 0, 0, 0]}
    assert "No space left on device" in offsets.problems.get(timeout=30)
    with pytest.raises(Empty):
        offsets.problems.get_nowait()
    offsets.close()
