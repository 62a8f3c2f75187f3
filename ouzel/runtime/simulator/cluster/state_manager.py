"""A state manager in memory, which may be away, and at which a process may lose its turn before and after each call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ouzel.runtime.cluster.state.manager import Leadership, Watcher


@dataclass
class _Led:
    number: int
    data: bytes
    leader: StateConnection


@dataclass
class StateTree:
    """What all connections share.

    Attributes:
        nodes: data by path.
        led: the newest leadership, by path.
        is_away: whether each call fails.
    """

    nodes: dict[str, bytes] = field(default_factory=dict)
    led: dict[str, _Led] = field(default_factory=dict)
    is_away: bool = False


class StateConnection:
    """A process's connection; `turn` is called where others may run in between. See StateManager."""

    def __init__(self, tree: StateTree, turn: Callable[[], None] = lambda: None) -> None:
        self._tree, self._turn = tree, turn
        self._held: set[str] = set()
        self.is_open = True

    def get(self, path: str) -> bytes | None:
        return self._ask().nodes.get(path)

    def put(self, path: str, data: bytes) -> None:
        self._ask().nodes[path] = data
        self._turn()

    def hold(self, path: str, data: bytes) -> bool:
        nodes = self._ask().nodes
        if path in nodes and path not in self._held:
            return False
        nodes[path] = data
        self._held.add(path)
        return True

    def lead(self, path: str, data: bytes, deposing: int = 0) -> int | None:
        tree = self._ask()
        before = tree.led.get(path)
        if before is not None and before.leader.is_open and before.number != deposing:
            return None
        number = before.number + 1 if before is not None else 1
        tree.led[path] = _Led(number, data, self)
        self._turn()
        return number

    def leadership(self, path: str) -> Leadership | None:
        led = self._ask().led.get(path)
        return None if led is None else Leadership(led.number, led.data, led.leader.is_open)

    def delete(self, path: str) -> None:
        nodes = self._ask().nodes
        for one in [one for one in nodes if one == path or one.startswith(f"{path}/")]:
            del nodes[one]
        self._turn()

    def children(self, path: str) -> list[str]:
        below = f"{path.rstrip('/')}/"
        names = (one.removeprefix(below).partition("/")[0] for one in self._ask().nodes if one.startswith(below))
        return sorted(set(names))

    def watch(self, path: str, watcher: Watcher) -> None:
        raise NotImplementedError("nothing that is simulated watches a node")

    def close(self) -> None:
        self.is_open = False
        for path in self._held:
            self._tree.nodes.pop(path, None)

    def _ask(self) -> StateTree:
        """The tree, when others have had their turn.

        Raises:
            OSError: the state manager is away.
        """
        self._turn()
        if self._tree.is_away:
            raise OSError("the state manager is away")
        return self._tree
