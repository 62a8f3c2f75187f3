"""The numbers of Nexmark's events: splitmix64 over an event's number and what is drawn from it, in loops compiled by Numba.

Each loop fills one column. What is drawn is computed with sums and products alone, so it is the same on every machine; a power
of ten by NumPy, for one, has another last bit with AVX-512.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
from numba import types

from ouzel.connectors.formats.compiled import compiled
from ouzel.connectors.nexmark_rules import COLD_CHANNELS, EPOCH_START, FIRST_ID, HOT_CHANNELS, HOT_EVERY, ROUND, HotRule

_Integers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.uint32]
_Words = npt.NDArray[np.uint64]

_READ = types.Array(types.int64, 1, "C", readonly=True)
_WORDS = types.Array(types.uint64, 1, "C")
_PAIR, _CHOICE, _SALTS = (
    types.UniTuple(types.uint64, 2),
    types.UniTuple(types.int64, 6),
    types.UniTuple(types.uint64, 3),
)
_DRAWN, _PLACES = types.Array(types.int64, 1, "C"), types.Array(types.uint32, 1, "C")
_POWERS = types.Array(types.float64, 2, "C", readonly=True)

_HOT_CHANNELS = np.uint64(len(HOT_CHANNELS))
_FRACTION = 53
"""A number in [0, 1) is so many bits."""

_DECADES = 6
_STEPS = 256
_FINE = _FRACTION - 16
"""A power of ten is looked up by the first eight bits of its exponent and the next eight; a polynomial of the other bits does the rest."""

_POWER = np.array([[10.0 ** (_DECADES * step / _STEPS**place) for step in range(_STEPS)] for place in (1, 2)])
_SIXTH = 1.0 / 6.0
_NATURAL = _DECADES * float(np.log(10.0)) / (1 << _FRACTION)


@compiled(inline=True)
def _mix(bits):  # type: ignore[no-untyped-def]
    bits += np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled(types.void(_READ, types.int64, types.int64, _DRAWN, _DRAWN))
def _number_each(rows, first, share, numbers, rounds):  # type: ignore[no-untyped-def]
    before, full, place = np.int64(0), np.int64(0), np.int64(0)
    for at in range(rows.size):
        place += rows[at] - before
        before = rows[at]
        if place < 0 or place >= share:
            full += place // share
            place = before - full * share
        numbers[at] = full * ROUND + first + place
        rounds[at] = full


@compiled(types.void(_READ, _WORDS))
def _mix_each(numbers, mixed):  # type: ignore[no-untyped-def]
    for row in range(numbers.size):
        mixed[row] = _mix(np.uint64(numbers[row]))


@compiled(types.void(_READ, types.int64, types.int64, _DRAWN))
def _time_each(numbers, start_us, interval_us, times):  # type: ignore[no-untyped-def]
    for row in range(numbers.size):
        times[row] = start_us + numbers[row] * interval_us // 1000 * 1000


def _draw_each(mixed, salt, limit, drawn):  # type: ignore[no-untyped-def]
    if limit & (limit - np.uint64(1)):
        for row in range(mixed.size):
            drawn[row] = (_mix(mixed[row] ^ salt) >> np.uint64(1)) % limit
    else:
        for row in range(mixed.size):
            drawn[row] = (_mix(mixed[row] ^ salt) >> np.uint64(1)) & (limit - np.uint64(1))


_draw_numbers = compiled(types.void(_WORDS, types.uint64, types.uint64, _DRAWN))(_draw_each)
_draw_places = compiled(types.void(_WORDS, types.uint64, types.uint64, _PLACES))(_draw_each)


@compiled(types.void(_READ, _WORDS, _PAIR, _CHOICE, _DRAWN))
def _choose_each(rounds, mixed, draws, choice, chosen):  # type: ignore[no-untyped-def]
    hot, cold = draws
    per_round, at_first, active, cold_every, first, beside = choice
    among = np.uint64(cold_every - 1)
    for row in range(rounds.size):
        newest = rounds[row] * per_round + at_first
        if (_mix(mixed[row] ^ hot) >> np.uint64(1)) & among:
            chosen[row] = newest // HOT_EVERY * HOT_EVERY + first + beside
        else:
            last = np.uint64(min(active, newest + 1))
            chosen[row] = first + newest - np.int64((_mix(mixed[row] ^ cold) >> np.uint64(1)) % last)


@compiled(types.void(_WORDS, _SALTS, types.uint64, _PLACES))
def _channel_each(mixed, salts, others, places):  # type: ignore[no-untyped-def]
    is_hot, hot, cold = salts
    for row in range(mixed.size):
        if _mix(mixed[row] ^ is_hot) & np.uint64(2):
            places[row] = (_mix(mixed[row] ^ hot) >> np.uint64(1)) % _HOT_CHANNELS
        else:
            places[row] = _HOT_CHANNELS + (_mix(mixed[row] ^ cold) >> np.uint64(1)) % others


@compiled(types.void(_WORDS, types.uint64, _POWERS, _DRAWN))
def _price_each(mixed, salt, powers, prices):  # type: ignore[no-untyped-def]
    for row in range(mixed.size):
        drawn = (_mix(mixed[row] ^ salt) >> np.uint64(1)) & np.uint64((1 << _FRACTION) - 1)
        coarse, fine = drawn >> np.uint64(_FRACTION - 8), drawn >> np.uint64(_FINE) & np.uint64(255)
        rest = _NATURAL * np.float64(drawn & np.uint64((1 << _FINE) - 1))
        power = powers[0, coarse] * powers[1, fine] * (1.0 + rest * (1.0 + rest * (0.5 + rest * _SIXTH)))
        prices[row] = np.int64(power * 100.0 + 0.5)


def number_all(rows: _Integers, first: int, share: int) -> tuple[_Integers, _Integers]:
    """Numbers of the events that are a table's rows, counted from 0, and the round that each is in.

    Of every round the table has `share` events, from the one at `first` on.
    """
    numbers, rounds = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    _number_each(np.ascontiguousarray(rows, np.int64), first, share, numbers, rounds)
    return numbers, rounds


def mix_all(numbers: _Integers) -> _Words:
    """Splitmix64's finaliser of each number."""
    mixed = np.empty(len(numbers), np.uint64)
    _mix_each(np.ascontiguousarray(numbers), mixed)
    return mixed


