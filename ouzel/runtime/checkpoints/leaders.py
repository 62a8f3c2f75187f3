"""Which topology masters have led a topology, as its folder of checkpoints knows it: what one of them completes too late does not count.

A topology master may be stopped while it completes an epoch, and wake up when another leads, which may have had all tasks go back since.
So a leadership first says in the folder that it has begun, and then which epochs it has found. Of earlier leaderships only those count.
Who completes an epoch looks afterwards whether a later leadership has begun; only if none has, anybody hears of it.
"""

from __future__ import annotations

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.names import LEADERS, epoch_name, epoch_of
from ouzel.runtime.checkpoints.objects import ObjectStore
from ouzel.runtime.checkpoints.sealed import seal, unseal
from ouzel.runtime.protocol.cluster.leadership import Deposed

_VERSION = 1
_BEGUN, _FOUND = ".begun", ".found"


class Leaders:
    """The leaderships that a folder of checkpoints has seen. Numbers only grow, so what a late one writes changes nothing."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def begin(self, leadership: int) -> None:
        """From now on no earlier leadership completes an epoch that anybody hears of.

        Raises:
            OSError: it cannot be written.
        """
        with self._store.fresh(LEADERS, leadership) as file:
            file.keep(_name(leadership, _BEGUN))

    def settle(self, leadership: int, epochs: list[int]) -> None:
        """Of earlier leaderships these epochs count.

        Raises:
            OSError: it cannot be written.
        """
        with self._store.fresh(LEADERS, leadership) as file:
            file.write(seal(_VERSION, {"epochs": epochs}))
            file.keep(_name(leadership, _FOUND))
        for suffix in (_FOUND, _BEGUN):
            self._store.delete([_name(former, suffix) for former in self._list(suffix) if former < leadership])

    def check_leads(self, leadership: int) -> None:
        """See that no later leadership has begun.

        Raises:
            Deposed: one has.
            OSError: the folder cannot be read.
        """
        newest = max(self._list(_BEGUN), default=leadership)
        if newest > leadership:
            raise Deposed(leadership, newest)

    def is_counted(self, epoch: int, leadership: int) -> bool:
        """Whether an epoch that this leadership has completed counts.

        Raises:
            OSError: the folder cannot be read.
            StateError: what the newest leadership found is damaged.
        """
        while (newest := max(self._list(_FOUND), default=leadership)) != leadership:
            try:
                return epoch in unseal(self._store, _name(newest, _FOUND), _VERSION)["epochs"]
            except StateError:
                if newest in self._list(_FOUND):  # else a new leadership has removed it
                    raise
        return True

    def _list(self, suffix: str) -> list[int]:
        names = (name for name in self._store.list(LEADERS) if name.endswith(suffix))
        found = (epoch_of(name.removesuffix(suffix)) for name in names)
        return [number for number in found if number is not None]


def _name(leadership: int, suffix: str) -> str:
    return f"{LEADERS}/{epoch_name(leadership)}{suffix}"
