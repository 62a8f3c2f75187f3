"""Ctrl-C before anything runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import FrameType

import pytest

from ouzel import interrupts
from tests.house.source import ROOT
from tests.servers.waiting import wait_until

AMID_IMPORTS = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it is ignored

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[0]:
            os.kill(os.getpid(), signal.SIGINT)

from ouzel.__main__ import main
asked, sys.argv = sys.argv[1], ["ouzel", *sys.argv[2:]]
sys.argv[0] = asked
sys.meta_path.insert(0, Interrupting())
main()
"""
NUMBERS = "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence'); SELECT n FROM t"


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("run", "typer"),
        ("run", "polars"),
        ("run", "ouzel.cli.run"),
        ("explain", "ouzel.explain"),
        ("batch", "ouzel.spark"),
    ],
)
def test_it_ends_with_a_word_and_no_traceback_while_modules_are_imported(command: str, module: str) -> None:
    arguments = [sys.executable, "-c", AMID_IMPORTS, module, command, "-e", NUMBERS]
    ended = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "error: interrupted\n")


def test_it_is_an_exception_only_where_something_is_to_be_cleared_away(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupts.end_at_once()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), interrupts.interruptible():
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        interrupts.end_at_once()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "as nohup and `&` of scripts have it"
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [130, 130]


def test_a_thread_that_was_awaited_in_vain_is_awaited_again() -> None:
    """Python takes it for ended once its join is interrupted, and a second Ctrl-C would leave what it has not cleared away."""
    awaiting, let_go, ended = threading.get_ident(), threading.Event(), threading.Event()

    def interrupt_and_work() -> None:
        wait_until(lambda: _is_called("join", sys._current_frames()[awaiting]))
        signal.pthread_kill(awaiting, signal.SIGINT)
        let_go.wait()
        ended.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = interrupts.AwaitedThread(interrupt_and_work, "worker")
    try:
        with pytest.raises(KeyboardInterrupt):
            _start_and_join(thread)
        assert thread.is_alive()
        threading.Timer(0.0, let_go.set).start()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.is_set()
    assert not thread.is_alive()


def _start_and_join(thread: threading.Thread) -> None:
    thread.start()
    thread.join()


def _is_called(function: str, frame: FrameType | None) -> bool:
    return frame is not None and (frame.f_code.co_name == function or _is_called(function, frame.f_back))


@pytest.mark.parametrize("command", [(), ("run",), ("explain",), ("batch",), ("reconcile",)], ids=str)
def test_h_is_help(command: tuple[str, ...]) -> None:
    from typer.testing import CliRunner

    from ouzel.cli.main import app

    short, long = (CliRunner().invoke(app, [*command, option]) for option in ("-h", "--help"))
    assert (short.exit_code, short.output) == (0, long.output)
    assert "--help" in short.output


@pytest.mark.parametrize("ours", [signal.SIG_DFL, signal.SIG_IGN])
def test_ctrl_z_shows_the_cursor_while_the_process_is_stopped(
    ours: signal.Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, terminal = os.pipe()
    stopped: list[tuple[bytes, object]] = []

    def stop(number: int) -> None:
        stopped.append((os.read(reader, 100), signal.getsignal(number)))

    raised = signal.raise_signal
    before = signal.signal(signal.SIGTSTP, ours)
    monkeypatch.setattr(signal, "raise_signal", stop)
    try:
        with interrupts.suspendable(terminal):
            raised(signal.SIGTSTP)
            raised(signal.SIGTSTP)
        assert signal.getsignal(signal.SIGTSTP) is ours
    finally:
        signal.signal(signal.SIGTSTP, before)
        os.close(terminal)
    shown = [b"\x1b[?25h", b"\x1b[?25l\x1b[?25h"] if ours is signal.SIG_DFL else []
    assert stopped == [(text, signal.SIG_DFL) for text in shown]
    assert os.read(reader, 100) == (b"\x1b[?25l" if shown else b"")
    os.close(reader)


TURNS = """
import os, sys
from ouzel.interrupts import is_foreground

terminal = os.open(sys.argv[1], os.O_RDWR)  # the first terminal of a session is its own
told, waits = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    behind = is_foreground(terminal)
    os.write(told[1], b"x")
    os.read(waits[0], 1)
    print(behind, is_foreground(terminal), flush=True)
    os._exit(0)
os.read(told[0], 1)
print(is_foreground(terminal), flush=True)
os.tcsetpgrp(terminal, child)
os.write(waits[1], b"x")
os.waitpid(child, 0)
"""


def test_a_job_behind_an_ampersand_has_no_terminal_until_the_shell_gives_it_one() -> None:
    ours, terminal = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", TURNS, os.ttyname(terminal)],
            start_new_session=True, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert done.stdout.split() == ["True", "False", "True"]
        assert interrupts.is_foreground(terminal), "a terminal of no session of ours has no shell of ours"
    finally:
        os.close(ours)
        os.close(terminal)