def time_all(numbers: _Integers, start_us: int, interval_us: int) -> _Integers:
    """The time of each event in whole milliseconds, as microseconds."""
    times = np.empty(len(numbers), np.int64)
    _time_each(numbers, start_us, interval_us, times)
    return times


def draw_all(mixed: _Words, salt: np.uint64, limit: int) -> _Integers:
    """For each event a number in [0, limit)."""
    drawn = np.empty(len(mixed), np.int64)
    _draw_numbers(mixed, salt, np.uint64(limit), drawn)
    return drawn


def draw_places(mixed: _Words, salt: np.uint64, limit: int) -> _Places:
    """As `draw_all`, as places in a pool."""
    drawn = np.empty(len(mixed), np.uint32)
    _draw_places(mixed, salt, np.uint64(limit), drawn)
    return drawn


def choose_all(
    rounds: _Integers, mixed: _Words, draws: tuple[np.uint64, np.uint64], choice: tuple[int, int, int, int, int, int]
) -> _Integers:
    """For each event the id of one that there is by then: see nexmark.HotRule for `choice`, in which the first id comes before `beside`.

    `draws` are the salts of what decides whether it is hot, and of which one it is if not.
    """
    chosen = np.empty(len(rounds), np.int64)
    _choose_each(rounds, mixed, draws, choice, chosen)
    return chosen


def draw_channels(mixed: _Words, salts: tuple[np.uint64, np.uint64, np.uint64], others: int) -> _Places:
    """For each event the place of its channel, hot ones first.

    `salts` are of whether it is hot, of which hot one it is, and of which of the others.
    """
    places = np.empty(len(mixed), np.uint32)
    _channel_each(mixed, salts, np.uint64(others), places)
    return places


def draw_prices(mixed: _Words, salt: np.uint64) -> _Integers:
    """Log-uniform from 100 to 100 million cents."""
    prices = np.empty(len(mixed), np.int64)
    _price_each(mixed, salt, _POWER, prices)
    return prices


@dataclass(frozen=True)
class Events:
    """Numbers of some events, the round of 50 that each is in, and what their fields are drawn from.

    As many people are known as there were rounds, and three times as many auctions.
    """

    number: _Integers
    round: _Integers
    seed: int
    interval_us: int

    @property
    def time_us(self) -> _Integers:
        """Event time, in whole milliseconds."""
        return time_all(self.number, int(EPOCH_START.timestamp() * 1e6), self.interval_us)

    def random(self, field: str, limit: int) -> _Integers:
        """For each event a number in [0, limit), as random as any, its own for every `field`."""
        return draw_all(self._mixed, self._salt(field), limit)

    def place(self, field: str, limit: int) -> _Places:
        """As `random`, as places in a pool."""
        return draw_places(self._mixed, self._salt(field), limit)

    @cached_property
    def _mixed(self) -> npt.NDArray[np.uint64]:
        return mix_all(self.number)

    def _salt(self, field: str) -> np.uint64:
        return _salt_of(field, self.seed)

    def choose(self, choice: HotRule, hot: str, cold: str) -> _Integers:
        """For each event the id of one of those that there are by then; `hot` and `cold` name what is drawn for it."""
        rule = (choice.per_round, choice.at_first, choice.active, choice.cold_every, FIRST_ID, choice.beside)
        return choose_all(self.round, self._mixed, (self._salt(hot), self._salt(cold)), rule)

    def price(self, field: str) -> _Integers:
        """Log-uniform from 100 to 100 million cents."""
        return draw_prices(self._mixed, self._salt(field))

    @cached_property
    def channel(self) -> _Places:
        """For each event the place of its channel, and of that channel's address, in the pools of both."""
        salts = self._salt("hot chan"), self._salt("channel"), self._salt("channels")
        return draw_channels(self._mixed, salts, COLD_CHANNELS)


@cache
def _salt_of(field: str, seed: int) -> np.uint64:
    return np.uint64(
        sum(ord(letter) << 7 * place for place, letter in enumerate(field[:8])) + (seed << 57) & (1 << 64) - 1
    )
