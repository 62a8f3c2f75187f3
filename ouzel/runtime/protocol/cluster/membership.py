"""Who belongs to the topology: the stream managers that have registered, as the topology master knows them. No I/O, no clock.

A topology master that was started again knows nobody, until all have registered anew; meanwhile they keep what they know.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """A stream manager: its container, which start of its process this is, and where it listens (no TCP if `port` is 0)."""

    container: int
    incarnation: int
    host: str
    port: int
    path: str


class Membership:
    """The members, by container, and a version that grows with every change."""

    def __init__(self, containers: frozenset[int], version: int = 0) -> None:
        self._containers = containers
        self._members: dict[int, Member] = {}
        self.version = version

    def register(self, member: Member) -> bool:
        """A stream manager says that it is there; a later process of the same container takes the place of an earlier. True if accepted."""
        if member.container not in self._containers:
            return False
        if self._members.get(member.container) != member:
            self._members[member.container] = member
            self.version += 1
        return True

    def remove(self, member: Member) -> None:
        """A stream manager is gone; harmless if another has taken its place."""
        if self._members.get(member.container) == member:
            del self._members[member.container]
            self.version += 1

    @property
    def members(self) -> tuple[Member, ...]:
        """Those that are there, by container."""
        return tuple(self._members[container] for container in sorted(self._members))
