"""What a process that runs a topology can still do: start programs, by way of a fork, as PySpark starts its JVM."""

from __future__ import annotations

import os
import subprocess
import sys

SPAWN = """
import subprocess
from concurrent import futures
from ouzel.runtime.cluster import calls
import grpc

server = grpc.server(futures.ThreadPoolExecutor(1))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
channel = grpc.insecure_channel(f"127.0.0.1:{port}")
grpc.channel_ready_future(channel).result(60)
codes = [subprocess.run(["true"], preexec_fn=lambda: None, close_fds=True).returncode for _ in range(100)]
channel.close()
server.stop(None)
print(sorted(set(codes)))
"""


def test_no_child_dies_of_the_parents_grpc() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    run = subprocess.run([sys.executable, "-c", SPAWN], env=environment, capture_output=True, text=True, timeout=120)
    assert run.stdout.splitlines()[-1:] == ["[0]"], run.stderr
