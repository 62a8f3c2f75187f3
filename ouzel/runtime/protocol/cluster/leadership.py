"""Which of several topology masters leads, and whose orders count. Without I/O or clock.

Each leadership has a number, which grows; see `StateManager.lead`. Invariants:

- Whoever has heard of a leadership obeys none before it (`Fence`).
- A leader that has written what the next one must know looks whether it still leads, before it lets anybody act on that. The next one
  begins its leadership first, and reads then. So what anybody acts on is known to all later leaders.

So a leader that is stopped at any place, and wakes up when another leads, does no harm. It does not have to be killed first.
"""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.errors import TopologyError
from ouzel.runtime.protocol.cluster.starvation import Usage
from ouzel.runtime.protocol.unheard import Unheard

HANG = 0.5
"""A leader is deposed when it has shown no life for this share of the hang timeout; its executor kills it later, if it is still silent."""

DEFERRED_LOOKS = 10
"""So often a topology master that has just died looks, and lets its standby go first."""


class Deposed(TopologyError):
    """Another topology master leads."""

    def __init__(self, number: int, newest: int) -> None:
        super().__init__(f"another topology master leads now (leadership {newest}; this one's was {number})")


class Fence:
    """Lets through what is of the newest leadership that was heard of."""

    def __init__(self) -> None:
        self.newest = 0

    def admit(self, leadership: int) -> bool:
        """Whether to obey an order of that leadership."""
        self.newest = max(self.newest, leadership)
        return leadership == self.newest


@dataclass(frozen=True)
class Leader:
    """What a candidate sees of who leads.

    Attributes:
        number: of the leadership; 0 if there has been none.
        is_held: whether the state manager counts it as lasting.
        runs: whether its process is there.
        beat_ms: its last sign of life, on the clock of the candidate.
        had_standby: it was this candidate, before its process was started again, and another waited then.
    """

    number: int = 0
    is_held: bool = False
    runs: bool = True
    beat_ms: float = 0.0
    had_standby: bool = False


@dataclass(frozen=True)
class Campaign:
    """Instruction: try to begin a leadership, and end that of number `deposing`."""

    deposing: int


class Candidate:
    """A topology master that does not lead yet."""

    def __init__(self, hang_timeout_ms: float) -> None:
        self._limit_ms = HANG * hang_timeout_ms
        self._seen, self._deferred = Leader(), 0
        self._silence = Unheard(self._limit_ms)
        self.asks_for_usage = False
        """Whether `on_usage` is to be told what the leader had of the CPU."""

    def on_look(self, leader: Leader, now_ms: float) -> Campaign | None:
        """Who leads now; whether to try to lead.

        A leader that is there and shows life may have lost its hold with its connection: it has as long as one that hangs to come back.
        """
        if leader.number != self._seen.number or (leader.is_held and leader.beat_ms != self._seen.beat_ms):
            self._silence.on_heard()
        self._seen = leader
        self.asks_for_usage = self._silence.look(now_ms) and leader.is_held and leader.runs
        if leader.number and leader.runs and not self._silence.is_over:
            return None
        if leader.had_standby and self._deferred < DEFERRED_LOOKS:
            self._deferred += 1
            return None
        return Campaign(leader.number)

    def on_usage(self, usage: Usage | None) -> None:
        """What the leader had of the CPU since it was last looked at: a wait for a core is no silence."""
        self._silence.see(usage)
