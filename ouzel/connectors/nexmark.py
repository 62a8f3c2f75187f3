"""The Nexmark auction site (Tucker, Tufte, Papadimos, Maier: "NEXMark, a benchmark for queries over data streams", 2002).

Its events, by the generator's public rules: of every 50, one person, three auctions and 46 bids; half of all bids go to a hot auction,
three in four come from a hot bidder, and as many auctions have a hot seller. Every field is a pure function of the seed and the event
number (splitmix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), so any part can be read again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.connectors.base import (
    BatchView,
    Committed,
    Connector,
    OffsetRange,
    Option,
    Partition,
    ReadBatch,
    Reader,
    Reads,
    ReadState,
    Replay,
    Source,
    SourceRequest,
    always,
    before,
    never,
)
from ouzel.connectors.datagen import remove_rate
from ouzel.connectors.options import TableOptions
from ouzel.errors import ConnectorError, QueryError

Integers = npt.NDArray[np.int64]

EPOCH_START = dt.datetime(2015, 7, 15, tzinfo=dt.UTC)
ROUND = 50
"""Events in one round; `SHARES` says which of them are of which table: (first, how many)."""
SHARES = {"person": (0, 1), "auction": (1, 3), "bid": (4, 46)}

FIRST_ID = 1000
ACTIVE_PEOPLE, AUCTIONS_IN_FLIGHT, HOT_EVERY = 1000, 100, 100
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
HOT_CHANNELS, COLD_CHANNELS = ("Google", "Facebook", "Baidu", "Apple"), 10_000

HELD_STEP = ROUND * HOT_EVERY
"""After so many events everything begins anew: rounds, hot people and hot auctions."""


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


@dataclass(frozen=True)
class Events:
    """Numbers of some events, and what their fields are drawn from."""

    number: Integers
    seed: int
    interval_us: int

    @cached_property
    def round(self) -> Integers:
        """Which round of 50 each event is in: as many people are known by then, and three times as many auctions."""
        return self.number // ROUND

    @property
    def time_us(self) -> Integers:
        """Event time, in whole milliseconds."""
        start_us = int(EPOCH_START.timestamp() * 1e6)
        return start_us + self.number * self.interval_us // 1000 * 1000

    def random(self, field: str, limit: int) -> Integers:
        """For each event a number in [0, limit), as random as any, its own for every `field`."""
        from ouzel.connectors.nexmark_draws import draw_all

        return draw_all(self._mixed, self._salt(field), limit)

    @cached_property
    def _mixed(self) -> npt.NDArray[np.uint64]:
        return _mix_all(self.number)

    def _salt(self, field: str) -> np.uint64:
        return np.uint64(
            sum(ord(letter) << 7 * place for place, letter in enumerate(field[:8])) + (self.seed << 57) & (1 << 64) - 1
        )

    def choose(self, choice: HotRule, hot: str, cold: str) -> Integers:
        """For each event the id of one of those that there are by then; `hot` and `cold` name what is drawn for it."""
        from ouzel.connectors.nexmark_draws import choose_all

        rule = (choice.per_round, choice.at_first, choice.active, choice.cold_every, choice.beside, HOT_EVERY)
        return FIRST_ID + choose_all(self.round, self._mixed, (self._salt(hot), self._salt(cold)), rule)

    @cached_property
    def channel(self) -> Integers:
        """For each event the place of its channel, and of that channel's address, in the pools of both."""
        hot = self.random("channel", len(HOT_CHANNELS))
        cold = len(HOT_CHANNELS) + self.random("channels", COLD_CHANNELS)
        return np.where(self.random("hot chan", 2) > 0, hot, cold)

    def uniform(self, field: str) -> npt.NDArray[np.float64]:
        """For each event a number in [0, 1)."""
        return self.random(field, 1 << 53) / float(1 << 53)


