"""Expressions in plain Python give what the engines give, or are refused."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import datetime
from random import Random
from typing import Any, NamedTuple

import pytest

from ouzel import Expr, NotSupported, Source, Stream, col, fn, lit
from tests.effort import seeds


class Ride(NamedTuple):
    n: int
    m: int | None
    price: float | None
    name: str | None
    paid: bool | None
    at: datetime | None


def ride(random: Random) -> Ride:
    return Ride(
        random.choice([0, 1, -7, 12, 2**62, -(2**63)]),
        random.choice([None, 0, 3, -2]),
        random.choice([None, 0.0, -0.0, 1.5, -7.25, math.nan, math.inf]),
        random.choice([None, "", "Ouzel", "  bridge ", "straße", "où est-il"]),
        random.choice([None, True, False]),
        random.choice([None, datetime(2026, 1, 2, 3)]),
    )


RECORDS = [ride(Random(number)) for number in range(40)]


def number(random: Random, depth: int) -> Expr:
    if depth == 0:
        return random.choice([col("n"), col("m"), lit(random.randint(-3, 3)), col("price"), lit(2.5)])
    a, b = number(random, depth - 1), number(random, depth - 1)
    return random.choice([a + b, a - b, a * b, a / b, a % b, -a, fn.abs(a), fn.coalesce(a, b), fn.char_length(text(random, 0)),
        fn.instr(text(random, 0), text(random, 0)), fn.nullif(a, b), fn.iff(truth(random, 0), a, b), col("n").cast(float)])  # fmt: skip


def text(random: Random, depth: int) -> Expr:
    if depth == 0:
        return random.choice([col("name"), lit("ou"), lit("")])
    a, b = text(random, depth - 1), text(random, depth - 1)
    size, start = random.randint(-3, 5), random.randint(-4, 4)
    return random.choice([fn.upper(a), fn.lower(a), fn.trim(a), fn.ltrim(a), fn.rtrim(a), fn.concat(a, b), fn.left(a, size),
        fn.right(a, size), fn.substring(a, start), fn.substring(a, start, size), fn.replace(a, b, "-"), fn.repeat(a, size),
        fn.reverse(a), fn.ifnull(a, b), col("n").cast(str), col("paid").cast(str)])  # fmt: skip


def truth(random: Random, depth: int) -> Expr:
    if depth == 0:
        return random.choice([col("paid"), col("m").is_null(), lit(True)])
    kind = random.choice([number, text])
    a, b, one, two = (
        kind(random, depth - 1),
        kind(random, depth - 1),
        truth(random, depth - 1),
        truth(random, depth - 1),
    )
    return random.choice([a == b, a != b, a < b, a <= b, a > b, a >= b, one & two, one | two, ~one, fn.is_true(one), fn.is_false(one),
        fn.is_not_null(a), fn.startswith(text(random, 0), text(random, 0)), fn.endswith(text(random, 0), text(random, 0)),
        fn.contains(text(random, 0), text(random, 0)), col("at") > datetime(2026, 1, 1)])  # fmt: skip


KINDS = (number, text, truth)


def comparable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(repr(value + 0.0) if isinstance(value, float) else value for value in row)


def meant(stream: Stream[Any]) -> list[tuple[Any, ...]]:
    """What plain Python gives, but for the records on which something fails."""
    made = []
    for record in RECORDS:
        with suppress(ArithmeticError):
            made += stream.memory(rides=[record])
    return [comparable(row) for row in made]


def test_random_expressions_give_what_the_engine_gives() -> None:
    for seed in seeds():
        for number in range(3):
            random = Random(10 * seed + number)
            items = {f"c{place}": random.choice(KINDS)(random, random.randint(1, 3)) for place in range(3)}
            shown = Source.of(RECORDS, Ride, name="rides").filter(truth(random, 2)).select("name", **items)
            found = [comparable(row) for row in shown.table("memory", error_policy="skip").rows()]
            assert found == meant(shown), f"seed {seed}, {number}: {items}"


@pytest.mark.parametrize(
    ("given", "means"),
    [
        ((col("n") + 1) / 0, ArithmeticError),
        (col("n") * 2**40, ArithmeticError),
        (col("price").cast(int), (OverflowError, ValueError)),
    ],
)
def test_what_fails_in_the_engine_fails_in_plain_python(given: Expr, means: type[Exception]) -> None:
    with pytest.raises(means):
        Source.of(RECORDS, Ride).select(x=given).memory()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (fn.md5(col("name")), "MD5(VARCHAR)"),
        (fn.abs(col("price").cast("FLOAT")), "CAST of DOUBLE AS FLOAT"),
        (col("price").cast(str), "CAST of DOUBLE AS VARCHAR"),
        (col("n").cast("DECIMAL(20, 2)") + 1, "CAST of BIGINT AS DECIMAL(20, 2)"),
    ],
    ids=lambda one: str(one),
)
def test_what_plain_python_does_not_know_is_refused_by_name(given: Expr, told: str) -> None:
    with pytest.raises(NotSupported, match=re.escape(f"plain Python does not compute {told}; use table('memory')")):
        Source.of(RECORDS, Ride).select(x=given).memory()


def test_a_number_is_typed_as_in_sql() -> None:
    assert Source.of(["ouzel"]).select(x=fn.substring(col("value"), 1, 2)).memory() == [("ou",)]
