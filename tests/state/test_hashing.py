"""The hash of keys against another spelling of it in plain Python, and against words written down once: they may never change."""

from __future__ import annotations

import struct
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.runtime.state.hashing import HASH_VERSION, KEY_GROUPS, extend_hashes, key_groups, key_hashes, row_hashes

WORD = 0xFFFFFFFFFFFFFFFF
VALUE, LONG, LIST = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9


def secret(seed: int) -> list[int]:
    words = []
    for number in range(1, 9):
        word = (seed + number * 0x9E3779B97F4A7C15) & WORD
        word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & WORD
        word = ((word ^ word >> 27) * 0x94D049BB133111EB) & WORD
        words.append(word ^ word >> 31)
    return words


def multiply(first: int, second: int) -> int:
    product = first * second
    return (product ^ product >> 64) & WORD


def blocks(value: Any, seed: int) -> list[tuple[int, int]]:
    """What a value is folded in as."""
    match value:
        case None:
            return [(secret(seed)[4], secret(seed)[5])]
        case bool() | int():
            return [(int(value) & WORD, VALUE)]
        case float():
            plain = float("nan") if value != value else value + 0.0
            return [(struct.unpack("<Q", struct.pack("<d", plain))[0], VALUE)]
        case Decimal():
            unscaled = int(value.scaleb(2))
            return [(unscaled & WORD, unscaled >> 64 & WORD)]
        case str():
            return blocks(value.encode(), seed)
        case bytes() if len(value) <= 12:
            padded = len(value).to_bytes(4, "little") + value.ljust(12, b"\0")
            return [struct.unpack("<QQ", padded)]
        case bytes():
            whole = [value[start : start + 16] for start in range(0, len(value) - 16, 16)]
            last = value[-16:] if len(value) >= 16 else value[:8] + value[-8:]
            return [(len(value), LONG), *(struct.unpack("<QQ", part) for part in (*whole, last))]
        case list():
            return [(len(value), LIST), *(expected([element], seed) for element in value)]
        case dict():
            return [expected([value[name] for name in sorted(value)], seed)]
    raise AssertionError(value)


def expected(values: list[Any], seed: int, start: tuple[int, int] | None = None) -> tuple[int, int]:
    """Both words of the hash of a row."""
    words = secret(seed)
    low, high = start or (words[0], words[1])
    for value in values:
        for first, second in blocks(value, seed):
            low, high = multiply(first ^ words[2], second ^ low), multiply(first ^ words[3], second ^ high)
    return multiply(low ^ words[6], words[7] ^ VALUE), multiply(high ^ words[7], words[6] ^ VALUE)


def hashed(frame: pl.DataFrame, seed: int) -> list[tuple[int, int]]:
    low, high = key_hashes(frame, frame.columns, seed)
    return list(zip(low.tolist(), high.tolist(), strict=True))


SCALARS = {
    "b": st.booleans(), "i": st.integers(-(2**63), 2**63 - 1), "t": st.integers(-128, 127), "f": st.floats(),
    "d": st.integers(-(10**20), 10**20).map(lambda cents: Decimal(cents).scaleb(-2)),
    "s": st.text(max_size=70), "y": st.binary(max_size=70),
}  # fmt: skip
TYPES = {"b": pl.Boolean(), "i": pl.Int64(), "t": pl.Int8(), "f": pl.Float64(), "d": pl.Decimal(38, 2), "s": pl.String(), "y": pl.Binary(),
         "l": pl.List(pl.String()), "r": pl.Struct({"n": pl.Int64(), "s": pl.String()})}  # fmt: skip
NESTED = {
    "l": st.lists(st.none() | SCALARS["s"], max_size=4),
    "r": st.fixed_dictionaries({"n": st.none() | SCALARS["i"], "s": st.none() | SCALARS["s"]}),
}
VALUES = {name: st.none() | values for name, values in {**SCALARS, **NESTED}.items()}


