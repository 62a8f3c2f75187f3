"""The Nexmark auction site (Tucker, Tufte, Papadimos, Maier: "NEXMark, a benchmark for queries over data streams", 2002).

Its events, by the generator's public rules: of every 50, one person, three auctions and 46 bids; half of all bids go to a hot auction,
three in four come from a hot bidder, and as many auctions have a hot seller. Every field is a pure function of the seed and the event
number (splitmix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), so any part can be read again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.connectors.base import BatchView, Connector, HistoryView, Option, Reads, Replay, always, never
from ouzel.connectors.datagen import remove_rate
from ouzel.connectors.nexmark_rules import COLD_CHANNELS, FIRST_ID, HOT_CHANNELS, HOT_EVERY, ROUND, HotRule
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import (
    NothingCommitted,
    OffsetRange,
    Partition,
    ReadBatch,
    Reader,
    ReadState,
    Source,
    SourceRequest,
    before,
)
from ouzel.errors import ConnectorError, QueryError

if TYPE_CHECKING:
    from ouzel.connectors.nexmark_draws import Events

_Integers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.uint32]

SHARES = {"person": (0, 1), "auction": (1, 3), "bid": (4, 46)}
"""Which of the events of a round are of which table: (first, how many)."""

ACTIVE_PEOPLE, AUCTIONS_IN_FLIGHT = 1000, 100
CATEGORIES, FIRST_CATEGORY = 5, 10
EXTRA_TEXTS, EXTRA_SIZE = 1024, 40

CITIES = (
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
)
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")

HELD_STEP = ROUND * HOT_EVERY
"""The period, in events, after which rounds, hot people and hot auctions repeat."""


def _check(options: Mapping[str, str]) -> None:
    """Held events must be such that those that repeat them name the same people and auctions, only later ones."""
    held, parts = int(options.get("held", "0")), max(1, int(options.get("partitions", "1")))
    if held < 0 or held % (HELD_STEP * parts):
        raise QueryError(
            f"'held' = '{held}' breaks off in the middle of a round of {HELD_STEP:,} events in each of {parts} part(s)",
            instead=f"write a multiple of {HELD_STEP * parts}",
        )


CONNECTOR = Connector(
    "nexmark",
    doc=(
        "The events of the Nexmark benchmark, seeded: people, auctions and bids of an auction site. A table declares any of the columns "
        "of its kind: `id name emailAddress creditCard city state dateTime extra` of a person, `id itemName description initialBid reserve "
        "dateTime expires seller category extra` of an auction, `auction bidder price channel url dateTime extra` of a bid."
    ),
    options=(
        Option("table", "Which of the three kinds of events the table holds.", required=True, choices=tuple(SHARES)),
        Option("events", "Number of events of all three kinds together; without it they never end.", kind="integer"),
        Option(
            "rate",
            "Events of all kinds a second, by the wall clock; without it as fast as they are taken.",
            kind="number",
        ),
        Option("interval.us", "Event time between two events, in microseconds.", default="10", kind="integer"),
        Option("seed", "Other events for another seed.", default="0", kind="integer"),
        Option("partitions", "Parts that can be read in parallel.", default="1", kind="integer"),
        Option(
            "held",
            "So many events are made once and held in memory; those after them repeat these, later and with higher ids. A multiple of "
            "5,000 times `partitions`.",
            kind="integer",
        ),
    ),
    reads=Reads(
        "ouzel.connectors.nexmark:open_nexmark",
        bounded=lambda options: "events" in options,
        batch=BatchView(remove_rate, "events"),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=always,
        shared=True,
        at_rest=False,
        history=HistoryView(remove_rate),
    ),
    check=_check,
)


def open_nexmark(request: SourceRequest) -> Source:
    """Open one table of the site.

    Raises:
        ConnectorError: the table declares a column that its kind does not have.
    """
    options = TableOptions(CONNECTOR, request.options)
    known = _FIELDS[options.text("table")]
    for name in request.columns:
        if name not in known:
            raise ConnectorError(
                f"table '{request.table}': a Nexmark {options.text('table')} has no column '{name}'; it has {', '.join(known)}"
            )
    return _NexmarkSource(request, options)


@cache
def _texts(kind: str) -> pl.Series:
    """A pool of texts to draw from, made once in a process."""
    if kind == "name":
        return pl.Series([f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES])
    if kind == "email":
        return pl.Series([f"{first}.{last}@example.com".lower() for first in FIRST_NAMES for last in LAST_NAMES])
    channels = [*HOT_CHANNELS, *(f"channel-{number}" for number in range(COLD_CHANNELS))]
    if kind == "channel":
        return pl.Series(channels)
    if kind == "url":
        return pl.Series(
            [f"https://www.nexmark.com/{channel}/item.htm?query=1&channel_id={n}" for n, channel in enumerate(channels)]
        )
    from ouzel.connectors.nexmark_draws import mix_all  # Numba takes long to import, and a plan needs none of it

    letters = mix_all(np.arange(EXTRA_TEXTS * EXTRA_SIZE)) % np.uint64(26) + np.uint64(97)
    return pl.Series([bytes(row).decode() for row in letters.astype(np.uint8).reshape(EXTRA_TEXTS, EXTRA_SIZE)])


def _take(pool: pl.Series | Sequence[str], places: _Places) -> pl.Series:
    """By `[]`: Series.gather makes a lazy frame, which takes eight times as long."""
    return (pool if isinstance(pool, pl.Series) else pl.Series(pool))[pl.Series(places)]


def _times(time_us: _Integers) -> pl.Series:
    return pl.Series(time_us).cast(pl.Datetime("us"))


_SELLER = HotRule(1, 0, ACTIVE_PEOPLE, 4)
_BIDDER = HotRule(1, 0, ACTIVE_PEOPLE, 4, beside=1)
_BID_ON = HotRule(3, 2, AUCTIONS_IN_FLIGHT, 2)


def _credit_card(events: Events) -> pl.Series:
    number = pl.Series(events.random("card", 10**16)).cast(pl.String).str.zfill(16)
    return pl.select(pl.concat_str([number.str.slice(start, 4) for start in (0, 4, 8, 12)], separator=" ")).to_series()


def _extra(events: Events) -> pl.Series:
    return _take(_texts("extra"), events.place("extra", EXTRA_TEXTS))


def _person_name(events: Events, kind: str) -> pl.Series:
    return _take(_texts(kind), events.place("name", len(FIRST_NAMES) * len(LAST_NAMES)))


FieldRule = Callable[["Events"], "pl.Series | _Integers"]

_FIELDS: Mapping[str, Mapping[str, FieldRule]] = {
    "person": {
        "id": lambda events: FIRST_ID + events.round,
        "name": lambda events: _person_name(events, "name"),
        "emailAddress": lambda events: _person_name(events, "email"),
        "creditCard": _credit_card,
        "city": lambda events: _take(CITIES, events.place("city", len(CITIES))),
        "state": lambda events: _take(STATES, events.place("state", len(STATES))),
        "dateTime": lambda events: _times(events.time_us),
        "extra": _extra,
    },
    "auction": {
        "id": lambda events: FIRST_ID + events.round * 3 + events.number % ROUND - 1,
        "itemName": lambda events: _take(_texts("extra"), events.place("item", EXTRA_TEXTS)),
        "description": lambda events: _take(_texts("extra"), events.place("describe", EXTRA_TEXTS)),
        "initialBid": lambda events: events.price("initial"),
        "reserve": lambda events: events.price("initial") + events.price("reserve"),
        "dateTime": lambda events: _times(events.time_us),
        "expires": lambda events: _times(events.time_us + 1_000_000 * (1 + events.random("expires", 20))),
        "seller": lambda events: events.choose(_SELLER, "hot sell", "seller"),
        "category": lambda events: FIRST_CATEGORY + events.random("category", CATEGORIES),
        "extra": _extra,
    },
    "bid": {
        "auction": lambda events: events.choose(_BID_ON, "hot item", "auction"),
        "bidder": lambda events: events.choose(_BIDDER, "hot bid", "bidder"),
        "price": lambda events: events.price("price"),
        "channel": lambda events: _take(_texts("channel"), events.channel),
        "url": lambda events: _take(_texts("url"), events.channel),
        "dateTime": lambda events: _times(events.time_us),
        "extra": _extra,
    },
}


def event_numbers(table: str, rows: _Integers) -> _Integers:
    """Numbers of the events that are the table's rows `rows`, counted from 0."""
    return _events_of(table, rows, 0, 0).number


