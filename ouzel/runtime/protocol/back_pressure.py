"""Back-pressure along the path that is slow, and nowhere else. Two state machines without I/O or clock.

In Heron one slow bolt stops every spout of the topology. Here the stream manager that has too much waiting for a task tells those who
feed that task; they pause, so that more waits for them in turn, and so on up to the spouts of that path.

Invariant: what is said is repeated while it lasts (REPEAT_MS), and forgotten when it is not repeated (FORGET_MS). So no single message has
to arrive, and a path does not stay blocked by a stream manager that has died.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

REPEAT_MS = 500.0
FORGET_MS = 4 * REPEAT_MS


@dataclass(frozen=True)
class Tell:
    """Instruction: tell task `feeder` that what is behind `link` has fallen behind, or has caught up."""

    feeder: int
    link: int
    slow: bool


class Pressure:
    """Which outgoing links of one stream manager are slow.

    Args:
        feeders: link -> tasks that feed it. A link is a task's id, or minus the id of another container.
        high: bytes waiting that make a link slow.
        low: bytes waiting at which it is no longer.
    """

    def __init__(self, feeders: Mapping[int, Sequence[int]], high: int, low: int) -> None:
        self._feeders, self._high, self._low = feeders, high, low
        self._told: dict[int, float] = {}
        self._since: dict[int, float] = {}
        self._spent: dict[int, float] = {}

    @property
    def slow(self) -> frozenset[int]:
        """The links that are slow now."""
        return frozenset(self._told)

    def spent_ms(self, now_ms: float) -> dict[int, int]:
        """For how long each link has been slow, of those that ever were."""
        lasting = {link: now_ms - since for link, since in self._since.items()}
        links = self._spent.keys() | lasting.keys()
        return {link: int(self._spent.get(link, 0.0) + lasting.get(link, 0.0)) for link in links}

    def on_waiting(self, link: int, size: int, now_ms: float) -> list[Tell]:
        """So many bytes wait for a link."""
        if link not in self._told:
            if size < self._high:
                return []
            self._told[link] = self._since[link] = now_ms
            return self._tell(link, True)
        if size > self._low:
            return []
        del self._told[link]
        self._spent[link] = self._spent.get(link, 0.0) + now_ms - self._since.pop(link)
        return self._tell(link, False)

    def tick(self, now_ms: float) -> list[Tell]:
        """Say again what still holds."""
        due = [link for link, told in self._told.items() if now_ms - told >= REPEAT_MS]
        for link in due:
            self._told[link] = now_ms
        return [tell for link in due for tell in self._tell(link, True)]

    def _tell(self, link: int, slow: bool) -> list[Tell]:
        return [Tell(feeder, link, slow) for feeder in self._feeders.get(link, ())]


class Pause:
    """Whether one task is to pause, for another that it feeds has fallen behind."""

    def __init__(self) -> None:
        self._slow: dict[int, float] = {}

    def on_pressure(self, link: int, slow: bool, now_ms: float) -> None:
        """A stream manager says that a link is slow, or no longer."""
        if slow:
            self._slow[link] = now_ms
        else:
            self._slow.pop(link, None)

    def is_on(self, now_ms: float) -> bool:
        """Whether the task should take in no rows now."""
        if self._slow:
            self._slow = {link: told for link, told in self._slow.items() if now_ms - told < FORGET_MS}
        return bool(self._slow)
