"""The state manager: a small tree of named nodes that outlives the processes that write it. Local files, or ZooKeeper for a cluster.

/topologies/<id>            the signed description
/packingplans/<id>          which task lives where
/tmanagers/<id>             where the topology master listens; held by it, gone with it
/executionstate/<id>        running, or draining or paused and the number of the pause, or how it ended
/offsets/<id>/<task>        up to where a source task's input is wholly acked
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ouzel.errors import TopologyError

Watcher = Callable[[bytes | None], None]
"""Called with a node's data, now and after each change, and None while it does not exist; from a thread of the state manager's."""


class StateManager(Protocol):
    """A connection to the tree. Paths are as in a file system and start with a slash; parents come into being by themselves."""

    def get(self, path: str) -> bytes | None:
        """The node's data; None if there is no such node."""

    def put(self, path: str, data: bytes) -> None:
        """Create the node, or replace its data."""

    def hold(self, path: str, data: bytes) -> bool:
        """Create a node that is gone when this connection closes or its process dies. False if another process holds it."""

    def delete(self, path: str) -> None:
        """Delete the node and what is below; harmless when there is none."""

    def children(self, path: str) -> list[str]:
        """The names of the nodes directly below, sorted."""

    def watch(self, path: str, watcher: Watcher) -> None:
        """Call `watcher` with the node's data now and whenever they change, until `close`."""

    def close(self) -> None:
        """End the connection; held nodes are gone."""


def open_state(setting: str, home: Path) -> StateManager:
    """The state manager that a setting names: `local`, below the job directory, or `zookeeper://host:port[,host:port]`.

    Raises:
        TopologyError: the setting names neither, or nobody answers there.
    """
    if setting == "local":
        from ouzel.runtime.cluster.state.local import LocalState

        return LocalState(home / "state")
    if setting.startswith("zookeeper://"):
        from ouzel.runtime.cluster.state.zookeeper import ZooKeeperState

        return ZooKeeperState(setting.removeprefix("zookeeper://"))
    raise TopologyError(f"there is no state manager '{setting}'; write local or zookeeper://host:port")
