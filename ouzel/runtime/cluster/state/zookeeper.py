"""The state manager on ZooKeeper: nodes are znodes below /ouzel, held ones are ephemeral."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry

from ouzel.errors import TopologyError
from ouzel.runtime.cluster.state.manager import Watcher

_ROOT = "/ouzel"
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
        """See StateManager."""
        try:
            data, _ = self._retry(self._client.get, _ROOT + path)
        except NoNodeError:
            return None
        return bytes(data)

    def put(self, path: str, data: bytes) -> None:
        """See StateManager."""
        try:
            self._retry(self._client.set, _ROOT + path, data)
        except NoNodeError:
            try:
                self._retry(self._client.create, _ROOT + path, data, makepath=True)
            except NodeExistsError:
                self._retry(self._client.set, _ROOT + path, data)

    def hold(self, path: str, data: bytes) -> bool:
        """See StateManager."""
        try:
            self._retry(self._client.create, _ROOT + path, data, ephemeral=True, makepath=True)
        except NodeExistsError:
            if not self._is_mine(path):
                return False
            self._retry(self._client.set, _ROOT + path, data)
        self._held[path] = data
        return True

    def delete(self, path: str) -> None:
        """See StateManager."""
        with contextlib.suppress(NoNodeError):
            self._retry(self._client.delete, _ROOT + path, recursive=True)

    def children(self, path: str) -> list[str]:
        """See StateManager."""
        try:
            return sorted(self._retry(self._client.get_children, _ROOT + path.rstrip("/")))
        except NoNodeError:
            return []

    def watch(self, path: str, watcher: Watcher) -> None:
        """See StateManager."""

        def changed(data: bytes | None, stat: object) -> None:
            watcher(None if stat is None else data)

        self._client.DataWatch(_ROOT + path, changed)

    def close(self) -> None:
        """See StateManager."""
        with contextlib.suppress(KazooException):
            self._client.stop()
            self._client.close()

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