@settings(deadline=None)
@given(st.lists(st.fixed_dictionaries(VALUES), max_size=8), st.integers(0, 2**63 - 1), st.integers(0, 8))
def test_the_hash_is_what_its_words_say(rows: list[dict[str, Any]], seed: int, cut: int) -> None:
    frame = pl.DataFrame(rows, schema=TYPES)
    assert hashed(frame, seed) == [expected([row[name] for name in TYPES], seed) for row in rows]
    assert hashed(frame[cut:], seed) == [expected([row[name] for name in TYPES], seed) for row in rows[cut:]]
    assert hashed(pl.concat([frame, frame], rechunk=False), seed) == 2 * hashed(frame, seed)
    key = key_hashes(frame, ["s"], seed)
    extended = extend_hashes(key, frame, ["i"], seed)
    assert [word.tolist() for word in extended] == [
        [expected([row["i"]], seed, expected([row["s"]], seed))[lane] for row in rows] for lane in (0, 1)
    ]


GOLDEN: list[tuple[pl.Series, list[str]]] = [
    # both words of each value, seed 42
    (pl.Series([None, None], dtype=pl.Null), [
        "39952dcc1da930efce22509219cad16a",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([True, False, None]), [
        "e3b36d8f9c33b02a186ffb7122a23f03",
        "b9fc0605fef07999ce0187c78bcbaefc",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([0, 1, -1, 2**63 - 1, -(2**63), None], dtype=pl.Int64), [
        "b9fc0605fef07999ce0187c78bcbaefc",
        "e3b36d8f9c33b02a186ffb7122a23f03",
        "3d819708e080322598200bc5ee33633c",
        "84eb9d481668730b706605b653dc1551",
        "7be6bba244c90373abb258bd4caabda1",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([5, -5, None], dtype=pl.Int8), [
        "b1a0e8244c4a9ebf3ee238b0d5b8663b",
        "8b488865932e485f8f8572c01a03f3bb",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([0.0, -0.0, 1.5, float("inf"), float("nan"), -float("nan"), None]), [
        "b9fc0605fef07999ce0187c78bcbaefc",
        "b9fc0605fef07999ce0187c78bcbaefc",
        "573dbf0d9ddfd08ba7fe2e3256ee70f1",
        "441c35754f6fdb2b91af4de110ba41bc",
        "f18a5dfcf9f895720ed3d4bbe5cd6153",
        "f18a5dfcf9f895720ed3d4bbe5cd6153",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([Decimal("1.50"), Decimal("-1.50"), Decimal("1E+30"), None], dtype=pl.Decimal(38, 2)), [
        "cfdadd8218407d4feec3ad8e170011f6",
        "6e6666b25508c987384dae7f10213c79",
        "1b4719de9a8538dd591f5b59d597b171",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series(["", "ouzel", "twelve bytes", "thirteen byte", "sixteen bytes ok", "a text of more than sixteen bytes",
               "Übergröße 水鳥", None]), [
        "b5f465d94c589f4c6588375d099c004c",
        "d63e6edcc7e0e86d32d29a91e0e34a6e",
        "dcb20fff40388d4bb85af0e47e150e6a",
        "fe8787de0564d9062ded0ec9924b5b43",
        "757b4bac9bfda1869b5b083153bffbf0",
        "eec5c3abb11f39fe64be2f52cd247143",
        "469d5e40ea24d85da4ff3975f4480e40",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([b"", b"\0", b"ouzel", None]), [
        "b5f465d94c589f4c6588375d099c004c",
        "b1dfd036acb990d09c0d2127b39dd28c",
        "d63e6edcc7e0e86d32d29a91e0e34a6e",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([date(2026, 1, 1), date(1969, 12, 31), None]), [
        "92f8e4f27097f93742a2a2564c10681b",
        "3d819708e080322598200bc5ee33633c",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([datetime(2026, 1, 1, 12), None], dtype=pl.Datetime("us")), [
        "af611e04c411bb99030cb97d39d48714",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([timedelta(hours=1), None], dtype=pl.Duration("us")), [
        "50addb6a8d42966a04623fd6defb29a4",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([[1, 2], [], [None], None], dtype=pl.List(pl.Int64)), [
        "ac0b6cede043a723c91d022bfea5574e",
        "eebb823db5f915426da546ff9799cb80",
        "5e63aa51d330a07e7d1fd62722af0200",
        "39952dcc1da930efce22509219cad16a",
    ]),
    (pl.Series([{"x": 1, "y": "a"}, {"x": None, "y": None}, None]), [
        "e829d08e60872d748bb590dd3437f0e2",
        "fc3e7e2a6a0ade74d7affcbd68898ab6",
        "39952dcc1da930efce22509219cad16a",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("series", "words"), GOLDEN, ids=lambda value: str(getattr(value, "dtype", "")))
def test_words_written_down_once_never_change(series: pl.Series, words: list[str]) -> None:
    assert HASH_VERSION == 1
    assert [f"{low:016x}{high:016x}" for low, high in hashed(series.to_frame(), 42)] == words


def test_equal_values_hash_alike_whatever_their_width() -> None:
    small, large = pl.Series([1, -1], dtype=pl.Int8), pl.Series([1, -1], dtype=pl.Int64)
    assert hashed(small.to_frame(), 3) == hashed(large.to_frame(), 3)
    assert hashed(pl.Series([1.5], dtype=pl.Float32).to_frame(), 3) == hashed(pl.Series([1.5]).to_frame(), 3)


def test_what_has_no_hash_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no hash of dictionary"):
        key_hashes(pl.DataFrame({"o": pl.Series(["a"], dtype=pl.Categorical)}), ["o"], 1)


def test_columns_are_not_run_together() -> None:
    frame = pl.DataFrame({"a": ["ab", "a", "", None], "b": ["", "b", "ab", "ab"]})
    assert len(set(hashed(frame, 1))) == 4
    none = pl.DataFrame({"a": [1, 2]})
    assert len(set(row_hashes(none, [], 1).tolist())) == 1


def test_keys_spread_over_key_groups_and_both_words() -> None:
    numbers = np.arange(100_000)
    for keys in (numbers, numbers << 40, numbers.astype(np.float64), numbers.astype(str)):
        low, high = key_hashes(pl.DataFrame({"k": keys}), ["k"], 1)
        counts = np.bincount(key_groups(low), minlength=KEY_GROUPS)
        assert (counts.size, counts.min() > 50, counts.max() < 170) == (KEY_GROUPS, True, True)
        places = np.bincount((high & np.uint64(1023)).astype(np.int64), minlength=1024)
        assert (places.min() > 50, places.max() < 170) == (True, True)
        assert len(np.unique(low)) == len(np.unique(high)) == len(keys)


def test_each_bit_depends_on_each() -> None:
    base = np.random.default_rng(5).integers(0, 1 << 62, 300)
    for bit in range(62):
        pair = [key_hashes(pl.DataFrame({"k": base ^ flip}), ["k"], 9) for flip in (0, 1 << bit)]
        for lane in (0, 1):
            flipped = np.unpackbits((pair[0][lane] ^ pair[1][lane]).view(np.uint8)).mean()
            assert 0.45 < flipped < 0.55, f"bit {bit} of a key flips {flipped:.0%} of word {lane}"


def test_hashes_are_the_same_in_another_process() -> None:
    code = (
        "import polars as pl; from ouzel.runtime.state.hashing import row_hashes; "
        "print(row_hashes(pl.DataFrame({'a': ['x', None], 'b': [1.5, 2.0]}), ['a', 'b'], 9).tolist())"
    )
    frame = pl.DataFrame({"a": ["x", None], "b": [1.5, 2.0]})
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == str(row_hashes(frame, ["a", "b"], 9).tolist())
