"""The random numbers of Nexmark's events: splitmix64 over an event's number, in a loop compiled by Numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types

from ouzel.connectors.formats.compiled import compiled

NUMBERS = types.Array(types.int64, 1, "C", readonly=True)
WORDS = types.Array(types.uint64, 1, "C")
DRAWS, CHOICE = types.UniTuple(types.uint64, 2), types.UniTuple(types.int64, 6)
DRAWN = types.Array(types.int64, 1, "C")


@compiled(inline=True)
def _mix(bits):  # type: ignore[no-untyped-def]
    bits += np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled(types.void(NUMBERS, WORDS))
def _mix_each(numbers, mixed):  # type: ignore[no-untyped-def]
    for row in range(numbers.size):
        mixed[row] = _mix(np.uint64(numbers[row]))


@compiled(types.void(WORDS, types.uint64, types.uint64, DRAWN))
def _draw_each(mixed, salt, limit, drawn):  # type: ignore[no-untyped-def]
    for row in range(mixed.size):
        drawn[row] = np.int64((_mix(mixed[row] ^ salt) >> np.uint64(1)) % limit)


@compiled(types.void(NUMBERS, WORDS, DRAWS, CHOICE, DRAWN))
def _choose_each(rounds, mixed, draws, choice, chosen):  # type: ignore[no-untyped-def]
    hot, cold = draws
    per_round, at_first, active, cold_every, first_hot, hot_every = choice
    for row in range(rounds.size):
        newest = rounds[row] * per_round + at_first
        if (_mix(mixed[row] ^ hot) >> np.uint64(1)) % np.uint64(cold_every):
            chosen[row] = newest // hot_every * hot_every + first_hot
        else:
            last = np.uint64(min(active, newest + 1))
            chosen[row] = newest - np.int64((_mix(mixed[row] ^ cold) >> np.uint64(1)) % last)


def mix_all(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Splitmix64's finaliser of each number."""
    mixed = np.empty(len(numbers), np.uint64)
    _mix_each(np.ascontiguousarray(numbers), mixed)
    return mixed


def draw_all(mixed: npt.NDArray[np.uint64], salt: np.uint64, limit: int) -> npt.NDArray[np.int64]:
    """For each event a number in [0, limit)."""
    drawn = np.empty(len(mixed), np.int64)
    _draw_each(mixed, salt, np.uint64(limit), drawn)
    return drawn


def choose_all(
    rounds: npt.NDArray[np.int64],
    mixed: npt.NDArray[np.uint64],
    draws: tuple[np.uint64, np.uint64],
    choice: tuple[int, int, int, int, int, int],
) -> npt.NDArray[np.int64]:
    """For each event a number: see nexmark.HotRule for `choice`, to which the first hot one and the distance to the next are added.

    `draws` are the salts of what decides whether it is hot, and of which one it is if not.
    """
    chosen = np.empty(len(rounds), np.int64)
    _choose_each(np.ascontiguousarray(rounds), mixed, draws, choice, chosen)
    return chosen
