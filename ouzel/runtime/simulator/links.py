"""Links between the tasks of a simulated world: FIFO, slow, and they may break."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from ouzel.runtime.simulator.host import OnItsWay

SimulatedLink = deque[OnItsWay]


class SimulatedLinks(dict[tuple[int, int], SimulatedLink]):
    """What is on its way, by the task that sent it and the one that it is for."""

    def find(self, source: int, destination: int) -> tuple[SimulatedLink, bool]:
        """The link from one task to another, and whether it is new."""
        link = self.get((source, destination))
        if link is not None:
            return link, False
        link = self[source, destination] = deque()
        return link, True

    def leading_to(self, task: int) -> list[SimulatedLink]:
        """All links to a task."""
        return [link for (_, destination), link in self.items() if destination == task]

    def lose(self, matches: Callable[[int, int], bool]) -> tuple[int, set[int]]:
        """Drop what is on the links (from, to) that match: how many messages that were, and to which tasks these links lead."""
        matching = [(destination, link) for (source, destination), link in self.items() if matches(source, destination)]
        lost = sum(len(link) for _, link in matching)
        for _, link in matching:
            link.clear()
        return lost, {destination for destination, _ in matching}


def take_arrived(links: Sequence[SimulatedLink], now_ms: float, random: Random) -> list[OnItsWay]:
    """What arrives now on links to one task: of each link, in any order, some that is due."""
    taken: list[OnItsWay] = []
    arriving = [waiting for waiting in links if waiting and waiting[0].due_ms <= now_ms]
    if len(arriving) > 1:
        random.shuffle(arriving)
    for waiting in arriving:
        for _ in range(random.randint(0 if taken else 1, len(waiting))):
            if waiting[0].due_ms > now_ms:
                break
            taken.append(waiting.popleft())
    return taken
