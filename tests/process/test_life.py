"""What processes see of each other."""

from __future__ import annotations

import subprocess
import sys

from ouzel.runtime.process.life import start_time


def test_a_process_whose_name_is_cut_inside_a_letter_is_seen_all_the_same() -> None:
    """Between setproctitle and the name after it: "ouzel: joined ·" is 16 bytes, of which the kernel keeps 15."""
    script = "open('/proc/self/comm', 'wb').write('ouzel: joined ·'.encode()[:15]); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert start_time(process.pid) > 0
        process.communicate(b"\n")
