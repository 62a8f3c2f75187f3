"""The state manager on ZooKeeper: nodes are znodes below /ouzel, held ones are ephemeral.

A node that is led holds the number and the data of its newest leadership. The leader holds an ephemeral znode below it. Both are written in
one transaction, which fails if another has begun a leadership since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry

from ouzel.errors import TopologyError
from ouzel.runtime.cluster.state.manager import Leadership, Watcher

_ROOT, _HOLDER = "/ouzel", "/=holder"
_CONNECT_S = 10.0
_SESSION_S = 4.0
_RETRY = {"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1.0}


class ZooKeeperState:
    """A session with an ensemble, `host:port[,host:port]`. Calls wait out the loss of a server; a session that expires is made anew."""

    def __init__(self, hosts: str) -> None:
        self._client = KazooClient(
            hosts=hosts, timeout=_SESSION_S, connection_retry=KazooRetry(**_RETRY), command_retry=KazooRetry(**_RETRY)
        )
        self._held: dict[str, bytes] = {}
        self._led: dict[str, bytes] = {}
        self._was_lost = False
        self._client.add_listener(self._listen)
        try:
            self._client.start(_CONNECT_S)
            self._client.ensure_path(_ROOT)
        except (KazooTimeoutError, KazooException) as error:
            with contextlib.suppress(Exception):
                self._client.stop()
            raise TopologyError(f"no ZooKeeper answers at {hosts} within {_CONNECT_S:g} s; is it running?") from error

    def get(self, path: str) -> bytes | None:
        try:
            data, _ = self._retry(self._client.get, _ROOT + path)
        except NoNodeError:
            return None
        return bytes(data)

    def put(self, path: str, data: bytes) -> None:
        try:
            self._retry(self._client.set, _ROOT + path, data)
        except NoNodeError:
            try:
                self._retry(self._client.create, _ROOT + path, data, makepath=True)
            except NodeExistsError:
                self._retry(self._client.set, _ROOT + path, data)

    def hold(self, path: str, data: bytes) -> bool:
        try:
            self._retry(self._client.create, _ROOT + path, data, ephemeral=True, makepath=True)
        except NodeExistsError:
            if not self._is_mine(path):
                return False
            self._retry(self._client.set, _ROOT + path, data)
        self._held[path] = data
        return True

    def lead(self, path: str, data: bytes, deposing: int = 0) -> int | None:
        node = _ROOT + path
        self._retry(self._client.ensure_path, node)
        stored, version, is_held = self._read_led(node)
        before = _parse_leadership(stored)
        if before is not None and before[1] == data and self._is_mine(path + _HOLDER):
            self._led[path] = stored  # an earlier try got through although its answer did not
            return before[0]
        number = before[0] if before is not None else 0
        if is_held and number != deposing:
            return None
        fresh = b"%d %b" % (number + 1, data)
        began = self._commit(node, lambda change: change.set_data(node, fresh, version=version), replaces=is_held)
        if began:
            self._led[path] = fresh
        return number + 1 if began else None

    def leadership(self, path: str) -> Leadership | None:
        try:
            stored, _, is_held = self._read_led(_ROOT + path)
        except NoNodeError:
            return None
        found = _parse_leadership(stored)
        return None if found is None else Leadership(*found, is_held)

    def delete(self, path: str) -> None:
        with contextlib.suppress(NoNodeError):
            self._retry(self._client.delete, _ROOT + path, recursive=True)

    def children(self, path: str) -> list[str]:
        try:
            return sorted(self._retry(self._client.get_children, _ROOT + path.rstrip("/")))
        except NoNodeError:
            return []

    def watch(self, path: str, watcher: Watcher) -> None:

        def on_change(data: bytes | None, stat: object) -> None:
            watcher(None if stat is None else data)

        self._client.DataWatch(_ROOT + path, on_change)

    def close(self) -> None:
        with contextlib.suppress(KazooException):
            self._client.stop()
            self._client.close()

    def _read_led(self, node: str) -> tuple[bytes, int, bool]:
        """The newest leadership as it is stored, the version of the znode, and whether it is held.

        Raises:
            NoNodeError: there is no such znode.
        """
        self._retry(self._client.sync, node)  # the server that answers may be behind the others
        stored, stat = self._retry(self._client.get, node)
        return bytes(stored), stat.version, self._retry(self._client.exists, node + _HOLDER) is not None

    def _commit(self, node: str, condition: Callable[[Any], Any], *, replaces: bool) -> bool:
        """Hold a led node, if that condition holds; whether it did."""

        def commit() -> list[Any]:
            change = self._client.transaction()
            condition(change)
            if replaces:
                change.delete(node + _HOLDER)
            change.create(node + _HOLDER, ephemeral=True)
            return list(change.commit())

        return not any(isinstance(result, Exception) for result in self._retry(commit))

    def _retry(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        return self._client.retry(call, *arguments, **options)

    def _is_mine(self, path: str) -> bool:
        """Whether this very session holds the node: an earlier try may have got through although its answer did not."""
        stat = self._retry(self._client.exists, _ROOT + path)
        return (
            stat is not None and self._client.client_id is not None and stat.ephemeralOwner == self._client.client_id[0]
        )

    def _listen(self, state: str) -> None:
        """With a session its ephemeral nodes go; hold them again in the new one. Called from kazoo's own thread, which must not wait."""
        if state == KazooState.LOST:
            self._was_lost = True
        elif state == KazooState.CONNECTED and self._was_lost:
            self._was_lost = False
            self._client.handler.spawn(self._hold_again)

    def _hold_again(self) -> None:
        for path, data in self._held.items():
            with contextlib.suppress(KazooException):
                self.hold(path, data)
        for path, fresh in list(self._led.items()):
            with contextlib.suppress(KazooException):
                self._lead_again(_ROOT + path, fresh)

    def _lead_again(self, node: str, fresh: bytes) -> None:
        """Go on with a leadership, unless another has begun since."""
        stored, version, is_held = self._read_led(node)
        if stored == fresh and not (is_held and self._is_mine(node.removeprefix(_ROOT) + _HOLDER)):
            self._commit(node, lambda change: change.check(node, version), replaces=is_held)


def _parse_leadership(stored: bytes) -> tuple[int, bytes] | None:
    number, _, data = stored.partition(b" ")
    return (int(number), data) if number else None