def _events_of(table: str, rows: _Integers, seed: int, interval_us: int) -> Events:
    from ouzel.connectors.nexmark_draws import Events, number_all

    return Events(*number_all(rows, *SHARES[table]), seed, interval_us)


def count_rows(table: str, events: int) -> int:
    """How many of the first `events` events are rows of the table."""
    first, share = SHARES[table]
    return events // ROUND * share + min(share, max(0, events % ROUND - first))


def generate(
    table: str, rows: _Integers, columns: Mapping[str, pl.DataType], seed: int = 0, interval_us: int = 10
) -> pl.DataFrame:
    """The table's rows with these numbers, and of them the columns asked for."""
    events = _events_of(table, rows, seed, interval_us)
    rules = _FIELDS[table]
    return pl.DataFrame([_as_column(name, kind, rules[name](events)) for name, kind in columns.items()])


def _as_column(name: str, kind: pl.DataType, values: pl.Series | _Integers) -> pl.Series:
    column = values.alias(name) if isinstance(values, pl.Series) else pl.Series(name, values)
    return column if column.dtype == kind else column.cast(kind)


class HeldEvents:
    """The rows of one part among the first events, made once; rows after them repeat these.

    From one time to the next all ids grow by as many people and auctions as there are in between, so that who bids on what stays.
    """

    _PER_ROUND: Mapping[str, Mapping[str, int]] = {
        "person": {"id": 1},
        "auction": {"id": 3, "seller": 1},
        "bid": {"auction": 3, "bidder": 1},
    }

    def __init__(self, source: _NexmarkSource, part: int) -> None:
        rules, self._columns = _FIELDS[source.table], source.columns
        numbers = np.arange(part, count_rows(source.table, source.held), source.parts)
        events = _events_of(source.table, numbers, source.seed, source.interval_us)
        self._frame = pl.DataFrame({name: rules[name](events) for name in source.columns})
        self._grows = {
            name: dt.timedelta(microseconds=source.held * source.interval_us)
            if kind == pl.Datetime
            else source.held // ROUND * self._PER_ROUND[source.table].get(name, 0)
            for name, kind in self._frame.schema.items()
        }

    def rows(self, start: int, end: int) -> pl.DataFrame:
        """The part's rows [start, end)."""
        parts, size = [], self._frame.height
        while start < end:
            times, first = divmod(start, size)
            last = min(size, first + end - start)
            parts.append(self._later(self._frame[first:last], times))
            start += last - first
        return pl.concat(parts) if len(parts) > 1 else parts[0]

    def _later(self, frame: pl.DataFrame, times: int) -> pl.DataFrame:
        kinds, grows = self._columns, self._grows
        return pl.DataFrame(
            [(one + grows[one.name] * times if grows[one.name] else one).cast(kinds[one.name]) for one in frame]
        )


