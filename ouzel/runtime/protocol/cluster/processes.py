"""Which processes a container has: what an executor that is started again must know to adopt those that still run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

DEATHS_TOLD = 20

_NO_PROCESS, _NEVER = 0, -1


class ProcessEntry(NamedTuple):
    """A process: its pid, when it was started (so that a pid used again does not deceive), and how often it was started before."""

    pid: int
    started: int
    incarnation: int


class Processes:
    """The processes of one container.

    Attributes:
        entries: by name, as they were started last.
        executors: how many executors the container has had.
        failed: why a task cannot be kept running; empty while all can.
        deaths: which processes were started again, and why: the first DEATHS_TOLD, so that what is kept stays small.
        begins: by name, the incarnation with which the topology was started, 0 if it is not there: that one is no death of the one before.
    """

    def __init__(self) -> None:
        self.entries: dict[str, ProcessEntry] = {}
        self.executors = 0
        self.failed = ""
        self.deaths: list[str] = []
        self.begins: dict[str, int] = {}

    def note(self, name: str, entry: ProcessEntry) -> None:
        """A process has been started."""
        self.entries[name] = entry

    def add_death(self, death: str) -> None:
        """A process was started again."""
        self.deaths = [*self.deaths, death][:DEATHS_TOLD]

    def count_restarts(self) -> int:
        """How often processes of the container, its executor among them, were started again."""
        deaths = (max(0, entry.incarnation - self.begins.get(name, 0)) for name, entry in self.entries.items())
        return sum(deaths) + max(0, self.executors - 1)


def begin_anew(tables: Mapping[int, Processes], tasks: Mapping[int, Collection[str]]) -> None:
    """Note, in the table of each container, that none of its processes lives; `tasks` are those that are to be there, by container.

    Tasks that an update has added count as started before, for their components were: what they read and write is there already.
    """
    newest = max((entry.incarnation for table in tables.values() for entry in table.entries.values()), default=0)
    for container, table in tables.items():
        known = {name: entry.incarnation for name, entry in table.entries.items() if not name.startswith("instance-")}
        known |= {
            name: table.entries[name].incarnation if name in table.entries else newest for name in tasks[container]
        }
        table.entries = {name: ProcessEntry(_NO_PROCESS, _NEVER, incarnation) for name, incarnation in known.items()}
        table.begins = {name: incarnation + 1 for name, incarnation in known.items()}
        table.executors, table.failed, table.deaths = 0, "", []
