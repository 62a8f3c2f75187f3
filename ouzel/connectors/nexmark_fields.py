"""The columns of Nexmark's three kinds of events, each a function of the events' numbers, by the benchmark's rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from zlib import crc32

import numpy as np
import polars as pl

from ouzel.connectors.datagen_fields import mix

_START_US = 1_436_918_400_000_000
_FIRST_ID, _FIRST_CATEGORY, _CATEGORIES = 1_000, 10, 5
_PEOPLE_ACTIVE, _AUCTIONS_OPEN, _LEAD, _HOT_EVERY = 1_000, 100, 10, 100
_POOL = 4_096
_CITIES = (
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
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_FIRST = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
_LAST = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")


class Events:
    """The numbers of some events, and dice for each of them."""

    def __init__(self, numbers: np.ndarray, seed: int, per_second: int) -> None:
        self.numbers, self._seed, self._per_second = numbers, seed, per_second
        cycle, place = numbers // 50, numbers % 50
        self.last_person = cycle
        self.last_auction = np.where(place < 1, cycle * 3 - 1, cycle * 3 + np.minimum(place - 1, 2))

    def bits(self, what: str) -> np.ndarray:
        """64 random bits for each event; other ones for each `what`."""
        return mix(self.numbers, np.uint64((self._seed << 32) ^ crc32(what.encode())))

    def below(self, what: str, limit: int | np.ndarray) -> np.ndarray:
        """A random whole number from 0 to less than `limit`."""
        return (self.bits(what) % np.asarray(limit, np.uint64)).astype(np.int64)

    def one_of(self, what: str, words: pl.Series) -> pl.Series:
        """A random word for each event."""
        return words.gather(self.below(what, len(words)))

    def filler(self, what: str, length: int) -> pl.Series:
        """Random text of `length` letters, a fifth more or less."""
        return self.one_of(what, _texts(length - length // 5, length + length // 5))

    def letters(self, what: str, length: int) -> pl.Series:
        """Random text of exactly `length` letters."""
        return self.one_of(what, _texts(length, length))

    def time_us(self) -> np.ndarray:
        """When they happen: evenly spaced."""
        times: np.ndarray = _START_US + self.numbers * 1_000_000 // self._per_second
        return times

    def moments(self, microseconds: np.ndarray) -> pl.Series:
        """As timestamps, in whole milliseconds."""
        return pl.Series(microseconds // 1_000 * 1_000).cast(pl.Datetime("us"))

    def price(self, what: str) -> np.ndarray:
        """A price in cents, as many of each power of ten."""
        share = (self.bits(what) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        cents: np.ndarray = np.round(10.0 ** (share * 6) * 100)
        return cents.astype(np.int64)

    def person(self, what: str) -> np.ndarray:
        """Somebody who may be active now, counted from 0."""
        active = np.minimum(self.last_person + 1, _PEOPLE_ACTIVE)
        return self.last_person + 1 - active + self.below(what, active + _LEAD)

    def expires_us(self) -> np.ndarray:
        """When an auction ends: within twice the time that the open auctions span."""
        span_ms = max(1, _AUCTIONS_OPEN * 50 // 3 * 1_000 // self._per_second)
        return self.time_us() + (1 + self.below("expires", 2 * span_ms)) * 1_000


@cache
def _texts(shortest: int, longest: int) -> pl.Series:
    """Random texts to draw from, always the same."""
    numbers = np.arange(_POOL * longest).reshape(_POOL, longest)
    letters = (mix(numbers.ravel(), np.uint64(longest)) % np.uint64(26) + np.uint64(ord("a"))).astype(np.uint8)
    cuts = shortest + (mix(np.arange(_POOL), np.uint64(7)) % np.uint64(longest - shortest + 1)).astype(np.int64)
    rows = letters.reshape(_POOL, longest)
    return pl.Series([rows[row, :cut].tobytes().decode() for row, cut in enumerate(cuts.tolist())])


def _hot(events: Events, what: str, ratio: int, hot: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.where(events.below(f"{what} hot", ratio) > 0, hot, other) + _FIRST_ID


def _auction_of_bid(events: Events) -> np.ndarray:
    oldest = np.maximum(events.last_auction - _AUCTIONS_OPEN, 0)
    other = oldest + events.below("auction", events.last_auction - oldest + 1 + _LEAD)
    return _hot(events, "auction", 2, events.last_auction // _HOT_EVERY * _HOT_EVERY, other)


def _bidder(events: Events) -> np.ndarray:
    return _hot(events, "bidder", 4, events.last_person // _HOT_EVERY * _HOT_EVERY + 1, events.person("bidder"))


def _seller(events: Events) -> np.ndarray:
    return _hot(events, "seller", 4, events.last_person // _HOT_EVERY * _HOT_EVERY, events.person("seller"))


def _channel_number(events: Events) -> np.ndarray:
    """0 to 3 for a hot channel, from 4 on for one of 10,000 others."""
    return np.where(events.below("channel hot", 2) > 0, events.below("channel", 4), 4 + events.below("channel", 10_000))


@cache
def _channels() -> pl.Series:
    return pl.Series([*_CHANNELS, *(f"channel-{number}" for number in range(10_000))])


def _url(events: Events) -> pl.Series:
    channel = _channel_number(events)
    told = (channel >= 4) & (events.below("told", 10) > 0)
    parts = pl.DataFrame({part: events.letters(f"url {part}", 5) for part in "abc"}).with_columns(
        id=pl.Series(channel), told=pl.Series(told)
    )
    query = (
        pl.when("told").then(pl.format("item.htm?query=1&channel_id={}", "id")).otherwise(pl.lit("item.htm?query=1"))
    )
    return parts.select(pl.format("https://www.nexmark.com/{}/{}/{}/{}", "a", "b", "c", query)).to_series()


def _name(events: Events) -> pl.Series:
    return events.one_of("first", pl.Series(_FIRST)) + " " + events.one_of("last", pl.Series(_LAST))


def _card(events: Events) -> pl.Series:
    digits = events.below("card", 10**16)
    parts = {
        str(place): pl.Series(digits // 10 ** (4 * place) % 10_000).cast(pl.String).str.zfill(4) for place in range(4)
    }
    return pl.DataFrame(parts).select(pl.format("{} {} {} {}", *parts)).to_series()


Column = Callable[[Events], "pl.Series | np.ndarray"]

FIELDS: dict[str, dict[str, Column]] = {
    "person": {
        "id": lambda events: events.last_person + _FIRST_ID,
        "name": _name,
        "emailAddress": lambda events: events.letters("mail", 7) + "@" + events.letters("host", 5) + ".com",
        "creditCard": _card,
        "city": lambda events: events.one_of("city", pl.Series(_CITIES)),
        "state": lambda events: events.one_of("state", pl.Series(_STATES)),
        "dateTime": lambda events: events.moments(events.time_us()),
        "extra": lambda events: events.filler("extra", 120),
    },
    "auction": {
        "id": lambda events: events.last_auction + _FIRST_ID,
        "itemName": lambda events: events.filler("item", 20),
        "description": lambda events: events.filler("description", 100),
        "initialBid": lambda events: events.price("initial"),
        "reserve": lambda events: events.price("initial") + events.price("reserve"),
        "dateTime": lambda events: events.moments(events.time_us()),
        "expires": lambda events: events.moments(events.expires_us()),
        "seller": _seller,
        "category": lambda events: _FIRST_CATEGORY + events.below("category", _CATEGORIES),
        "extra": lambda events: events.filler("extra", 320),
    },
    "bid": {
        "auction": _auction_of_bid,
        "bidder": _bidder,
        "price": lambda events: events.price("price"),
        "channel": lambda events: _channels().gather(_channel_number(events)),
        "url": _url,
        "dateTime": lambda events: events.moments(events.time_us()),
        "extra": lambda events: events.filler("extra", 20),
    },
}
"""Columns of each kind of event, by name."""
