"""What stands in for `subprocess.Popen` in the tests behaves like it."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.servers.warm import ForkedServer

pytestmark = pytest.mark.server


def test_all_threads_that_wait_see_a_server_end() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    server = ForkedServer(sleeper.pid, os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_RDONLY))
    assert server.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        server.wait(0)
    with ThreadPoolExecutor(8) as threads, server.stdin, server.stdout:
        waiting = [threads.submit(server.wait, 60) for _ in range(8)]
        server.kill()
    assert [one.result() for one in waiting] == [0] * 8
    assert server.poll() == 0
    server.kill()  # finds nobody
