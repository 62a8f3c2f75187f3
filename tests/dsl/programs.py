"""Programs drawn at random: graphs of producers over a file of sentences, as those of Summingbird's TestGraphs, of any shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from ouzel import Source, Stream, col, column_function, fn, monoid

WORDS = ("the", "river", "runs", "under", "a", "bridge", "where", "an", "ouzel", "dives", "and", "walks", "on", "it")

Draw = Callable[[Random, Stream[Any]], Stream[Any]]


def write_sentences(path: Path, seed: int, lines: int = 60) -> None:
    """A file of sentences."""
    random = Random(seed)
    path.write_text("".join(" ".join(random.choices(WORDS, k=random.randint(0, 5))) + "\n" for _ in range(lines)))


def sizes(sentence: str) -> Iterator[tuple[str, int]]:
    """Each word with its length; a generator that gives pairs."""
    for word in sentence.split():
        yield word, len(word)


def pair(row: Any) -> tuple[Any, Any]:
    """A row as a pair."""
    return row.key, row.value


@column_function(tuple[str, int])
def halved(keys: pl.Series, values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The first half of each key; computed by columns."""
    return keys.str.head(keys.str.len_chars() // 2), values


def long(word: str) -> str | None:
    """A long word."""
    return word if len(word) > 3 else None


TEXT: tuple[Draw, ...] = (
    lambda random, one: one.flat_map(str.split),
    lambda random, one: one.filter(lambda text: len(text) % 3 != 1),
    lambda random, one: one.option_map(long),
    lambda random, one: one.map(str.upper),
    lambda random, one: one + Source.of(["an ouzel", "under it"], name=f"given{random.randint(0, 99)}"),
    lambda random, one: (
        one.collect({word: word[::-1] for word in WORDS[::2]}) + one.filter(lambda text: text not in WORDS[::2])
    ),
)
PAIRS: tuple[Draw, ...] = (
    lambda random, one: one.filter((col("value") % 4 != 1) | (col("key") < "o")),
    lambda random, one: one.select(key=fn.upper(col("key")), value=col("value") * 2 - fn.char_length(col("key"))).map(
        pair, returns=tuple[str, int]
    ),
    lambda random, one: one.map(halved),
    lambda random, one: one.map_values(lambda n: n * 3 - 7, returns=int),
    lambda random, one: one.flat_map_values(lambda n: range(n % 4), returns=int),
    lambda random, one: one.filter_values(lambda n: n % 5 != 0),
    lambda random, one: one.map_keys(lambda word: word[:2], returns=str),
    lambda random, one: one.flat_map_keys(lambda word: (word, word[:1]), returns=str),
    lambda random, one: one.filter_keys(lambda word: "e" not in word),
    lambda random, one: one.swap().map(lambda pair: (pair[1] + "!", pair[0] + 1), returns=tuple[str, int]),
    lambda random, one: one.keys().map(lambda word: (word, len(word)), returns=tuple[str, int]),
    lambda random, one: one.values().flat_map(lambda n: [(f"n{n % 3}", n)] * (n % 3), returns=tuple[str, int]),
    lambda random, one: one + one.map_values(lambda n: -n, returns=int),
    lambda random, one: one.left_join(one.map_values(lambda n: n % 3, returns=int).sum_by_key(monoid.Max())).map_values(
        lambda both: both[0] - (both[1] or 100), returns=int
    ),
    lambda random, one: one.join(one.filter_values(lambda n: n > 3).map_values(lambda n: -n, returns=int)).map_values(
        sum, returns=int
    ),
    lambda random, one: (
        one.keys()
        .lookup(one.sum_by_key(monoid.Count()).filter_values(lambda n: n > 2))
        .map_values(lambda n: n or 0, returns=int)
    ),
    lambda random, one: one.name(f"step {random.randint(0, 99)}"),
)
MONOIDS = (monoid.Sum(), monoid.Count(), monoid.Min(), monoid.Max())


def draw(random: Random, path: Path) -> Stream[Any]:
    """A program: some steps on sentences, pairs, some steps on them, and sums with steps between them."""
    lines: Stream[Any] = Source.file(str(path))
    for _ in range(random.randint(0, 3)):
        lines = random.choice(TEXT)(random, lines)
    pairs: Stream[Any] = lines.flat_map(sizes)
    for _ in range(random.randint(0, 3)):
        pairs = random.choice(PAIRS)(random, pairs)
    for _ in range(random.randint(1, 2)):
        pairs = pairs.sum_by_key(random.choice(MONOIDS))
        for _ in range(random.randint(0, 2)):
            pairs = random.choice(PAIRS)(random, pairs)
    return pairs
