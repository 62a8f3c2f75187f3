"""What processes see of each other."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ouzel
from ouzel.callers import FILE
from ouzel.runtime.process import life
from ouzel.runtime.process.life import Heartbeats, now_ms, start_time


def test_a_process_whose_name_is_cut_inside_a_letter_is_seen_all_the_same() -> None:
    """Between setproctitle and the name after it: "ouzel: joined ·" is 16 bytes, of which the kernel keeps 15."""
    script = "open('/proc/self/comm', 'wb').write('ouzel: joined ·'.encode()[:15]); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert start_time(process.pid) > 0
        process.communicate(b"\n")


def test_sigterm_in_a_function_of_the_users_ends_the_process_with_what_it_has_in_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that sends it to itself at each row was asked to leave in good order, and no row was blamed for thirteen deaths."""
    told: list[object] = []
    monkeypatch.setattr(life, "_exit", told.append)
    before = signal.getsignal(signal.SIGTERM)
    by_us = compile("signal.raise_signal(signal.SIGTERM)", f"{Path(ouzel.__file__).parent}/x.py", "exec")
    try:
        life.stop_at_sigterm(lambda: told.append("in good order"))
        exec(by_us, {"signal": signal})
        assert told == ["in good order"]
        signal.raise_signal(signal.SIGTERM)
        assert told[1] == 128 + signal.SIGTERM
        told.clear()
        asked = compile("sorted([1], key=function)", FILE, "exec")
        exec(asked, {"function": lambda _: signal.raise_signal(signal.SIGTERM)})
        assert told[0] == 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_beat_is_never_read_in_part(tmp_path: Path) -> None:
    """A process that lost its core amid a beat looked as if it had been silent since the machine was started, and was killed."""
    path, began_ms = tmp_path / "heartbeats", now_ms()
    Heartbeats(path).beat(3)
    script = (
        "import sys, time; from pathlib import Path; from ouzel.runtime.process.life import Heartbeats\n"
        "beats, end = Heartbeats(Path(sys.argv[1])), time.monotonic() + 30\n"
        "print(flush=True)\nwhile time.monotonic() < end:\n    for _ in range(1000): beats.beat(3)"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        beats = Heartbeats(path)
        last = set[tuple[float, bool]]()
        while process.poll() is None and len(last) < 20_000:
            last.update(beats.last(3) for _ in range(1_000))
        process.kill()
    assert len(last) >= 20_000
    assert all(began_ms <= at_ms <= now_ms() and not hangs for at_ms, hangs in last)


def test_who_says_that_he_hangs_does_so_since_his_last_beat(tmp_path: Path) -> None:
    beats = Heartbeats(tmp_path / "heartbeats")
    beats.beat(1)
    spoke_ms, hangs = beats.last(1)
    assert not hangs
    beats.hang(1)
    beats.hang(1)
    assert beats.last(1) == (spoke_ms, True)
    beats.beat(1)
    assert not beats.last(1)[1]
