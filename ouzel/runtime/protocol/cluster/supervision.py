"""When to start a process again: at once the first time, then later and later; a process that is silent for too long is killed first.

Silence counts only while the process could have spoken, and while somebody looked: one that has no core, or computes, is not dead. Without
I/O or clock: the executor tells it what happened and when, and does what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from ouzel.runtime.protocol.cluster.starvation import ENDLESS, QUIET, STEP, Starvation, Usage
from ouzel.runtime.protocol.watched_time import WatchedTime

FIRST_WAIT_MS = 100.0
LONGEST_WAIT_MS = 5_000.0
HEALTHY_AFTER_MS = 10_000.0
DEATHS_IN_A_ROW_MAX = 12

_SAME_MS = 0.001
"""Two times of one sign of life differ by no more: each is computed from its age."""


@dataclass(frozen=True)
class Start:
    """Instruction: start the process; `incarnation` counts its starts from 0."""

    name: str
    incarnation: int


@dataclass(frozen=True)
class Kill:
    """Instruction: kill a process that no longer shows any life; `why` in words."""

    name: str
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class GiveUp:
    """Instruction: the process cannot be kept running; the topology must fail."""

    name: str
    reason: str


SupervisionInstruction = Start | Kill | GiveUp


@dataclass
class _Process:
    """What is known of one process.

    Attributes:
        due_ms: when it is to be started, if it does not run.
        running: it has been started and has not ended.
        started_ms: when it was last started.
        incarnation: how often it was started again; -1 before the first start.
        deaths_in_a_row: deaths since it last ran long enough; they set the pause before the next start.
        given_up: it is not started again.
        spoke_ms: when it last showed life.
        since_ms: when its silence began to count, in watched time.
        silence: how much of its silence it could have spoken in.
    """

    due_ms: float = 0.0
    running: bool = False
    started_ms: float = 0.0
    incarnation: int = -1
    deaths_in_a_row: int = 0
    given_up: bool = False
    spoke_ms: float = -inf
    since_ms: float = 0.0
    silence: Starvation = field(default_factory=Starvation)

    def on_sign_of_life(self, at_ms: float, watched_ms: float) -> None:
        """Its last sign of life is from then, and seen now, in watched time; with a new one a silence ends."""
        if at_ms - self.spoke_ms > _SAME_MS:
            self.spoke_ms, self.since_ms, self.silence = at_ms, watched_ms, Starvation()


class Supervision:
    """The processes of one container. Each recovers by itself: one that keeps dying does not hold up the others."""

    def __init__(self, names: Iterable[str], hang_timeout_ms: float) -> None:
        self._processes = {name: _Process() for name in names}
        self._hang_timeout_ms = hang_timeout_ms
        self._time = WatchedTime(STEP * hang_timeout_ms)

    def adopt(self, name: str, incarnation: int, running: bool, now_ms: float) -> None:
        """A former executor started this process `incarnation` times again; it may still run."""
        process = self._processes[name]
        process.incarnation, process.running = incarnation, running
        process.started_ms, process.since_ms = now_ms, self._time.now_ms

    def on_exited(self, name: str, now_ms: float) -> None:
        """The process is gone."""
        process = self._processes[name]
        process.running = False
        healthy = now_ms - process.started_ms >= HEALTHY_AFTER_MS
        process.deaths_in_a_row = 1 if healthy else process.deaths_in_a_row + 1
        doubled = FIRST_WAIT_MS * 2.0 ** (process.deaths_in_a_row - 2)
        process.due_ms = now_ms + (0.0 if process.deaths_in_a_row == 1 else min(doubled, LONGEST_WAIT_MS))

    def is_suspect(self, name: str, age_ms: float, now_ms: float) -> bool:
        """Whether a process whose last sign of life is `age_ms` old is to be looked at now, for `on_silence`."""
        self._time.look(now_ms)
        process = self._processes[name]
        process.on_sign_of_life(now_ms - age_ms, self._time.now_ms)
        quiet = min(age_ms, now_ms - process.started_ms) > QUIET * self._hang_timeout_ms
        return process.running and quiet and process.silence.is_due(self._hang_timeout_ms, self._time.now_ms)

    def on_silence(
        self, name: str, age_ms: float, now_ms: float, usage: Usage | None = None, hangs: bool = False
    ) -> list[SupervisionInstruction]:
        """The last sign of life of a running process is `age_ms` old, and `usage` is what it had of the CPU, if that is known.

        One that says itself that it `hangs` is not excused by what its other threads do. Of a time in which nobody looked, STEP counts.
        """
        self._time.look(now_ms)
        process, limit_ms = self._processes[name], self._hang_timeout_ms
        process.on_sign_of_life(now_ms - age_ms, self._time.now_ms)
        silence = process.silence
        silence.see(None if hangs else usage, self._time.now_ms)
        since = min(age_ms, now_ms - process.started_ms, self._time.now_ms - process.since_ms) - silence.excused_ms
        dead = since > limit_ms or silence.computed_ms > ENDLESS * limit_ms
        return [Kill(name, f"silent for {age_ms / 1e3:.1f} s, {silence}")] if process.running and dead else []

    def tick(self, now_ms: float) -> list[SupervisionInstruction]:
        """What is due."""
        self._time.look(now_ms)
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
            process.since_ms, process.silence = self._time.now_ms, Starvation()
            instructions.append(Start(name, process.incarnation))
        return instructions

    def next_ms(self) -> float | None:
        """When `tick` has something to do again; None if nothing waits."""
        due = [process.due_ms for process in self._processes.values() if not process.running and not process.given_up]
        return min(due, default=None)

    def restarts(self) -> int:
        """How many times processes were started again."""
        return sum(max(0, process.incarnation) for process in self._processes.values())