def _mix_all(numbers: Integers) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64, of each number."""
    from ouzel.connectors.nexmark_draws import mix_all  # Numba takes long to import, and a plan needs none of it

    return mix_all(numbers)


@cache
def _texts(kind: str) -> pl.Series:
    """A pool of texts to take from, made once a process."""
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
    letters = _mix_all(np.arange(EXTRA_TEXTS * EXTRA_SIZE)) % np.uint64(26) + np.uint64(97)
    return pl.Series([bytes(row).decode() for row in letters.astype(np.uint8).reshape(EXTRA_TEXTS, EXTRA_SIZE)])


def _take(pool: pl.Series | Sequence[str], places: Integers) -> pl.Series:
    return (pool if isinstance(pool, pl.Series) else pl.Series(pool)).gather(places)


def _times(time_us: Integers) -> pl.Series:
    return pl.Series(time_us, dtype=pl.Int64).cast(pl.Datetime("us"))


def _price(events: Events, field: str) -> Integers:
    """Log-uniform from 100 to 100 million cents."""
    return np.round(np.power(10.0, events.uniform(field) * 6) * 100).astype(np.int64)


@dataclass(frozen=True)
class HotRule:
    """How an event names one of those that there are by then: the newest hot one, but for one time in `cold_every`, or one of the last.

    There are `per_round` more of them after each round, and `at_first` in the first beside one. `beside` is which one the hot one is.
    """

    per_round: int
    at_first: int
    active: int
    cold_every: int
    beside: int = 0


_SELLER = HotRule(1, 0, ACTIVE_PEOPLE, 4)
_BIDDER = HotRule(1, 0, ACTIVE_PEOPLE, 4, beside=1)
_BID_ON = HotRule(3, 2, AUCTIONS_IN_FLIGHT, 2)


def _credit_card(events: Events) -> pl.Series:
    number = pl.Series(events.random("card", 10**16)).cast(pl.String).str.zfill(16)
    return pl.select(pl.concat_str([number.str.slice(start, 4) for start in (0, 4, 8, 12)], separator=" ")).to_series()


def _extra(events: Events) -> pl.Series:
    return _take(_texts("extra"), events.random("extra", EXTRA_TEXTS))


def _person_name(events: Events, kind: str) -> pl.Series:
    return _take(_texts(kind), events.random("name", len(FIRST_NAMES) * len(LAST_NAMES)))


FieldRule = Callable[[Events], "pl.Series | Integers"]

_FIELDS: Mapping[str, Mapping[str, FieldRule]] = {
    "person": {
        "id": lambda events: FIRST_ID + events.round,
        "name": lambda events: _person_name(events, "name"),
        "emailAddress": lambda events: _person_name(events, "email"),
        "creditCard": _credit_card,
        "city": lambda events: _take(CITIES, events.random("city", len(CITIES))),
        "state": lambda events: _take(STATES, events.random("state", len(STATES))),
        "dateTime": lambda events: _times(events.time_us),
        "extra": _extra,
    },
    "auction": {
        "id": lambda events: FIRST_ID + events.round * 3 + events.number % ROUND - 1,
        "itemName": lambda events: _take(_texts("extra"), events.random("item", EXTRA_TEXTS)),
        "description": lambda events: _take(_texts("extra"), events.random("describe", EXTRA_TEXTS)),
        "initialBid": lambda events: _price(events, "initial"),
        "reserve": lambda events: _price(events, "initial") + _price(events, "reserve"),
        "dateTime": lambda events: _times(events.time_us),
        "expires": lambda events: _times(events.time_us + 1_000_000 * (1 + events.random("expires", 20))),
        "seller": lambda events: events.choose(_SELLER, "hot sell", "seller"),
        "category": lambda events: FIRST_CATEGORY + events.random("category", CATEGORIES),
        "extra": _extra,
    },
    "bid": {
        "auction": lambda events: events.choose(_BID_ON, "hot item", "auction"),
        "bidder": lambda events: events.choose(_BIDDER, "hot bid", "bidder"),
        "price": lambda events: _price(events, "price"),
        "channel": lambda events: _take(_texts("channel"), events.channel),
        "url": lambda events: _take(_texts("url"), events.channel),
        "dateTime": lambda events: _times(events.time_us),
        "extra": _extra,
    },
}


def event_numbers(table: str, rows: Integers) -> Integers:
    """Numbers of the events that are the table's rows `rows`, counted from 0."""
    first, share = SHARES[table]
    return rows // share * ROUND + first + rows % share


def count_rows(table: str, events: int) -> int:
    """How many of the first `events` events are rows of the table."""
    first, share = SHARES[table]
    return events // ROUND * share + min(share, max(0, events % ROUND - first))


def generate(
    table: str, rows: Integers, columns: Mapping[str, pl.DataType], seed: int = 0, interval_us: int = 10
) -> pl.DataFrame:
    """The table's rows with these numbers, and of them the columns asked for."""
    events = Events(event_numbers(table, rows), seed, interval_us)
    rules = _FIELDS[table]
    return pl.DataFrame({name: pl.Series(name, rules[name](events)).cast(kind) for name, kind in columns.items()})


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
        events = Events(event_numbers(source.table, numbers), source.seed, source.interval_us)
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


class _NexmarkSource:
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

    def commit(self, places: Mapping[str, Committed]) -> str:
        """The next run starts at the beginning."""
        return ""

    def committed(self) -> Mapping[str, Committed]:
        """Nothing is kept here."""
        return {}

    def close(self) -> None:
        """Nothing is open."""


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
        numbers = np.arange(start, end, dtype=np.int64) * self.source.parts + self.part
        return generate(self.source.table, numbers, self.source.columns, self.source.seed, self.source.interval_us)

    def until(self, wanted: int) -> int:
        """The offset before which reading stops: that wanted, that due by now, or the end."""
        if self.source.rate:
            due = (time.monotonic() - self.opened) * self.source.rate / self.source.parts
            wanted = min(wanted, self.first + int(due))
        return wanted if self.end is None else min(wanted, self.end)

    def close(self) -> None:
        """Nothing is open."""
