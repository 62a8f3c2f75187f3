"""What a state manager does, whatever it keeps its nodes in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

Watcher = Callable[[bytes | None], None]
"""Called with a node's data, now and after each change, and None while it does not exist; from a thread of the state manager's."""


class Leadership(NamedTuple):
    """Who leads at a node, or led there last.

    Attributes:
        number: grows with each leadership of the node; no number is used twice.
        data: what the leader said of itself.
        is_held: whether the connection of the leader still holds it.
    """

    number: int
    data: bytes
    is_held: bool


class StateManager(Protocol):
    """A connection to the tree. Paths are as in a file system and start with a slash; parents come into being by themselves."""

    def get(self, path: str) -> bytes | None:
        """The node's data; None if there is no such node."""

    def put(self, path: str, data: bytes) -> None:
        """Create the node, or replace its data."""

    def hold(self, path: str, data: bytes) -> bool:
        """Create a node that is gone when this connection closes or its process dies. False if another process holds it."""

    def lead(self, path: str, data: bytes, deposing: int = 0) -> int | None:
        """Begin a leadership, which lasts as long as this connection; its number. None while another leads.

        The leadership of number `deposing` is ended, though its leader still holds it.
        """

    def leadership(self, path: str) -> Leadership | None:
        """The newest leadership; None if there has been none. Whoever began one before this call is seen."""

    def delete(self, path: str) -> None:
        """Delete the node and what is below; harmless when there is none."""

    def children(self, path: str) -> list[str]:
        """The names of the nodes directly below, sorted."""

    def watch(self, path: str, watcher: Watcher) -> None:
        """Call `watcher` with the node's data now and whenever they change, until `close`."""

    def close(self) -> None:
        """End the connection; held nodes are gone."""
