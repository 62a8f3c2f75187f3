"""When to start a process again: at once the first time, then later and later; a process that is silent for too long is killed first.

Without I/O or clock: the executor tells it what happened and when, and does what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

FIRST_WAIT_MS = 100.0
LONGEST_WAIT_MS = 5_000.0
HEALTHY_AFTER_MS = 10_000.0
DEATHS_IN_A_ROW_MAX = 12

LATE = 0.5
"""Whoever looks after processes or calls, and has not done so for this part of their limit, was held up, and they may have been too: this
part of it is left to them."""


@dataclass(frozen=True)
class Start:
    """Instruction: start the process; `incarnation` counts its starts from 0."""

    name: str
    incarnation: int


@dataclass(frozen=True)
class Kill:
    """Instruction: kill a process that no longer shows any life."""

    name: str


@dataclass(frozen=True)
class GiveUp:
    """Instruction: the process cannot be kept running; the topology must fail."""

    name: str
    reason: str


SupervisionInstruction = Start | Kill | GiveUp


@dataclass
class _Process:
    due_ms: float = 0.0
    running: bool = False
    started_ms: float = 0.0
    incarnation: int = -1
    deaths_in_a_row: int = 0
    given_up: bool = False


class Supervision:
    """The processes of one container. Each recovers by itself: one that keeps dying does not hold up the others."""

    def __init__(self, names: Iterable[str], hang_timeout_ms: float) -> None:
        self._processes = {name: _Process() for name in names}
        self._hang_timeout_ms = hang_timeout_ms
        self._looked_ms: float | None = None
        self._late_ms = -inf

    def adopt(self, name: str, incarnation: int, running: bool, now_ms: float) -> None:
        """A former executor started this process `incarnation` times again; it may still run."""
        process = self._processes[name]
        process.incarnation, process.running, process.started_ms = incarnation, running, now_ms

    def exited(self, name: str, now_ms: float) -> None:
        """The process is gone."""
        process = self._processes[name]
        process.running = False
        healthy = now_ms - process.started_ms >= HEALTHY_AFTER_MS
        process.deaths_in_a_row = 1 if healthy else process.deaths_in_a_row + 1
        doubled = FIRST_WAIT_MS * 2.0 ** (process.deaths_in_a_row - 2)
        process.due_ms = now_ms + (0.0 if process.deaths_in_a_row == 1 else min(doubled, LONGEST_WAIT_MS))

    def silent(self, name: str, age_ms: float, now_ms: float) -> list[SupervisionInstruction]:
        """The last sign of life of a running process is `age_ms` old.

        After a time in which nobody looked, a part of the limit is left to show one: where a machine stood still, all look dead at first.
        """
        self._look(now_ms)
        process = self._processes[name]
        since = min(age_ms, now_ms - process.started_ms, now_ms - self._late_ms + LATE * self._hang_timeout_ms)
        return [Kill(name)] if process.running and since > self._hang_timeout_ms else []

    def tick(self, now_ms: float) -> list[SupervisionInstruction]:
        """What is due."""
        self._look(now_ms)
        instructions: list[SupervisionInstruction] = []
        for name, process in self._processes.items():
            if process.running or process.given_up or process.due_ms > now_ms:
                continue
            if process.deaths_in_a_row > DEATHS_IN_A_ROW_MAX:
                process.given_up = True
                instructions.append(GiveUp(name, f"{name} died {process.deaths_in_a_row} times in a row"))
                continue
            process.incarnation += 1
            process.running, process.started_ms = True, now_ms
            instructions.append(Start(name, process.incarnation))
        return instructions

    def _look(self, now_ms: float) -> None:
        if self._looked_ms is not None and now_ms - self._looked_ms > LATE * self._hang_timeout_ms:
            self._late_ms = now_ms
        self._looked_ms = now_ms

    def next_ms(self) -> float | None:
        """When `tick` has something to do again; None if nothing waits."""
        due = [process.due_ms for process in self._processes.values() if not process.running and not process.given_up]
        return min(due, default=None)

    def restarts(self) -> int:
        """How many times processes were started again."""
        return sum(max(0, process.incarnation) for process in self._processes.values())