class _NexmarkSource(NothingCommitted):
    """One table; partition i of n holds its rows i, i + n, i + 2n ..."""

    def __init__(self, request: SourceRequest, options: TableOptions) -> None:
        self.columns, self.table = request.columns, options.text("table")
        self.seed, self.interval_us = options.integer("seed"), options.integer("interval.us")
        self.parts = max(1, options.integer("partitions"))
        self.end = count_rows(self.table, options.integer("events")) if options.get("events") else None
        self.held = options.integer("held") if options.get("held") else 0
        self.rate = options.number("rate") * SHARES[self.table][1] / ROUND
        self.clocks: dict[str, _NexmarkReader] = {}

    def partitions(self) -> Sequence[Partition]:
        """As many as the option says."""
        return [Partition(str(number), self.end is not None) for number in range(self.parts)]

    def reader(self, partition: Partition, offset: int | None) -> Reader:
        """Offsets count the partition's rows."""
        return _NexmarkReader(self, int(partition.id), offset or 0)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """As far as the rate has let things happen."""
        start = offset or 0
        clock = self.clocks.setdefault(partition.id, _NexmarkReader(self, int(partition.id), start))
        end = max(start, clock.until(start + rows))
        return OffsetRange(start, end, clock.end is not None and end >= clock.end)


class _NexmarkReader:
    def __init__(self, source: _NexmarkSource, part: int, offset: int) -> None:
        self.source, self.part, self.next, self.first = source, part, offset, offset
        self.end = None if source.end is None else max(0, -(-(source.end - part) // source.parts))
        self.opened = time.monotonic()
        self._held = HeldEvents(source, part) if source.held else None

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """The next rows, as far as the rate has let them happen."""
        start, end = self.next, self.until(before(until, self.next + rows))
        if self.end is not None and start >= self.end:
            return ReadState.END
        if end <= start:
            return ReadState.WAIT
        self.next = end
        return ReadBatch(self._held.rows(start, end) if self._held else self._make(start, end), start, end)

    def _make(self, start: int, end: int) -> pl.DataFrame:
        parts = self.source.parts
        rows = np.arange(start * parts + self.part, end * parts + self.part, parts, dtype=np.int64)
        return generate(self.source.table, rows, self.source.columns, self.source.seed, self.source.interval_us)

    def until(self, wanted: int) -> int:
        """The offset before which reading stops: that wanted, that due by now, or the end."""
        if self.source.rate:
            due = (time.monotonic() - self.opened) * self.source.rate / self.source.parts
            wanted = min(wanted, self.first + int(due))
        return wanted if self.end is None else min(wanted, self.end)

    def close(self) -> None:
        """Nothing is open."""
