"""Lives of tasks that publish: processes forked from one that has imported all they need and used none of it.

`python -m tests.connectors.lives` takes orders as lines of JSON: `{"start": task}` and `{"await": pid}`, and answers each with a line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ouzel.connectors.kafka import publisher as _kafka  # noqa: F401
from ouzel.connectors.postgres import publisher as _postgres  # noqa: F401
from ouzel.connectors.redis import publisher as _redis  # noqa: F401
from ouzel.errors import ConnectorError
from tests.connectors.publishing import Task, lives_of, publish


class Lives:
    """Starts lives and waits for them."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.connectors.lives"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip

    def _ask(self, **order: Any) -> Any:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        print(json.dumps(order), file=self._parent.stdin, flush=True)
        return json.loads(self._parent.stdout.readline())

    def start(self, task: Task) -> int:
        """Start a life: its process."""
        return int(self._ask(start=asdict(task), environment=dict(os.environ)))

    def outcome(self, pid: int) -> tuple[int, str]:
        """How a life has ended, or that it is stopped, as waitpid says it; and which error it has told."""
        status, said = self._ask(**{"await": pid})
        return status, said

    def kill(self, task: Task) -> None:
        """A life to its death.

        Raises:
            AssertionError: it ends otherwise.
        """
        self._see_end(task, self.start(task))

    def _see_end(self, task: Task, pid: int) -> None:
        status, said = self.outcome(pid)
        assert status == (signal.SIGKILL if task.dies else 0), (task, status, said)

    def run_to_the_end(self, tasks: Sequence[Task], seed: int) -> None:
        """Tasks beside each other, each killed again and again, until all they have is published."""
        waiting = [lives_of(task, seed) for task in tasks]
        while any(waiting):
            started = [(life[0], self.start(life.pop(0))) for life in waiting if life]
            for life, pid in started:
                self._see_end(life, pid)

    def stop(self, task: Task, epoch: int) -> int:
        """A life that stands still within an epoch, with a transaction open: its process."""
        pid = self.start(replace(task, dies=epoch, moment="stop"))
        status, said = self.outcome(pid)
        assert os.WIFSTOPPED(status), said
        return pid

    def wake(self, pid: int) -> str:
        """Let a life go on that was stopped: the error with which it ends."""
        os.kill(pid, signal.SIGCONT)
        status, said = self.outcome(pid)
        assert os.waitstatus_to_exitcode(status) == 1, said
        return said

    def close(self) -> None:
        """No more lives; those that are stopped are ended."""
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait(60)


class _Forks:
    """What the process does of which all lives are forked."""

    def __init__(self) -> None:
        self._told: dict[int, int] = {}

    def start(self, task: dict[str, Any], environment: dict[str, str]) -> int:
        reads, writes = os.pipe()
        if pid := os.fork():
            os.close(writes)
            self._told[pid] = reads
            return pid
        os.environ.update(environment)
        os._exit(_live(Task(**task), writes))

    def outcome(self, pid: int) -> tuple[int, str]:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            return status, ""
        with os.fdopen(self._told.pop(pid)) as told:
            return status, told.read()

    def end(self) -> None:
        for pid in self._told:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _live(task: Task, told: int) -> int:
    try:
        publish(task, task.open())
    except ConnectorError as error:
        os.write(told, str(error).encode())
        return 1
    except BaseException as error:
        os.write(told, repr(error).encode())
        return 2
    return 0


def main() -> None:
    """Carry out orders."""
    forks = _Forks()
    for line in sys.stdin:
        order = json.loads(line)
        answer: Any = (
            forks.start(order["start"], order["environment"]) if "start" in order else forks.outcome(order["await"])
        )
        print(json.dumps(answer), flush=True)
    forks.end()


if __name__ == "__main__":
    main()
