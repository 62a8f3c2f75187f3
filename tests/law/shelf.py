"""A table that publishes whole epochs, in the memory of the test: what is shown there, each row must be there once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import polars as pl

from ouzel.compiler.plan import Sink, SinkMode
from ouzel.connectors import CONNECTORS
from ouzel.connectors.base import Connector, SinkDelivery, Writers, Writes
from ouzel.connectors.writing import EpochPublisher, SinkRequest
from ouzel.traits import sink_traits


class Shelf:
    """A table that shows whole epochs, and refuses one that it shows already."""

    def __init__(self) -> None:
        self.shown: dict[str, list[int]] = {}
        self.frames: list[pl.DataFrame] = []

    def open(self, request: SinkRequest) -> EpochPublisher:
        return ShelfPublisher(self, request.publisher)


class ShelfPublisher:
    """See EpochPublisher."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        self._shelf, self._name = shelf, name

    def last_published(self) -> int:
        return max(self._shelf.shown.get(self._name, [0]))

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        assert epoch > self.last_published(), f"epoch {epoch} of {self._name} is shown: {self._shelf.shown}"
        self._shelf.frames += frames
        self._shelf.shown.setdefault(self._name, []).append(epoch)

    def close(self) -> None:
        pass


_shelves = [Shelf()]
"""The last one is written to."""


def open_shelf(request: SinkRequest) -> EpochPublisher:
    """What the connector's row names."""
    return _shelves[-1].open(request)


SHELF = Connector(
    "shelf", "",
    writes=Writes("", ("append", "retract"), Writers.MANY, SinkDelivery.TRANSACTIONAL, publisher=f"{__name__}:open_shelf"),
)  # fmt: skip


@contextmanager
def shelved() -> Iterator[Shelf]:
    """Inside, there is the connector, and this is the shelf that is written to."""
    before = CONNECTORS.get("shelf")
    CONNECTORS["shelf"] = SHELF
    _shelves.append(Shelf())
    try:
        yield _shelves[-1]
    finally:
        _shelves.pop()
        if before is None:
            del CONNECTORS["shelf"]


def written(sink: Sink) -> Sink:
    """The sink of a trailing SELECT as that of an INSERT into a shelf."""
    assert SHELF.writes is not None
    mode = SinkMode.RETRACT if sink.input.retracts else SinkMode.APPEND
    return replace(sink, table="shelf", connector="shelf", mode=mode, traits=sink_traits(SHELF.writes))
