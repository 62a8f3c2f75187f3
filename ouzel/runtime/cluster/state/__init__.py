"""The state manager: a small tree of named nodes that outlives the processes that write it. Local files, or ZooKeeper for a cluster.

/topologies/<id>            the signed description
/packingplans/<id>          which task lives where
/tmanagers/<id>             who leads, and where it listens; held by it, gone with it
/executionstate/<id>        running, or draining or paused and the number of the pause, or how it ended; a fenced node
/generations/<id>           how often all tasks went back to an epoch, and to which; a fenced node
/offsets/<id>/<task>        up to where a source task's input is wholly acked; <task>-<generation> once all went back to an epoch
"""

from __future__ import annotations

from pathlib import Path

from ouzel.errors import TopologyError
from ouzel.runtime.cluster.state.manager import Leadership, StateManager, Watcher


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


def check_state(setting: str) -> None:
    """See, before anything is started, that the state manager that a setting names is there.

    Raises:
        TopologyError: as open_state.
    """
    if setting != "local":
        open_state(setting, Path()).close()


__all__ = ["Leadership", "StateManager", "Watcher", "check_state", "open_state"]
