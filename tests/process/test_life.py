"""What processes see of each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ouzel.runtime.process.life import Heartbeats, now_ms, start_time


def test_a_process_whose_name_is_cut_inside_a_letter_is_seen_all_the_same() -> None:
    """Between setproctitle and the name after it: "ouzel: joined ·" is 16 bytes, of which the kernel keeps 15."""
    script = "open('/proc/self/comm', 'wb').write('ouzel: joined ·'.encode()[:15]); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert start_time(process.pid) > 0
        process.communicate(b"\n")


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
