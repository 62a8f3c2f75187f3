"""nexmark: the auction site of the Nexmark benchmark (Tucker, Tufte, Papadimos, Maier, "NEXMark", 2002, and its public generator's rules).

Of 50 events one is a person, three are auctions, 46 are bids; event n is a pure function of n and the seed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from ouzel.connectors.base import Connector, Option, Partition, SourceRequest
from ouzel.connectors.datagen import DatagenReader, Pace
from ouzel.connectors.nexmark_fields import FIELDS, Events
from ouzel.connectors.options import Options
from ouzel.errors import ConnectorError

_SHARES = {"person": (0, 1), "auction": (1, 3), "bid": (4, 46)}
_CYCLE = 50

CONNECTOR = Connector(
    "nexmark",
    "Events of the Nexmark benchmark: a `person` has (id, name, emailAddress, creditCard, city, state, dateTime, extra), an `auction` "
    "(id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra), a `bid` (auction, bidder, price, "
    "channel, url, dateTime, extra); a table declares those it wants. Half of the bids go to the hot auctions, three quarters come from "
    "hot bidders.",
    (
        Option("table", "Which events.", required=True, choices=("person", "auction", "bid")),
        Option("events", "How many events of all three kinds there are; without it there is no end.", kind="integer"),
        Option("rate", "Events of all three kinds a second of wall-clock time; 0 is as fast as possible.", "0", kind="number"),
        Option("events.per.second", "Events a second of event time, which starts at 2015-07-15.", "10000", kind="integer"),
        Option("seed", "Of everything at random.", "42", kind="integer"),
        Option("partitions", "How many partitions; by default one a task.", kind="integer"),
    ),
    source="ouzel.connectors.nexmark:NexmarkSource",
    bounded=lambda options: "events" in options,
)  # fmt: skip


class NexmarkSource:
    """The events of one kind; row n of partition p of P is row n * P + p of that kind."""

    def __init__(self, request: SourceRequest, clock: Callable[[], float] = time.monotonic) -> None:
        options = Options(CONNECTOR, request.options)
        self._table, self._clock, self._options = options.text("table"), clock, options
        self._first, self._share = _SHARES[self._table]
        self._count = options.integer("partitions") or max(1, request.tasks)
        self._columns = dict(request.columns)
        known = FIELDS[self._table]
        for name in request.columns:
            if name not in known:
                raise ConnectorError(
                    f"table '{request.table}': a Nexmark {self._table} has no '{name}'; it has {', '.join(known)}"
                )

    def partitions(self) -> Sequence[Partition]:
        """As many as asked."""
        return [Partition(str(number), self._options.get("events") is not None) for number in range(self._count)]

    def reader(self, partition: Partition, offset: int | None) -> DatagenReader:
        """Make rows from `offset` on."""
        number, start = int(partition.id), offset or 0
        rate = self._options.number("rate") * self._share / _CYCLE / self._count
        pace = Pace(rate, self._clock, start) if rate else None
        return DatagenReader(lambda low, high: self._make(number, low, high), self._rows(number), start, pace)

    def _rows(self, number: int) -> int | None:
        """How many rows the partition has."""
        if self._options.get("events") is None:
            return None
        cycles, rest = divmod(self._options.integer("events"), _CYCLE)
        rows = cycles * self._share + min(max(rest - self._first, 0), self._share)
        return (rows - number + self._count - 1) // self._count

    def _make(self, number: int, low: int, high: int) -> pl.DataFrame:
        rows = np.arange(low, high) * self._count + number
        places = rows // self._share * _CYCLE + self._first + rows % self._share
        events = Events(places, self._options.integer("seed"), self._options.integer("events.per.second"))
        made = FIELDS[self._table]
        columns = [pl.Series(name, made[name](events)).cast(kind) for name, kind in self._columns.items()]
        return pl.DataFrame(columns) if columns else pl.DataFrame(height=len(rows))

    def commit(self, offsets: Mapping[str, int]) -> bool:
        """The runtime keeps offsets."""
        return False

    def committed(self) -> Mapping[str, int]:
        """Nothing."""
        return {}

    def close(self) -> None:
        """Nothing is open."""
