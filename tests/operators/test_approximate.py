"""What is approximate is as right as it says, whatever the numbers, and its hash is the one that is published."""

from __future__ import annotations

import math
from decimal import Decimal
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import polars as pl
import pytest

from ouzel.compiler.functions.aggregate_function import ValueOrder
from ouzel.compiler.functions.approximate import LARGEST_ROUNDED, register_bits
from ouzel.compiler.plan import Aggregate
from ouzel.compiler.types import BIGINT, BOOLEAN, BYTES, DOUBLE, FLOAT, INT, VARCHAR, DataType, DecimalType
from ouzel.runtime.operators import keyed
from ouzel.runtime.operators.keyed.approximate import LINEAR_COUNTING_LIMITS, find_registers, round_digits
from ouzel.runtime.operators.keyed.bags import KeepsValues
from ouzel.runtime.operators.keyed.spark_hash import spark_hashes
from tests.operators.nodes import FINAL, call, chain, group, table

HASHES: list[tuple[DataType, object, int]] = [
    (BIGINT, 1, -7001672635703045582),
    (BIGINT, -1, 3858142552250413010),
    (INT, 1, -6698625589789238999),
    (BOOLEAN, True, -6698625589789238999),
    (DOUBLE, 1.5, 7738255526519901366),
    (DOUBLE, 0.0, -5252525462095825812),
    (FLOAT, 1.5, 6163473420726370430),
    (DecimalType(10, 2), Decimal("-1.25"), -7646224701292229936),
    (DecimalType(30, 2), Decimal("-1.25"), 7643149620469691090),
    (DecimalType(30, 0), Decimal("170141183460469231731"), -7973896437183125989),
    (VARCHAR, "", -7444071767201028348),
    (VARCHAR, "t", -4931702381912318867),
    (VARCHAR, "the", -7881039948661331430),
    (VARCHAR, "the ", -5337807223636072751),
    (VARCHAR, "the qui", -4116442750296627377),
    (VARCHAR, "the quic", 5216099365940033514),
    (VARCHAR, "the quick br", -508852080223974874),
    (VARCHAR, "the quick brown fox jumps over ", 5266667380230714461),
    (VARCHAR, "the quick brown fox jumps over t", -1850683888899657192),
    (VARCHAR, "the quick brown fox jumps over the lazy dog, ", -4660113290380731394),
    (VARCHAR, "the quick brown fox jumps over the lazy dog, twice over: ü€", -1020680875855523937),
    (BYTES, b"\x00\xff", 879945414100663330),
]
"""Measured in Spark, `SELECT xxhash64(...)`; of bytes and text of each length that the algorithm takes its own way."""


@pytest.mark.parametrize(("kind", "value", "expected"), HASHES, ids=lambda part: str(part)[:20])
def test_the_hash_is_sparks(kind: DataType, value: object, expected: int) -> None:
    column = pl.Series([None, value, value], dtype=kind_of(kind)).slice(1)
    assert spark_hashes(column, kind).view(np.int64).tolist() == [expected, expected]


def kind_of(kind: DataType) -> pl.DataType:
    return table(value=kind).schema.polars()["value"]


@pytest.mark.parametrize("error", [0.05, 0.03, 0.02, 0.015, 0.011, 0.01])
@pytest.mark.parametrize("size", [0, 1, 10, 350, 900, 2600, 20_000, 200_000])
def test_a_count_is_off_by_a_few_times_its_standard_error(size: int, error: float) -> None:
    source = table(value=BIGINT)
    node = group(source, (), call("approx_count_distinct", source, "value", "n", parameters=(error,)), emit=FINAL)
    made = chain(node)
    for seed in range(3):
        values = np.random.default_rng(seed).permutation(np.repeat(np.arange(size) * (seed + 7919), 2))
        made.process(pl.DataFrame({"value": values}))
        (counted,) = (frame["n"][0] for frame in made.finish() if frame is not None)
        assert abs(counted - size) <= 4 * error * size
        made = chain(node)


def test_ranks_are_told_to_the_last_bit() -> None:
    assert (
        set(LINEAR_COUNTING_LIMITS)
        == {register_bits(error) for error in (0.05, 0.04, 0.03, 0.02, 0.015, 0.01)}
        == set(range(9, 15))
    )
    found = find_registers(pl.Series(range(1 << 16)), BIGINT, 9)
    words = spark_hashes(pl.Series(range(1 << 16)), BIGINT).tolist()
    assert found.tolist() == [(word >> 55) * 64 + 56 - (word & (1 << 55) - 1).bit_length() for word in words]


@pytest.mark.parametrize("error", [0.25, 0.01, 0.0001])
def test_rounded_numbers_are_within_the_error_and_in_order(error: float) -> None:
    dice = np.random.default_rng(3)
    values = np.sort(dice.normal(size=10_000) * 10.0 ** dice.uniform(-300, 300, 10_000))
    rounded = round_digits(values, error)
    assert (np.abs(rounded - values) <= error * np.abs(values)).all()
    assert (np.diff(rounded) >= 0).all()
    octave = np.unique(round_digits(np.linspace(1, 2, 100_000), error))
    assert len(octave) <= 1 / error + 1


def test_what_cannot_be_rounded_stays() -> None:
    given = np.array([math.inf, -math.inf, LARGEST_ROUNDED, -1.7e308, 0.0, 5e-324, 100.0, -127.0])
    assert round_digits(given, 0.01).tolist() == given.tolist()
    assert math.isnan(round_digits(np.array([math.nan]), 0.01)[0])
    assert math.copysign(1, round_digits(np.array([-0.0]), 0.01)[0]) == 1


ASCENDING = (ValueOrder(),)


@pytest.mark.parametrize("first", ["exact", "rough"])
def test_what_is_rounded_shares_no_bag_with_what_is_not(first: str) -> None:
    source = table(value=DOUBLE)
    calls = {
        "exact": call("median", source, "value", "exact", parameters=(ASCENDING,)),
        "rough": call("approx_percentile", source, "value", "rough", parameters=(ASCENDING, 0.5, 0.2)),
        "fine": call("approx_percentile", source, "value", "fine", parameters=(ASCENDING, 0.5, 0.0001)),
    }
    rows = pl.DataFrame({"value": [1.23456789 + number * 0.0371 for number in range(9)]})
    alone = {name: median_of(rows, group(source, (), one, emit=FINAL)) for name, one in calls.items()}
    together = sorted(calls.values(), key=lambda one: one.name != first)
    assert median_of(rows, group(source, (), *together, emit=FINAL)) == {name: one[name] for name, one in alone.items()}
    assert len({one[name] for name, one in alone.items()}) == 3


def test_who_keeps_other_values_than_those_of_the_column_says_so() -> None:
    for module in iter_modules(keyed.__path__):
        import_module(f"{keyed.__name__}.{module.name}")
    kinds = [KeepsValues]
    for kind in kinds:
        kinds += kind.__subclasses__()
    own = [kind for kind in kinds if "_series" in vars(kind)]
    assert own == [kind for kind in kinds if "content" in vars(kind) and kind is not KeepsValues] != []


def median_of(rows: pl.DataFrame, node: Aggregate) -> dict[str, object]:
    made = chain(node)
    made.process(rows)
    (frame,) = made.finish()
    return frame.row(0, named=True)
