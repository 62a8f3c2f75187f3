"""Which topology masters have led a topology, as its folder of checkpoints knows it: what one of them completes too late does not count.

A topology master may be stopped while it completes an epoch, and wake up when another leads, which may have had all tasks go back since.
So a leadership first says in the folder that it has begun, and then which epochs it has found. Of earlier leaderships only those count.
Who completes an epoch looks afterwards whether a later leadership has begun; only if none has, anybody hears of it.
"""

from __future__ import annotations

import os
from pathlib import Path

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.fresh_file import FreshFile
from ouzel.runtime.checkpoints.names import LEADERS, epoch_name, epoch_of
from ouzel.runtime.checkpoints.sealed import seal, unseal
from ouzel.runtime.protocol.cluster.leadership import Deposed

_VERSION = 1
_BEGUN, _FOUND = ".begun", ".found"


class Leaders:
    """The leaderships that a folder of checkpoints has seen. Numbers only grow, so what a late one writes changes nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / LEADERS

    def begin(self, leadership: int) -> None:
        """From now on no earlier leadership completes an epoch that anybody hears of.

        Raises:
            OSError: it cannot be written.
        """
        with FreshFile(self._folder, leadership) as file:
            file.keep(self._path(leadership, _BEGUN))

    def settle(self, leadership: int, epochs: list[int]) -> None:
        """Of earlier leaderships these epochs count.

        Raises:
            OSError: it cannot be written.
        """
        with FreshFile(self._folder, leadership) as file:
            file.write(seal(_VERSION, {"epochs": epochs}))
            file.keep(self._path(leadership, _FOUND))
        for suffix in (_FOUND, _BEGUN):
            for former in self._list(suffix):
                if former < leadership:
                    self._path(former, suffix).unlink(missing_ok=True)

    def check_leads(self, leadership: int) -> None:
        """See that no later leadership has begun.

        Raises:
            Deposed: one has.
            OSError: the folder cannot be read.
        """
        newest = max(self._list(_BEGUN), default=leadership)
        if newest > leadership:
            raise Deposed(leadership, newest)

    def counts(self, epoch: int, leadership: int) -> bool:
        """Whether an epoch that this leadership has completed counts.

        Raises:
            OSError: the folder cannot be read.
            StateError: what the newest leadership found is damaged.
        """
        while (newest := max(self._list(_FOUND), default=leadership)) != leadership:
            try:
                return epoch in unseal(self._path(newest, _FOUND), _VERSION)["epochs"]
            except StateError:
                if newest in self._list(_FOUND):  # else a new leadership has removed it
                    raise
        return True

    def _path(self, leadership: int, suffix: str) -> Path:
        return self._folder / f"{epoch_name(leadership)}{suffix}"

    def _list(self, suffix: str) -> list[int]:
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        found = (epoch_of(name.removesuffix(suffix)) for name in names if name.endswith(suffix))
        return [number for number in found if number is not None]
