"""A loop that unpacks rows, which are dicts, or frames: it would see names of columns, and is told what to write."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from ouzel import Source, Stream, monoid


def totals() -> Stream[Any]:
    return Source.of(["a", "b", "a"]).map(lambda word: (word, 1)).sum_by_key(monoid.Sum())


def plain() -> Stream[Any]:
    return Source.of([("a", 1), ("b", 2)])


def in_a_loop(rows: Any) -> object:
    for word, n in rows:
        return word, n
    return None


def in_a_list(rows: Any) -> object:
    return [word for word, n in rows]


def in_a_generator(rows: Any) -> object:
    return dict(pair for pair in ((word, n) for word, n in rows))


def with_a_rest(rows: Any) -> object:
    for word, *rest in rows:
        return word, rest
    return None


def awaited(rows: Any) -> object:
    async def loop() -> object:
        async for word, n in rows:
            return word, n
        return None

    return asyncio.run(loop())


def awaited_in_a_list(rows: Any) -> object:
    async def loop() -> object:
        return [word async for word, n in rows]

    return asyncio.run(loop())


LOOPS: list[Callable[[Any], object]] = [in_a_loop, in_a_list, in_a_generator, with_a_rest, awaited, awaited_in_a_list]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: str(loop.__name__))
def test_a_row_that_is_unpacked_says_that_it_is_a_dict(loop: Callable[[Any], object]) -> None:
    names = "word, rest" if loop is with_a_rest else "word, n"
    told = (
        f"a row of a run is a dict, and {names} would be names of its columns; write for row in run, and row['key'], row['value']; "
        f"or for {names} in (row.values() for row in run)"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(told)}$"), plain().start("memory") as run:
        loop(run)


def test_a_row_that_takes_back_has_one_column_more() -> None:
    with (
        pytest.raises(TypeError, match=r"row\['key'\], row\['value'\], row\['\$weight'\]$"),
        totals().start("memory") as run,
    ):
        in_a_loop(run)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: str(loop.__name__))
def test_a_frame_that_is_unpacked_says_that_it_is_one(loop: Callable[[Any], object]) -> None:
    with pytest.raises(
        TypeError, match=r"each of these is a frame, and word, (n|rest) would be its columns; .*frame\.iter_rows\(\)"
    ):
        loop(totals().changes("memory"))


def test_what_is_unpacked_around_a_row_is_right() -> None:
    with plain().start("memory") as run:
        assert [(place, row["key"]) for place, row in enumerate(run)] == [(0, "a"), (1, "b")]
    with plain().start("memory") as run:
        assert [(row["value"], n) for row, n in zip(run, [7, 8], strict=True)] == [(1, 7), (2, 8)]
    with plain().start("memory") as run:
        assert [(key, value) for key, value in (row.values() for row in run)] == [("a", 1), ("b", 2)]
    with plain().start("memory") as run:
        found = []
        for row in run:
            key, value = row.values()
            found.append((key, value))
    assert found == [("a", 1), ("b", 2)]
    with plain().start("memory") as run:
        assert next(iter(run)) == {"key": "a", "value": 1}


def test_frames_that_are_counted_are_right() -> None:
    assert [(place, frame.columns) for place, frame in enumerate(plain().changes("memory"))] == [(0, ["key", "value"])]
