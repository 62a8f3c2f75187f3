"""Standard output whose reader does not read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from ouzel.cli.output import StandardOutput


@contextmanager
def unread() -> Iterator[int]:
    """Standard output is a pipe; its reading end."""
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        yield reading


def test_all_of_it_arrives_however_late_it_is_read() -> None:
    text = "ü" * 100_000 + "\n"
    with unread() as pipe, open(pipe, encoding="utf-8") as file:
        writer = Thread(target=StandardOutput().write, args=(text,))
        writer.start()
        assert file.read(len(text)) == text
        writer.join()


def test_an_interrupted_run_does_not_wait_for_a_reader_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.cli.output.WAIT_MS", 1)
    monkeypatch.setattr("ouzel.cli.output.PATIENCE_MS", 3)
    asked: list[bool] = []
    with unread() as pipe:
        out = StandardOutput(lambda: len(asked) > 5 or bool(asked.append(True)))
        with pytest.raises(KeyboardInterrupt):
            out.write("x" * 1_000_000)
        os.close(pipe)
    assert len(asked) == 6, "before the interrupt it waits without an end"


def test_a_reader_that_is_gone_is_a_broken_pipe() -> None:
    with unread() as pipe:
        os.close(pipe)
        with pytest.raises(BrokenPipeError):
            StandardOutput().write("x")
